"""The document store in memory: the port's promises and nothing else. For simulations, where nothing may wait."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.store import (
    BATCH_MAX_BYTES,
    BATCH_MAX_DOCS,
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

_Docs = dict[str, dict[str, tuple[dict[str, Any], str, datetime]]]


@dataclass(frozen=True, slots=True)
class Frozen:
    """All documents at one moment. One that is stored never changes, another takes its place: so they are shared."""

    docs: _Docs
    version: int


class MemoryStore:
    """One process' memory, shared by all that hold it; `begin` is where another one stood."""

    def __init__(self, *, clock: Callable[[], datetime], begin: Frozen | None = None) -> None:
        self._clock = clock
        self._versions = itertools.count(begin.version if begin is not None else 1)
        self._docs: _Docs = {name: dict(docs) for name, docs in begin.docs.items()} if begin is not None else {}

    def frozen(self) -> Frozen:
        return Frozen({name: dict(docs) for name, docs in self._docs.items()}, next(self._versions))

    def all(self, collection: str) -> dict[str, dict[str, Any]]:
        """The documents themselves, for whoever judges and changes nothing."""
        return {id_: data for id_, (data, _, _) in self._docs.get(collection, {}).items()}

    def peek(self, collection: str, id_: str) -> Snapshot | None:
        """The same of one."""
        if (there := self._docs.get(collection, {}).get(id_)) is None:
            return None
        return Snapshot(id_, there[0], there[1], (self._clock() - there[2]).total_seconds())

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
        if not _is_small(clean):
            check_commit_size(map(_size_bytes, clean))
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
        ids = [id_ for id_ in docs if after is None or id_ > after]
        for name, wanted in where.items():
            ids = [id_ for id_ in ids if _same(docs[id_][0].get(name), wanted)]
        ids.sort()
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
            (found, id_)
            for id_, (data, _, _) in self._docs.get(collection, {}).items()
            if isinstance(found := data.get(field), datetime)
            and (at_least is None or found >= at_least)
            and (at_most is None or found <= at_most)
        ]
        keys.sort(reverse=newest_first)
        if after is not None:
            keys = [key for key in keys if (key < after if newest_first else key > after)]
        by_id = {id_: (value, id_) for value, id_ in keys}
        return self._page(collection, [id_ for _, id_ in keys], limit=limit, cursor=lambda id_: by_id[id_])

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        if not self._docs.get(collection):
            meter().add(reads=1, round_trips=1)
            return 0
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
        for batch in [clean] if clean and _is_small(clean) else batches(clean, size_bytes=_size_bytes):
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
        docs[write.id] = (write.data, version, self._clock())  # type: ignore[assignment]  # `checked` made it
        return version

    def _snapshot(self, collection: str, id_: str) -> Snapshot:
        data, version, written_at = self._docs[collection][id_]
        return Snapshot(id_, _copied(data), version, (self._clock() - written_at).total_seconds())

    def _page(self, collection: str, ids: Sequence[str], *, limit: int, cursor: Callable[[str], Any]) -> Page:
        shown = ids[:limit]
        meter().add(reads=max(1, len(shown)), round_trips=1)
        is_full = len(shown) == limit  # the last one perhaps: the next page tells
        return Page(tuple(self._snapshot(collection, id_) for id_ in shown), cursor(shown[-1]) if is_full else None)


def _same(found: object, wanted: object) -> bool:
    return type(found) is type(wanted) and found == wanted


def _copied(value: Any) -> Any:
    """The reader's own: maps and lists anew, what cannot change as it is."""
    if type(value) is dict:
        return {name: _copied(one) if type(one) in (dict, list) else one for name, one in value.items()}
    return [_copied(one) if type(one) in (dict, list) else one for one in value]


def _is_small(writes: Sequence[Write]) -> bool:
    """Whether they are one batch for certain: 4 bytes for every character of how they are written down."""
    if len(writes) > BATCH_MAX_DOCS:
        return False
    return 4 * sum(len(repr(write.data)) for write in writes if not isinstance(write, Delete)) <= BATCH_MAX_BYTES


def _size_bytes(write: Write) -> int:
    return 0 if isinstance(write, Delete) else len(json.dumps(write.data, default=str, ensure_ascii=False).encode())


def _trips(count: int, size: int) -> int:
    return -(-count // size)
