"""Told to end while a model is asked: what was paid is kept, and nothing more is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from app.cron import Runs, StoppedAtOnce
from ledger.collections import MATCHES
from ledger.documents import decode
from ledger.store import every
from ledger.verdicts import Verdict
from scan.verdict import End, Question, Reply, Usage
from tests.app.underway import NEVER_S, Gate, running, runs_of
from tests.cases.test_b_lost_mail import news_for
from tests.world import World

ANN, BEN = "ann@example.com", "ben@example.com"


@pytest.fixture
def runs(world: World) -> Runs:
    return runs_of(world)


class Model:
    """A judge by a script: what it answers to a person's nth call."""

    model = "scripted"

    def __init__(self, script: Callable[[str, int], Awaitable[Reply]]) -> None:
        self._script = script
        self.calls: list[str] = []

    async def ask(self, question: Question, *, at_most_s: float) -> Reply:
        who = ANN if ANN in question.profile else BEN
        self.calls.append(who)
        return await self._script(who, self.calls.count(who))

    async def close(self) -> None:
        """Nothing is open."""


async def wants_verdicts(world: World, *addresses: str) -> None:
    await world.begin()
    for address in addresses:
        await world.user(address, "python", ai=True, about=f"I am {address}.")
    await world.cron()
    await news_for(world)


async def test_what_a_paid_answer_told_is_written_before_a_run_that_ends_at_once_has_ended(
    world: World, runs: Runs
) -> None:
    """Ann's answer was cut off and the rest is asked for, Ben's is on its way: his end is not the end of hers."""
    await wants_verdicts(world, ANN, BEN)
    gate = Gate()
    order: list[str] = []

    async def script(who: str, nth: int) -> Reply:
        if (who, nth) == (ANN, 1):
            return Reply(End.CUT, None, Usage(100, 10), "the answer was cut")
        if model.calls.count(ANN) == 2 and BEN in model.calls:
            gate.reached.set()
        await gate.opened.wait()
        raise AssertionError("it was cancelled")

    async def before(operation: str, collection: str) -> None:
        if (operation, collection) == ("swap", MATCHES):
            await rounds()
        if operation == "commit":
            order.append("lease given back")

    async def after(operation: str, collection: str) -> None:
        if (operation, collection) == ("swap", MATCHES):
            order.append("written")

    model = Model(script)
    world.spy(before, after)
    async with running(world, gate, judge=model) as run:
        order.clear()
        runs.cancel()
        with pytest.raises(StoppedAtOnce):
            await run
    assert order == ["written", "lease given back"]
    kept = [decode(Verdict, s) async for s in every(world.store, MATCHES, {})]
    assert sorted(verdict.input_tokens for verdict in kept) == [0, 100]


async def test_an_answer_that_is_being_written_when_its_run_ends_at_once_is_not_paid_again(
    world: World, runs: Runs
) -> None:
    await wants_verdicts(world, ANN)
    gate = Gate()

    async def script(_who: str, _nth: int) -> Reply:
        return Reply(End.ANSWERED, None, Usage(100, 10))

    async def before(operation: str, collection: str) -> None:
        if (operation, collection) == ("swap", MATCHES) and model.calls:
            await gate.passed()

    model = Model(script)
    world.spy(before)
    async with running(world, gate, judge=model) as run:
        runs.cancel()
        await rounds()
        assert not run.done()
        gate.opened.set()
        with pytest.raises(StoppedAtOnce):
            await run
    (kept,) = [decode(Verdict, s) async for s in every(world.store, MATCHES, {})]
    assert (kept.input_tokens, kept.tries) == (100, 1)


async def rounds() -> None:
    """So many of the loop that whatever waits for nothing else is done."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_told_to_end_a_run_waits_for_no_busy_model_and_asks_nothing_more(world: World, runs: Runs) -> None:
    await wants_verdicts(world, ANN)
    gate = Gate(is_open=True)

    async def busy(_who: str, _nth: int) -> Reply:
        await gate.passed()
        return Reply(End.BUSY, reason="busy", retry_after_s=NEVER_S)

    model = Model(busy)
    async with running(world, gate, judge=model) as run:
        runs.cut()
    await run
    assert model.calls == [ANN]
