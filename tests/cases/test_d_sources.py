"""Cases D: feeds and boards that misbehave, through GET /cron, with the mail counted."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from ledger.collections import JOBS
from ledger.documents import decode
from ledger.records import Job
from ledger.store import every
from tests.shared import shared
from tests.world import FEED, World, item

KEYWORDS = ("developer", "développeur", "průvodce", "entwickler", "lead", "fix", "remote", "relative", "writer")
GOOD = "/good.xml"


async def mailed(world: World, name: str, **how: Any) -> list[str]:
    """The titles that a person who wants them all is sent of a case's file, after a silent baseline."""
    await world.begin()
    await world.user("a@example.com", *KEYWORDS)
    world.board.serve(FEED, shared(f"cases/{name}").read_bytes(), **how)
    world.after(hours=1)
    report = await world.cron()
    assert report["sources"]["failed"] == []
    assert set(world.sent().values()) == {1}
    return [job for mail in world.mails() for job in mail.jobs]


async def jobs(world: World) -> dict[str, Job]:
    found = [decode(Job, snapshot) async for snapshot in every(world.store, JOBS, {})]
    return {job.title: job for job in found}


async def test_a_stray_control_character_costs_no_item(world: World) -> None:
    """B31"""
    assert sorted(await mailed(world, "B31_feed.xml")) == ["Django developer", "Flask developer", "Python developer"]


async def test_a_bad_byte_in_utf_8_leaves_the_titles_whole(world: World) -> None:
    """B33"""
    told = await mailed(world, "B33_feed.xml", content_type="application/rss+xml; charset=utf-8")
    assert sorted(told) == ["Développeur Python", "Průvodce API"]


async def test_a_usable_feed_of_another_encoding_is_read_without_a_word(world: World) -> None:
    """B35"""
    assert await mailed(world, "B35_feed.xml", content_type="text/xml") == ["Entwickler für München"]


async def test_doubly_escaped_titles_are_plain_in_the_letter_and_never_markup(world: World) -> None:
    """B36"""
    told = await mailed(world, "B36_feed.xml")
    assert sorted(told) == [
        "Don't miss: Java lead",
        "Fix & entity handling (single escape, about entities)",
        "Senior C++ & Rust dev <remote>",
    ]
    (mail,) = world.mails()
    assert b"<remote>" not in mail.data.partition(b"text/html")[2]


@pytest.mark.parametrize("case", ["loop", "login page", "gone"])
async def test_a_redirect_loop_a_login_page_and_a_gone_feed_fail_alone(case: str, tmp_path: Path) -> None:
    """B39"""
    async with World(tmp_path) as world:
        match case:
            case "loop":
                world.board.redirect(FEED, FEED, status=307)
            case "login page":
                world.board.redirect(FEED, "/login", status=301)
                world.board.serve("/login", "<!doctype html><html>Sign in</html>", content_type="text/html")
            case _:
                world.board.serve(FEED, "", status=410)
        await the_other_is_mailed(world)
        assert world.board.count(FEED) <= 2 * 6  # two runs


async def test_a_redirect_to_an_inside_address_opens_no_connection_and_fails_alone(tmp_path: Path) -> None:
    """B40"""
    for number, answer in enumerate(json.loads(shared("cases/B40_responses.json").read_text())[:-1]):
        # Loopback is allowed here, for the board's own sake: what leads to it would be another port of this machine.
        if "127.0.0.1" in answer["location"]:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        async with World(folder) as world:
            world.board.redirect(FEED, answer["location"], status=answer["status"])
            await the_other_is_mailed(world)


@pytest.mark.parametrize(
    "how", [{"drip_s": 0.5}, {"endless": True}, {"delay_s": 60.0}], ids=["drip", "endless", "late"]
)
async def test_a_body_that_never_ends_costs_its_source_only(how: dict[str, Any], tmp_path: Path) -> None:
    """B41"""
    async with World(tmp_path, SCOUT_WALL_S="8") as world:  # a source gets a quarter of it
        world.board.serve(FEED, "<rss>" * 1000, **how)
        report = await the_other_is_mailed(world)
        assert report["took_s"] < 8


async def test_odd_dates_alert_once_and_absurd_ones_stay_what_they_became(world: World) -> None:
    """B43"""
    assert len(await mailed(world, "B43_feed.xml")) == 6
    before = await jobs(world)
    known = {title: job.published_at is not None for title, job in before.items() if title != "Gardener"}
    assert known == {"No zone": True, "Named zone": True, "Far future": False, "Word": False, "Missing": False,
                     "Epoch": False}  # fmt: skip
    assert all(job.first_seen.tzinfo is UTC for job in before.values())
    for _ in range(8):
        world.after(days=1)
        await world.cron()
    after = await jobs(world)
    assert {title: job.first_seen for title, job in after.items()} == {t: job.first_seen for t, job in before.items()}
    assert set(world.sent().values()) == {1}


async def test_items_without_guids_are_known_again_and_those_that_are_added_alert(world: World) -> None:
    """B45"""
    await world.user("a@example.com", *KEYWORDS)
    world.board.serve(FEED, shared("cases/B45_fetch1.xml").read_bytes())
    await world.cron()
    assert world.mails() == []
    world.board.serve(FEED, shared("cases/B45_fetch2.xml").read_bytes())
    world.after(hours=1)
    assert (await world.cron())["jobs"]["new"] == 2
    assert world.sent() == {("a@example.com", "Writer"): 1, ("a@example.com", "No link either"): 1}


@pytest.mark.parametrize(("name", "path"), [("B47_feed.atom.xml", "/jobs/123"), ("B47_feed.rss.xml", "/jobs/7")])
async def test_a_relative_link_is_mailed_as_an_absolute_one(name: str, path: str, world: World) -> None:
    """B47"""
    await mailed(world, name)
    (mail,) = world.mails()
    assert mail.links == (world.board.url(path),)


async def the_other_is_mailed(world: World) -> dict[str, Any]:
    """The run is complete, the sick source failed with a reason, and what the healthy one brought was mailed."""
    await world.user("a@example.com", "developer")
    world.write_sources({"good": world.board.url(GOOD), "sick": world.board.url(FEED)})
    async with world.another() as app:
        world.feed(item("Gardener"), path=GOOD)
        await world.cron(app=app)
        world.feed(item("Gardener"), item("Python developer"), path=GOOD)
        world.after(hours=1)
        report = await world.cron(app=app)
    assert report["status"] == "completed"
    (failed,) = report["sources"]["failed"]
    assert failed["name"] == "sick"
    assert failed["reason"]
    assert world.sent() == {("a@example.com", "Python developer"): 1}
    return report
