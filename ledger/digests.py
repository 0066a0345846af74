"""Digests, at least once: pin the rows, attempt the letter, flip the rows after it was accepted.

The document `digests/{uid}_{period}` names its rows before anything is sent, so a repeat is the same letter
with the same id outside. One attempt is one swap of that document to SENDING; a SENDING older than its
lease counts as unclear, since its process died. Rows are flipped first and the document last: whoever
finds a flipped row in a digest that is still SENDING knows that it was accepted and only finishes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ledger import deliveries, ids
from ledger.collections import DIGESTS
from ledger.deliveries import Row
from ledger.documents import Stored, encode, read_all
from ledger.lifecycle import (
    DIGEST_AFTER,
    DIGEST_ATTEMPTS_MAX,
    DIGEST_LIVE,
    DIGEST_RETRY_UNCLEAR,
    FINAL_KEPT,
    Attempt,
    DigestState,
    Outcome,
    State,
    ends_left_out,
)
from ledger.records import Delivery, Digest
from ledger.schedule import Hour, next_due
from ledger.store import Snapshot, Store

Held = Stored[Digest]

LEFT_OUT_WHY = "two digests had no room for it"
GAVE_UP_WHY = "unclear, gave up"


def digest_id(digest: Digest) -> str:
    return ids.digest_id(digest.uid, digest.period)


async def find_live(store: Store, uid: str) -> tuple[list[Held], list[Snapshot]]:
    """The user's digests that are pinned and not closed, oldest period first; and those that cannot be read."""
    page = await store.find(DIGESTS, {"uid": uid, "live": True})
    unreadable: set[str] = set()
    found = read_all(Digest, page.items, lambda id_, _: unreadable.add(id_))
    return list(found.values()), [snapshot for snapshot in page.items if snapshot.id in unreadable]


async def is_taken(store: Store, id_: str) -> bool:
    """Whether the period has its digest, readable or not."""
    return id_ in await store.get(DIGESTS, [id_])


async def has_had(store: Store, id_: str) -> bool:
    """Whether the period's digest is over and done with. One that is still to be sent comes at a later hour, too."""
    found = (await store.get(DIGESTS, [id_])).get(id_)
    return found is not None and found.data.get("state") not in DIGEST_LIVE


async def begin(store: Store, digest: Held, *, listed: Sequence[str], now: datetime, lease_s: float) -> Held | None:
    """Claim the next attempt, of a letter that lists the rows of these keys: to SENDING under a fresh nonce.

    None: somebody else did. Call it for a digest that is OPEN, or SENDING and older than its lease.
    """
    nonce = ids.new_nonce()
    sending = replace(
        digest.record,
        state=DigestState.SENDING,
        nonce=nonce,
        attempts=digest.record.attempts + 1,
        listed=tuple(listed),
        wake_at=now + timedelta(seconds=lease_s),
    )
    return await write(store, digest, sending)


def died(digest: Digest) -> Digest:
    """A SENDING digest older than its lease: that attempt counts as unclear."""
    return replace(digest, state=DigestState.OPEN, unclear=digest.unclear + 1, why="the run that was sending it died")


def is_spent(digest: Digest) -> bool:
    """Whether this period has had all its attempts; its rows then go with the next one."""
    return digest.attempts >= DIGEST_ATTEMPTS_MAX


async def wait(store: Store, digest: Held, *, until: datetime) -> Held | None:
    """Leave the digest open and look at it again at `until`."""
    return await write(store, digest, replace(digest.record, state=DigestState.OPEN, wake_at=until))


async def end(
    store: Store, sending: Held, attempt: Attempt, *, hour: Hour, now: datetime, lease_s: float
) -> tuple[Digest, bool]:
    """The document after an attempt that was not ACCEPTED or REJECTED: open, and when to try again.

    Returns the digest as it should be, and whether it could be written (false: it was taken over meanwhile).
    """
    rule = DIGEST_AFTER[attempt.outcome]
    digest = replace(sending.record, state=DigestState.OPEN, why=attempt.reason)
    if not rule.uses_try:
        waiting = replace(digest, attempts=digest.attempts - 1, wake_at=now)
    elif is_spent(digest):
        waiting = replace(digest, wake_at=next_due(hour, now).at)
    elif attempt.outcome is Outcome.UNCLEAR:
        waiting = replace(digest, wake_at=now + DIGEST_RETRY_UNCLEAR[digest.attempts - 1])
    else:
        pause_s = max(lease_s, attempt.retry_after_s or 0)
        waiting = replace(digest, wake_at=now + timedelta(seconds=pause_s))
    if attempt.outcome is Outcome.UNCLEAR:
        waiting = replace(waiting, unclear=waiting.unclear + 1)
    return waiting, await write(store, sending, waiting) is not None


