"""Parts that misbehave on demand, around the real ones."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from ledger.lifecycle import Attempt
from mail.letter import Letter
from mail.transports.port import Transport

Go = Callable[[], Awaitable[Attempt]]
Hook = Callable[[Letter, Go], Awaitable[Attempt]]


class Intercepted:
    """A transport whose every letter passes a hook: `hook(letter, go)`, where `await go()` sends it for real.

    `begun` counts the letters that came to it.
    """

    def __init__(self, inner: Transport, hook: Hook) -> None:
        self._inner, self._hook = inner, hook
        self.begun = 0

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def smtputf8(self) -> bool:
        return self._inner.smtputf8

    def longest_s(self, at_most_s: float) -> float:
        return self._inner.longest_s(at_most_s)

    async def send(self, letter: Letter, *, at_most_s: float = math.inf) -> Attempt:
        self.begun += 1
        return await self._hook(letter, lambda: self._inner.send(letter, at_most_s=at_most_s))

    async def close(self) -> None:
        await self._inner.close()


Watch = Callable[[str, str], Awaitable[None]]


async def nothing(_operation: str, _collection: str) -> None:
    """Watches, and does nothing."""


class Spied:
    """A store with `before(operation, collection)` ahead of every call and `after` behind it; both may raise."""

    def __init__(self, inner: Any, before: Watch = nothing, after: Watch = nothing) -> None:
        self._inner, self._before, self._after = inner, before, after

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._inner, name)

        async def told(*args: Any, **kwargs: Any) -> Any:
            collection = args[0] if args and isinstance(args[0], str) else ""
            await self._before(name, collection)
            answer = await operation(*args, **kwargs)
            await self._after(name, collection)
            return answer

        return told


class Forgetful:
    """A store that does every write, and denies the nth: what a repeat of a write whose answer was lost is told."""

    def __init__(self, inner: Any, nth: int) -> None:
        self._inner, self._nth = inner, nth
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._inner, name)
        nothing_done: dict[str, Any] = {"create": {}, "swap": {}, "commit": False}
        if name not in nothing_done:
            return operation

        async def denied(*args: Any, **kwargs: Any) -> Any:
            self.writes += 1
            is_denied = self.writes == self._nth
            answer = await operation(*args, **kwargs)
            return nothing_done[name] if is_denied else answer

        return denied
