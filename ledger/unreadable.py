"""A document that cannot be read holds nothing up: what it binds is let go, and it asks for no more attention."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ledger import ids
from ledger.collections import DELIVERIES, DIGESTS, USERS
from ledger.lifecycle import FINAL_KEPT, DigestState, State, Via
from ledger.records import Stop
from ledger.store import Snapshot, Store, every

WHY = "its document could not be read"


async def let_go_of_digest(store: Store, digest: Snapshot, uid: str, *, wake_at: datetime, now: datetime) -> int:
    """Unpin the rows of the user's digest, due at `wake_at`, then end it. Returns how many wait again.

    Whether its letter left nobody can tell: a rare copy beats a lost day.
    """
    period = digest.id.removeprefix(ids.digest_id(uid, ""))
    where = {"uid": uid, "state": State.QUEUED.value, "via": Via.DIGEST.value}
    free: dict[str, tuple[str, dict[str, Any]]] = {}
    async for snapshot in every(store, DELIVERIES, where):
        if snapshot.data.get("period") == period:
            kept = {name: value for name, value in snapshot.data.items() if name != "period"}
            free[snapshot.id] = (snapshot.version, {**kept, "wake_at": wake_at})
    freed = await store.swap(DELIVERIES, free)
    kept = {name: value for name, value in digest.data.items() if name != "wake_at"}
    ended = {"live": False, "state": DigestState.SUPERSEDED.value, "why": WHY, "expire_at": now + FINAL_KEPT}
    await store.swap(DIGESTS, {digest.id: (digest.version, {**kept, **ended})})
    return len(freed)


async def stop_user(store: Store, user: Snapshot, why: Stop, *, now: datetime) -> bool:
    """Mark the person as one to whom nothing is sent, whatever else the document holds.

    A stop that stands already stays. False: the document changed at this moment.
    """
    if user.data.get("stopped") is not None:
        return True
    marked = {**user.data, "active": False, "stopped": why.value, "stopped_at": now}
    return bool(await store.swap(USERS, {user.id: (user.version, marked)}))