@dataclass(frozen=True, slots=True)
class Closed:
    """`rows` as flipped by this call; `refused` moved meanwhile. Not `is_whole`: the document moved, too."""

    rows: tuple[Delivery, ...]
    refused: int
    is_whole: bool


async def close(
    store: Store,
    digest: Held,
    rows: Mapping[str, Row],
    *,
    state: DigestState,
    hour: Hour,
    now: datetime,
    why: str = "",
    receipt: str | None = None,
) -> Closed:
    """Flip the rows, then the document.

    `rows` are the digest's rows by key. Those the letter listed share the digest's fate; when it was SENT the
    others were left over: carried to the next one once, then EXPIRED.
    """
    record = digest.record
    listed = set(record.rows[: record.shown] if record.listed is None else record.listed)
    changes: list[tuple[Row, Delivery]] = []
    for key in record.rows:
        row = rows.get(key)
        if row is None or row.record.state is not State.QUEUED or row.record.period != record.period:
            continue  # flipped by an attempt that died before its end, or gone with its user
        is_listed = key in listed or state is not DigestState.SENT
        new = (
            _flipped(row.record, state, why=why, receipt=receipt, now=now)
            if is_listed
            else left_over(row.record, hour=hour, now=now)
        )
        changes.append((row, new))
    flipped = await deliveries.change(store, changes)
    ended = replace(closed(record, state, now=now, why=why), receipt=receipt)
    is_closed = await write(store, digest, ended) is not None
    return Closed(tuple(flipped), len(changes) - len(flipped), is_closed)


_ROW_STATE = {
    DigestState.SENT: State.SENT,
    DigestState.FAILED: State.FAILED,
    DigestState.EXPIRED: State.EXPIRED,
}


def _flipped(row: Delivery, state: DigestState, *, why: str, receipt: str | None, now: datetime) -> Delivery:
    return deliveries.final(row, _ROW_STATE[state], now=now, why=why, receipt=receipt)


def left_over(row: Delivery, *, hour: Hour, now: datetime) -> Delivery:
    """A row for which a sent digest had no room: to the next one, or EXPIRED."""
    counted = replace(row, left_over=row.left_over + 1)
    if ends_left_out(row.left_over):
        return deliveries.final(counted, State.EXPIRED, now=now, why=LEFT_OUT_WHY)
    return replace(counted, period=None, wake_at=next_due(hour, now).at)


def was_accepted(digest: Digest, rows: Mapping[str, Row]) -> bool:
    """Whether an earlier attempt got as far as flipping: then the letter was accepted for certain."""
    return any(row.record.state is State.SENT and row.record.period == digest.period for row in rows.values())


def closed(digest: Digest, state: DigestState, *, now: datetime, why: str = "") -> Digest:
    return replace(digest, state=state, live=state in DIGEST_LIVE, wake_at=None, why=why, expire_at=now + FINAL_KEPT)


async def write(store: Store, old: Held, new: Digest) -> Held | None:
    """Swap the document; a lost answer is read back by nonce and state. None: somebody else changed it."""
    id_ = digest_id(new)
    if version := (await store.swap(DIGESTS, {id_: (old.version, encode(new))})).get(id_):
        return Stored(new, version)
    found = (await store.get(DIGESTS, [id_])).get(id_)
    if found is not None and found.version != old.version and _is(found, new):
        return Stored(new, found.version)
    return None


def _is(found: Snapshot, written: Digest) -> bool:
    data = found.data
    return (data.get("nonce"), data.get("state"), data.get("attempts")) == (
        written.nonce,
        written.state.value,
        written.attempts,
    )
