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
from ledger.collections import DELIVERIES, DIGESTS
from ledger.deliveries import Row
from ledger.documents import Stored, decode, encode
from ledger.lifecycle import (
    DIGEST_AFTER,
    DIGEST_ATTEMPTS_MAX,
    DIGEST_LIVE,
    DIGEST_RETRY_UNCLEAR,
    FINAL_KEPT,
    UNCLEAR_PERIODS_MAX,
    Attempt,
    DigestState,
    Outcome,
    State,
    ends_left_out,
)
from ledger.records import Delivery, Digest
from ledger.schedule import Due, Hour, next_due
from ledger.store import Create, Snapshot, Store, Swap, Write

Held = Stored[Digest]

LEFT_OUT_WHY = "two digests had no room for it"
GAVE_UP_WHY = "unclear, gave up"
ROWS_MAX = 450  # pinned to one digest: one commit takes 500 writes


def digest_id(digest: Digest) -> str:
    return ids.digest_id(digest.uid, digest.period)


async def find_live(store: Store, uid: str) -> list[Held]:
    """The user's digests that are pinned and not closed, oldest period first. Raises BadRecord."""
    page = await store.find(DIGESTS, {"uid": uid, "live": True})
    return [Stored(decode(Digest, s), s.version) for s in page.items]


async def read(store: Store, digest_ids: Sequence[str]) -> dict[str, Held]:
    found = await store.get(DIGESTS, digest_ids)
    return {id_: Stored(decode(Digest, s), s.version) for id_, s in found.items()}


@dataclass(frozen=True, slots=True)
class Pinned:
    digest: Held | None  # None: no row was left to send
    gave_up: tuple[Delivery, ...]  # unclear in too many periods: FAILED with this pin


async def pin(
    store: Store,
    uid: str,
    rows: Sequence[Row],
    *,
    due: Due,
    older: Held | None,
    older_rows: Sequence[Row],
    cap: int,
    now: datetime,
    notes: Sequence[str] = (),
) -> Pinned | None:
    """Bind `rows` to the period's digest in one commit; an older live digest is closed as SUPERSEDED.

    `rows` come in the order of the letter, `notes` go to its head. The older digest's rows come first and outside
    the cap. None: the period already has its digest, or a row moved; whoever did that carries on.
    """
    nonce = ids.new_nonce()
    carried, gave_up = _take_over(older, older_rows, now=now)
    room = [*carried, *rows][:ROWS_MAX]
    digest = Digest(
        uid=uid,
        period=due.period,
        due_at=due.at,
        created_at=now,
        state=DigestState.OPEN,
        rows=tuple(row.record.key for row in room),
        shown=min(len(room), len(carried) + cap),
        live=True,
        outside=ids.outside_id(ids.digest_id(uid, due.period)),
        nonce=nonce,
        wake_at=now,
        notes=tuple(notes),
    )
    id_ = digest_id(digest)
    writes: list[Write] = [Create(DIGESTS, id_, encode(digest))] if room else []
    writes += [_swap(row, replace(row.record, period=due.period, wake_at=None)) for row in room]
    writes += [_swap(row, failed) for row, failed in gave_up]
    if older is not None:
        closed = _closed(older.record, DigestState.SUPERSEDED, now=now, why=f"its rows went to {due.period}")
        writes.append(Swap(DIGESTS, digest_id(older.record), older.version, encode(closed)))
    taken = await store.commit(writes)
    failures = tuple(failed for _, failed in gave_up)
    if not room:
        return Pinned(None, failures) if taken else None
    # Read whatever the commit said: a lost answer says False for one that took effect; the nonce is the proof.
    found = (await store.get(DIGESTS, [id_])).get(id_)
    if found is None or found.data.get("nonce") != nonce:
        return None
    return Pinned(Stored(digest, found.version), failures)


def _take_over(
    older: Held | None, older_rows: Sequence[Row], *, now: datetime
) -> tuple[list[Row], list[tuple[Row, Delivery]]]:
    """An older digest's rows: those that go on, and those that were unclear once too often."""
    carried: list[Row] = []
    gave_up: list[tuple[Row, Delivery]] = []
    was_unclear = older is not None and older.record.unclear > 0
    for row in older_rows:
        periods = row.record.unclear_periods + (1 if was_unclear else 0)
        counted = replace(row.record, unclear_periods=periods)
        if periods >= UNCLEAR_PERIODS_MAX:
            gave_up.append((row, deliveries.final(counted, State.FAILED, now=now, why=GAVE_UP_WHY)))
        else:
            carried.append(Stored(counted, row.version))
    return carried, gave_up


