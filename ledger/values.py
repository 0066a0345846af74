"""What a document may hold: checked once for every store, so that none takes what another would refuse.

The limits are Firestore's (firebase.google.com/docs/firestore/quotas): an id of 1 to 1,500 bytes without
`/`, 1 MiB a document, 20 levels of maps and lists, integers of 64 bits, no list directly inside a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any, TypeAlias, TypeVar

from ledger.store import BATCH_MAX_BYTES, BATCH_MAX_DOCS, PAGE_MAX_DOCS, Create, Delete, Doc, Put, Refused, Swap, Write

DOC_MAX_BYTES = 1_048_576
ID_MAX_BYTES = 1_500
DEPTH_MAX_LEVELS = 20
INT_MAX = 2**63 - 1

_COLLECTION = re.compile(r"[a-z][a-z0-9_]{0,99}")

T = TypeVar("T")
_Where: TypeAlias = "tuple[_Where, str] | None"  # the way to a value; spelled out only when it is needed


def clean(collection: str, doc: Doc) -> dict[str, Any]:
    """The document as it is stored: None fields dropped, times in UTC, tuples as lists.

    Raises Refused for what outside data may bring (too large, not Unicode) and ValueError for what only a
    mistake of ours can (a naive time, a type that is no JSON value). Names fields, never values.
    """
    try:
        data, size_bytes = _map(doc, None, 1)
    except UnicodeEncodeError as error:
        raise Refused(f"a document of {collection} holds text that is not Unicode (a lone surrogate)") from error
    if size_bytes > DOC_MAX_BYTES:
        raise Refused(f"a document of {collection} has {size_bytes} bytes, more than {DOC_MAX_BYTES}")
    return data


def bytes_of(doc: Doc) -> int:
    """The size of a document as Firestore counts it. Raises as `clean` does."""
    return _map(doc, None, 1)[1]


def checked(write: Write) -> Write:
    """The write with its names checked and its document cleaned. Raises as `clean` does."""
    check_collection(write.collection)
    check_id(write.id)
    match write:
        case Create():
            return Create(write.collection, write.id, clean(write.collection, write.data))
        case Swap():
            return Swap(write.collection, write.id, write.version, clean(write.collection, write.data))
        case Put():
            return Put(write.collection, write.id, clean(write.collection, write.data))
        case Delete():
            return write


@lru_cache(maxsize=256)
def check_collection(name: str) -> None:
    """Raises ValueError unless it is a plain lower-case name."""
    if not _COLLECTION.fullmatch(name):
        raise ValueError(f"not a collection's name: {name[:40]!r}")


def check_id(id_: str) -> None:
    """Raises ValueError for an id that Firestore would refuse or read as a path. Never shows the id."""
    try:
        size_bytes = len(id_.encode())
    except UnicodeEncodeError as error:
        raise ValueError("an id must be Unicode") from error
    if not 1 <= size_bytes <= ID_MAX_BYTES:
        raise ValueError(f"an id must have 1 to {ID_MAX_BYTES} bytes, not {size_bytes}")
    if "/" in id_ or id_ in {".", ".."} or _is_reserved(id_):
        raise ValueError("an id must not contain '/' nor be '.', '..' or '__..__'")


def check_limit(limit: int) -> None:
    """Raises ValueError: a page larger than promised must not be cut in silence."""
    if not 1 <= limit <= PAGE_MAX_DOCS:
        raise ValueError(f"a page has 1 to {PAGE_MAX_DOCS} documents, not {limit}")


def check_commit(writes: Iterable[Write]) -> None:
    """Raises ValueError for a document named twice or too many writes for one commit."""
    names = [(write.collection, write.id) for write in writes]
    if len(names) > BATCH_MAX_DOCS:
        raise ValueError(f"a commit has at most {BATCH_MAX_DOCS} writes, not {len(names)}")
    if len(set(names)) != len(names):
        raise ValueError("a commit names one document twice")


def check_commit_size(sizes_bytes: Iterable[int]) -> None:
    """Raises ValueError: a commit cannot be cut in two."""
    total_bytes = sum(sizes_bytes)
    if total_bytes > BATCH_MAX_BYTES:
        raise ValueError(f"a commit has at most {BATCH_MAX_BYTES} bytes, not {total_bytes}")


def as_utc(value: datetime) -> datetime:
    """A plain aware UTC datetime. Raises ValueError for a naive one."""
    if value.tzinfo is UTC and type(value) is datetime:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError("a time without a zone")
    utc = value.astimezone(UTC)
    if type(utc) is datetime:
        return utc
    return datetime(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, tzinfo=UTC)


def batches(items: Iterable[T], *, size_bytes: Callable[[T], int]) -> Iterator[list[T]]:
    """Cut at BATCH_MAX_DOCS or BATCH_MAX_BYTES, in order; a single item over the limit goes alone."""
    batch: list[T] = []
    total_bytes = 0
    for item in items:
        item_bytes = size_bytes(item)
        if batch and (len(batch) == BATCH_MAX_DOCS or total_bytes + item_bytes > BATCH_MAX_BYTES):
            yield batch
            batch, total_bytes = [], 0
        batch.append(item)
        total_bytes += item_bytes
    if batch:
        yield batch


def _map(doc: Mapping[str, Any], where: _Where, level: int) -> tuple[dict[str, Any], int]:
    if level > DEPTH_MAX_LEVELS:
        raise ValueError(f"more than {DEPTH_MAX_LEVELS} levels in {_path(where)}")
    data: dict[str, Any] = {}
    total_bytes = 32
    for name, value in doc.items():
        if type(name) is not str or not name or name[0] == "_":
            _check_field(name, where)
        if value is None:
            continue
        kind = type(value)  # what documents are full of needs no further call
        if kind is str and value.isascii():
            data[name], size_bytes = value, len(value) + 1
        elif kind is datetime and value.tzinfo is UTC:
            data[name], size_bytes = value, 8
        elif kind is bool:
            data[name], size_bytes = value, 1
        else:
            data[name], size_bytes = _value(value, (where, name), level)
        total_bytes += len(name) + 1 + size_bytes if name.isascii() else _text_bytes(name) + size_bytes
    return data, total_bytes


def _check_field(name: object, where: _Where) -> None:
    if not isinstance(name, str) or not name or _is_reserved(name):
        raise ValueError(f"not a field's name in {_path(where)}")


def _value(value: Any, where: _Where, level: int) -> tuple[Any, int]:
    kind = type(value)  # exact types first: this runs for each value that is ever written
    if kind is str:
        return value, _text_bytes(value)
    if kind is bool or value is None:
        return value, 1
    if kind is int:
        if not -INT_MAX - 1 <= value <= INT_MAX:
            raise ValueError(f"an integer of more than 64 bits in {_path(where)}")
        return value, 8
    if kind is float:
        if not isfinite(value):
            raise ValueError(f"a number that JSON does not know in {_path(where)}")
        return value, 8
    if kind is dict:
        return _map(value, where, level + 1)
    if kind is list:
        return _list(value, where, level + 1)
    return _other(value, where, level)


def _other(value: Any, where: _Where, level: int) -> tuple[Any, int]:
    match value:
        case datetime():
            try:
                return as_utc(value), 8
            except ValueError as error:
                raise ValueError(f"a time without a zone in {_path(where)}") from error
        case str():
            return _value(str.__str__(value), where, level)
        case int():
            return _value(int(value), where, level)
        case float():
            return _value(float(value), where, level)
        case Mapping():
            return _map(value, where, level + 1)
        case list() | tuple():
            return _list(value, where, level + 1)
    raise ValueError(f"{type(value).__name__} cannot be stored, in {_path(where)}")


def _list(items: list[Any] | tuple[Any, ...], where: _Where, level: int) -> tuple[list[Any], int]:
    if level > DEPTH_MAX_LEVELS:
        raise ValueError(f"more than {DEPTH_MAX_LEVELS} levels in {_path(where)}")
    if any(isinstance(item, list | tuple) for item in items):
        raise ValueError(f"a list directly inside a list in {_path(where)}")
    data: list[Any] = []
    total_bytes = 0
    for item in items:
        if type(item) is str and item.isascii():
            data.append(item)
            total_bytes += len(item) + 1
        else:
            value, size_bytes = _value(item, where, level)
            data.append(value)
            total_bytes += size_bytes
    return data, total_bytes


def _is_reserved(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and len(name) >= 4


def _text_bytes(text: str) -> int:
    return len(text) + 1 if text.isascii() else len(text.encode()) + 1


def _path(where: _Where) -> str:
    names: list[str] = []
    while where is not None:
        where, name = where
        names.append(name)
    return ".".join(reversed(names)) or "the document"
