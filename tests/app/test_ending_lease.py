"""Told to end at once while the lease is on its way: it is given back, and who has a report gets it."""

from __future__ import annotations

import pytest

from app.cron import Runs, StoppedAtOnce
from ledger.collections import LOCKS
from ledger.lease import LOCK_ID
from tests.app.underway import Gate, lock_of, running, runs_of
from tests.world import World

HELD_BY_ANOTHER = {"holder": "another", "nonce": "n", "lease_s": 600.0}


@pytest.fixture
def runs(world: World) -> Runs:
    return runs_of(world)


async def test_a_run_told_to_end_at_once_while_it_gives_its_lease_back_has_its_report(world: World, runs: Runs) -> None:
    gate = Gate()

    async def slow(operation: str, _collection: str) -> None:
        if operation == "commit":
            await gate.passed()

    world.spy(slow)
    async with running(world, gate) as run:
        runs.cancel()
    assert (await run)["status"] == "completed"
    assert (await lock_of(world), runs.were_stopped) == (None, False)


@pytest.mark.parametrize("holder", [None, "another"])
async def test_a_run_told_to_end_at_once_while_it_takes_the_lease_leaves_it_as_it_was(
    world: World, runs: Runs, holder: str | None
) -> None:
    gate = Gate()
    if holder is not None:
        await world.store.create(LOCKS, {LOCK_ID: {"ts": world.now, **HELD_BY_ANOTHER}})

    async def slow(operation: str, collection: str) -> None:
        if (operation, collection) == ("create", LOCKS):
            await gate.passed()

    world.spy(after=slow)
    async with running(world, gate) as run:
        runs.cancel()
    with pytest.raises(StoppedAtOnce):
        await run
    assert (await lock_of(world), runs.were_stopped) == (holder, True)


async def test_a_run_told_to_end_at_once_whose_caller_is_gone_is_waited_for_until_its_lease_is_back(
    world: World, runs: Runs
) -> None:
    gate = Gate()

    async def slow(operation: str, collection: str) -> None:
        if (operation, collection) == ("create", LOCKS):
            await gate.passed()

    world.spy(after=slow)
    async with running(world, gate) as run:
        run.cancel()
        runs.cancel()
    assert (await lock_of(world), runs.were_stopped) == (None, True)
