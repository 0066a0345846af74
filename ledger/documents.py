"""Records to and from documents.

Documents are outside data: an older version wrote them, or a person in a console. `decode` reads what it
can understand (a datetime as ISO text, a naive one as UTC, a missing field as its default) and raises
BadRecord, which names the field, for the rest. One bad document never stops the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic import with_config as pydantic_config

from ledger.store import Doc, Snapshot

R = TypeVar("R")

_AS_THEY_ARE = frozenset({str, int, bool, float, datetime})


class BadRecord(ValueError):
    """A document that cannot be read as its record."""


def _utc(value: object) -> object:
    if type(value) is datetime and value.tzinfo is UTC:
        return value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    if not isinstance(value, datetime):
        return value
    aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    # A store may answer with a subclass of its own; a plain datetime compares and pickles like ours.
    return datetime(
        aware.year, aware.month, aware.day, aware.hour, aware.minute, aware.second, aware.microsecond, tzinfo=UTC
    )


Instant = Annotated[datetime, BeforeValidator(_utc)]  # aware UTC
IdPart = Annotated[str, Field(pattern=r"^[^/]{1,700}$")]  # what an id is made of: a path has none of it
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

tolerant = pydantic_config(ConfigDict(extra="ignore", arbitrary_types_allowed=True))


@cache
def _adapter(cls: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def decode(cls: type[R], snapshot: Snapshot) -> R:
    """The record in a document. Raises BadRecord, which names the document and the field."""
    try:
        record: R = _adapter(cls).validate_python(snapshot.data)  # type: ignore[arg-type]  # a class is hashable
    except (ValidationError, OverflowError, OSError) as error:
        found = error.errors()[:3] if isinstance(error, ValidationError) else []
        where = "".join(f" {'.'.join(map(str, e['loc']))}" for e in found)
        raise BadRecord(
            f"{cls.__name__.lower()} document cannot be read: bad field{where}"
        ) from None  # its text shows values
    return record


def encode(record: object) -> Doc:
    """The document of a record: enums by value, None left out."""
    return {name: _plain(v) for name in _names(type(record)) if (v := getattr(record, name)) is not None}  # type: ignore[arg-type]


@cache
def _names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls))


def _plain(value: object) -> Any:
    if type(value) in _AS_THEY_ARE:
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return encode(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_plain(v) for v in value]
    return value


@dataclass(frozen=True, slots=True)
class Stored(Generic[R]):
    """A record together with the version that it was read at: what a swap needs."""

    record: R
    version: str


OnBad = Callable[[str, BadRecord], None]  # told the id of a document that cannot be read, and why


def read_all(cls: type[R], snapshots: Iterable[Snapshot], bad: OnBad) -> dict[str, Stored[R]]:
    """Decode many; a bad one is told to `bad` with its id and left out."""
    good: dict[str, Stored[R]] = {}
    for snapshot in snapshots:
        try:
            good[snapshot.id] = Stored(decode(cls, snapshot), snapshot.version)
        except BadRecord as error:
            bad(snapshot.id, error)
    return good


def raised(_id: str, error: BadRecord) -> None:
    """For `bad`, where one document is asked for and an unreadable one is the caller's matter."""
    raise error
