"""The lock: a timestamp that expires by itself. It saves money; the ledger is the guarantee.

Busy is a normal answer, not an error, and nobody waits. Whoever died holding it is forgotten after the
lease that *they* wrote, measured by the store's own clock, so a host with a wrong clock neither steals nor
sits on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ledger import ids
from ledger.collections import LOCKS
from ledger.documents import BadRecord, decode, encode
from ledger.records import Lock
from ledger.store import Delete, Snapshot, Store

LOCK_ID = "cron"
LEASE_MAX_S = 3600.0  # a longer one is a mistake and would stop the scout for as long
TRIES_MAX = 3  # create, lose, find it gone: somebody is releasing at this moment


@dataclass(frozen=True, slots=True)
class Lease:
    """Held by this run. `warning` tells of an odd lock that was taken over."""

    nonce: str
    version: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Busy:
    """Another run holds it."""

    holder: str
    since: datetime
    age_s: float


async def acquire(store: Store, *, holder: str, lease_s: float, now: datetime) -> Lease | Busy:
    """Take the lock if it is free: absent, or older than the lease its holder wrote.

    Exclusive: created or swapped, and read back where the answer was lost. Raises StoreError.
    """
    lock = encode(Lock(ts=now, holder=holder, nonce=ids.new_nonce(), lease_s=lease_s))
    nonce: str = lock["nonce"]
    for _ in range(TRIES_MAX):
        if version := (await store.create(LOCKS, {LOCK_ID: lock})).get(LOCK_ID):
            return Lease(nonce, version)
        held = (await store.get(LOCKS, [LOCK_ID])).get(LOCK_ID)
        if held is None:
            continue
        if held.data.get("nonce") == nonce:
            return Lease(nonce, held.version)
        free, warning = _is_free(held, default_lease_s=lease_s)
        if not free:
            return _busy(held, now=now)
        if version := (await store.swap(LOCKS, {LOCK_ID: (held.version, lock)})).get(LOCK_ID):
            return Lease(nonce, version, warning)
        after = (await store.get(LOCKS, [LOCK_ID])).get(LOCK_ID)
        if after is not None:
            return Lease(nonce, after.version, warning) if after.data.get("nonce") == nonce else _busy(after, now=now)
    return Busy("another run", now, 0.0)


async def release(store: Store, lease: Lease) -> bool:
    """Give the lock back if it is still this lease's; a later holder's is never touched."""
    return await store.commit([Delete(LOCKS, LOCK_ID, version=lease.version)])


def _is_free(held: Snapshot, *, default_lease_s: float) -> tuple[bool, str]:
    written = held.data.get("lease_s")
    lease_s = float(written) if isinstance(written, int | float) and not isinstance(written, bool) else default_lease_s
    if held.age_s < 0:
        return True, f"the lock was written {-held.age_s:.0f} s in the future; taken over"
    if not 0 < lease_s <= LEASE_MAX_S:
        return True, f"the lock had a lease of {lease_s:.0f} s; taken over"
    return held.age_s >= lease_s, ""


def _busy(held: Snapshot, *, now: datetime) -> Busy:
    try:
        lock = decode(Lock, held)
    except BadRecord:
        return Busy("unknown", now - timedelta(seconds=held.age_s), held.age_s)
    return Busy(lock.holder, lock.ts, held.age_s)
