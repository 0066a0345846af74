"""What a provider tells us afterwards: that it has a letter after all, or that somebody must not be written to.

Events come late, twice, in any order. So each effect depends on the document as it is now, and a repeat changes
nothing: a stop is never weakened, and only what is unsettled is settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ledger import addresses, deliveries, ids, unreadable, users
from ledger.collections import DELIVERIES, DIGESTS, USERS
from ledger.digests import Held
from ledger.documents import BadRecord, Stored, decode
from ledger.lifecycle import State
from ledger.records import Delivery, Digest, Stop
from ledger.store import Store, every

TAKEN_WHY = "an event of the provider says that it was taken"


@dataclass(frozen=True, slots=True)
class Event:
    """One event, whoever sent it. `outside` is the letter's id outside, as far as the event names it."""

    address: str
    outside: str | None = None
    taken: bool = False  # proves that the provider has the letter
    stop: Stop | None = None
    detail: str = ""  # for people: no address in it
    receipt: str | None = None


async def settle_alert(store: Store, outside: str, *, receipt: str | None, now: datetime) -> tuple[int, bool]:
    """The letter's rows that nobody could tell about become SENT. Returns how many, and whether it has rows at all.

    A row that was claimed again has another outside id, so the event cannot be about another letter.
    """
    changes: list[tuple[deliveries.Row, Delivery]] = []
    known = False
    async for snapshot in every(store, DELIVERIES, {"outside": outside}):
        known = True
        try:
            row = Stored(decode(Delivery, snapshot), snapshot.version)
        except BadRecord:
            continue
        if row.record.state in (State.UNCLEAR, State.CLAIMED):
            sent = deliveries.final(row.record, State.SENT, now=now, why=TAKEN_WHY, receipt=receipt)
            changes.append((row, sent))
    return len(await deliveries.change(store, changes)), known


async def unsettled_digest(store: Store, outside: str) -> Held | None:
    """The digest of this letter, if it was attempted and nobody has closed it."""
    async for snapshot in every(store, DIGESTS, {"outside": outside}):
        digest = Stored(decode(Digest, snapshot), snapshot.version)
        if digest.record.live and digest.record.attempts > 0:
            return digest
    return None


async def stop(store: Store, event: Event, *, now: datetime) -> bool:
    """Stop whoever has the event's address now. Returns whether that changed anything.

    The person is found by the address and by the letter: a changed address keeps the uid. An event about an
    address that they have left behind stops nobody. Raises ids.BadAddress, Contended.
    """
    if event.stop is None:
        return False
    canonical = ids.canonical_address(event.address)
    uids = {*await _uids_of_address(store, canonical), *await _uids_of_letter(store, event.outside)}
    unread: list[str] = []
    stopped = False
    for uid, user in (await users.read_many(store, sorted(uids), lambda uid, _: unread.append(uid))).items():
        if _canonical(user.record.address) != canonical:
            continue
        after = await users.stop(store, uid, event.stop, detail=event.detail, now=now)
        stopped = stopped or (after is not None and after != user.record)
    for snapshot in (await store.get(USERS, unread)).values() if unread else ():
        address = snapshot.data.get("address")
        if isinstance(address, str) and _canonical(address) not in (None, canonical):
            continue
        if not await unreadable.stop_user(store, snapshot, event.stop, now=now):
            raise users.Contended("the user document kept changing; try again")
        stopped = stopped or snapshot.data.get("stopped") is None
    return stopped


async def _uids_of_address(store: Store, address: str) -> set[str]:
    try:
        return {(await addresses.home(store, address)).uid}
    except BadRecord:
        return {ids.uid_of(address)}  # a document that cannot be read; it is stopped all the same


async def _uids_of_letter(store: Store, outside: str | None) -> set[str]:
    if outside is None:
        return set()
    for collection in (DELIVERIES, DIGESTS):
        page = await store.find(collection, {"outside": outside}, limit=1)
        if page.items:
            uid = page.items[0].data.get("uid")
            return {uid} if isinstance(uid, str) else set()
    return set()


def _canonical(address: str) -> str | None:
    try:
        return ids.canonical_address(address)
    except ids.BadAddress:
        return None
