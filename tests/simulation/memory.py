"""The document store in memory: the port's promises and nothing else. For simulations, where nothing may wait."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ledger.store import (
    PAGE_MAX_DOCS,
    Create,
    Delete,
    Doc,
    Page,
    Put,
    Snapshot,
    Swap,
    Write,
    meter,
)
from ledger.values import as_utc, batches, check_collection, check_commit, check_commit_size, check_limit, checked


class MemoryStore:
    """One process' memory, shared by all that hold it."""

    def __init__(self, *, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._versions = itertools.count(1)
        self._docs: dict[str, dict[str, tuple[dict[str, Any], str, datetime]]] = {}

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        return self._each([Create(collection, id_, doc) for id_, doc in docs.items()])

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        return self._each([Swap(collection, id_, version, doc) for id_, (version, doc) in changes.items()])

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        self._each([Put(collection, id_, doc) for id_, doc in docs.items()])

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        self._each([Delete(collection, id_) for id_ in dict.fromkeys(ids)])

    async def commit(self, writes: Sequence[Write]) -> bool:
        check_commit(writes)
        clean = [checked(write) for write in writes]
        check_commit_size(_size_bytes(write) for write in clean)
        if clean:
            meter().add(round_trips=1)
        if not all(self._can(write) for write in clean):
            return False
        for write in clean:
            self._do(write)
        return True

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        check_collection(collection)
        wanted = list(dict.fromkeys(ids))
        meter().add(reads=len(wanted), round_trips=_trips(len(wanted), PAGE_MAX_DOCS))
        there = self._docs.get(collection, {})
        return {id_: self._snapshot(collection, id_) for id_ in wanted if id_ in there}

    async def find(
        self,
        collection: str,
        where: Mapping[str, str | int | bool],
        *,
        after: str | None = None,
        limit: int = PAGE_MAX_DOCS,
    ) -> Page:
        check_collection(collection)
        check_limit(limit)
        docs = self._docs.get(collection, {})
        ids = sorted(
            id_
            for id_, (data, _, _) in docs.items()
            if (after is None or id_ > after) and all(_same(data.get(k), v) for k, v in where.items())
        )
        return self._page(collection, ids, limit=limit, cursor=lambda id_: id_)

    async def find_range(
        self,
        collection: str,
        field: str,
        *,
        at_least: datetime | None = None,
        at_most: datetime | None = None,
        newest_first: bool = False,
        after: Any | None = None,
        limit: int = PAGE_MAX_DOCS,
    ) -> Page:
        check_collection(collection)
        check_limit(limit)
        at_least, at_most = (None if bound is None else as_utc(bound) for bound in (at_least, at_most))
        keys = [
            (data[field], id_)
            for id_, (data, _, _) in self._docs.get(collection, {}).items()
            if isinstance(data.get(field), datetime)
            and (at_least is None or data[field] >= at_least)
            and (at_most is None or data[field] <= at_most)
        ]
        keys.sort(reverse=newest_first)
        if after is not None:
            keys = [key for key in keys if (key < after if newest_first else key > after)]
        by_id = {id_: (value, id_) for value, id_ in keys}
        return self._page(collection, [id_ for _, id_ in keys], limit=limit, cursor=lambda id_: by_id[id_])

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        due = await self.find_range(collection, "expire_at", at_most=now, limit=limit)
        await self.delete(collection, [snapshot.id for snapshot in due.items])
        return len(due.items)

    async def ping(self) -> None:
        meter().add(reads=1, round_trips=1)

    async def close(self) -> None:
        return None

    def _each(self, writes: Sequence[Write]) -> dict[str, str]:
        clean = [checked(write) for write in writes]
        done: dict[str, str] = {}
        for batch in batches(clean, size_bytes=_size_bytes):
            meter().add(round_trips=1)
            done |= {write.id: self._do(write) for write in batch if self._can(write)}
        return done

    def _can(self, write: Write) -> bool:
        there = self._docs.get(write.collection, {}).get(write.id)
        match write:
            case Create():
                return there is None
            case Swap(version=version):
                return there is not None and there[1] == version
            case Delete(version=version):
                return version is None or (there is not None and there[1] == version)
            case Put():
                return True

    def _do(self, write: Write) -> str:
        docs = self._docs.setdefault(write.collection, {})
        if isinstance(write, Delete):
            meter().add(deletes=1)
            docs.pop(write.id, None)
            return ""
        meter().add(writes=1)
        version = str(next(self._versions))
        docs[write.id] = (dict(write.data), version, self._clock())
        return version

    def _snapshot(self, collection: str, id_: str) -> Snapshot:
        data, version, written_at = self._docs[collection][id_]
        return Snapshot(id_, copy.deepcopy(data), version, (self._clock() - written_at).total_seconds())

    def _page(self, collection: str, ids: Sequence[str], *, limit: int, cursor: Callable[[str], Any]) -> Page:
        shown = ids[:limit]
        meter().add(reads=max(1, len(shown)), round_trips=1)
        is_full = len(shown) == limit  # the last one perhaps: the next page tells
        return Page(tuple(self._snapshot(collection, id_) for id_ in shown), cursor(shown[-1]) if is_full else None)


def _same(found: object, wanted: object) -> bool:
    return type(found) is type(wanted) and found == wanted


def _size_bytes(write: Write) -> int:
    return 0 if isinstance(write, Delete) else len(json.dumps(write.data, default=str, ensure_ascii=False).encode())


def _trips(count: int, size: int) -> int:
    return -(-count // size)
