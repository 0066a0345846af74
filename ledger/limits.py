"""How often something may happen: a count in a window, advanced by swap, so that all processes share it."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ledger import ids
from ledger.collections import LIMITS
from ledger.documents import LONG_AGO, BadRecord, Instant, Stored, decode, encode, tolerant
from ledger.store import Store


@tolerant
@dataclass(frozen=True, slots=True)
class Taken:
    since: Instant
    count: int
    nonce: str
    expire_at: Instant


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `at_most` in any window that begins with the first one taken.

    `shards` documents share the count, where many take from it at once; each then holds its part of `at_most`.
    """

    name: str
    at_most: int
    per: timedelta = timedelta(hours=1)
    shards: int = 1


async def take(store: Store, limit: Limit, whose: str, *, now: datetime) -> bool:
    """Take one. False: none is left in this window. `whose` never leaves here but as a hash. Raises StoreError.

    A lost race means that somebody else took one, so there are never more tries than the limit has.
    """
    share = limit.at_most // limit.shards
    for shard in random.sample(range(limit.shards), limit.shards):
        id_ = ids.outside_id(f"{limit.name}\n{whose}\n{shard}")
        for _ in range(share + 1):
            held = await _read(store, id_)
            if held is not None and now - held.record.since < limit.per:
                if held.record.count >= share:
                    break
                new = replace(held.record, count=held.record.count + 1, nonce=ids.new_nonce())
            else:
                new = Taken(since=now, count=1, nonce=ids.new_nonce(), expire_at=now + limit.per)
            if await _write(store, id_, held, new):
                return True
    return False


async def _read(store: Store, id_: str) -> Stored[Taken] | None:
    snapshot = (await store.get(LIMITS, [id_])).get(id_)
    if snapshot is None:
        return None
    try:
        return Stored(decode(Taken, snapshot), snapshot.version)
    except BadRecord:
        return Stored(Taken(LONG_AGO, 0, "", LONG_AGO), snapshot.version)  # as if from another window


async def _write(store: Store, id_: str, held: Stored[Taken] | None, new: Taken) -> bool:
    if held is None:
        done = await store.create(LIMITS, {id_: encode(new)})
    else:
        done = await store.swap(LIMITS, {id_: (held.version, encode(new))})
    if done:
        return True
    found = await _read(store, id_)  # a lost answer: our nonce in the document says that it is ours
    return found is not None and found.record.nonce == new.nonce
