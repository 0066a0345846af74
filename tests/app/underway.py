"""Runs that are under way, held at a point of the test's choice while their process is told to end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from app.cron import Runs
from ledger.collections import LOCKS
from ledger.lease import LOCK_ID
from tests.world import World

NEVER_S = 1e6  # a wait that ends by a signal, or the test does not
WALL_S = 1e8


class Gate:
    """Whoever comes to it is seen, and waits until it is opened."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()
        if is_open:
            self.opened.set()

    async def passed(self) -> None:
        self.reached.set()
        await self.opened.wait()


def runs_of(world: World) -> Runs:
    runs: Runs = world.app.state.runs
    return runs


@contextlib.asynccontextmanager
async def running(world: World, gate: Gate, **parts: Any) -> AsyncIterator[asyncio.Task[dict[str, Any]]]:
    """A run that has come to the gate, which opens behind the block. The run ends there at last, and all of it."""
    before = asyncio.all_tasks()
    run = asyncio.create_task(runs_of(world).run(replace(world.parts, **parts), wall_s=WALL_S))
    await gate.reached.wait()
    yield run
    if not run.done():
        gate.opened.set()
        await asyncio.wait([run])
    await runs_of(world).drain()
    assert asyncio.all_tasks() <= before, "something of the run goes on behind its end"


async def lock_of(world: World) -> str | None:
    found = await world.store.get(LOCKS, [LOCK_ID])
    return str(found[LOCK_ID].data["holder"]) if found else None
