"""The store's operations as SQL: one statement a write, one a page."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.collections import INDEXES
from ledger.sqlite_text import equal_sql, equal_text, from_text, time_sql, time_text, to_text
from ledger.store import Create, Delete, Put, Snapshot, Swap, Write

COLUMNS = "id, version, written_us, data, times"
ROW_BYTES = 100  # what a row takes besides its id and text, roughly

Args = list[str | int]


@dataclass(frozen=True, slots=True)
class Statement:
    """A write and its SQL, which returns a row if it took effect; a `sure` one always does."""

    write: Write
    version: str
    sql: str
    args: tuple[str | int, ...]
    size_bytes: int
    sure: bool


def statement(write: Write, *, now_us: int) -> Statement:
    """The SQL of a cleaned write, under a fresh version. `now_us`: microseconds since 1970."""
    version = secrets.token_hex(8)
    table = f'"{write.collection}"'
    if isinstance(write, Delete):
        given = () if write.version is None else (write.version,)
        sql = f"DELETE FROM {table} WHERE id = ?{' AND version = ?' if given else ''} RETURNING id"
        return Statement(write, version, sql, (write.id, *given), ROW_BYTES, sure=not given)
    data, times = to_text(write.data)
    insert = f"INSERT INTO {table} ({COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO"
    row: tuple[str | int, ...] = (write.id, version, now_us, data, times)
    size_bytes = ROW_BYTES + len(write.id.encode()) + len(data.encode()) + len(times)
    match write:
        case Create():
            sql = f"{insert} NOTHING RETURNING id"
        case Put():
            sql = f"{insert} UPDATE SET {_assign('excluded.{}')} RETURNING id"
        case Swap():
            sql = f"UPDATE {table} SET {_assign('?')} WHERE id = ? AND version = ? RETURNING id"
            row = (*row[1:], write.id, write.version)
    return Statement(write, version, sql, row, size_bytes, sure=isinstance(write, Put))


def get_sql(collection: str) -> str:
    """Its one argument is a JSON list of ids."""
    return f'SELECT {COLUMNS} FROM "{collection}" WHERE id IN (SELECT value FROM json_each(?))'


def find_sql(
    collection: str, where: Mapping[str, str | int | bool], *, after: str | None, limit: int
) -> tuple[str, Args]:
    """Equalities, ordered by id. The field that INDEXES names first is searched, the others are compared."""
    declared = INDEXES[collection].equal if collection in INDEXES else ()
    fields = sorted(where, key=lambda f: declared.index(f) if f in declared else len(declared))
    terms: list[str] = ["id > ?"]
    args: Args = [after or ""]
    for nth, field in enumerate(fields):
        sql = equal_sql(field)
        # A unary plus keeps the planner from an index: without statistics it may prefer a coarse one.
        terms.append(f"({sql}) = ? AND ({sql}) IS NOT NULL" if nth == 0 else f"+({sql}) = ?")
        args.append(equal_text(where[field]))
    return _select(collection, terms, "id"), [*args, limit]


def range_sql(
    collection: str,
    field: str,
    *,
    at_least: datetime | None,
    at_most: datetime | None,
    newest_first: bool,
    after: tuple[datetime, str] | None,
    limit: int,
) -> tuple[str, Args]:
    """Both bounds included; ordered by the field and then by id, both downwards when newest first."""
    at = f"({time_sql(field)})"
    terms: list[str] = [f"{at} IS NOT NULL"]
    args: Args = []
    if at_least is not None:
        terms.append(f"{at} >= ?")
        args.append(time_text(at_least))
    if at_most is not None:
        terms.append(f"{at} <= ?")
        args.append(time_text(at_most))
    if after is not None:
        beyond, from_here = ("<", "<=") if newest_first else (">", ">=")
        terms.append(f"{at} {from_here} ? AND ({at} {beyond} ? OR id {beyond} ?)")
        args += [time_text(after[0]), time_text(after[0]), after[1]]
    down = " DESC" if newest_first else ""
    return _select(collection, terms, f"{at}{down}, id{down}"), [*args, limit]


def prune_sql(collection: str, *, now: datetime, limit: int) -> tuple[str, Args]:
    """Delete at most `limit` rows whose `expire_at` is at or before `now`, oldest first; returns a row each."""
    at = f"({time_sql('expire_at')})"
    oldest = f'SELECT id FROM "{collection}" WHERE {at} IS NOT NULL AND {at} <= ? ORDER BY {at}, id LIMIT ?'
    return f'DELETE FROM "{collection}" WHERE id IN ({oldest}) RETURNING 1', [time_text(now), limit]


def snapshot(row: Sequence[Any], *, now_us: int) -> Snapshot:
    """A row of COLUMNS as it was read at `now_us`."""
    id_, version, written_us, data, times = row
    return Snapshot(id_, from_text(data, times), version, (now_us - written_us) / 1_000_000)


def _assign(value: str) -> str:
    return ", ".join(f"{name} = {value.format(name)}" for name in COLUMNS.split(", ")[1:])


def _select(collection: str, terms: Sequence[str], order: str) -> str:
    return f'SELECT {COLUMNS} FROM "{collection}" WHERE {" AND ".join(terms)} ORDER BY {order} LIMIT ?'
