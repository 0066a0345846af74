"""Run it twice, back to back and at once: nobody outside may be able to tell."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from ledger.records import Mode
from tests.conftest import OpenStore
from tests.world import FEED, World, item, rss
from tests.worlds import store_url

JOBS = [*(f"Python developer {n}" for n in range(5)), *(f"Rust engineer {n}" for n in range(5)), "Gardener"]


async def town(world: World) -> dict[tuple[str, str], int]:
    """People of every kind; returns what the alerts of the next run must be."""
    await world.begin()
    for n in range(6):
        await world.user(f"python{n}@example.com", "python")
        await world.user(f"daily{n}@example.com", "python", "rust", mode=Mode.DAILY)
    await world.user("both@example.com", "python", "rust")
    await world.user("weekly@example.com", "rust", mode=Mode.WEEKLY)
    await world.user("nothing@example.com", "cobol")
    await world.cron()
    world.feed(*map(item, JOBS))
    expected = {(f"python{n}@example.com", job): 1 for n in range(6) for job in JOBS if "Python" in job}
    return expected | {("both@example.com", job): 1 for job in JOBS if job != "Gardener"}


async def test_of_twenty_callers_at_once_one_runs_and_nineteen_are_told_at_once(each_world: World) -> None:
    world = each_world
    expected = await town(world)
    world.board.serve(FEED, rss(*map(item, JOBS)), delay_s=2)
    answers = await asyncio.gather(*[world.call() for _ in range(20)])
    assert {answer.status_code for answer in answers} == {200}
    reports = [answer.json() for answer in answers]
    skipped = [report for report in reports if report["status"] == "skipped"]
    (completed,) = [report for report in reports if report["status"] == "completed"]
    assert len(skipped) == 19
    assert [report["took_s"] for report in skipped if report["took_s"] >= 1] == []
    assert {report["holder"].rpartition(":")[2] for report in skipped} == {completed["run_id"]}
    assert completed["took_s"] >= 2
    assert completed["mail"]["alerts"] == 7
    assert world.sent() == expected


async def test_a_second_run_sends_nothing_fetches_nothing_and_leaves_the_same_state(
    kind: str, place: str, tmp_path: Path
) -> None:
    async with World(tmp_path, store=store_url(kind, place), min_interval_s=900) as world:
        expected = await town(world)
        world.after(minutes=15)
        assert (await world.cron())["mail"]["alerts"] == 7
        world.after(hours=1)
        first = await world.cron()
        assert first["mail"]["digests"] == 7  # it is a Monday: the weekly one too
        before, asked, sent = await world.dump(), len(world.board.requests), world.sent()
        second = await world.cron()
        assert (second["status"], second["mail"]) == ("completed", dict.fromkeys(second["mail"], 0))
        assert (second["matches"]["pairs"], second["jobs"]["seen"], second["errors"]) == (0, 0, [])
        assert len(world.board.requests) == asked
        assert await world.dump() == before
        assert world.sent() == sent
        assert world.sent("alert") == expected
        assert set(world.sent("digest").values()) == {1}


async def test_a_feed_that_answers_the_same_again_writes_nothing_but_when_it_was_asked(each_world: World) -> None:
    world = each_world
    await town(world)
    await world.cron()
    before = await world.dump("users", "jobs", "aliases", "fingerprints", "deliveries", "digests")
    world.after(minutes=15)
    assert (await world.cron())["sources"]["not_modified"] == 1
    assert await world.dump("users", "jobs", "aliases", "fingerprints", "deliveries", "digests") == before


async def test_both_stores_report_the_same_counts_and_the_same_mail_for_the_same_days(
    sqlite_path: Path, firestore_project: str, tmp_path: Path
) -> None:
    told: dict[str, list[dict[str, Any]]] = {}
    mailed = {}
    for name, url in (("sqlite", f"sqlite:///{sqlite_path}"), ("firestore", f"firestore://{firestore_project}")):
        (tmp_path / name).mkdir()
        async with World(tmp_path / name, store=url) as world:
            await town(world)
            reports: list[dict[str, Any]] = []
            for minutes in (15, 15, 45, 0, 24 * 60):
                world.after(minutes=minutes)
                world.feed(*map(item, JOBS), *(item(f"Python {len(reports)}.{n}") for n in range(2)))
                reports.append(await world.cron())
            told[name] = [_counts(report) for report in reports]
            mailed[name] = world.sent()
    assert told["sqlite"] == told["firestore"]
    assert mailed["sqlite"] == mailed["firestore"]
    assert sum(report["mail"]["sent"] for report in told["sqlite"]) > 20


def _counts(report: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on the store: all but names, times and round trips (and what TTL removes by itself)."""
    cost = {name: report["cost"][name] for name in ("reads", "writes")}
    return {k: v for k, v in report.items() if k not in ("run_id", "took_s", "cost")} | {"cost": cost}


async def test_an_idle_cycle_costs_a_handful_of_reads_whatever_the_number_of_users(
    kind: str, place: str, open_store: OpenStore, tmp_path: Path
) -> None:
    costs = []
    async with World(tmp_path, store=store_url(kind, place), min_interval_s=24 * 3600) as world:
        await world.begin()
        people = 0
        for count in (10, 500):
            await asyncio.gather(*[world.user(f"p{n}@example.com", "python") for n in range(people, count)])
            people = count
            while (await world.cron())["matches"]["pairs"]:
                pass
            report = await world.cron()
            assert report["status"] == "completed"
            costs.append(report["cost"])
    for cost in costs:
        assert cost["reads"] <= 12, cost
        assert cost["writes"] <= 5, cost
    assert costs[0] == costs[1]
