"""A store in trouble: writes that are refused, writes whose answer is lost, reads that fail. By a seed, for drills."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from ledger.store import Doc, Page, Snapshot, Store, Unreachable, Write

T = TypeVar("T")

READS_SHARE = 0.2  # of the writes' share: a run reads more often than it writes


class TroubledStore:
    """With a chance of `share`, as it is now, a write goes wrong: not done and raised, or done and told otherwise."""

    def __init__(self, inner: Store, *, share: Callable[[], float], seed: int) -> None:
        self._inner, self._share, self._rng = inner, share, random.Random(seed)

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        nothing: dict[str, str] = {}
        return await self._write(docs, lambda: self._inner.create(collection, docs), nothing)

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        nothing: dict[str, str] = {}
        return await self._write(changes, lambda: self._inner.swap(collection, changes), nothing)

    async def commit(self, writes: Sequence[Write]) -> bool:
        return await self._write(writes, lambda: self._inner.commit(writes), False)

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        await self._write(docs, lambda: self._inner.put(collection, docs), None)

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        await self._write(ids, lambda: self._inner.delete(collection, ids), None)

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        self._read()
        return await self._inner.get(collection, ids)

    async def find(self, collection: str, where: Mapping[str, str | int | bool], **more: Any) -> Page:
        self._read()
        return await self._inner.find(collection, where, **more)

    async def find_range(self, collection: str, field: str, **more: Any) -> Page:
        self._read()
        return await self._inner.find_range(collection, field, **more)

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        return await self._inner.prune(collection, now=now, limit=limit)

    async def ping(self) -> None:
        await self._inner.ping()

    async def close(self) -> None:
        await self._inner.close()

    def _read(self) -> None:
        if self._rng.random() < self._share() * READS_SHARE:
            raise Unreachable("drill: the store does not answer")

    async def _write(self, what: Any, do: Callable[[], Awaitable[T]], not_done: T) -> T:
        if not what or self._rng.random() >= self._share():
            return await do()
        if self._rng.random() < 0.5:
            raise Unreachable("drill: the store does not answer")
        await do()
        if self._rng.random() < 0.5:
            raise Unreachable("drill: the answer was lost")
        return not_done
