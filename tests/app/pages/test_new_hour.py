"""A new hour, zone or mode for the regular mail: what pages and letters promise of it, and what comes."""

from __future__ import annotations

from dataclasses import replace
from datetime import time

import pytest

from ledger.lifecycle import Attempt, DigestState, Outcome
from mail.letter import Letter
from tests.app.pages.visits import ANN, save_letters, save_search, signed_in, text, visiting
from tests.faults import Go
from tests.world import World, item


async def test_jobs_that_wait_already_come_at_the_new_hour_that_the_page_promises(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        assert (await save_letters(client, mode="weekly", at="06:00")).status_code == 303
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"))
        await world.cron()
        assert (await save_letters(client, mode="daily", at="06:30")).status_code == 303
        assert "the next one Tue 1 Dec, 06:30" in text((await client.get("/me")).text)
        assert "daily mail of Tue 1 Dec, 06:30" in text((await client.get("/me/history")).text)
    world.now = world.now.replace(day=1, month=12, hour=6, minute=30)
    assert (await world.cron())["mail"]["digests"] == 1


async def test_a_later_hour_on_a_day_that_had_its_mail_is_promised_for_the_day_after_and_kept(world: World) -> None:
    await world.begin()
    titles = [item("Gardener"), item("Python one")]
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        assert (await save_letters(client, mode="daily", at="06:00")).status_code == 303
        world.after(minutes=15)
        world.feed(*titles)
        await world.cron()
        world.now = world.now.replace(day=1, month=12, hour=6, minute=0)
        assert (await world.cron())["mail"]["digests"] == 1
        world.after(minutes=15)
        world.feed(*titles, item("Python two"))
        await world.cron()
        assert "the next one Wed 2 Dec, 06:00" in text((await client.get("/me")).text)
        assert (await save_letters(client, mode="daily", at="18:00")).status_code == 303
        world.after(minutes=15)
        world.feed(*titles, item("Python two"), item("Python three"))
        await world.cron()
        assert "the next one Wed 2 Dec, 18:00" in text((await client.get("/me")).text)
        assert text((await client.get("/me/history")).text).count("daily mail of Wed 2 Dec, 18:00") == 2
        why = text((await client.get("/me/why?link=https://jobs.example.com/python-three")).text)
        assert "daily mail of Wed 2 Dec, 18:00" in why
        world.now = world.now.replace(hour=18, minute=0)
        assert (await world.cron())["mail"]["digests"] == 0
        world.now = world.now.replace(day=2)
        assert (await world.cron())["mail"]["digests"] == 1
        assert (await save_letters(client, mode="daily", at="17:00")).status_code == 303
        assert "the next one Thu 3 Dec, 17:00" in text((await client.get("/me")).text)
    assert world.sent() == {(ANN, f"Python {n}"): 1 for n in ("one", "two", "three")}


async def test_an_alert_that_leaves_jobs_for_the_daily_mail_names_a_day_that_has_had_none(world: World) -> None:
    await world.begin()
    titles = [item("Gardener"), item("Python 0")]
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        await save_letters(client, mode="daily", at="06:00")
        world.after(minutes=15)
        world.feed(*titles)
        await world.cron()
        world.now = world.now.replace(day=1, month=12, hour=6, minute=0)
        assert (await world.cron())["mail"]["digests"] == 1
        await save_letters(client, mode="instant", at="18:00")
        world.after(minutes=15)
        world.feed(*titles, *(item(f"Python {n}") for n in range(1, 26)))
        assert (await world.cron())["mail"]["alerts"] == 1
    (alert,) = [mail for mail in world.mails() if mail.kind == "alert"]
    assert "and 5 more, which wait for your daily mail of Wed 2 Dec, 18:00" in " ".join(alert.text.split())
    world.now = world.now.replace(hour=18, minute=0)
    assert (await world.cron())["mail"]["digests"] == 0
    world.now = world.now.replace(day=2)
    assert (await world.cron())["mail"]["digests"] == 1


@pytest.mark.parametrize(("mode", "day"), [("daily", 1), ("weekly", 7)])
async def test_a_digest_that_is_still_tried_comes_at_the_later_hour_of_the_same_day(
    world: World, mode: str, day: int
) -> None:
    await world.begin()
    titles = [item("Gardener")]
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        await save_letters(client, mode=mode, at="08:00")
        world.after(minutes=15)
        titles.append(item("Python of the time before"))
        world.feed(*titles)
        await world.cron()
        world.now = world.now.replace(hour=8, minute=0)
        assert (await world.cron())["mail"]["digests"] == 1
        world.now = world.now.replace(hour=9)
        world.feed(*titles, item("Python one"))
        await world.cron()
        world.now = world.now.replace(month=12, day=day, hour=8, minute=5)

        answers = [Attempt(Outcome.DEFERRED, "connection refused")]

        async def busy_at_first(_letter: Letter, go: Go) -> Attempt:
            return answers.pop() if answers else await go()

        world.intercept(busy_at_first)
        assert (await world.cron())["mail"]["deferred"] == 1
        world.after(minutes=2)
        await save_letters(client, mode=mode, at="20:00")
        assert f"{day} Dec, 20:00" in text((await client.get("/me")).text)
        for hour, minute, letters in ((8, 20, 0), (12, 0, 0), (19, 59, 0), (20, 2, 1)):
            world.now = world.now.replace(hour=hour, minute=minute)
            assert (await world.cron())["mail"]["digests"] == letters
        assert {digest.state for digest in await world.digests()} == {DigestState.SENT}


async def test_the_page_promises_no_second_digest_where_the_operators_hour_has_moved(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        await save_letters(client, mode="daily")
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python one"))
        await world.cron()
        world.now = world.now.replace(hour=8)
        assert (await world.cron())["mail"]["digests"] == 1
    moved = replace(world.settings, digest_at=time(20))
    world.app.state.parts = replace(world.parts, settings=moved)
    async with visiting(world) as client:
        await signed_in(client, world)
        assert "the next one Tue 1 Dec, 20:00" in text((await client.get("/me")).text)


async def test_a_move_to_the_west_counts_from_the_first_day_there_that_has_had_no_mail(world: World) -> None:
    """In Auckland it is the 2nd, and its mail has come, while Los Angeles has the evening of the 1st before it."""
    await world.begin()
    titles = [item("Gardener")]
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        await save_letters(client, mode="daily", at="08:00", zone="Pacific/Auckland")
        for day in (30, 1):  # 19:00 UTC is 08:00 of the next day there
            world.now = world.now.replace(month=11 if day == 30 else 12, day=day, hour=15)
            titles.append(item(f"Python of {day}"))
            world.feed(*titles)
            await world.cron()
            world.now = world.now.replace(hour=19)
            assert (await world.cron())["mail"]["digests"] == 1
        assert [digest.period for digest in await world.digests()] == ["2026-12-01", "2026-12-02"]
        await save_letters(client, mode="daily", at="18:00", zone="America/Los_Angeles")
        world.after(minutes=15)
        world.feed(*titles, item("Python late"))
        await world.cron()
        assert "the next one Thu 3 Dec, 18:00" in text((await client.get("/me")).text)
        assert "daily mail of Thu 3 Dec, 18:00" in text((await client.get("/me/history")).text)
    for day, hour, minute, letters in ((2, 2, 0, 0), (3, 2, 0, 0), (4, 1, 59, 0), (4, 2, 0, 1)):
        world.now = world.now.replace(day=day, hour=hour, minute=minute)
        assert (await world.cron())["mail"]["digests"] == letters