def _swap(row: Row, new: Delivery) -> Swap:
    return Swap(DELIVERIES, deliveries.row_id(new), row.version, encode(new))


async def begin(store: Store, digest: Held, *, now: datetime, lease_s: float) -> Held | None:
    """Claim the next attempt: to SENDING under a fresh nonce. None: somebody else did.

    Call it for a digest that is OPEN, or SENDING and older than its lease; see `given_up`.
    """
    nonce = ids.new_nonce()
    sending = replace(
        digest.record,
        state=DigestState.SENDING,
        nonce=nonce,
        attempts=digest.record.attempts + 1,
        wake_at=now + timedelta(seconds=lease_s),
    )
    return await _write(store, digest, sending)


def died(digest: Digest) -> Digest:
    """A SENDING digest older than its lease: that attempt counts as unclear."""
    return replace(digest, state=DigestState.OPEN, unclear=digest.unclear + 1, why="the run that was sending it died")


def is_spent(digest: Digest) -> bool:
    """Whether this period has had all its attempts; its rows then go with the next one."""
    return digest.attempts >= DIGEST_ATTEMPTS_MAX


async def wait(store: Store, digest: Held, *, until: datetime) -> Held | None:
    """Leave the digest open and look at it again at `until`."""
    return await _write(store, digest, replace(digest.record, state=DigestState.OPEN, wake_at=until))


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
    return waiting, await _write(store, sending, waiting) is not None


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
    listed: int | None = None,
) -> list[Delivery]:
    """Flip the rows, then the document. Returns the rows as flipped by this call.

    `rows` are the digest's rows by key. Those the letter listed (the first `listed`, default `shown`) share the
    digest's fate; when it was SENT the others were left over: carried to the next one once, then EXPIRED.
    """
    record = digest.record
    shown = record.shown if listed is None else min(listed, record.shown)
    changes: list[tuple[Row, Delivery]] = []
    for position, key in enumerate(record.rows):
        row = rows.get(key)
        if row is None or row.record.state is not State.QUEUED or row.record.period != record.period:
            continue  # flipped by an attempt that died before its end, or gone with its user
        is_listed = position < shown or state is not DigestState.SENT
        new = (
            _flipped(row.record, state, why=why, receipt=receipt, now=now)
            if is_listed
            else _left_over(row.record, hour=hour, now=now)
        )
        changes.append((row, new))
    flipped = await deliveries.change(store, changes)
    closed = replace(_closed(record, state, now=now, why=why), receipt=receipt)
    await _write(store, digest, closed)
    return flipped


_ROW_STATE = {
    DigestState.SENT: State.SENT,
    DigestState.FAILED: State.FAILED,
    DigestState.EXPIRED: State.EXPIRED,
}


def _flipped(row: Delivery, state: DigestState, *, why: str, receipt: str | None, now: datetime) -> Delivery:
    return deliveries.final(row, _ROW_STATE[state], now=now, why=why, receipt=receipt)


def _left_over(row: Delivery, *, hour: Hour, now: datetime) -> Delivery:
    counted = replace(row, left_over=row.left_over + 1)
    if ends_left_out(row.left_over):
        return deliveries.final(counted, State.EXPIRED, now=now, why=LEFT_OUT_WHY)
    return replace(counted, period=None, wake_at=next_due(hour, now).at)


def was_accepted(digest: Digest, rows: Mapping[str, Row]) -> bool:
    """Whether an earlier attempt got as far as flipping: then the letter was accepted for certain."""
    return any(row.record.state is State.SENT and row.record.period == digest.period for row in rows.values())


def _closed(digest: Digest, state: DigestState, *, now: datetime, why: str = "") -> Digest:
    return replace(digest, state=state, live=state in DIGEST_LIVE, wake_at=None, why=why, expire_at=now + FINAL_KEPT)


async def _write(store: Store, old: Held, new: Digest) -> Held | None:
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
