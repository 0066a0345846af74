"""What a source tells us, before it becomes a job: the same shape for every board."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ledger.records import Client, Health, SourceState

ITEMS_MAX = 1000  # of one answer; the rest is counted as skipped


@dataclass(frozen=True, slots=True)
class Posting:
    """One item of one answer, as plain text and absolute links.

    `native_id` is the board's own name for the job, by the source's id rule. `aliases` are further names
    (guid, canonical link + title) for sources whose native id may move; boards with a true id give none.

    `pay`, `place` and `tags` are for people, and scan.facts reads them too. A board that tells more exactly fills
    the fields below them, in its own words ("annual", "Germany", "Contractor", "en-US"): they count instead. Pay
    in numbers needs no text: the letter then states the numbers. A 0 is unknown, never a price.
    """

    platform: str
    native_id: str
    title: str
    link: str
    text: str
    company: str = ""
    place: str = ""
    pay: str = ""
    tags: tuple[str, ...] = ()
    pay_min: float | None = None
    pay_max: float | None = None
    currency: str = ""  # of the numbers, or of a text that names none
    period: str = ""  # the same
    countries: tuple[str, ...] = ()  # where the worker may be: names, codes or regions
    contract: str = ""
    client: Client | None = None
    language: str = ""
    published_at: datetime | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that is not a job we can use, and why: for the report."""

    what: str  # its title or position, at most 80 characters
    reason: str


@dataclass(frozen=True, slots=True)
class Items:
    """A readable answer. Validators are stored only after the items are."""

    postings: tuple[Posting, ...]
    skipped: tuple[Skipped, ...] = ()
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    wait_s: float = 0.0  # the source asks not to be polled again sooner (ttl, Cache-Control)
    has_own_ids: bool = True  # False: ids come from names that a feed may change, so "all new" is suspect
    is_whole: bool = True  # False: only what came since the last poll, so nothing at all is a fine answer


@dataclass(frozen=True, slots=True)
class NotModified:
    """304, or the same bytes as the last time."""

    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """No usable answer. Never to be read as "no jobs"."""

    health: Health
    reason: str  # for people; holds no secret and no query string
    retry_after_s: float | None = None


Answer = Items | NotModified | Failed


class Source(Protocol):
    """One configured source. A poll is one polite request (or a few pages), bounded in time and bytes."""

    @property
    def name(self) -> str:
        """As configured; unique in the list."""
        ...

    @property
    def platform(self) -> str:
        """The board; part of every job's id. For an unknown feed `feed:NAME`."""
        ...

    @property
    def min_interval_s(self) -> int:
        """Never polled sooner than this after the last poll."""
        ...

    @property
    def attribution(self) -> str:
        """What the board's terms ask to be shown beside its jobs; may be empty."""
        ...

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        """Ask once. Never raises for anything the other side does; cancellation passes through."""
        ...
