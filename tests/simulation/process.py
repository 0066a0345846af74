"""One call of /cron in a process of its own: whatever it awaits of the world passes through `operate`."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Generator
from datetime import datetime
from types import coroutine
from typing import Any, TypeVar

from ledger.store import Unreachable
from tests.simulation.plan import Call
from tests.simulation.world import World

T = TypeVar("T")

SLOW_S = 1.5  # one operation's longest way to the world, and back
LONG_S = 14.0  # a letter that takes its time
RAISES: Any = object()


class Killed(BaseException):
    """The process is gone; what it awaited never comes back."""


@coroutine
def _turn() -> Generator[None, None, None]:
    yield


class Process:
    """What befalls one run. `read` is what it was last told of each user, and when."""

    def __init__(self, world: World, call: Call) -> None:
        self.world, self.call = world, call
        self.rng = random.Random(world.seed * 1009 + call.name)
        self.is_slow = world.is_slow
        self.is_dead = False
        self.befallen: list[str] = []  # troubles that came
        self.suspended_s = 0.0  # in all
        self.began_at = world.now()
        self.matched_for: set[str] = set()  # catch-ups that its matching has read
        self.in_flight = 0  # letters
        self.has_accepted = self.is_paused = False  # as far as it has heard
        self.lock_nonce: str | None = None  # what it wrote into the lock
        self.read: dict[str, tuple[datetime, dict[str, Any] | None]] = {}
        self._troubles = dict(call.troubles)
        self._count = 0
        self._suspended_until_s = 0.0

    async def operate(self, name: str, do: Callable[[], Awaitable[T]], not_done: T = RAISES) -> T:
        """Perhaps late, perhaps refused, perhaps the last. `not_done` is what a lost answer says."""
        await self.breathe()
        self._count += 1
        if self.world.is_loud:
            self.world.tell(f"p{self.call.name} {self._count}: {name}")
        if not self._troubles:
            done = await do()
            await self.breathe()
            return done
        what = self._troubles.pop(self._count, None) or self._troubles.pop(name, None) or ""
        if what == "lost" and not_done is RAISES:
            what = "untold"  # a read has no answer that says "not done"
        if what:
            self.befallen.append(what)
            self.world.tell(f"p{self.call.name} {what} at {self._count}: {name}")
        return await self._troubled(what, do, not_done)

    async def _troubled(self, what: str, do: Callable[[], Awaitable[T]], not_done: T) -> T:
        if what.startswith("stop"):
            self._suspend(what)
            await self.breathe()
        if what == "kill-before":
            self._die()
        if what == "refused":
            raise Unreachable("simulated")
        done = await do()
        if what == "kill-after":
            self._die()
        if what.startswith("late"):
            self._suspend(what)
        await self.breathe()
        if what == "untold":
            raise Unreachable("simulated")
        return not_done if what == "lost" else done

    async def breathe(self) -> None:
        """One step: a moment passes; a suspended process waits, a dead one goes no further."""
        self.world.steps += 1
        if self.is_dead:
            raise Killed
        late = self.rng.random() if self.is_slow else 0.0
        if late > 2 / 3:
            await asyncio.sleep((late - 2 / 3) * 3 * SLOW_S)
        else:
            await _turn()
        while (wait_s := self._suspended_until_s - self.world.clock_s()) > 0:
            await asyncio.sleep(wait_s)
        if self.is_dead:
            raise Killed

    async def dawdle(self) -> None:
        if self.is_slow and self.rng.random() < 0.1:
            await asyncio.sleep(self.rng.random() * LONG_S)

    def _suspend(self, what: str) -> None:
        stop_s = float(what.split()[1])
        self.suspended_s += stop_s
        self.world.stop_max_s = max(self.world.stop_max_s, stop_s)
        self._suspended_until_s = self.world.clock_s() + stop_s

    def breaks(self, promise: str, how: str) -> None:
        self.world.break_(promise, f"p{self.call.name} {how}")

    def _die(self) -> None:
        self.is_dead = True
        raise Killed
