"""An event loop whose time is virtual and whose order is a seed: what is ready runs in any order, and nothing waits."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Deadlock(RuntimeError):
    """Everything waits, and nothing will wake it."""


class _NoSockets(selectors.DefaultSelector):
    """Instead of waiting for the world, the clock moves to the next timer."""

    passed_s = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Deadlock
        self.passed_s += max(0.0, timeout)
        return []


class SeededLoop(asyncio.SelectorEventLoop):
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._nothing = _NoSockets()
        super().__init__(self._nothing)

    def time(self) -> float:
        return self._nothing.passed_s

    def _run_once(self) -> None:
        ready: Any = self._ready  # type: ignore[attr-defined]
        if len(ready) > 1:
            order = list(ready)
            self._rng.shuffle(order)
            ready.clear()
            ready.extend(order)
        super()._run_once()  # type: ignore[misc]

    def run_in_executor(self, _executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # a thread's exception belongs to whoever awaits it
            done.set_exception(error)
        return done


def run(main: Callable[[], Coroutine[Any, Any, T]], rng: random.Random) -> T:
    """Run to the end on a loop of its own."""
    loop = SeededLoop(rng)
    try:
        return loop.run_until_complete(main())
    finally:
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        if pending:
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.close()
