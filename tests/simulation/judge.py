"""What a simulation must have kept: the promises, counted on the letters that left the building."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict

from ledger.ids import uid_of
from ledger.lifecycle import State
from ledger.records import DELIVERIES, DIGESTS, JOBS, Delivery, User, decode
from ledger.store import every
from ledger.users import read
from tests.simulation import loop
from tests.simulation.plan import DAY_S, DAYS, Call, Plan, smaller
from tests.simulation.world import World, address, call, edit, sign_up

QUIET_DAYS = 9  # after the last fault: a weekly digest has come, and everything has found its end
LEFT = frozenset({"stop", "delete", "pause"})


def simulate(plan: Plan) -> tuple[list[str], World]:
    """Run a plan; returns the promises it broke, and the world for whoever wants to look."""
    rng = random.Random(plan.seed)
    world = World(plan, rng)
    broken = loop.run(lambda: _run(world), rng)
    return broken, world


def shrink(plan: Plan, *, tries_max: int = 400) -> Plan:
    """The smallest plan found that still breaks a promise."""
    tries = 0
    again = True
    while again:
        again = False
        for candidate in smaller(plan):
            tries += 1
            if tries > tries_max:
                return plan
            if simulate(candidate)[0]:
                plan, again = candidate, True
                break
    return plan


async def _run(world: World) -> list[str]:
    plan = world.plan
    await call(world, Call(0.0), 0)  # the silent baseline
    for person, mode in enumerate(plan.modes):
        await sign_up(world, person, mode)
    tasks = [asyncio.create_task(_later(world, c.at_s, c, n)) for n, c in enumerate(plan.calls, start=1)]
    tasks += [asyncio.create_task(_edit_later(world, e.at_s, e)) for e in plan.edits]
    await asyncio.gather(*tasks)
    world.is_quiet = True
    begun = max(asyncio.get_running_loop().time(), DAYS * DAY_S)
    for hour in range(1, QUIET_DAYS * 24, 3):
        await _at(begun + hour * 3600.0)
        await call(world, Call(begun + hour * 3600.0), 10_000 + hour)
    return await _broken(world)


async def _later(world: World, at_s: float, what: Call, number: int) -> None:
    await _at(at_s)
    await call(world, what, number)


async def _edit_later(world: World, at_s: float, what: object) -> None:
    await _at(at_s)
    await edit(world, what)  # type: ignore[arg-type]


async def _at(at_s: float) -> None:
    await asyncio.sleep(max(0.0, at_s - asyncio.get_running_loop().time()))


async def _broken(world: World) -> list[str]:
    broken: list[str] = []
    alerts: Counter[tuple[str, int]] = Counter()
    digests: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for sent in world.sent:
        for job in sent.jobs:
            pair = (sent.letter.to, job)
            if sent.letter.kind == "alert":
                alerts[pair] += 1
            else:
                digests[pair].append(sent.process.is_clean)
    broken += [f"alert {pair} came {n} times" for pair, n in alerts.items() if n > 1]
    names = Counter(sent.letter.outside_id for sent in world.sent if sent.letter.kind == "alert")
    broken += [f"{n} alerts share the name {name}" for name, n in names.items() if n > 1]
    broken += [f"{pair} came as alert and in a digest" for pair in alerts.keys() & digests.keys()]
    if world.plan.outcomes == (("accepted", 1),):
        broken += [
            f"{pair} came again in a digest though nothing had happened to the first"
            for pair, clean in digests.items()
            if any(clean[:-1])
        ]
    broken += await _unfinished(world)
    broken += await _lost(world, alerts, {pair: len(clean) for pair, clean in digests.items()})
    return broken


async def _unfinished(world: World) -> list[str]:
    waiting = [
        f"row {s.data['key'][-4:]} still {s.data['state']}"
        async for s in every(world.store, DELIVERIES, {})
        if s.data["state"] in (State.QUEUED, State.CLAIMED)
    ]
    live = [
        f"digest {s.data['period']} still {s.data['state']}" async for s in every(world.store, DIGESTS, {"live": True})
    ]
    open_ = [f"job {s.data['title']} still open" async for s in every(world.store, JOBS, {"state": "open"})]
    return [*waiting, *live, *open_]


async def _lost(world: World, alerts: Counter[tuple[str, int]], digests: dict[tuple[str, int], int]) -> list[str]:
    """Who was there all the time has every job: mailed, or visibly unclear or refused."""
    rows: dict[tuple[str, str], Delivery] = {}
    async for snapshot in every(world.store, DELIVERIES, {}):
        row = decode(Delivery, snapshot)
        rows[row.uid, row.link] = row
    gone = {e.person for e in world.plan.edits if e.what.partition(":")[0] in LEFT}
    broken: list[str] = []
    for person in set(range(len(world.plan.modes))) - gone:
        uid = uid_of(address(person))
        user = await read(world.store, uid)
        if user is None or not isinstance(user.record, User) or not user.record.active:
            continue  # stopped by three refusals in a row
        for job in range(len(world.plan.jobs)):
            pair = (address(person), job)
            row = rows.get((uid, f"https://jobs.example.com/{job}"))
            came = alerts[pair] + digests.get(pair, 0)
            if row is None:
                broken.append(f"{pair} has no row")
            elif row.state is State.SENT and not came:
                broken.append(f"{pair} is called sent and never came")
            elif row.state is State.EXPIRED:
                broken.append(f"{pair} expired: {row.why}")
            elif row.state is State.FAILED and row.why not in ("550", "unclear, gave up"):
                broken.append(f"{pair} failed: {row.why}")
    return broken
