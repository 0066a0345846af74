"""Cases A: duplicate notifications from scheduled jobs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from ledger import users
from ledger.collections import JOBS
from ledger.lifecycle import ALERT_CAP_JOBS, Attempt
from ledger.records import Mode
from mail.letter import Letter
from tests.boards import Reply
from tests.faults import Go
from tests.shared import shared
from tests.world import FEED, World, item, rss

NEW = "Python developer"


def case(name: str) -> Any:
    return json.loads(shared(f"cases/{name}").read_text())


def at(clock: str, day: str = "2026-11-30") -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)


async def test_two_calls_an_hour_apart_send_each_alert_once_and_the_digest_once_on_the_later(each_world: World) -> None:
    """B01."""
    world, told = each_world, case("B01_schedule.json")
    first, second = told["calls"]
    world.now = at(first, told["clock_utc"]) - timedelta(minutes=15)
    await world.begin()
    await world.user("instant@example.com", "python")
    await world.user("daily@example.com", "python", mode=Mode.DAILY)
    await world.cron()
    world.feed(item("Gardener"), item("Python one"), item("Python two"))

    world.now = at(first, told["clock_utc"])
    assert (await world.cron())["jobs"]["new"] == told["new_jobs_on_first_call"]
    assert world.letters() == {("instant@example.com", "alert"): 1}
    world.now = at(second, told["clock_utc"])
    report = await world.cron()

    assert (report["jobs"]["new"], report["mail"]["alerts"], report["mail"]["digests"]) == (0, 0, 1)
    assert world.letters() == {("instant@example.com", "alert"): 1, ("daily@example.com", "digest"): 1}
    assert set(world.sent().values()) == {1}
    assert len(world.sent("alert")) == told["expect"]["instant_mails_total_per_matching_user"]
    assert len(world.sent("digest")) == 2


async def test_a_run_that_outlives_its_caller_answers_the_repeats_as_busy_and_mails_nobody_twice(world: World) -> None:
    """B03."""
    told = case("B03_schedule.json")
    await world.begin()
    people = [f"p{n}@example.com" for n in range(5)]
    for address in people:
        await world.user(address, "python")
    await world.cron()
    world.feed(item(NEW))
    goes_on, is_sending = asyncio.Event(), asyncio.Event()

    async def slow(_letter: Letter, go: Go) -> Attempt:
        is_sending.set()
        await goes_on.wait()
        return await go()

    world.intercept(slow)
    began = world.now
    caller = asyncio.create_task(world.call())
    await is_sending.wait()
    answers = []
    for second in told["calls_at_s"][1:]:
        caller.cancel()  # its patience is 30 s
        world.now = began + timedelta(seconds=second)
        answers.append(await world.cron())
    assert [answer["status"] for answer in answers] == ["skipped"] * told["expect"]["busy_answers"]
    assert [answer["took_s"] for answer in answers if answer["took_s"] >= 1] == []

    world.now = began + timedelta(seconds=told["run_duration_s"])
    goes_on.set()
    await world.app.state.runs.drain()
    assert len(world.mails()) == 1  # what had begun when the wall was reached
    assert (await world.cron())["status"] == "completed"
    assert world.sent() == {(address, NEW): 1 for address in people}


async def test_rows_of_two_overlapping_runs_go_out_in_one_digest_though_two_calls_send_it(each_world: World) -> None:
    """B05."""
    world = each_world
    world.now = at("07:55:00")
    await world.begin()
    await world.user("a@example.com", "python", mode=Mode.DAILY)
    await world.cron()
    world.board.replies(FEED, Reply(rss(item("Python one")).encode(), delay_s=0.5), Reply(rss(item(NEW)).encode()))
    world.now = at("07:59:59")
    async with world.another() as other:
        asked = world.board.count(FEED)
        slow = asyncio.create_task(world.cron())
        while world.board.count(FEED) == asked:
            await asyncio.sleep(0.01)
        await world.steal_lock()
        world.after(microseconds=1)  # no two runs begin at the same microsecond
        assert (await world.cron(app=other))["mail"]["queued"] == 1
        assert (await slow)["mail"]["queued"] == 1

        world.now = at("08:00:00")
        meet, came = asyncio.Barrier(2), 0

        async def together(operation: str, _collection: str) -> None:
            nonlocal came
            came += operation == "commit"
            if operation == "commit" and came <= 2:  # both are about to pin
                await meet.wait()

        for app in (world.app, other):
            world.spy(together, app=app)
        first = asyncio.create_task(world.cron())
        while not await world.store.get("locks", ["cron"]):
            await asyncio.sleep(0.01)
        await world.steal_lock()
        second = asyncio.create_task(world.cron(app=other))
        reports = await asyncio.gather(first, second)

    assert sorted(report["mail"]["digests"] for report in reports) == [0, 1]
    (mail,) = world.mails()
    assert (mail.kind, sorted(mail.jobs)) == ("digest", [NEW, "Python one"])
    (digest,) = await world.digests()
    assert digest.period == "2026-11-30"
    titles = {row.key: title for title, row in (await world.rows()).items()}
    assert mail.jobs == tuple(titles[key] for key in digest.rows)


async def test_new_guids_for_known_links_and_titles_are_no_new_jobs(each_world: World) -> None:
    """B06."""
    world = each_world
    world.now = at("09:00:00", "2026-11-23")
    await world.begin()
    await world.user("a@example.com", "python", "go")
    await world.cron()
    world.board.serve(FEED, shared("cases/B06_day1.xml").read_bytes())
    world.now = at("10:05:00", "2026-11-23")
    assert (await world.cron())["jobs"]["new"] == 2
    before = world.sent()

    world.board.serve(FEED, shared("cases/B06_day2.xml").read_bytes())
    world.now = at("10:05:00", "2026-11-24")
    report = await world.cron()

    assert (report["jobs"]["seen"], report["jobs"]["new"], report["mail"]["sent"]) == (2, 0, 0)
    assert before == world.sent() == {("a@example.com", t): 1 for t in ("Python backend developer", "Go engineer")}


async def test_a_publish_time_moved_after_posting_alerts_nobody_again(world: World) -> None:
    """B08."""
    world.now = at("09:00:00", "2026-11-23")
    await world.begin()
    await world.user("a@example.com", "rust")
    await world.cron()
    world.board.serve(FEED, shared("cases/B08_fetch1.xml").read_bytes())
    world.now = at("10:05:00", "2026-11-23")
    await world.cron()
    stored = await world.dump(JOBS)

    world.board.serve(FEED, shared("cases/B08_fetch2.xml").read_bytes())
    world.now = at("11:05:00", "2026-11-23")
    report = await world.cron()

    assert (report["jobs"]["seen"], report["jobs"]["new"]) == (1, 0)
    assert world.sent() == {("a@example.com", "Rust developer"): 1}
    assert await world.dump(JOBS) == stored  # first seen included


async def test_a_description_that_differs_in_white_space_only_writes_and_mails_nothing(world: World) -> None:
    """B10."""
    world.now = at("09:00:00", "2026-11-23")
    await world.begin()
    await world.user("a@example.com", "api")
    await world.cron()
    world.board.serve(FEED, shared("cases/B10_fetch1.xml").read_bytes())
    world.now = at("10:05:00", "2026-11-23")
    await world.cron()
    kept = ("jobs", "aliases", "fingerprints", "deliveries", "matches")
    stored = await world.dump(*kept)

    world.board.serve(FEED, shared("cases/B10_fetch2.xml").read_bytes())
    world.now = at("11:05:00", "2026-11-23")
    report = await world.cron()

    assert (report["jobs"]["new"], report["matches"]["pairs"]) == (0, 0)
    assert world.sent() == {("a@example.com", "API developer"): 1}
    assert await world.dump(*kept) == stored


async def test_the_first_poll_of_a_source_is_silent_and_a_new_user_is_not_mailed_the_archive(world: World) -> None:
    """B12."""
    told = case("B12_recipe.json")
    days = 365 / told["items"]
    dates = [format_datetime(world.now - timedelta(days=n * days)) for n in range(told["items"])]
    world.feed(*(item(f"Python {n}", date=date) for n, date in enumerate(dates)))
    people = [f"p{n}@example.com" for n in range(told["existing_users"])]
    for address in people:
        await world.user(address, "python")
    await world.cron()
    assert len(await world.dump(JOBS)) == told["expect"]["items_stored"]
    fresh = {(address, "Python 0"): 1 for address in people}  # the one that is less than 24 hours old
    assert world.sent() == fresh

    await world.user("late@example.com", "python")
    for _ in range(3):
        world.after(minutes=15)
        await world.cron()
    assert world.sent() == {**fresh, ("late@example.com", "Python 0"): 1}


async def test_a_new_user_gets_the_twenty_best_of_hundreds_of_fresh_jobs_in_one_letter_and_no_more(
    world: World,
) -> None:
    """B12, the second half."""
    await world.begin()
    world.feed(item("Gardener"), *(item(f"Python {n}") for n in range(300)))
    assert (await world.cron())["jobs"]["new"] == 300
    world.after(minutes=15)
    await world.user("late@example.com", "python")
    await world.cron()
    assert world.letters() == {("late@example.com", "alert"): 1}
    assert len(world.sent()) == ALERT_CAP_JOBS
    for hours in (1, 24, 24):
        world.after(hours=hours)
        await world.cron()
    assert world.letters() == {("late@example.com", "alert"): 1}


async def test_a_pair_that_has_a_row_is_never_sent_again_however_often_it_is_matched(each_world: World) -> None:
    """B14, the ledger's part."""
    world = each_world
    await world.begin()
    uid = await world.user("a@example.com", "python")
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    await world.cron()
    for _ in range(2):
        await world.user("a@example.com", "python", "developer")  # a profile saved again: everything fresh is matched
        world.after(minutes=15)
        assert (await world.cron())["matches"]["fit"] == 1
    (id_,) = [key for key, job in (await world.dump(JOBS)).items() if job["title"] == NEW]
    found = (await world.store.get(JOBS, [id_.partition("/")[2]])).popitem()[1]
    await world.store.swap(JOBS, {found.id: (found.version, {**found.data, "state": "open"})})
    world.after(minutes=15)
    assert (await world.cron())["matches"]["fit"] == 1

    assert world.sent() == {("a@example.com", NEW): 1}
    await users.change(world.store, uid, lambda user: replace(user, mode=Mode.DAILY))
    world.after(hours=24)
    await world.cron()
    assert world.sent() == {("a@example.com", NEW): 1}
