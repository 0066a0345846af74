"""Verdicts from a model that takes a second for each call: many at once, against one pair after the other.

The real SDK against a server on loopback; 2,000 pairs, within the caps and the wall. Then a second run, which asks
nothing.
"""

from __future__ import annotations

import asyncio
import importlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.cycle import Skipped, cycle
from app.deadline import Deadline
from app.report import Report
from bench import Line
from ledger import users
from ledger.collections import USERS
from ledger.documents import encode
from ledger.records import Mode, Search
from tests.messages_api import MessagesApi
from tests.world import World, item

PEOPLE, JOBS = 100, 20
ALONE_PAIRS = 5
CALL_S = 1.0
WALL_S = 300


@dataclass(frozen=True, slots=True)
class Measured:
    report: Report
    calls: int
    again: Report
    calls_again: int
    judging_s: float


def run() -> Iterator[Line]:
    importlib.import_module("anthropic")  # its seconds are in neither measurement
    alone = asyncio.run(_judged(people=1, jobs=ALONE_PAIRS, batch=1, one_by_one=True))
    one_s = alone.judging_s / ALONE_PAIRS
    many = asyncio.run(_judged(people=PEOPLE, jobs=JOBS, batch=10))
    pairs = PEOPLE * JOBS
    yield Line("one pair after the other", one_s, "s a pair", note=f"{ALONE_PAIRS} pairs, {CALL_S:.0f} s a call")
    yield Line("judging", many.judging_s, "s", at_most=0.1 * one_s * pairs, note=f"{pairs:,} pairs, {many.calls} calls")
    yield Line("of the one-by-one time", 100 * many.judging_s / (one_s * pairs), "%", at_most=10)
    yield Line("undecided", many.report.matches.undecided, "pairs", at_most=0)
    yield Line("the whole run", many.report.took_s, "s", at_most=WALL_S)
    yield Line("tokens", many.report.ai.input_tokens + many.report.ai.output_tokens, at_most=5_000_000)
    yield Line("cost", many.report.ai.micros / 1e6, "USD", at_most=1.0)
    yield Line("calls of a second run", many.calls_again - many.calls, at_most=0)


async def _judged(*, people: int, jobs: int, batch: int, one_by_one: bool = False) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        async with MessagesApi(delay_s=CALL_S) as api:
            settings: dict[str, Any] = {
                "ANTHROPIC_API_KEY": "sk-ant-bench",
                "ANTHROPIC_BASE_URL": api.url,
                "SCOUT_AI_BATCH": str(batch),
            }
            async with World(Path(folder), SCOUT_WALL_S=str(WALL_S), **settings) as world:
                await world.begin()
                made = [users.new_user(f"p{n}@example.com", now=world.now) for n in range(people)]
                search = {"default": Search(keywords=("python",))}
                saved = [replace(u, mode=Mode.DAILY, searches=search, ai=True, about=f"I am {u.uid}.") for u in made]
                await world.store.create(USERS, {u.uid: encode(u) for u in saved})
                world.after(minutes=15)
                world.feed(item("Gardener"), *(item(f"Python developer {n}") for n in range(jobs)))
                stages: dict[str, float] = {}
                first = await _run(world, stages, one_by_one=one_by_one)
                calls = len(api.calls)
                world.after(minutes=15)
                again = await _run(world, {}, one_by_one=one_by_one)
                return Measured(first, calls, again, len(api.calls), stages["alerts"] - stages["judge"])


async def _run(world: World, stages: dict[str, float], *, one_by_one: bool) -> Report:
    from app import patience

    def watch(stage: str) -> None:
        stages[stage] = time.monotonic()

    at_once, patience.CALLS_MAX = patience.CALLS_MAX, 1 if one_by_one else patience.CALLS_MAX
    try:
        outcome = await cycle(replace(world.parts, watch=watch), deadline=Deadline(WALL_S, clock=world.clock))
    finally:
        patience.CALLS_MAX = at_once
    assert not isinstance(outcome, Skipped)
    return outcome
