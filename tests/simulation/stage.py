"""Where a scene is prepared: the real code, one thing after another, nothing slow."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from tests.simulation.plan import Call
from tests.simulation.running import call
from tests.simulation.world import World, sign_up

NOON = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)  # a Thursday, four hours after the daily digest
BEFORE = 900  # a job of the silent baseline, never mailed
FIRST = 100  # number of a scene's first own job

Modes = tuple[str, ...]


class Stage:
    def __init__(self, world: World, modes: Modes) -> None:
        self.world, self.modes = world, modes
        self.listed = [BEFORE]
        self.ended_s = 0.0

    async def call(self, *troubles: tuple[str, str], provider: str = "accepted") -> None:
        world = self.world
        world.listed_before = tuple(self.listed)
        world.outcomes = ((provider, 1),)
        await call(world, Call(world.clock_s(), troubles=troubles))
        self.ended_s = world.clock_s()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.ended_s = self.world.clock_s()

    async def until(self, at_s: float) -> None:
        await self.sleep(max(0.0, at_s - self.world.clock_s()))

    def appear(self, count: int) -> None:
        first = max([FIRST - 1, *(job for job in self.listed if job != BEFORE)]) + 1
        self.listed += range(first, first + count)

    async def people(self, **fields: object) -> None:
        """Sign up; their first matching finds nothing."""
        for person, mode in enumerate(self.modes):
            await sign_up(self.world, person, mode, **fields)

    async def open(self, **fields: object) -> None:
        await self.call()
        await self.people(**fields)
        await self.sleep(900)
        await self.call()
        await self.sleep(900)
