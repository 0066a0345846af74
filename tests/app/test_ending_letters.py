"""Told to end while letters are in flight or put off: none begins any more, and nothing goes on behind the end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.cron import Runs, StoppedAtOnce
from app.deadline import Deadline
from ledger.collections import USERS
from ledger.lifecycle import Attempt, Outcome, State
from ledger.records import Mode
from mail.letter import Letter
from tests.app.underway import NEVER_S, WALL_S, Gate, lock_of, running, runs_of
from tests.cases.test_b_lost_mail import NEW, news_for
from tests.faults import Go
from tests.world import World

ANN = "ann@example.com"
BUSY = Attempt(Outcome.DEFERRED, "busy", retry_after_s=60.0)
MAYBE = Attempt(Outcome.UNCLEAR, "the answer was lost", repeatable=True, retry_after_s=NEVER_S)


@pytest.fixture
def runs(world: World) -> Runs:
    return runs_of(world)


async def test_a_letter_in_flight_when_its_run_ends_at_once_stays_claimed(world: World, runs: Runs) -> None:
    await news_for(world, ANN)
    gate = Gate()

    async def slow(_letter: Letter, go: Go) -> Attempt:
        await gate.passed()
        return await go()

    transport = world.intercept(slow)
    async with running(world, gate) as run:
        runs.cancel()
        with pytest.raises(StoppedAtOnce):
            await run
    assert ((await world.rows())[NEW].state, await lock_of(world)) == (State.CLAIMED, None)
    world.after(minutes=11)
    assert (await world.cron())["mail"]["unclear"] == 1
    assert (transport.begun, world.mails()) == (1, [])


async def test_no_run_begins_once_the_process_is_told_to_end(world: World, runs: Runs) -> None:
    await news_for(world, ANN)
    before = await world.dump("locks", "runs", "deliveries")
    runs.wind_down()
    with pytest.raises(StoppedAtOnce, match="about to end; call again"):
        await runs.run(world.parts, wall_s=WALL_S)
    assert (world.mails(), runs.were_stopped) == ([], False)
    assert await world.dump("locks", "runs", "deliveries") == before


@pytest.mark.parametrize("mode", [Mode.INSTANT, Mode.DAILY])
async def test_a_run_that_ends_at_once_makes_no_second_try_behind_its_end(world: World, runs: Runs, mode: Mode) -> None:
    await news_for(world, ANN, mode=mode)
    if mode is Mode.DAILY:
        await world.cron()
        world.after(days=1)
    gate = Gate(is_open=True)

    async def busy(_letter: Letter, _go: Go) -> Attempt:
        await gate.passed()
        return BUSY

    transport = world.intercept(busy)
    async with running(world, gate) as run:
        runs.cancel()
        with pytest.raises(StoppedAtOnce):
            await run
    assert transport.begun == 1


@pytest.mark.parametrize(("first", "state"), [(BUSY, State.QUEUED), (MAYBE, State.UNCLEAR)])
async def test_told_to_end_a_run_waits_for_no_second_try_and_makes_none(
    world: World, runs: Runs, first: Attempt, state: State
) -> None:
    await news_for(world, ANN)
    gate = Gate(is_open=True)

    async def busy(_letter: Letter, _go: Go) -> Attempt:
        await gate.passed()
        return first

    transport = world.intercept(busy)
    async with running(world, gate) as run:  # which waits by now: nothing else comes between answer and wait
        runs.cut()
    assert (await run)["status"] == "completed"
    assert (transport.begun, (await world.rows())[NEW].state) == (1, state)


async def test_told_to_end_while_it_reads_the_person_again_a_run_makes_no_second_try(world: World, runs: Runs) -> None:
    await news_for(world, ANN)

    async def busy(_letter: Letter, _go: Go) -> Attempt:
        return replace(BUSY, retry_after_s=0.0)

    async def cut(operation: str, collection: str) -> None:
        if (operation, collection) == ("get", USERS) and transport.begun:
            runs.cut()

    transport = world.intercept(busy)
    world.spy(cut)
    await runs.run(world.parts, wall_s=WALL_S)
    assert transport.begun == 1


async def test_a_sleep_ends_with_its_time_or_with_a_cut_whichever_is_first() -> None:
    deadline = Deadline(WALL_S, clock=lambda: datetime.now(UTC))
    await deadline.sleep(0.0)
    sleeping = asyncio.create_task(deadline.sleep(NEVER_S))
    await asyncio.sleep(0)  # it sleeps
    assert not sleeping.done()
    deadline.cut()
    await sleeping
    await deadline.sleep(NEVER_S)  # nothing is waited for any more
