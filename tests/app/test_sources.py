"""How sources fare over runs: a feed whose ids move, empty answers, silence; and what people are told of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ledger import ids, sources, users
from ledger.collections import SOURCES
from ledger.documents import decode
from ledger.records import Health, Mode, Search, SourceState, User
from tests.world import FEED, World, item, rss

TITLES = [f"Python developer {n}" for n in range(6)]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path) as made:
        yield made


async def state(world: World, name: str = "board") -> SourceState:
    return decode(SourceState, (await world.store.get(SOURCES, [name]))[name])


def moved(poll: int, titles: list[str]) -> list[str]:
    """The same jobs as ever, under guids and links that are made anew for each answer."""
    return [item(t, guid=f"{poll}-{n}", link=f"https://x.example/{n}?token={poll}") for n, t in enumerate(titles)]


async def test_jobs_that_come_again_under_new_ids_are_not_mailed_and_the_second_time_suspends_their_feed(
    world: World,
) -> None:
    await world.user("a@example.com")
    await world.begin(*moved(0, TITLES))
    world.feed(*moved(1, [*TITLES, "Python lead"]))
    world.after(hours=1)
    first = await world.cron()
    assert (first["jobs"]["new"], first["sources"]["failed"]) == (1, [])
    assert set(world.sent()) == {("a@example.com", "Python lead")}
    world.feed(*moved(2, [*TITLES, "Python lead"]))
    world.after(hours=1)
    second = await world.cron()
    (failed,) = second["sources"]["failed"]
    assert failed["name"] == "board"
    assert failed["reason"].startswith("suspended: the same titles under new ids twice running")
    assert sum(world.sent().values()) == 1
    assert (await state(world)).health is Health.SUSPENDED
    asked = world.board.count(FEED)
    world.after(days=2)
    third = await world.cron()
    assert (third["sources"]["not_due"], third["sources"]["failed"]) == (1, [])
    assert world.board.count(FEED) == asked


async def test_a_feed_without_dates_in_which_everything_is_new_twice_running_is_suspended_before_the_second_is_mailed(
    world: World,
) -> None:
    await world.user("a@example.com")
    await world.begin(*(item(f"Gardener {n}") for n in range(6)))
    for poll in (1, 2, 3):
        world.feed(*(item(f"Python developer {poll}{n}") for n in range(6)))
        world.after(hours=1)
        await world.cron()
    assert {job[:18] for _, job in world.sent()} == {"Python developer 1"}
    assert (await state(world)).all_new_streak == 2


async def test_a_busy_feed_whose_jobs_are_dated_after_the_last_poll_goes_on(world: World) -> None:
    await world.user("a@example.com")
    await world.begin()
    for poll in range(1, 5):
        date = f"{world.after(hours=1) - timedelta(minutes=10):%a, %d %b %Y %H:%M:%S} +0000"
        world.feed(*(item(f"Python developer {poll}{n}", date=date) for n in range(6)))
        assert (await world.cron())["jobs"]["new"] == 6
    assert len(world.sent()) == 24


async def test_a_handful_of_new_jobs_at_every_poll_is_no_sign_of_anything(world: World) -> None:
    await world.user("a@example.com")
    await world.begin()
    for poll in range(5):
        world.feed(item(f"Python developer {poll}"), item(f"Python lead {poll}"))
        world.after(hours=1)
        assert (await world.cron())["jobs"]["new"] == 2


async def test_a_board_with_ids_of_its_own_may_list_new_jobs_only(world: World, tmp_path: Path) -> None:
    entry = '[[source]]\nname = "b"\nkind = "feed"\nurl = "{}"\nmin_interval_s = 0\nid_rule = \'regex:/jobs/(.+)\'\n'
    (tmp_path / "sources.toml").write_text(entry.format(world.board.url(FEED)))
    async with world.another() as app:
        world.feed(item("Gardener", link="https://x.example/jobs/0"))
        await world.cron(app=app)
        for poll in range(1, 5):
            world.feed(*(item(f"Job {poll}{n}", link=f"https://x.example/jobs/{poll}{n}") for n in range(6)))
            world.after(hours=1)
            assert (await world.cron(app=app))["jobs"]["new"] == 6


async def test_a_resumed_feed_begins_with_a_silent_baseline_and_is_trusted_with_new_titles(world: World) -> None:
    await world.user("a@example.com")
    await world.begin(*(item(f"Gardener {n}") for n in range(6)))
    for poll in (1, 2):
        world.feed(*(item(f"Python developer {poll}{n}") for n in range(6)))
        world.after(hours=1)
        await world.cron()
    before = world.sent()
    assert await sources.resume(world.store, "board", now=world.now) is not None
    assert await sources.resume(world.store, "board", now=world.now) is None
    assert (await world.cron())["jobs"]["new"] == 0
    for poll in (3, 4, 5):
        world.feed(*(item(f"Python developer {poll}{n}") for n in range(6)))
        world.after(hours=1)
        assert (await world.cron())["jobs"]["new"] == 6
    assert len(world.sent()) == len(before) + 18


async def test_one_empty_answer_is_a_failure_and_the_second_is_believed(world: World) -> None:
    await world.begin(item("Gardener"))
    world.board.serve(FEED, rss())
    world.after(hours=1)
    first = await world.cron()
    assert first["sources"]["failed"] == [{"name": "board", "reason": "an empty answer, though it had items before"}]
    world.after(hours=1)
    second = await world.cron()
    assert (second["sources"]["ok"], second["sources"]["failed"]) == (1, [])
    now = await state(world)
    assert (now.health, now.empty_streak, now.failures) == (Health.EMPTY, 2, 0)
    world.feed(item("Gardener"), item("Python developer"))
    world.after(hours=1)
    assert (await world.cron())["jobs"]["new"] == 1
    world.board.serve(FEED, rss())
    world.after(hours=1)
    assert (await world.cron())["sources"]["failed"] == []


async def test_a_source_that_was_silent_for_a_day_is_named_in_the_digest_of_those_who_rely_on_it(
    tmp_path: Path,
) -> None:
    async with World(tmp_path, sources={}) as world:
        urls = {name: world.feed(item("Gardener"), path=f"/{name}") for name in ("loud", "silent")}
        world.write_sources(urls)
        async with world.another() as app:
            world.app = app
            await world.cron()
            people = {"all@example.com": (), "loud@example.com": ("loud",), "both@example.com": ("Silent", "loud")}
            for address, names in people.items():
                search = Search(keywords=("python",), sources=names)
                await relying(world, address, search)
            await users.change(
                world.store, ids.uid_of("both@example.com"), lambda user: replace(user, zone="Asia/Tokyo")
            )
            world.board.serve("/silent", b"gone", status=503)
            world.feed(item("Gardener"), item("Python developer"), path="/loud")
            world.after(hours=2)
            await world.cron()
            world.after(hours=23)  # 08:00 of the next day
            report = await world.cron()
            (failed,) = report["sources"]["failed"]
            assert failed["reason"].endswith("(HTTP 503); silent since 2026-11-30 07:00 UTC")
            note = "Silent for a day or longer: silent since Mon 30 Nov, {}."
            where = {"both@example.com": "16:00"}  # a person with a zone reads it there
            told = {mail.to: note.format(where.get(mail.to, "07:00 UTC")) in mail.text for mail in world.mails()}
            assert told == {"all@example.com": True, "loud@example.com": False, "both@example.com": True}


async def relying(world: World, address: str, search: Search) -> None:
    def edit(user: User) -> User:
        return replace(user, mode=Mode.DAILY, searches={"default": search})

    await users.save_profile(world.store, address, edit, now=world.now)
