"""What a person has had and has waiting: read from the ledger, for the person and the operator."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from ledger.collections import DELIVERIES, DIGESTS
from ledger.documents import BadRecord, decode
from ledger.lifecycle import DigestState, State, Via
from ledger.records import Delivery, Digest
from ledger.store import Store, every


@dataclass(frozen=True, slots=True)
class LetterSent:
    """One letter that the provider took."""

    kind: str  # "alert" or "digest"
    at: datetime
    jobs: int
    best: str  # the title of its best job


@dataclass(frozen=True, slots=True)
class Account:
    rows: dict[str, int]  # state -> delivery rows in it
    waiting_until: datetime | None  # when the next waiting row is looked at
    letters: tuple[LetterSent, ...]  # the newest first
    unreadable: int  # documents that could not be read


async def read_account(store: Store, uid: str) -> Account:
    """Everything of one person, by equality on the uid. Raises StoreError."""
    rows: list[Delivery] = []
    digests: list[Digest] = []
    unreadable = 0
    async for snapshot in every(store, DELIVERIES, {"uid": uid}):
        try:
            rows.append(decode(Delivery, snapshot))
        except BadRecord:
            unreadable += 1
    async for snapshot in every(store, DIGESTS, {"uid": uid}):
        try:
            digests.append(decode(Digest, snapshot))
        except BadRecord:
            unreadable += 1
    waiting = [row.wake_at for row in rows if row.state is State.QUEUED and row.wake_at is not None]
    letters = [*_alerts(rows), *_digests(rows, digests)]
    return Account(
        rows=dict(sorted(Counter(row.state.value for row in rows).items())),
        waiting_until=min(waiting, default=None),
        letters=tuple(sorted(letters, key=lambda letter: letter.at, reverse=True)),
        unreadable=unreadable,
    )


def _alerts(rows: list[Delivery]) -> list[LetterSent]:
    by_letter: dict[str, list[Delivery]] = {}
    for row in rows:
        if row.via is Via.ALERT and row.state is State.SENT and row.outside is not None:
            by_letter.setdefault(row.outside, []).append(row)
    return [_letter("alert", shared, at=None) for shared in by_letter.values()]


def _digests(rows: list[Delivery], digests: list[Digest]) -> list[LetterSent]:
    sent: list[LetterSent] = []
    for digest in digests:
        shared = [r for r in rows if r.period == digest.period and r.via is Via.DIGEST and r.state is State.SENT]
        if digest.state is DigestState.SENT and shared:
            sent.append(_letter("digest", shared, at=digest.created_at))
    return sent


def _letter(kind: str, rows: list[Delivery], *, at: datetime | None) -> LetterSent:
    best = max(rows, key=lambda row: (row.score, row.published_at or row.first_seen))
    return LetterSent(kind, at or best.final_at or best.created_at, len(rows), best.title)
