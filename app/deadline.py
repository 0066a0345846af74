"""One run's time: a wall that is never run into, and a budget that never shortens a send already begun."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime

ANSWER_AT = 0.9  # of the wall: the rest is for settling what is in flight and for the answer
SHARE_MAX = 0.25  # of the wall, for any single outside call


class Deadline:
    """Elapsed time is the larger of the monotonic and the wall clock: a suspended machine stops only the first."""

    def __init__(
        self, wall_s: float, *, clock: Callable[[], datetime], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.wall_s = wall_s
        self._clock, self._monotonic = clock, monotonic
        self._began_at, self._began_s = clock(), monotonic()
        self._cut = False
        self._waiting: set[asyncio.Future[None]] = set()

    def elapsed_s(self) -> float:
        return max(self._monotonic() - self._began_s, (self._clock() - self._began_at).total_seconds())

    def left_s(self) -> float:
        """Until the answer is due; never negative; 0 once cut."""
        return 0.0 if self._cut else max(0.0, ANSWER_AT * self.wall_s - self.elapsed_s())

    def is_over(self) -> bool:
        """Whether the whole wall has passed: a process that was suspended wakes up in somebody else's time."""
        return self.elapsed_s() >= self.wall_s

    def allows(self, call_s: float) -> bool:
        """Whether a call that may take `call_s` can still begin."""
        return self.left_s() >= call_s

    def share_s(self, call_s: float) -> float:
        """A single call's deadline: its own, at most a quarter of the wall."""
        return min(call_s, SHARE_MAX * self.wall_s)

    async def sleep(self, wait_s: float) -> None:
        """So long at most: a cut ends it. Whoever slept has to ask again what the time allows."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(wait_s, _wake, over)
        self._waiting.add(over)  # before the question: a signal may come between any two lines
        try:
            if not self._cut:
                await over
        finally:
            self._waiting.discard(over)
            timer.cancel()

    def cut(self) -> None:
        """The wall counts as reached: the process was told to end. A signal's handler may call it."""
        self._cut = True
        for over in tuple(self._waiting):
            over.get_loop().call_soon_threadsafe(_wake, over)


def _wake(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
