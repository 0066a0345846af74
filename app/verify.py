"""Hold the ledger against itself, and against what left the building: duplicates, losses, unclear, stuck, the sum.

Only reads. A finding is something that the promises exclude, or that a person should know of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from app.seen import Seen
from ledger import ids, runs
from ledger.collections import DELIVERIES, DIGESTS, USERS
from ledger.deliveries import row_id
from ledger.documents import BadRecord, decode
from ledger.lifecycle import FINAL_KEPT, State, Via
from ledger.records import Delivery, Digest
from ledger.store import Store, every
from mail import maildir

SENT_OR_NOT = (State.SENT, State.FAILED, State.EXPIRED, State.UNCLEAR, State.CLAIMED, State.QUEUED)
TITLE_MAX_CHARS = 60


class Kind(StrEnum):
    DUPLICATE = "duplicate"  # a letter left more often than its attempts explain
    LOST = "lost"  # promised, and nothing will ever send it
    UNCLEAR = "unclear"  # may or may not have been taken
    STUCK = "stuck"  # was due before the last complete run began, and is still there
    EQUATION = "equation"  # the sum does not hold


@dataclass(frozen=True, slots=True)
class Finding:
    kind: Kind
    what: str  # one line for people, without an address
    outside: str | None = None  # the id that the provider knows the letter by


@dataclass(slots=True)
class Verified:
    """`rows` by state add up to `queued`: every row there ever was and still is."""

    rows: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0
    letters: int | None = None  # as somebody else counted them
    copies: int = 0  # of digests, each explained by an attempt of which nobody could tell
    findings: list[Finding] = field(default_factory=list)

    @property
    def queued(self) -> int:
        return self.rows.total() + self.unreadable


@dataclass(slots=True)
class _Ledger:
    rows: dict[str, Delivery] = field(default_factory=dict)
    digests: dict[str, Digest] = field(default_factory=dict)
    people: dict[str, datetime | None] = field(default_factory=dict)  # uid -> since when
    bad: list[str] = field(default_factory=list)


async def verify(store: Store, seen: Seen | None, *, now: datetime) -> Verified:
    """Everything that does not hold. Raises StoreError, OSError."""
    ledger = await _read(store)
    due_by = await runs.last_complete_began_at(store)
    verified = Verified(unreadable=len(ledger.bad), letters=seen.letters.total() if seen else None)
    verified.rows.update({state.value: 0 for state in SENT_OR_NOT})
    verified.rows.update(row.state.value for row in ledger.rows.values())
    verified.findings += [Finding(Kind.EQUATION, f"a document cannot be read: {reason}") for reason in ledger.bad]
    verified.findings += _unclear(ledger, seen)
    verified.findings += _never_woken(ledger)
    verified.findings += _unfinished(ledger)
    verified.findings += _stuck(ledger, due_by)
    if seen is not None:
        verified.findings += [
            Finding(Kind.LOST, f"{_named(row)} is SENT, and {seen.where} does not have it", row.outside)
            for row in ledger.rows.values()
            if row.state is State.SENT and seen.lacks(row)
        ]
        duplicates, verified.copies = _counted(ledger, seen)
        verified.findings += duplicates
        verified.findings += _strays(ledger, seen, now=now)
    return verified


async def _read(store: Store) -> _Ledger:
    ledger = _Ledger()
    async for snapshot in every(store, USERS, {}):
        since = snapshot.data.get("created_at")
        ledger.people[snapshot.id] = since if isinstance(since, datetime) else None
    async for snapshot in every(store, DELIVERIES, {}):
        try:
            ledger.rows[snapshot.id] = decode(Delivery, snapshot)
        except BadRecord as error:
            ledger.bad.append(str(error))
    async for snapshot in every(store, DIGESTS, {}):
        try:
            ledger.digests[snapshot.id] = decode(Digest, snapshot)
        except BadRecord as error:
            ledger.bad.append(str(error))
    return ledger


def _unclear(ledger: _Ledger, seen: Seen | None) -> Iterator[Finding]:
    """Each row of which nobody can tell, with what the other account knows of its letter."""
    for row in ledger.rows.values():
        if row.state is not State.UNCLEAR:
            continue
        there = seen is not None and row.outside is not None and row.outside in seen.letters
        known = f"; {seen.where} has it" if seen is not None and there else ""
        yield Finding(Kind.UNCLEAR, f"{_named(row)}: {row.why or 'no reason kept'}{known}", row.outside)


def _never_woken(ledger: _Ledger) -> Iterator[Finding]:
    """A waiting row needs a time to wake, or a live digest that has it."""
    for row in ledger.rows.values():
        if row.state is State.CLAIMED and row.wake_at is None:
            yield Finding(Kind.STUCK, f"{_named(row)} is CLAIMED and nothing ends that", row.outside)
        if row.state is not State.QUEUED or row.wake_at is not None:
            continue
        digest = ledger.digests.get(ids.digest_id(row.uid, row.period)) if row.period else None
        if digest is None or row.key not in digest.rows:
            yield Finding(Kind.LOST, f"{_named(row)} waits, and nothing will wake it")
        elif not digest.live:
            yield Finding(Kind.LOST, f"{_named(row)} waits in the digest of {row.period}, which is {digest.state}")


def _unfinished(ledger: _Ledger) -> Iterator[Finding]:
    """The sum for each open digest: every row that it names is there, and it will be looked at."""
    for digest in ledger.digests.values():
        if not digest.live or digest.uid not in ledger.people:
            continue
        missing = sum(ids.pair_id(digest.uid, key) not in ledger.rows for key in digest.rows)
        if missing:
            what = f"the digest of {digest.period} names {missing} rows that are gone"
            yield Finding(Kind.EQUATION, what, digest.outside)
        if digest.wake_at is None:
            what = f"the digest of {digest.period} is {digest.state} and nothing wakes it"
            yield Finding(Kind.STUCK, what, digest.outside)


def _stuck(ledger: _Ledger, due_by: datetime | None) -> Iterator[Finding]:
    if due_by is None:
        return
    for row in ledger.rows.values():
        if row.state in (State.QUEUED, State.CLAIMED) and row.wake_at is not None and row.wake_at < due_by:
            yield Finding(Kind.STUCK, f"{_named(row)} is {row.state} and was due at {row.wake_at:%Y-%m-%d %H:%M}")
    for digest in ledger.digests.values():
        if digest.live and digest.wake_at is not None and digest.wake_at < due_by:
            what = f"the digest of {digest.period} was due at {digest.wake_at:%Y-%m-%d %H:%M}"
            yield Finding(Kind.STUCK, what, digest.outside)


def _counted(ledger: _Ledger, seen: Seen) -> tuple[list[Finding], int]:
    """Letters that left too often, and digest copies that an unclear attempt explains."""
    findings: list[Finding] = []
    alerts: dict[str, list[Delivery]] = defaultdict(list)
    for row in ledger.rows.values():
        if row.outside is not None and row.via is Via.ALERT:
            alerts[row.outside].append(row)
    copies = 0
    for outside, rows in alerts.items():
        if (times := seen.letters[outside]) > 1:
            what = f"{_named(rows[0])} and {len(rows) - 1} more" if len(rows) > 1 else _named(rows[0])
            findings.append(Finding(Kind.DUPLICATE, f"one alert left {times} times: {what}", outside))
        if times and any(row.state is State.QUEUED for row in rows):
            what = f"{_named(rows[0])} waits to be sent again, and {seen.where} has its letter"
            findings.append(Finding(Kind.DUPLICATE, what, outside))
    for digest in ledger.digests.values():
        times = seen.letters[digest.outside]
        if times > max(1, digest.attempts):
            what = f"the digest of {digest.period} left {times} times in {digest.attempts} attempts"
            findings.append(Finding(Kind.DUPLICATE, what, digest.outside))
        else:
            copies += max(0, times - 1)
    return findings, copies


def _strays(ledger: _Ledger, seen: Seen, *, now: datetime) -> Iterator[Finding]:
    """Letters in the outbox to people we have that no row knows: they left, though the ledger thinks they did not."""
    known = {row.outside for row in ledger.rows.values()} | {digest.outside for digest in ledger.digests.values()}
    oldest = now - FINAL_KEPT + timedelta(days=1)  # the rows of older ones may have been removed
    for outside, file in (seen.files or {}).items():
        if outside in known:
            continue
        try:
            head = maildir.head_of(file)
            since = ledger.people.get(ids.uid_of(head.to))
        except (ValueError, OSError):
            continue  # not one of ours
        if head.kind is not None and since is not None and head.date_s >= max(since, oldest).timestamp():
            yield Finding(Kind.DUPLICATE, f"a letter ({head.kind}) left that the ledger does not know", outside)


def _named(row: Delivery) -> str:
    title = row.title if len(row.title) <= TITLE_MAX_CHARS else row.title[: TITLE_MAX_CHARS - 1] + "…"
    return f"{title!r} ({row_id(row)[-8:]})"
