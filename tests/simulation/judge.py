"""What a simulation must have kept: the promises, counted on the letters that left the building."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from ledger.collections import DELIVERIES, DIGESTS, JOBS, LOCKS, MATCHES, SOURCES, USERS
from tests.simulation import ending, loop
from tests.simulation.plan import Call, Plan, smaller
from tests.simulation.process import Killed
from tests.simulation.running import call
from tests.simulation.scenes import prepared
from tests.simulation.world import World, edit

QUIET_RUNS_MAX = 120  # after the last fault; whatever waits longer waits for ever
QUIET_NAME = 1000  # of the first of these runs
AGAIN_AFTER_S = 61.0  # the board is asked again
AGAIN_ONE_IN = 2  # ends, of those that
SHRINK_TRIES_MAX = 600
LUCKS = 3  # seeds tried of each smaller plan: another order of the same


def simulate(plan: Plan, *, is_loud: bool = False) -> tuple[list[str], World]:
    """Run a plan; returns the promises it broke, and the world for whoever wants to look."""
    start = prepared(plan.start, plan.modes)
    random.seed(plan.seed)  # the product's own jitter
    world = start.world(plan)
    world.is_loud = is_loud
    rng = random.Random(plan.seed)
    lost = loop.run(lambda: _run(world, plan), rng)
    strange = [f"error: {type(error).__name__} in a task" for error in lost if not isinstance(error, Killed)]
    broken = [*world.broken, *strange, *ending.broken(world, plan, start)]
    return broken, world


def shrink(plan: Plan, *, tries_max: int = SHRINK_TRIES_MAX) -> Plan:
    """The smallest plan found that still breaks one of the promises that this one breaks."""
    kinds = _kinds(plan)
    tries = 0
    again = True
    while again:
        again = False
        for candidate in _lucky(plan):
            tries += 1
            if tries > tries_max:
                return plan
            if kinds & _kinds(candidate):
                plan, again = candidate, True
                break
    return plan


def _kinds(plan: Plan) -> set[str]:
    return {broken.partition(":")[0] for broken in simulate(plan)[0]}


def _lucky(plan: Plan) -> Iterator[Plan]:
    for candidate in smaller(plan):
        for luck in range(LUCKS):
            yield replace(candidate, seed=plan.seed + luck)


async def _run(world: World, plan: Plan) -> list[BaseException]:
    running = asyncio.get_running_loop()
    assert isinstance(running, loop.SeededLoop)
    world.clock_s = running.time
    tasks = [asyncio.create_task(_call_at(world, one)) for one in plan.calls]
    tasks += [asyncio.create_task(_edit_at(world, plan, number)) for number in range(len(plan.edits))]
    for task in tasks:
        await task
    if plan.jobs:
        await _until(world, max(plan.jobs))
    world.is_quiet = True
    await _to_the_end(world)
    return running.lost


async def _call_at(world: World, what: Call) -> None:
    await _until(world, what.at_s)
    await call(world, what)


async def _edit_at(world: World, plan: Plan, number: int) -> None:
    change = plan.edits[number]
    await _until(world, change.at_s)
    await edit(world, change, plan.modes[change.person])


async def _until(world: World, at_s: float) -> None:
    await asyncio.sleep(max(0.0, at_s - world.clock_s()))


async def _to_the_end(world: World) -> None:
    """Untroubled runs, each when the next thing is due, until nothing waits; perhaps one more, which sends nothing."""
    since = world.now()
    for number in range(QUIET_RUNS_MAX):
        due = _next_due(world, since)
        if due is None:
            if number % AGAIN_ONE_IN == 0:
                await _once_more(world, number)
            return
        wait_s = (due - world.now()).total_seconds()
        await asyncio.sleep(max(wait_s, AGAIN_AFTER_S if number else 0.0))
        await call(world, Call(world.clock_s(), QUIET_NAME + number))
    world.break_("end", f"something still waits after {QUIET_RUNS_MAX} quiet runs")


async def _once_more(world: World, number: int) -> None:
    before = len(world.sent), sum(map(len, world.asked.values()))
    await asyncio.sleep(AGAIN_AFTER_S)
    await call(world, Call(world.clock_s(), QUIET_NAME + number))
    if (len(world.sent), sum(map(len, world.asked.values()))) != before:
        world.break_("idle", "a run with nothing to do sent or asked something")


def _next_due(world: World, since: datetime) -> datetime | None:
    """When the next thing that waits is due; None: nothing does, and the board was read since."""
    store = world.store
    due = [at for c in (DELIVERIES, DIGESTS, MATCHES, USERS) for d in store.all(c).values() if (at := d.get("wake_at"))]
    if any(job["state"] == "open" for job in store.all(JOBS).values()):
        due.append(world.now())
    board = store.all(SOURCES)["board"]
    if board.get("ok_at") is None or board["ok_at"] < since:
        due.append(board["next_poll_at"])
    if not due:
        return None
    held = store.peek(LOCKS, "cron")
    free_at = world.now() + timedelta(seconds=max(0.0, held.data["lease_s"] - held.age_s) if held is not None else 0.0)
    return max(min(due), free_at)
