"""Where a drilled process dies: at the n-th outside call of a kind, before, during or after it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from app.parts import Parts
from ledger.lifecycle import Attempt
from ledger.records import SourceState
from ledger.store import Doc, Page, Snapshot, Store, Write
from mail.letter import Letter
from mail.transports.port import Transport
from scan.posting import Answer, Source
from scan.verdict import Judge, Question, Reply

T = TypeVar("T")

KINDS = ("store", "mail", "fetch", "model")
WHENS = ("before", "during", "after")
DURING_MAX_S = 0.004  # into the call: a write to a local file takes less than a millisecond


@dataclass(frozen=True, slots=True)
class Kill:
    """SIGKILL to the own process at the `nth` (from 1) outside call of `kind`."""

    kind: str
    when: str
    nth: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.when}:{self.nth}"

    @classmethod
    def parse(cls, text: str) -> Kill:
        kind, when, nth = text.split(":")
        return cls(kind, when, int(nth))


class Killer:
    """Counts the outside calls of this process, and ends it at the one that was chosen."""

    def __init__(self, kill: Kill | None, *, during_s: float = DURING_MAX_S / 2) -> None:
        self._kill, self._during_s = kill, during_s
        self.counts: Counter[str] = Counter()

    async def call(self, kind: str, do: Callable[[], Awaitable[T]]) -> T:
        self.counts[kind] += 1
        if self._kill is None or self._kill.kind != kind or self._kill.nth != self.counts[kind]:
            return await do()
        if self._kill.when == "during":
            task = asyncio.ensure_future(do())
            await asyncio.sleep(self._during_s)
            _die()
            return await task
        if self._kill.when == "after":
            await do()
        _die()
        raise AssertionError("a killed process goes no further")

    def rewire(self, parts: Parts) -> Parts:
        return replace(
            parts,
            store=KillingStore(parts.store, self),
            transport=KillingTransport(parts.transport, self),
            sources={name: KillingSource(source, self) for name, source in parts.sources.items()},
            judge=KillingJudge(parts.judge, self) if parts.judge is not None else None,
        )


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class KillingTransport:
    def __init__(self, inner: Transport, killer: Killer) -> None:
        self._inner, self._killer = inner, killer
        self.name, self.smtputf8 = inner.name, inner.smtputf8

    def longest_s(self, at_most_s: float) -> float:
        return self._inner.longest_s(at_most_s)

    async def send(self, letter: Letter, *, at_most_s: float = 15.0) -> Attempt:
        return await self._killer.call("mail", lambda: self._inner.send(letter, at_most_s=at_most_s))

    async def close(self) -> None:
        await self._inner.close()


class KillingSource:
    def __init__(self, inner: Source, killer: Killer) -> None:
        self._inner, self._killer = inner, killer
        self.name, self.platform = inner.name, inner.platform
        self.min_interval_s, self.attribution = inner.min_interval_s, inner.attribution

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        return await self._killer.call("fetch", lambda: self._inner.poll(state, now=now, deadline_s=deadline_s))


class KillingJudge:
    def __init__(self, inner: Judge, killer: Killer) -> None:
        self._inner, self._killer = inner, killer
        self.model = inner.model

    async def ask(self, question: Question, *, at_most_s: float) -> Reply:
        return await self._killer.call("model", lambda: self._inner.ask(question, at_most_s=at_most_s))

    async def close(self) -> None:
        await self._inner.close()


class KillingStore:
    """Only writes count: a process that dies while it reads has done nothing."""

    def __init__(self, inner: Store, killer: Killer) -> None:
        self._inner, self._killer = inner, killer

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        return await self._write(docs, lambda: self._inner.create(collection, docs))

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        return await self._write(changes, lambda: self._inner.swap(collection, changes))

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        await self._write(docs, lambda: self._inner.put(collection, docs))

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        await self._write(ids, lambda: self._inner.delete(collection, ids))

    async def commit(self, writes: Sequence[Write]) -> bool:
        return await self._write(writes, lambda: self._inner.commit(writes))

    async def _write(self, what: Any, do: Callable[[], Awaitable[T]]) -> T:
        return await self._killer.call("store", do) if what else await do()

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        return await self._inner.get(collection, ids)

    async def find(self, collection: str, where: Mapping[str, str | int | bool], **more: Any) -> Page:
        return await self._inner.find(collection, where, **more)

    async def find_range(self, collection: str, field: str, **more: Any) -> Page:
        return await self._inner.find_range(collection, field, **more)

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        return await self._inner.prune(collection, now=now, limit=limit)

    async def ping(self) -> None:
        await self._inner.ping()

    async def close(self) -> None:
        await self._inner.close()
