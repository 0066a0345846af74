"""Whose an address is. A person's id comes from the first address; a later one is a pointer to that id.

A pointer stands in the users' own collection, under the id that the address would have: whoever creates that
document first, a new person or somebody who moves, the store lets only one of them.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ledger import ids, users
from ledger.collections import USERS
from ledger.documents import BadRecord, Stored, decode, encode
from ledger.records import Pointer, Stop, User
from ledger.store import Create, Snapshot, Store, Swap

MOVE_TRIES_MAX = 5
MENDED_BY_A_MOVE = frozenset({Stop.BOUNCED, Stop.REJECTED})  # it was the old mailbox's fault


class Home(NamedTuple):
    """The uid that an address belongs to, and its user, if there is one."""

    uid: str
    user: Stored[User] | None


async def home(store: Store, address: str) -> Home:
    """Two reads whether or not the address is known, so that the time tells nothing. Raises BadAddress, BadRecord."""
    typed_uid = ids.uid_of(address)
    first = (await store.get(USERS, [typed_uid])).get(typed_uid)
    uid = _pointed_to(first) or typed_uid
    second = (await store.get(USERS, [uid])).get(uid)
    if second is None or "of" in second.data:
        return Home(uid, None)
    return Home(uid, Stored(decode(User, second), second.version))


async def sign_up(store: Store, uid: str, address: str, *, now: datetime) -> User:
    """The user under this id, created if there is none. Raises users.Contended, BadRecord.

    The bare mark that a bounce or complaint left becomes a person again; it keeps its stop, for them to see.
    """
    fresh = users.new_user(address, now=now)
    if fresh.uid == uid:
        await store.create(USERS, {uid: encode(fresh)})

    def whole(user: User) -> User:
        if user.address:
            return user
        return replace(user, address=fresh.address, token=fresh.token, created_at=now)

    user = await users.change(store, uid, whole)
    if user is None:
        raise users.Contended("the user was deleted at this moment; try again")
    return user


async def move(store: Store, uid: str, address: str, *, now: datetime) -> bool:
    """Give the person this address; the uid stays. False: somebody else has it, or the person has gone.

    Raises ids.BadAddress, users.Contended, BadRecord.
    """
    new_uid = ids.uid_of(address)
    for _ in range(MOVE_TRIES_MAX):
        found = await store.get(USERS, [uid, new_uid])
        if uid not in found:
            return False
        user = decode(User, found[uid])
        if user.address == address.strip():
            return True
        taken = found.get(new_uid) if new_uid != uid else None
        if taken is not None and _pointed_to(taken) != uid:
            return False
        writes: list[Create | Swap] = [Swap(USERS, uid, found[uid].version, encode(_moved(user, address, now=now)))]
        if new_uid != uid and taken is None:
            writes.append(Create(USERS, new_uid, encode(Pointer(of=uid, created_at=now))))
        if await store.commit(writes):
            return True
    raise users.Contended("the user document kept changing; try again")


def _moved(user: User, address: str, *, now: datetime) -> User:
    if ids.uid_of(address) == ids.uid_of(user.address):
        return replace(user, address=address.strip())  # the same mailbox in another spelling
    moved = replace(user, address=address.strip(), rejected_streak=0)
    if user.stopped not in MENDED_BY_A_MOVE:
        return moved
    return users.with_catch_up(replace(moved, active=True, stopped=None, stopped_at=None, stop_detail=""), now=now)


def _pointed_to(snapshot: Snapshot | None) -> str | None:
    if snapshot is None or "of" not in snapshot.data:
        return None
    try:
        return decode(Pointer, snapshot).of
    except BadRecord:
        return None
