"""How many letters may leave today: one document, advanced by swap in blocks before anything is claimed.

A run that dies keeps its block: letters are lost to the day's count, never sent beyond it. What yesterday's
digests needed is held back from the alerts, so that a busy morning does not eat the day's digests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from ledger import ids
from ledger.collections import LOCKS
from ledger.documents import BadRecord, Stored, decode, encode, tolerant
from ledger.store import Store

QUOTA_ID = "quota"
TRIES_MAX = 8


@tolerant
@dataclass(frozen=True, slots=True)
class Day:
    """`used` counts letters granted, both kinds; `digests` those for digests, `digests_before` yesterday's."""

    day: str  # UTC date
    used: int = 0
    digests: int = 0
    digests_before: int = 0
    nonce: str = ""


async def take(store: Store, *, day: date, want: int, daily_max: int, digests: bool) -> int:
    """Reserve up to `want` letters of the day. Returns how many; 0 when the day is spent. Raises StoreError."""
    for _ in range(TRIES_MAX):
        held = await _read(store)
        today = _turned(held.record if held else None, day)
        kept = 0 if digests else max(0, today.digests_before - today.digests)
        grant = min(want, daily_max - kept - today.used)
        if grant <= 0:
            return 0
        if await _write(store, held, _moved(today, grant, digests=digests)):
            return grant
    return 0  # others keep taking; whoever waits for the next run loses nothing


async def give_back(store: Store, *, day: date, count: int, digests: bool) -> None:
    """Return what was reserved and not sent, if it is still that day."""
    for _ in range(TRIES_MAX):
        held = await _read(store)
        if held is None or held.record.day != day.isoformat():
            return
        if await _write(store, held, _moved(held.record, -count, digests=digests)):
            return


def _moved(today: Day, count: int, *, digests: bool) -> Day:
    more = count if digests else 0
    return replace(today, used=max(0, today.used + count), digests=max(0, today.digests + more), nonce=ids.new_nonce())


def _turned(found: Day | None, day: date) -> Day:
    if found is None:
        return Day(day=day.isoformat())
    if found.day == day.isoformat():
        return found
    return Day(day=day.isoformat(), digests_before=found.digests)


async def _read(store: Store) -> Stored[Day] | None:
    snapshot = (await store.get(LOCKS, [QUOTA_ID])).get(QUOTA_ID)
    if snapshot is None:
        return None
    try:
        return Stored(decode(Day, snapshot), snapshot.version)
    except BadRecord:
        return Stored(Day(day=""), snapshot.version)  # unreadable: as if from another day


async def _write(store: Store, held: Stored[Day] | None, new: Day) -> bool:
    if held is None:
        done = await store.create(LOCKS, {QUOTA_ID: encode(new)})
    else:
        done = await store.swap(LOCKS, {QUOTA_ID: (held.version, encode(new))})
    if done:
        return True
    found = await _read(store)  # a lost answer: our nonce in the document says that it is ours
    return found is not None and found.record.nonce == new.nonce
