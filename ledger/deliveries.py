"""The rows of the ledger: claim, settle, queue, move to the digest, expire.

One document per user and job. Creating it (or swapping it from QUEUED) under a fresh nonce is the claim,
and the store decides it; nothing here looks and then leaps. What a row becomes after an attempt stands in
`lifecycle.ALERT_AFTER` and nowhere else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ledger import ids
from ledger.collections import DELIVERIES
from ledger.documents import OnBad, Stored, encode, raised, read_all
from ledger.lifecycle import (
    ABANDONED,
    ALERT_AFTER,
    ALERT_AGE_MAX,
    ALERT_RETRY,
    FINAL,
    FINAL_KEPT,
    TRIES_MAX,
    Attempt,
    State,
    Via,
)
from ledger.records import Delivery, Job, User
from ledger.schedule import Hour, next_due
from ledger.store import Snapshot, Store, StoreError, every

Row = Stored[Delivery]

GONE_WHY = "its user has gone"
STOPPED_WHY = "its user has stopped: "  # and by what


def row_id(row: Delivery) -> str:
    return ids.pair_id(row.uid, row.key)


def offered(
    uid: str, job: Job, *, score: int, reason: str, search: str = "", twin_links: Iterable[str] = (), now: datetime
) -> Delivery:
    """The row of a fit, not yet in the store: it freezes what its letter will show."""
    return Delivery(
        uid=uid,
        key=job.key,
        job_id=job.id,
        state=State.QUEUED,
        via=Via.ALERT,
        created_at=now,
        first_seen=job.first_seen,
        title=job.title,
        link=job.link,
        score=score,
        reason=reason,
        search=search,
        company=job.company,
        place=job.place,
        pay=job.pay,
        source=job.source,
        published_at=job.published_at,
        twin_links=tuple(twin_links),
    )


def best_first(row: Delivery) -> tuple[int, float, str]:
    """Sort key: score, then the newer job, then the id."""
    return (-row.score, -(row.published_at or row.first_seen).timestamp(), row.key)


async def claim(
    store: Store, fresh: Sequence[Delivery], waiting: Sequence[Row], *, nonce: str, now: datetime, lease_s: float
) -> list[Row]:
    """Claim rows for one letter: create the fresh ones as CLAIMED, swap the waiting ones from QUEUED.

    Returns those that this call won, best first. A write whose answer was lost is read back: its own nonce
    says that it is ours. Raises StoreError, and then gives back what it knows to have won.
    """

    def claimed(row: Delivery) -> Delivery:
        return replace(
            row,
            state=State.CLAIMED,
            nonce=nonce,
            outside=ids.outside_id(nonce),
            wake_at=now + timedelta(seconds=lease_s),
        )

    wanted = {row_id(row): claimed(row) for row in fresh}
    versions: dict[str, str] = {}
    if wanted:
        versions |= await store.create(DELIVERIES, {id_: encode(row) for id_, row in wanted.items()})
    try:
        if waiting:
            again = {row_id(row.record): (row.version, claimed(row.record)) for row in waiting}
            wanted |= {id_: row for id_, (_, row) in again.items()}
            versions |= await store.swap(DELIVERIES, {id_: (v, encode(row)) for id_, (v, row) in again.items()})
        versions |= await _lost_answers(store, wanted, versions)
    except StoreError:
        await give_back(store, [Stored(wanted[id_], v) for id_, v in versions.items()], now=now)
        raise
    return sorted((Stored(wanted[id_], v) for id_, v in versions.items()), key=lambda row: best_first(row.record))


async def give_back(store: Store, won: Sequence[Row], *, now: datetime) -> None:
    """Claimed rows whose letter certainly does not leave wait again, as far as the store still writes that down."""
    waiting = {
        row_id(row.record): (
            row.version,
            encode(replace(row.record, state=State.QUEUED, nonce=None, outside=None, wake_at=now)),
        )
        for row in won
    }
    with contextlib.suppress(StoreError):
        await store.swap(DELIVERIES, waiting)


async def _lost_answers(store: Store, wanted: Mapping[str, Delivery], won: Mapping[str, str]) -> dict[str, str]:
    """The versions of documents that hold exactly what we tried to write, though we were told they do not."""
    lost = [id_ for id_ in wanted if id_ not in won]
    if not lost:
        return {}
    found = await store.get(DELIVERIES, lost)
    return {id_: s.version for id_, s in found.items() if _is_ours(s, wanted[id_])}


def _is_ours(found: Snapshot, written: Delivery) -> bool:
    return found.data.get("nonce") == written.nonce and found.data.get("state") == written.state.value


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a letter's rows. `refused` were no longer ours to settle; they are left as found."""

    rows: tuple[Delivery, ...]
    refused: int


