"""What people say of a job that they were sent: a good one, or not for them. The last word counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ledger import ids
from ledger.collections import FEEDBACK
from ledger.documents import BadRecord, Instant, decode, encode, tolerant
from ledger.lifecycle import FINAL_KEPT
from ledger.store import Store, every


class Opinion(StrEnum):
    GOOD = "good"
    NOT_FOR_ME = "not-for-me"


@tolerant
@dataclass(frozen=True, slots=True)
class Feedback:
    uid: str
    key: str
    opinion: Opinion
    at: Instant
    expire_at: Instant


async def say(store: Store, uid: str, key: str, opinion: Opinion | None, *, now: datetime) -> None:
    """Note it over whatever was said before; None takes it back."""
    id_ = ids.pair_id(uid, key)
    if opinion is None:
        await store.delete(FEEDBACK, [id_])
        return
    await store.put(FEEDBACK, {id_: encode(Feedback(uid, key, opinion, at=now, expire_at=now + FINAL_KEPT))})


async def said(store: Store, uid: str) -> dict[str, Opinion]:
    """{key: opinion} of one person."""
    found: dict[str, Opinion] = {}
    async for snapshot in every(store, FEEDBACK, {"uid": uid}):
        try:
            feedback = decode(Feedback, snapshot)
        except BadRecord:
            continue
        found[feedback.key] = feedback.opinion
    return found
