"""An event loop whose time is virtual and whose order is a seed: of what is ready, any one goes next."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from typing import Any, TypeVar

T = TypeVar("T")


class Deadlock(RuntimeError):
    """Everything waits, and nothing will wake it."""


class _Turn:
    """One callback that waits for its turn, or for its time."""

    __slots__ = ("args", "callback", "context", "is_cancelled")

    def __init__(self, callback: Callable[..., Any], args: tuple[Any, ...], context: Context | None) -> None:
        self.callback, self.args = callback, args
        self.context = copy_context() if context is None else context
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def cancelled(self) -> bool:
        return self.is_cancelled


class SeededLoop(asyncio.BaseEventLoop):
    """Without sockets: when nothing is ready, the clock moves to the next timer."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._choose = rng.random
        self._waiting: deque[_Turn] = deque()
        self._timers: list[tuple[float, int, _Turn]] = []
        self._numbers = itertools.count()
        self.passed_s = 0.0
        self.lost: list[BaseException] = []  # exceptions of tasks that nobody awaited

    def time(self) -> float:
        return self.passed_s

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Turn:
        turn = _Turn(callback, args, context)
        self._waiting.append(turn)
        return turn

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Turn:
        turn = _Turn(callback, args, context)
        heapq.heappush(self._timers, (when, next(self._numbers), turn))
        return turn

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Turn:
        return self.call_at(self.passed_s + delay, callback, *args, context=context)

    def _run_once(self) -> None:
        waiting, timers = self._waiting, self._timers
        while timers and (timers[0][0] <= self.passed_s or not waiting):
            when, _, turn = heapq.heappop(timers)
            if not turn.is_cancelled:
                self.passed_s = max(self.passed_s, when)
                waiting.append(turn)
        if not waiting:
            raise Deadlock
        if (count := len(waiting)) > 1:
            waiting.rotate(-int(self._choose() * count))
        turn = waiting.popleft()
        if not turn.is_cancelled:
            try:
                turn.context.run(turn.callback, *turn.args)
            except Exception as error:
                self.lost.append(error)

    def run_in_executor(self, _executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # a thread's exception belongs to whoever awaits it
            done.set_exception(error)
        return done

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if (error := context.get("exception")) is not None:
            self.lost.append(error)


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
