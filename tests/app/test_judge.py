"""Judging at size, within the caps and the wall: the whole cycle and the real SDK against a server on loopback."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.cycle import Skipped, cycle
from app.deadline import Deadline
from app.parts import Parts
from app.report import Report, Status
from ledger import spend, users
from ledger.collections import DELIVERIES, MATCHES, USERS
from ledger.documents import decode, encode
from ledger.lifecycle import State
from ledger.records import Delivery, Mode, Search, User
from ledger.store import every
from ledger.verdicts import Verdict, VerdictState
from tests.messages_api import MessagesApi, Play
from tests.world import T0, World, item

KEY = "sk-ant-test"
ANN = "ann@example.com"


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        yield api


def world_of(folder: Path, api: MessagesApi, *, now: datetime = T0, **settings: Any) -> World:
    return World(folder, now=now, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url, SCOUT_WALL_S="300", **settings)


async def people(world: World, count: int, *keywords: str, mode: Mode = Mode.DAILY, **fields: Any) -> None:
    """So many people at once, each known to the model by a number."""
    made = [users.new_user(f"p{n}@example.com", now=world.now) for n in range(count)]
    search = {"default": Search(keywords=keywords)}
    saved = [replace(u, mode=mode, searches=search, ai=True, about=f"I am {n}.", **fields) for n, u in enumerate(made)]
    await world.store.create(USERS, {u.uid: encode(u) for u in saved})


async def states(world: World) -> Counter[VerdictState]:
    return Counter([decode(Verdict, s).state async for s in every(world.store, MATCHES, {})])


async def run(world: World, *, wall_s: float = 300, parts: Parts | None = None) -> Report:
    given = parts or world.parts
    outcome = await cycle(given, deadline=Deadline(wall_s, clock=world.clock, monotonic=time.monotonic))
    assert not isinstance(outcome, Skipped)
    return outcome


async def test_a_second_run_over_many_people_and_jobs_asks_nothing(tmp_path: Path, api: MessagesApi) -> None:
    """200 people and 50 jobs of which 40 % pass the gates: 4,000 pairs, paid for once."""
    async with world_of(tmp_path, api) as world:
        await world.begin()
        await people(world, 200, "python")
        jobs = [item(f"{'Python' if n % 5 < 2 else 'Cobol'} developer {n}") for n in range(50)]
        world.after(minutes=15)
        world.feed(item("Gardener"), *jobs)
        first = await run(world)
        assert (first.matches.pairs, first.matches.fit) == (200 * 50, 4000)
        assert first.matches.ai_calls == len(api.calls) == 400
        assert await states(world) == {VerdictState.DECIDED: 4000}
        assert set(api.pairs().values()) == {1}
        tokens = first.ai.input_tokens + first.ai.output_tokens
        assert tokens == sum(api.tokens.values())
        (today,) = await spend.by_day(world.store, last=1, today=world.now.date())
        assert (today.calls, today.tokens, today.micros) == (400, tokens, first.ai.micros)
        world.after(minutes=15)
        second = await run(world)
        assert (second.matches.ai_calls, second.ai.micros, len(api.calls)) == (0, 0, 400)


async def test_pairs_are_judged_many_at_once_within_the_wall_and_the_rest_by_the_next_run(
    tmp_path: Path, api: MessagesApi
) -> None:
    """A tenth of the size of the full measurement, which is in bench/verdicts.py."""
    api.delay_s = 0.2
    async with world_of(tmp_path, api) as world:
        await world.begin()
        await people(world, 20, "python")
        world.after(minutes=15)
        world.feed(item("Gardener"), *(item(f"Python developer {n}") for n in range(10)))
        await run(world)
        assert api.most_at_once == 16
        assert len(api.calls) == 20
        assert await states(world) == {VerdictState.DECIDED: 200}


async def test_a_wall_that_is_near_leaves_the_rest_to_the_next_run_and_no_pair_is_lost(
    tmp_path: Path, api: MessagesApi
) -> None:
    api.delay_s = 0.3
    async with world_of(tmp_path, api, SCOUT_AI_BATCH="1") as world:
        await world.begin()
        await people(world, 20, "python", mode=Mode.INSTANT)
        world.after(minutes=15)
        world.feed(item("Gardener"), *(item(f"Python developer {n}") for n in range(10)))
        reports = [await run(world, wall_s=6)]
        first = reports[0]
        assert first.status is Status.PARTIAL
        assert 0 < first.matches.ai_calls < 200
        assert first.remaining.pairs == first.matches.undecided == 200 - first.matches.ai_calls
        assert first.took_s < 6
        assert (await states(world)).total() == 200, "a document carries each pair"
        while reports[-1].status is Status.PARTIAL:
            world.after(minutes=1)
            reports.append(await run(world, wall_s=30))
        assert len(reports) < 8
        assert sum(report.matches.ai_calls for report in reports) == len(api.calls) == 200
        assert set(api.pairs().values()) == {1}
        assert world.sent() == {(f"p{u}@example.com", f"Python developer {n}"): 1 for u in range(20) for n in range(10)}


@pytest.mark.parametrize(
    ("cap", "why"),
    [
        ({"SCOUT_AI_MAX_RUN_TOKENS": "6000"}, "the limit of one run is reached"),
        ({"SCOUT_AI_MAX_DAY_TOKENS": "6000"}, "the day's limit is reached"),
        ({"SCOUT_AI_MAX_USER_DAY_TOKENS": "6000"}, "the day's limit for one person is reached"),
        ({"SCOUT_AI_MAX_RUN_USD": "0.0009"}, "the limit of one run is reached"),
        ({"SCOUT_AI_MAX_DAY_USD": "0.0009"}, "the day's limit is reached"),
        ({"SCOUT_AI_MAX_USER_DAY_USD": "0.0009"}, "the day's limit for one person is reached"),
    ],
)
async def test_a_cap_is_a_normal_state_that_is_told_and_ends_with_keywords(
    tmp_path: Path, api: MessagesApi, cap: dict[str, Any], why: str
) -> None:
    async with world_of(tmp_path, api, SCOUT_AI_BATCH="2", **cap) as world:
        await world.begin()
        await people(world, 1, "python", mode=Mode.INSTANT)
        world.after(minutes=15)
        world.feed(item("Gardener"), *(item(f"Python developer {n}") for n in range(18)))
        report = await run(world)
        assert 0 < report.matches.ai_calls < 9
        assert any(f"pairs wait for theirs: {why}" in error for error in report.errors)
        assert report.matches.undecided == 18 - 2 * report.matches.ai_calls
        assert report.status is Status.COMPLETED
        tokens = sum(api.tokens.values())
        for _ in range(10):
            world.after(minutes=15)
            report = await run(world)
        if "one run" not in why:
            assert sum(api.tokens.values()) <= 6000
            assert api.calls
            scored = await states(world)
            assert scored[VerdictState.UNSCORED] > 0
            assert any("Not scored: no verdict came within two hours" in mail.text for mail in world.mails())
        else:
            assert sum(api.tokens.values()) > tokens, "the next run has its own"
        assert sum(world.sent().values()) == len(world.sent()) == 18


@pytest.mark.parametrize("at", [1, 12, 30])
async def test_a_killed_run_that_is_repeated_asks_again_at_most_what_was_in_flight(
    tmp_path: Path, api: MessagesApi, at: int
) -> None:
    """A real process and a real SIGKILL, when the model has been asked so many times."""
    api.delay_s = 0.02
    async with world_of(tmp_path, api, now=datetime.now(UTC)) as world:
        await world.begin()
        await people(world, 40, "python", mode=Mode.INSTANT)
        world.after(minutes=15)
        world.feed(item("Gardener"), *(item(f"Python developer {n}") for n in range(8)))
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("scout"), "cron", cwd=tmp_path, env={**os.environ, **world._environ},
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(60):
                while len(api.calls) < at:
                    assert process.returncode is None
                    await asyncio.sleep(0.001)
        finally:
            process.kill()
            await process.wait()
        asked, stored = set(api.pairs()), (await states(world))[VerdictState.DECIDED]
        await world.steal_lock()
        for minutes in (1, 11, 11):
            world.after(minutes=minutes)
            await run(world)
        assert await states(world) == {VerdictState.DECIDED: 320}
        repeated = {pair for pair, n in api.pairs().items() if n > 1}
        assert len(repeated) == len(asked) - stored <= 16 * 8, "what was in flight and not stored, and nothing else"
        assert max(api.pairs().values()) <= 2
        assert len(world.sent()) == 320 - await unclear(world)
        assert set(world.sent().values()) == {1}


async def unclear(world: World) -> int:
    return sum([row.state is State.UNCLEAR async for row in rows(world)])


async def rows(world: World) -> AsyncIterator[Delivery]:
    async for snapshot in every(world.store, DELIVERIES, {}):
        yield decode(Delivery, snapshot)


async def test_a_changed_profile_is_judged_anew_only_where_its_person_asks(tmp_path: Path, api: MessagesApi) -> None:
    from app import rescore
    from app.prices import table

    api.scores = {"Python developer": 20}
    async with world_of(tmp_path, api) as world:
        await world.begin()
        uid = await world.user(ANN, "python", ai=True, about="I am 1.")
        await world.cron()
        world.feed(item("Gardener"), item("Python developer"), item("Python lead"))
        await world.cron()
        assert (len(api.calls), world.sent()) == (1, {(ANN, "Python lead"): 1})

        def edit(user: User) -> User:
            return users.with_catch_up(replace(user, about="I am 1. I would do anything."), now=world.now)

        user = await users.change(world.store, uid, edit)
        assert user is not None
        world.after(minutes=15)
        await world.cron()
        assert len(api.calls) == 1
        found = await rescore.find(world.store, user, price=table(None)["claude-haiku-5-5"], batch=10, now=world.now)
        assert len(found.held) == 1  # the lead's was sent: nothing to win
        assert found.about_micros > found.spent_micros > 0
        assert await rescore.want(world.store, found, now=world.now) == 1
        api.scores = {"Python developer": 90}
        await world.cron()
        assert len(api.calls) == 2
        assert world.sent() == {(ANN, "Python lead"): 1, (ANN, "Python developer"): 1}
        again = await rescore.find(world.store, user, price=table(None)["claude-haiku-5-5"], batch=10, now=world.now)
        assert (again.held, again.waiting) == ((), 0)


async def test_a_new_profile_is_judged_against_the_best_of_the_archive_and_not_all_of_it(
    tmp_path: Path, api: MessagesApi
) -> None:
    async with world_of(tmp_path, api) as world:
        await world.begin()
        await world.user("other@example.com", "python")
        await world.cron()
        world.feed(item("Gardener"), *(item(f"Python developer {n}") for n in range(60)))
        await world.cron()
        world.after(minutes=15)
        await world.user(ANN, "python", ai=True, about="I am 1.")
        await world.cron()
        assert sum(api.pairs().values()) == 20
        assert sum(count for (to, _), count in world.sent().items() if to == ANN) == 20
        world.after(minutes=15)
        await world.cron()
        assert sum(api.pairs().values()) == 20


async def test_an_account_at_fault_is_asked_once_and_said(tmp_path: Path, api: MessagesApi) -> None:
    api.always = Play(401, kind="authentication_error")
    async with world_of(tmp_path, api) as world:
        await world.begin()
        await people(world, 40, "python")
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"))
        report = await run(world)
        assert report.matches.ai_calls <= 16  # those that had begun
        assert report.matches.undecided == 40
        assert any("the model's account or settings are at fault: HTTP 401" in error for error in report.errors)
        assert KEY not in str(report.as_json())
