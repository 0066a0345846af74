"""The document store port: the little that Firestore does well, and no more.

Every adapter keeps the promises below, held by one contract suite (tests/contract).

    StoreError
     +- Unreachable   nobody answered in time; a write may or may not have taken effect
     +- Refused       the store answered and will not do it (permission, index, size)

Documents are flat or nested mappings of JSON values and aware UTC datetimes (microseconds). Field
names are plain keys, never paths: dots, dashes and back-ticks mean nothing. A field that is None is
not stored. Reads raise on failure; an empty answer always means "there is nothing".

Retries are the adapter's own, few and bounded. They can turn a write whose answer was lost into
"already exists" or "version moved", so a caller whose write can be mistaken for somebody else's puts a
fresh nonce in the document and reads it back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

BATCH_MAX_DOCS = 500  # Firestore's documented limit for one BatchWrite or commit
BATCH_MAX_BYTES = 3 * 1024 * 1024  # a request over 4 MiB is refused as "too busy", which misleads retries
PAGE_MAX_DOCS = 500

Doc = Mapping[str, Any]


class StoreError(Exception):
    """A store operation that did not end in an answer we can use."""


class Unreachable(StoreError):
    """Nobody answered in time. A write may or may not have taken effect."""


class Refused(StoreError):
    """The store answered and will not: permission, a missing index, a document too large."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document as it was read.

    `version` is opaque, differs after every write, and is what `swap` compares. `age_s` is the time
    since the last write by the store's own clock, so that two hosts with different clocks agree.
    """

    id: str
    data: dict[str, Any]
    version: str
    age_s: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a query. `after` continues it; None says that this was the last page."""

    items: tuple[Snapshot, ...]
    after: Any | None


@dataclass(frozen=True, slots=True)
class Create:
    """Write the document if the id is free."""

    collection: str
    id: str
    data: Doc


@dataclass(frozen=True, slots=True)
class Swap:
    """Replace the whole document if it is still the version that was read."""

    collection: str
    id: str
    version: str
    data: Doc


@dataclass(frozen=True, slots=True)
class Put:
    """Write the document whatever was there."""

    collection: str
    id: str
    data: Doc


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the document; with `version`, only if it is still the version that was read."""

    collection: str
    id: str
    version: str | None = None


Write = Create | Swap | Put | Delete


class Store(Protocol):
    """See the module's docstring for the promises common to all operations."""

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        """Create each id once, decided atomically by the store.

        Returns {id: version} of the documents *this call* created. Any number of documents; cut into
        batches of BATCH_MAX_DOCS and BATCH_MAX_BYTES, each one round trip. Batches are independent:
        an id already taken never keeps another from being created.
        """
        ...

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        """Compare and set: {id: (version read, new document)}.

        Returns {id: new version} of those that took effect. The new document replaces the old one whole
        and must differ from it: a swap that changes nothing may keep the version, and then two racers win.
        Batched like `create`.
        """
        ...

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read many documents; an absent one is missing from the answer. Batched by PAGE_MAX_DOCS."""
        ...

    async def find(
        self,
        collection: str,
        where: Mapping[str, str | int | bool],
        *,
        after: str | None = None,
        limit: int = PAGE_MAX_DOCS,
    ) -> Page:
        """One page of the documents whose fields equal `where` (empty: all), ordered by id."""
        ...

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
        """One page of the documents whose `field` (a datetime) lies between the bounds, both included.

        Ordered by that field, then by id; documents without the field are not in it.
        """
        ...

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        """Write whatever was there. Batched like `create`."""
        ...

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove; an absent id is no error. Batched."""
        ...

    async def commit(self, writes: Sequence[Write]) -> bool:
        """All of a few writes (at most BATCH_MAX_DOCS, no document twice) with their preconditions, or none.

        True when they took effect, False when a precondition failed.
        """
        ...

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        """Remove at most `limit` documents whose `expire_at` is past, where the store does not do so itself.

        Returns how many. Firestore's TTL policy does this in the background: there it is 0.
        """
        ...

    async def ping(self) -> None:
        """One cheap read that proves that the store answers; raises StoreError."""
        ...

    async def close(self) -> None:
        """Give back connections and threads. The store is not used afterwards."""
        ...


@dataclass(slots=True)
class Counts:
    """What the store did, as Firestore bills it: an absent document and an empty query are one read each."""

    reads: int = 0
    writes: int = 0
    deletes: int = 0
    round_trips: int = 0

    def add(self, *, reads: int = 0, writes: int = 0, deletes: int = 0, round_trips: int = 0) -> None:
        self.reads += reads
        self.writes += writes
        self.deletes += deletes
        self.round_trips += round_trips


_meter: ContextVar[Counts | None] = ContextVar("scout_store_counts", default=None)


@contextmanager
def counted() -> Iterator[Counts]:
    """Count what the store does for the code inside, its tasks included, and for nobody else.

    One store serves overlapping requests; a run reports its own cost only.
    """
    counts = Counts()
    token = _meter.set(counts)
    try:
        yield counts
    finally:
        _meter.reset(token)


def meter() -> Counts:
    """Where an adapter books what it did: the innermost `counted()`, or a throw-away."""
    return _meter.get() or Counts()


async def every(store: Store, collection: str, where: Mapping[str, str | int | bool]) -> AsyncIterator[Snapshot]:
    """Every document whose fields equal `where`, page by page, ordered by id."""
    after: str | None = None
    while True:
        page = await store.find(collection, where, after=after)
        for snapshot in page.items:
            yield snapshot
        if page.after is None:
            return
        after = page.after


@dataclass(frozen=True, slots=True)
class Index:
    """The fields of a collection that are searched; an adapter that needs indexes makes them from this."""

    equal: tuple[str, ...] = ()
    ranged: tuple[str, ...] = ()
    exempt: tuple[str, ...] = field(default=("expire_at",))  # never searched by us: no single-field index
