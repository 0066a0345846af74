"""The store on one SQLite file: the embedded default. Needs SQLite 3.38 or newer.

A round trip here is one batch or page, as the port cuts them: the counts are those that Firestore would
bill for the same calls.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from ledger.collections import INDEXES
from ledger.sqlite_file import SqliteFile, Undo
from ledger.sqlite_sql import Args, Statement, find_sql, get_sql, prune_sql, range_sql, snapshot, statement
from ledger.sqlite_text import list_text, schema_ddl, table_ddl
from ledger.store import PAGE_MAX_DOCS, Create, Delete, Doc, Page, Put, Snapshot, Swap, Write, meter
from ledger.values import batches, check_collection, check_commit, check_commit_size, check_limit, checked

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SqliteStore:
    """`clock` tells the store's own time (aware UTC): that of writes, and of ages. Opened at first use."""

    def __init__(self, path: str | Path, *, clock: Callable[[], datetime]) -> None:
        if str(path) in {"", ":memory:"}:
            raise ValueError("the store needs a file: two connections share no memory")
        self._clock = clock
        self._tables = set(INDEXES)
        self._file = SqliteFile(Path(path), schema_ddl(INDEXES))

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        return await self._each([Create(collection, id_, doc) for id_, doc in docs.items()])

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        return await self._each([Swap(collection, id_, version, doc) for id_, (version, doc) in changes.items()])

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        await self._each([Put(collection, id_, doc) for id_, doc in docs.items()])

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        await self._each([Delete(collection, id_) for id_ in dict.fromkeys(ids)])

    async def commit(self, writes: Sequence[Write]) -> bool:
        check_commit(writes)
        statements = await self._statements(writes)
        check_commit_size(s.size_bytes for s in statements)
        if not statements:
            return True
        meter().add(round_trips=1)
        done = await self._file.write(partial(_all_or_none, statements))
        if done:
            _book(statements)
        return done

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Snapshot] = {}
        for start in range(0, len(wanted), PAGE_MAX_DOCS):
            some = wanted[start : start + PAGE_MAX_DOCS]
            items = await self._select(collection, get_sql(collection), [list_text(some)])
            meter().add(reads=len(some))
            found.update((item.id, item) for item in items)
        return found

    async def find(
        self,
        collection: str,
        where: Mapping[str, str | int | bool],
        *,
        after: str | None = None,
        limit: int = PAGE_MAX_DOCS,
    ) -> Page:
        check_limit(limit)
        items = await self._select(collection, *find_sql(collection, where, after=after, limit=limit))
        meter().add(reads=max(1, len(items)))
        return Page(items, items[-1].id if len(items) == limit else None)

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
        check_limit(limit)
        sql, args = range_sql(
            collection, field, at_least=at_least, at_most=at_most, newest_first=newest_first, after=after, limit=limit
        )
        items = await self._select(collection, sql, args)
        meter().add(reads=max(1, len(items)))
        return Page(items, (items[-1].data[field], items[-1].id) if len(items) == limit else None)

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        await self._make_tables([collection])
        meter().add(round_trips=1)
        gone = await self._file.write(partial(_rows, *prune_sql(collection, now=now, limit=limit)))
        meter().add(deletes=len(gone))
        return len(gone)

    async def ping(self) -> None:
        meter().add(reads=1, round_trips=1)
        await self._file.read(partial(_rows, "SELECT count(*) FROM sqlite_master", []))

    async def close(self) -> None:
        await self._file.close()

    async def _each(self, writes: Sequence[Write]) -> dict[str, str]:
        """Each write for itself: {id: version} of those that took effect."""
        done: dict[str, str] = {}
        for batch in batches(await self._statements(writes), size_bytes=lambda s: s.size_bytes):
            meter().add(round_trips=1)
            effective = await self._file.write(partial(_those_that_can, batch))
            _book(effective)
            done.update((s.write.id, s.version) for s in effective)
        return done

    async def _statements(self, writes: Sequence[Write]) -> list[Statement]:
        await self._make_tables(write.collection for write in writes)
        now_us = self._now_us()
        return [statement(checked(write), now_us=now_us) for write in writes]

    async def _select(self, collection: str, sql: str, args: Args) -> tuple[Snapshot, ...]:
        await self._make_tables([collection])
        meter().add(round_trips=1)
        now_us = self._now_us()
        return await self._file.read(lambda db: tuple(snapshot(row, now_us=now_us) for row in db.execute(sql, args)))

    async def _make_tables(self, collections: Iterable[str]) -> None:
        for collection in set(collections) - self._tables:
            check_collection(collection)
            await self._file.write(partial(_rows, table_ddl(collection), []))
            self._tables.add(collection)

    def _now_us(self) -> int:
        return (self._clock() - _EPOCH) // timedelta(microseconds=1)


def _those_that_can(statements: Sequence[Statement], db: sqlite3.Connection) -> list[Statement]:
    return [s for s in statements if db.execute(s.sql, s.args).fetchall() or s.sure]


def _all_or_none(statements: Sequence[Statement], db: sqlite3.Connection) -> bool:
    for s in statements:
        if not db.execute(s.sql, s.args).fetchall() and not s.sure:
            raise Undo(False)
    return True


def _rows(sql: str, args: Args, db: sqlite3.Connection) -> list[Any]:
    return db.execute(sql, args).fetchall()


def _book(effective: Sequence[Statement]) -> None:
    deletes = sum(isinstance(s.write, Delete) for s in effective)
    meter().add(writes=len(effective) - deletes, deletes=deletes)
