"""What the operator is to be told: gathered until a letter may go, one a day at most, and at most once.

One document. The letter's claim is the swap that empties it; a run that dies then has told nobody, and the matter
comes again with the next run that meets it. A letter that was not taken puts its matters back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ledger import ids
from ledger.collections import LOCKS
from ledger.documents import BadRecord, Instant, Stored, decode, encode, tolerant
from ledger.store import Store

MATTERS_ID = "operator"
MATTERS_MAX = 40
TOLD_EVERY = timedelta(hours=24)
TRIES_MAX = 5


@tolerant
@dataclass(frozen=True, slots=True)
class Matters:
    """Matter -> when it was first met. `told_at`: the last letter."""

    open: dict[str, Instant] = field(default_factory=dict)
    told_at: Instant | None = None
    nonce: str = ""


async def note(store: Store, matters: Iterable[str], *, now: datetime) -> None:
    """Remember matters for the next letter; one that is there already keeps its time."""
    fresh = dict.fromkeys(matters, now)
    for _ in range(TRIES_MAX):
        held = await _read(store)
        known = held.record.open if held is not None else {}
        both = dict(list({**fresh, **known}.items())[:MATTERS_MAX])
        if both.keys() == known.keys():
            return
        if await _write(store, held, replace(held.record if held is not None else Matters(), open=both)):
            return


async def claim(store: Store, *, now: datetime) -> Matters | None:
    """Take what is to be told, if a letter may go now. None: nothing, too soon, or another run has it."""
    held = await _read(store)
    if held is None or not held.record.open:
        return None
    if held.record.told_at is not None and now - held.record.told_at < TOLD_EVERY:
        return None
    taken = replace(held.record, nonce=ids.new_nonce())
    if not await _write(store, held, Matters(told_at=now, nonce=taken.nonce)):
        return None
    return taken


async def put_back(store: Store, taken: Matters, *, told_at: datetime | None) -> None:
    """After `claim`, if the letter certainly was not taken: its matters stand open again, with their times.

    `told_at` says from when the next letter waits; None: it may go at once.
    """
    for _ in range(TRIES_MAX):
        held = await _read(store)
        if held is None:
            return
        both = dict(list({**held.record.open, **taken.open}.items())[:MATTERS_MAX])
        if await _write(store, held, Matters(open=both, told_at=told_at, nonce=ids.new_nonce())):
            return


async def _read(store: Store) -> Stored[Matters] | None:
    snapshot = (await store.get(LOCKS, [MATTERS_ID])).get(MATTERS_ID)
    if snapshot is None:
        return None
    try:
        return Stored(decode(Matters, snapshot), snapshot.version)
    except BadRecord:
        return Stored(Matters(), snapshot.version)


async def _write(store: Store, held: Stored[Matters] | None, new: Matters) -> bool:
    fresh = replace(new, nonce=new.nonce or ids.new_nonce())
    if held is None:
        done = await store.create(LOCKS, {MATTERS_ID: encode(fresh)})
    else:
        fresh = replace(fresh, nonce=fresh.nonce if fresh.nonce != held.record.nonce else ids.new_nonce())
        done = await store.swap(LOCKS, {MATTERS_ID: (held.version, encode(fresh))})
    if done:
        return True
    found = await _read(store)
    return found is not None and found.record.nonce == fresh.nonce