async def settle(store: Store, won: Sequence[Row], attempt: Attempt, *, hour: Hour, now: datetime) -> Settled:
    """Write down how the attempt for these claimed rows ended, each only while CLAIMED under its own nonce."""
    after = {row_id(row.record): _after(row.record, attempt, hour=hour, now=now) for row in won}
    versions = {row_id(row.record): row.version for row in won}
    done = await store.swap(DELIVERIES, {id_: (versions[id_], encode(row)) for id_, row in after.items()})
    missing = [id_ for id_ in after if id_ not in done]
    if missing:
        found = await store.get(DELIVERIES, missing)
        nonces = {row_id(row.record): row.record.nonce for row in won}
        done |= {id_: s.version for id_, s in found.items() if _is_ours(s, after[id_])}
        # A version that moved while the claim stood (an answer lost between two tries): once more, from there.
        still = {
            id_: (s.version, encode(after[id_]))
            for id_, s in found.items()
            if s.data.get("state") == State.CLAIMED.value and s.data.get("nonce") == nonces[id_]
        }
        if still:
            done |= await store.swap(DELIVERIES, still)
    return Settled(tuple(row for id_, row in after.items() if id_ in done), len(after) - len(done))


def _after(row: Delivery, attempt: Attempt, *, hour: Hour, now: datetime) -> Delivery:
    rule = ALERT_AFTER[attempt.outcome]
    if rule.state in FINAL:
        return final(row, rule.state, now=now, why=attempt.reason, receipt=attempt.receipt)
    tries = row.tries + (1 if rule.uses_try else 0)
    waiting = replace(row, state=State.QUEUED, tries=tries, why=attempt.reason, wake_at=now)
    if is_for_digest(waiting, now=now):
        return to_digest(waiting, hour=hour, now=now)
    if not rule.uses_try:
        return waiting  # the account was at fault: due again at the next run
    wait = max(ALERT_RETRY[min(tries, len(ALERT_RETRY)) - 1], timedelta(seconds=attempt.retry_after_s or 0))
    return replace(waiting, wake_at=now + min(wait, ALERT_AGE_MAX))


def final(row: Delivery, state: State, *, now: datetime, why: str = "", receipt: str | None = None) -> Delivery:
    """The row in a state that it does not leave by itself; kept FINAL_KEPT from now."""
    return replace(
        row,
        state=state,
        why=why,
        receipt=receipt or row.receipt,
        wake_at=None,
        final_at=now,
        expire_at=now + FINAL_KEPT,
    )


def unwanted_why(user: User | None) -> str:
    """Why a row of somebody to whom nothing is sent expires."""
    return GONE_WHY if user is None else f"{STOPPED_WHY}{user.stopped or 'inactive'}"


def is_for_digest(row: Delivery, *, now: datetime) -> bool:
    """Whether a waiting alert row has used its tries or its time."""
    return row.tries >= TRIES_MAX or now - row.first_seen >= ALERT_AGE_MAX


def to_digest(row: Delivery, *, hour: Hour, now: datetime) -> Delivery:
    """The row as one that waits for the user's next digest. There is no way back."""
    return replace(row, via=Via.DIGEST, state=State.QUEUED, nonce=None, outside=None, wake_at=next_due(hour, now).at)


async def queue(store: Store, rows: Iterable[Delivery]) -> int:
    """Create rows that wait; a pair that has one already is decided. Returns how many are new."""
    return len(await store.create(DELIVERIES, {row_id(row): encode(row) for row in rows}))


async def count_waiting(store: Store, rows: Sequence[Delivery]) -> int:
    """How many of these pairs have a row that waits for the next digest, whoever made it."""
    found = (await store.get(DELIVERIES, [row_id(row) for row in rows])).values()
    return sum(
        (s.data.get("state"), s.data.get("via"), s.data.get("period")) == (State.QUEUED.value, Via.DIGEST.value, None)
        for s in found
    )


async def change(store: Store, changes: Iterable[tuple[Row, Delivery]]) -> list[Delivery]:
    """Swap rows to their new form; one that moved meanwhile is left to whoever moved it. Returns those changed."""
    wanted = {row_id(new): (old.version, new) for old, new in changes if old.record != new}
    if not wanted:
        return []
    done = await store.swap(DELIVERIES, {id_: (version, encode(new)) for id_, (version, new) in wanted.items()})
    return [wanted[id_][1] for id_ in done]


def abandoned(row: Delivery, *, now: datetime) -> Delivery:
    """A claim that outlived its lease: its process died, and nobody can tell whether the letter left."""
    return final(row, ABANDONED, now=now, why="the run that was sending it died")


async def read(store: Store, row_ids: Sequence[str], bad: OnBad = raised) -> dict[str, Row]:
    """Rows by id; absent ones are missing, unreadable ones are told to `bad`."""
    return read_all(Delivery, (await store.get(DELIVERIES, row_ids)).values(), bad)


async def waiting(store: Store, uid: str, bad: OnBad = lambda *_: None, *, via: Via | None = None) -> list[Row]:
    """A person's rows that are QUEUED and in no digest.

    One that cannot be read is told to `bad`; by default it is the next run's to tell.
    """
    where = {"uid": uid, "state": State.QUEUED.value} | ({"via": via.value} if via is not None else {})
    found = [snapshot async for snapshot in every(store, DELIVERIES, where)]
    return [row for row in read_all(Delivery, found, bad).values() if row.record.period is None]
