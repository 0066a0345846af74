"""The records that the collections hold. Frozen: a change is a new record, written by `swap`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ledger.documents import LONG_AGO, IdPart, Instant, tolerant
from ledger.lifecycle import DigestState, State, Via

JOB_KEPT = timedelta(days=30)
RUN_KEPT = timedelta(days=30)


class Mode(StrEnum):
    INSTANT = "instant"
    DAILY = "daily"
    WEEKLY = "weekly"


class Stop(StrEnum):
    """Why nothing is sent to a user any more."""

    UNSUBSCRIBED = "unsubscribed"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    REJECTED = "rejected"  # three letters in a row were refused


@tolerant
@dataclass(frozen=True, slots=True)
class Search:
    """What one person looks for. Any keyword is enough, all of `must` are needed, an exclusion wins.

    Beyond the words each field is a gate, and a default asks nothing. What a board does not say passes, unless
    the search is strict.
    """

    keywords: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_age_h: int | None = None
    sources: tuple[str, ...] = ()  # names of sources or boards; empty: all
    min_hourly: float | None = None  # the least an hour is worth; for all pay but fixed prices
    min_fixed: float | None = None  # the least fixed price
    currency: str = "USD"  # of both
    countries: tuple[str, ...] = ()  # where the person may work: areas of scan.areas; empty: anywhere
    contracts: tuple[str, ...] = ()  # values of scan.contracts.Contract; empty: any
    languages: tuple[str, ...] = ()  # that the person reads, ISO 639-1; empty: any
    min_client_rating: float | None = None  # of 5
    min_client_spend: float | None = None  # in the currency of the board
    min_client_hires: int | None = None
    payment_verified_only: bool = False
    strict: bool = False


@tolerant
@dataclass(frozen=True, slots=True)
class User:
    """A person, keyed by the address. Changed by `swap` only."""

    uid: IdPart
    address: str  # as typed, for the To field
    created_at: Instant = LONG_AGO  # an older document may not tell
    token: Annotated[str, Field(min_length=1, validate_default=True)] = ""  # opens the unsubscribe page, no more
    searches: dict[str, Search] = field(default_factory=dict)
    mode: Mode = Mode.INSTANT
    at: str | None = None  # HH:MM of the digest, local; None: the operator's default, in UTC
    zone: str = "UTC"
    digests_from: Instant | None = None  # since the hour was moved: the days before that have had their digest
    quiet_from: str | None = None  # HH:MM, local; alerts wait until quiet_to
    quiet_to: str | None = None
    paused_until: Instant | None = None
    active: bool = True  # false once stopped: the field that a cycle asks for
    stopped: Stop | None = None
    stopped_at: Instant | None = None
    stop_detail: str = ""
    catch_up: str | None = None  # a fresh value after each save: the next run matches the fresh jobs
    wake_at: Instant | None = None  # when the catch-up may run
    rejected_streak: int = 0
    ai: bool = False  # a model judges what passes the gates, where the operator has one
    about: str = ""  # what they say of themselves and of the work they want, for the model alone
    ai_threshold: int = 60  # the lowest score, of 100, that is sent


@tolerant
@dataclass(frozen=True, slots=True)
class Pointer:
    """Stands among the users under the id of a further address: whose it is. No second person can take it."""

    of: IdPart  # uid
    created_at: Instant


class JobState(StrEnum):
    SEEN = "seen"  # from a silent baseline: known, never alerted
    OPEN = "open"  # some pair is undecided
    MATCHED = "matched"  # every pair is decided


@tolerant
@dataclass(frozen=True, slots=True)
class Client:
    """Who gives the work, as far as the board tells. None: it does not; a new client has no rating yet."""

    rating: float | None = None  # of 5
    spent: float | None = None  # in the currency of the board
    hires: int | None = None
    payment_verified: bool | None = None


@tolerant
@dataclass(frozen=True, slots=True)
class Job:
    id: IdPart
    platform: str  # the board: "upwork", "greenhouse:gitlab", "feed:NAME"
    source: str  # the configured source that first had it
    title: str
    link: str  # absolute http(s), or empty
    text: str
    first_seen: Instant
    state: JobState
    key: IdPart  # the id, or for a twin the first twin's: what the ledger knows it by
    company: str = ""
    place: str = ""
    pay: str = ""  # as stated by the board, for people
    tags: tuple[str, ...] = ()
    pay_min: float | None = None  # as read from `pay`; None on one side: open there, on both: unknown
    pay_max: float | None = None
    currency: str = ""  # ISO 4217; empty: unknown
    period: str = ""  # a value of scan.pay.Period; empty: unknown
    countries: tuple[str, ...] = ()  # where the worker may be: areas of scan.areas; empty: unknown
    contracts: tuple[str, ...] = ()  # values of scan.contracts.Contract; empty: unknown
    language: str = ""  # that it is written in, ISO 639-1; empty: unknown
    client: Client | None = None
    link_id: str = ""  # the hash of the canonical link: what a pasted link is found by
    published_at: Instant | None = None  # as the board says, if it can be believed
    fresh_at: Instant | None = None  # counts as fresh for catch-ups from here; None: never did
    expire_at: Instant | None = None


@tolerant
@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a job. Counts only if the job it names exists."""

    job_id: IdPart
    expire_at: Instant


