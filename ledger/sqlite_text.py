"""Documents as the text that SQLite keeps, and the indexes over it.

A row has two JSON columns: `data`, and `times` with the document's own datetimes as ISO text of fixed width,
which sorts as the instants do and can be indexed. So a string that merely looks like a time stays a
string. A datetime deeper inside is an object with the one key `@t`; a real key that begins with `@` gets a
second one.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ledger.store import Index
from ledger.values import as_utc

_TIME = "@t"
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_read = json.JSONDecoder().raw_decode  # our own text: nothing stands around it


def to_text(data: Mapping[str, Any]) -> tuple[str, str]:
    """(data, times) of a cleaned document."""
    times = {k: time_text(v) for k, v in data.items() if isinstance(v, datetime)}
    return _dumps({k: _packed(v) for k, v in data.items() if k not in times}), _dumps(times)


def from_text(data: str, times: str) -> dict[str, Any]:
    """The document back, its datetimes aware UTC."""
    doc: dict[str, Any] = _read(data)[0]
    if '"@' in data:  # the walk in Python costs more than the parsing in C, and is rarely needed
        doc = {k: _unpacked(v) for k, v in doc.items()}
    if times != "{}":
        for k, v in _read(times)[0].items():
            doc[k] = datetime.fromisoformat(v)
    return doc


def time_text(at: datetime) -> str:
    """`2026-11-30T08:00:00.000000+00:00`: always 32 characters. Raises ValueError for a naive time."""
    return as_utc(at).isoformat(timespec="microseconds")


def equal_sql(field: str) -> str:
    """The field's JSON text, so that true, 1 and "1" are three values. Raises ValueError for odd names."""
    return f"data -> {_path(field)}"


def equal_text(value: str | int | bool) -> str:
    """What `equal_sql` gives for this value."""
    return _dumps(value)


def list_text(texts: list[str]) -> str:
    """A JSON list, for `json_each`."""
    return _dumps(texts)


def time_sql(field: str) -> str:
    """The text of the document's datetime `field`, NULL without one. Raises ValueError for odd names."""
    return f"times ->> {_path(field)}"


def table_ddl(collection: str) -> str:
    return (
        f'CREATE TABLE IF NOT EXISTS "{collection}" (id TEXT PRIMARY KEY NOT NULL, version TEXT NOT NULL, '
        "written_us INTEGER NOT NULL, data TEXT NOT NULL, times TEXT NOT NULL) STRICT"
    )


def schema_ddl(indexes: Mapping[str, Index]) -> list[str]:
    """Every table and index. `id` ends each index, so that a page is read in order and continued there."""
    statements = []
    for collection, index in indexes.items():
        statements.append(table_ddl(collection))
        searched = [(f, equal_sql(f)) for f in index.equal]
        searched += [(f, time_sql(f)) for f in dict.fromkeys((*index.ranged, "expire_at"))]
        statements += [
            f'CREATE INDEX IF NOT EXISTS "{collection}.{field}" ON "{collection}" ({sql}, id) WHERE ({sql}) IS NOT NULL'
            for field, sql in searched
        ]
    return statements


def schema_version(statements: Iterable[str]) -> int:
    """A fingerprint that fits `PRAGMA user_version`: a changed schema is made, an unchanged one costs nothing."""
    return zlib.crc32("\n".join(statements).encode()) & 0x7FFFFFFF


def _path(field: str) -> str:
    if not field or any(c in "\"\\'" or not c.isprintable() for c in field):
        raise ValueError(f"not a field that can be searched: {field[:40]!r}")
    return f"'$.\"{field}\"'"


def _packed(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {f"@{k}" if k.startswith("@") else k: _packed(v) for k, v in value.items()}
    if kind is list:
        return [_packed(v) for v in value]
    return {_TIME: time_text(value)} if kind is datetime else value


def _unpacked(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        if _TIME in value:
            return datetime.fromisoformat(value[_TIME])
        return {k[1:] if k.startswith("@") else k: _unpacked(v) for k, v in value.items()}
    return [_unpacked(v) for v in value] if kind is list else value
