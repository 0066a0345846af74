"""Documents, writes and queries as Firestore's own messages, and back.

Imports google.cloud.firestore (0.9 s), so it is imported only where that store is used. The messages are
the raw protobuf ones: field names are map keys there, never paths, and decoding them is quick.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from google.cloud.firestore_v1.types import Cursor, Document, StructuredQuery, Value
from google.cloud.firestore_v1.types import Write as GoogleWrite
from google.protobuf.timestamp_pb2 import Timestamp  # type: ignore[import-untyped]

from ledger.store import Create, Delete, Put, Snapshot, Swap, Write
from ledger.values import as_utc

_ValuePb: Any = Value.pb()
_WritePb: Any = GoogleWrite.pb()
_DocumentPb: Any = Document.pb()
_QueryPb: Any = StructuredQuery.pb()
_CursorPb: Any = Cursor.pb()

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)  # the earliest time that Firestore knows
_VERSION = re.compile(r"([1-9]\d{0,10})\.(\d{9})")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_message(root: str, write: Write) -> Any:
    """The message of a cleaned write, with its precondition. `root`: `projects/P/databases/D/documents`."""
    name = f"{root}/{write.collection}/{write.id}"
    if isinstance(write, Delete):
        message = _WritePb(delete=name)
    else:
        fields = {k: _value(v) for k, v in write.data.items()}
        message = _WritePb(update=_DocumentPb(name=name, fields=fields))
    match write:
        case Create():
            message.current_document.exists = False
        case Swap(version=str(version)) | Delete(version=str(version)):
            message.current_document.update_time.CopyFrom(_version_time(version))
        case Put() | Delete():
            pass
    return message


def snapshot(document: Any, read_time: Timestamp) -> Snapshot:
    """A document message as it was read at `read_time`, the server's clock."""
    written, id_ = document.update_time, document.name.rpartition("/")[2]
    age_s = (read_time.seconds - written.seconds) + (read_time.nanos - written.nanos) / 1e9
    return Snapshot(id_, {k: _plain(v) for k, v in document.fields.items()}, version_text(written), age_s)


def version_text(update_time: Timestamp) -> str:
    """The update time to the nanosecond: what a precondition compares."""
    return f"{update_time.seconds}.{update_time.nanos:09d}"


def find_query(
    root: str, collection: str, where: Mapping[str, str | int | bool], *, after: str | None, limit: int
) -> Any:
    """Equalities only, ordered by name: single-field indexes answer it."""
    query = _query(collection, limit)
    _filter(query, [(field, "EQUAL", _value(value)) for field, value in where.items()])
    _order(query, "__name__", "ASCENDING")
    if after is not None:
        name = _ValuePb(reference_value=f"{root}/{collection}/{after}")
        query.start_at.CopyFrom(_CursorPb(values=[name], before=False))
    return query


def range_query(
    root: str,
    collection: str,
    field: str,
    *,
    at_least: datetime | None,
    at_most: datetime | None,
    newest_first: bool,
    after: tuple[datetime, str] | None,
    limit: int,
) -> Any:
    """One range, ordered by its field and by name in the same direction: one single-field index answers it."""
    query = _query(collection, limit)
    # Without a bound the order alone would bring texts and numbers too: a range compares within a type.
    terms = [(field, "GREATER_THAN_OR_EQUAL", _value(_YEAR_ONE if at_least is None else as_utc(at_least)))]
    if at_most is not None:
        terms.append((field, "LESS_THAN_OR_EQUAL", _value(as_utc(at_most))))
    _filter(query, terms)
    direction = "DESCENDING" if newest_first else "ASCENDING"
    _order(query, field_path(field), direction)
    _order(query, "__name__", direction)
    if after is not None:
        name = _ValuePb(reference_value=f"{root}/{collection}/{after[1]}")
        query.start_at.CopyFrom(_CursorPb(values=[_value(as_utc(after[0])), name], before=False))
    return query


def field_path(field: str) -> str:
    """A field's name as a path of one step, quoted where dots and dashes would mean something."""
    if _PLAIN.fullmatch(field):
        return field
    escaped = field.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"


def _query(collection: str, limit: int) -> Any:
    query = _QueryPb()
    query.from_.add(collection_id=collection)
    query.limit.value = limit
    return query


def _filter(query: Any, terms: list[tuple[str, str, Any]]) -> None:
    if not terms:
        return
    query.where.composite_filter.op = _QueryPb.CompositeFilter.AND
    for field, operator, value in terms:
        term = query.where.composite_filter.filters.add().field_filter
        term.field.field_path = field_path(field)
        term.op = _QueryPb.FieldFilter.Operator.Value(operator)
        term.value.CopyFrom(value)


def _order(query: Any, path: str, direction: str) -> None:
    order = query.order_by.add(direction=_QueryPb.Direction.Value(direction))
    order.field.field_path = path


def _version_time(version: str) -> Timestamp:
    known = _VERSION.fullmatch(version)
    if known is None:
        return Timestamp(seconds=1)  # no version of ours: a time at which nothing was written, so it never matches
    return Timestamp(seconds=int(known[1]), nanos=int(known[2]))


def _value(value: Any) -> Any:
    message = _ValuePb()
    match value:
        case None:
            message.null_value = 0
        case bool():
            message.boolean_value = value
        case int():
            message.integer_value = value
        case float():
            message.double_value = value
        case str():
            message.string_value = value
        case datetime():
            since = value - _EPOCH
            message.timestamp_value.seconds = since.days * 86_400 + since.seconds
            message.timestamp_value.nanos = since.microseconds * 1_000
        case dict():
            message.map_value.SetInParent()
            for k, v in value.items():
                message.map_value.fields[k].CopyFrom(_value(v))
        case list():
            message.array_value.SetInParent()
            message.array_value.values.extend(_value(v) for v in value)
        case _:
            raise ValueError(f"{type(value).__name__} cannot be stored")
    return message


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value_type")
    match kind:
        case "null_value" | None:
            return None
        case "timestamp_value":
            at = value.timestamp_value
            return _EPOCH + timedelta(seconds=at.seconds, microseconds=at.nanos // 1_000)
        case "map_value":
            return {k: _plain(v) for k, v in value.map_value.fields.items()}
        case "array_value":
            return [_plain(v) for v in value.array_value.values]
    return getattr(value, kind)