@tolerant
@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The same ad again: jobs found within 7 days of `since` are known to the ledger by `key`."""

    key: IdPart
    since: Instant
    expire_at: Instant


@tolerant
@dataclass(frozen=True, slots=True)
class Delivery:
    """One job for one person, and what its letter shows: frozen when the row is made."""

    uid: IdPart
    key: IdPart
    job_id: str
    state: State
    via: Via
    created_at: Instant
    first_seen: Instant  # of the job
    title: str
    link: str
    score: int
    reason: str  # why it fits, for people
    company: str = ""
    place: str = ""
    pay: str = ""
    source: str = ""
    published_at: Instant | None = None
    twin_links: tuple[str, ...] = ()
    nonce: str | None = None  # of the claim that holds or held it
    outside: str | None = None  # the letter's id outside: alert rows of one letter share it
    tries: int = 0
    wake_at: Instant | None = None
    period: str | None = None  # pinned to this digest
    left_over: int = 0  # sent digests that had no room for it
    unclear_periods: int = 0
    why: str = ""  # why FAILED, UNCLEAR or EXPIRED, for people
    receipt: str | None = None
    final_at: Instant | None = None
    expire_at: Instant | None = None
    verdict_score: int | None = None  # 0 to 100, of the model; then `score` is the same
    verdict_reason: str = ""  # one sentence, checked; other people's text all the same
    caveat: str = ""
    not_scored: str = ""  # why no verdict came though one was wanted, for people
    search: str = ""  # which of the person's searches it fits; empty for a person with one


@tolerant
@dataclass(frozen=True, slots=True)
class Digest:
    """One period's letter for one person: which rows, and who is sending it."""

    uid: IdPart
    period: IdPart
    due_at: Instant
    created_at: Instant
    state: DigestState
    rows: tuple[IdPart, ...]  # keys, in the order of the letter
    shown: int  # how many of them the letter is to list; the rest is counted
    live: bool  # open or sending
    outside: str
    nonce: str | None = None
    attempts: int = 0
    unclear: int = 0
    wake_at: Instant | None = None
    why: str = ""
    receipt: str | None = None
    expire_at: Instant | None = None
    notes: tuple[str, ...] = ()  # what it says besides; kept, so that a repeat is the same letter
    beyond: int = 0  # rows that waited, and found no room in it
    beyond_ending: int = 0  # those of them that expire once it is sent
    listed: tuple[IdPart, ...] | None = None  # keys that the letter which was handed over lists; None: none was


@tolerant
@dataclass(frozen=True, slots=True)
class Lock:
    ts: Instant
    holder: str
    nonce: str
    lease_s: float


class Health(StrEnum):
    OK = "ok"
    NOT_MODIFIED = "not_modified"
    EMPTY = "empty"
    REFUSED = "refused"
    MALFORMED = "malformed"
    SLOW = "slow"
    UNREACHABLE = "unreachable"
    SUSPENDED = "suspended"


@tolerant
@dataclass(frozen=True, slots=True)
class SourceState:
    """What we remember of a source between polls. Validators and baseline are stored after the items."""

    name: str
    next_poll_at: Instant | None = None  # None: no longer configured, or suspended
    polled_at: Instant | None = None  # booked, whatever came of it
    ok_at: Instant | None = None  # last success, 304 included
    baseline_at: Instant | None = None
    health: Health | None = None
    reason: str = ""
    failures: int = 0  # in a row
    empty_streak: int = 0
    ever_items: bool = False
    all_new_streak: int = 0  # polls in a row that were all new, of a feed whose ids may move
    etag: str | None = None
    last_modified: str | None = None
    body_hash: str | None = None
    seen: tuple[str, ...] = ()  # 16 hex of each native id of the last poll, at most SEEN_MAX
    seen_since: Instant | None = None
    ever_empty: bool = False  # an empty answer was believed: the next one is at once
    ids_vetted: bool = False  # the operator resumed it: only titles that come again under new ids suspend it
    # Of a feed whose ids may move: 16 hex of each title of the last poll, at most SEEN_MAX.
    titles: tuple[str, ...] = ()


SEEN_MAX = 1000
