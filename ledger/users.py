"""People. A user document changes by swap only, so two tabs, two runs and an event never undo each other."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ledger import ids, unreadable
from ledger.collections import DELIVERIES, DIGESTS, FEEDBACK, MATCHES, SESSIONS, SIGN_INS, USERS
from ledger.documents import BadRecord, OnBad, Stored, decode, encode, raised, read_all
from ledger.lifecycle import REJECTED_STREAK_MAX, State, Via
from ledger.records import Delivery, Stop, User
from ledger.store import Delete, Doc, Snapshot, Store, Swap, Write, every

SWAP_TRIES_MAX = 5
TOKEN_MAX_CHARS = 100
GHOST_KEPT = timedelta(hours=48)  # bare ids after a deletion, so that coming back repeats nothing
GHOST_WHY = "deleted by its user"


class Contended(RuntimeError):
    """The document kept changing under us."""


def new_user(address: str, *, now: datetime) -> User:
    """A user without searches. Raises ids.BadAddress."""
    return User(uid=ids.uid_of(address), address=address.strip(), created_at=now, token=secrets.token_urlsafe(16))


@dataclass(frozen=True, slots=True)
class Saved:
    user: User
    created: bool


async def save_profile(store: Store, address: str, edit: Callable[[User], User], *, now: datetime) -> Saved:
    """Create the user, or change the one there is, by `edit`; the next run matches the fresh jobs for them.

    Coming back after a stop is a fresh start, except after a complaint or a bounce, which `edit` sees and may
    refuse. Raises ids.BadAddress, Contended, BadRecord.
    """
    fresh = with_catch_up(edit(new_user(address, now=now)), now=now)
    if (await store.create(USERS, {fresh.uid: encode(fresh)})).get(fresh.uid):
        return Saved(fresh, created=True)
    found = await read(store, fresh.uid)
    if found is not None and found.record.token == fresh.token:
        return Saved(fresh, created=True)
    user = await change(store, fresh.uid, lambda user: with_catch_up(edit(user), now=now))
    if user is None:
        raise Contended("the user was deleted at this moment; try again")
    return Saved(user, created=False)


def with_catch_up(user: User, *, now: datetime) -> User:
    """The user as saved: a fresh catch-up, due now or at the end of the pause."""
    due = max(now, user.paused_until) if user.paused_until else now
    return replace(user, catch_up=ids.new_nonce(), wake_at=due)


async def change(store: Store, uid: str, edit: Callable[[User], User]) -> User | None:
    """Read, edit, swap, again if it moved meanwhile. None: there is no such user. Raises Contended, BadRecord."""
    for _ in range(SWAP_TRIES_MAX):
        found = await read(store, uid)
        if found is None:
            return None
        new = edit(found.record)
        if new == found.record:
            return new
        if await store.swap(USERS, {uid: (found.version, encode(new))}):
            return new
    raise Contended("the user document kept changing; try again")


async def read(store: Store, uid: str) -> Stored[User] | None:
    return (await read_many(store, [uid], raised)).get(uid)


async def read_many(store: Store, uids: Sequence[str], bad: OnBad) -> dict[str, Stored[User]]:
    """Users by uid in one multi-get; unreadable ones are told to `bad`, absent ones are missing."""
    return read_all(User, (await store.get(USERS, uids)).values(), bad)


async def active(store: Store, bad: OnBad) -> AsyncIterator[User]:
    """Every user to whom something may be sent, page by page."""
    async for snapshot in every(store, USERS, {"active": True}):
        try:
            yield decode(User, snapshot)
        except BadRecord as error:
            bad(snapshot.id, error)


async def everyone(store: Store, bad: OnBad) -> AsyncIterator[User]:
    async for snapshot in every(store, USERS, {}):
        if "of" in snapshot.data:
            continue  # a pointer: the person comes under their own id
        try:
            yield decode(User, snapshot)
        except BadRecord as error:
            bad(snapshot.id, error)


async def waking(store: Store, *, now: datetime, bad: OnBad) -> list[User]:
    """Users whose catch-up is due."""
    users: list[User] = []
    after = None
    while True:
        page = await store.find_range(USERS, "wake_at", at_most=now, after=after)
        users += [user.record for user in read_all(User, page.items, bad).values()]
        if page.after is None:
            return users
        after = page.after


async def change_many(store: Store, edits: Mapping[str, Callable[[User], User]], bad: OnBad) -> list[str]:
    """As `change`, for many in a few round trips. Returns those whose document kept changing. Raises StoreError."""
    left = dict(edits)
    for _ in range(SWAP_TRIES_MAX):
        found = await read_many(store, list(left), bad)
        new = {uid: left[uid](user.record) for uid, user in found.items()}
        changed = {uid: user for uid, user in new.items() if user != found[uid].record}
        done = await store.swap(USERS, {uid: (found[uid].version, encode(user)) for uid, user in changed.items()})
        left = {uid: left[uid] for uid in changed if uid not in done}
        if not left:
            break
    return list(left)


def caught_up(user: User, value: str) -> User:
    """Without the catch-up, unless a newer save has set another."""
    return replace(user, catch_up=None, wake_at=None) if user.catch_up == value else user


def asleep(user: User, until: datetime) -> User:
    """A catch-up that came up during a pause waits for its end, if that has not moved meanwhile."""
    is_due_later = user.catch_up is not None and user.paused_until == until
    return replace(user, wake_at=until) if is_due_later else user


async def stop(store: Store, uid: str, why: Stop, *, detail: str = "", now: datetime) -> User | None:
    """Nothing is sent to this user from here on. A bounce or complaint is not weakened by a later, milder reason."""

    def stopped(user: User) -> User:
        if user.stopped in (Stop.BOUNCED, Stop.COMPLAINED, why):
            return user
        return replace(user, active=False, stopped=why, stopped_at=now, stop_detail=detail, catch_up=None, wake_at=None)

    return await change(store, uid, stopped)


async def find_by_token(store: Store, token: str) -> Snapshot | None:
    """The document that this token to unsubscribe belongs to, readable or not."""
    if not 0 < len(token) <= TOKEN_MAX_CHARS:  # a deleted user's mark has an empty one
        return None
    page = await store.find(USERS, {"token": token}, limit=1)
    return page.items[0] if page.items else None


async def unsubscribe(store: Store, token: str, *, now: datetime) -> bool:
    """Nothing is sent to whoever this token belongs to; again changes nothing. False: nobody has it.

    Works on a document that cannot be read, too: leaving always does. Raises Contended.
    """
    found = await find_by_token(store, token)
    if found is None:
        return False
    try:
        await stop(store, found.id, Stop.UNSUBSCRIBED, now=now)
    except BadRecord:
        if not await unreadable.stop_user(store, found, Stop.UNSUBSCRIBED, now=now):
            raise Contended("the user document kept changing; try again") from None
    return True


async def note_letter(store: Store, user: User, *, rejected: bool, reason: str, now: datetime) -> Stop | None:
    """Count letters refused in a row; the last one allowed stops the user, visibly. Returns the stop, if it came."""
    if not rejected and user.rejected_streak == 0:
        return None

    def counted(current: User) -> User:
        return replace(current, rejected_streak=current.rejected_streak + 1 if rejected else 0)

    after = await change(store, user.uid, counted)
    if after is None or after.rejected_streak < REJECTED_STREAK_MAX:
        return None
    await stop(store, user.uid, Stop.REJECTED, detail=reason, now=now)
    return Stop.REJECTED


async def delete(store: Store, uid: str, *, now: datetime) -> int | None:
    """Remove the user at once, and the rows but for bare ids of the last 48 h. Returns the rows removed.

    A bounce or complaint leaves a bare mark, so that the address is not mailed again by mistake. None: no such
    user. A repeat after a cut finishes the rows.
    """
    was_there = await _remove_person(store, uid)
    removed = 0
    for _ in range(SWAP_TRIES_MAX):
        recent: dict[str, tuple[str, Doc]] = {}
        old: list[str] = []
        async for snapshot in every(store, DELIVERIES, {"uid": uid}):
            if snapshot.data.get("why") == GHOST_WHY:
                continue
            if ghost := _ghost(uid, snapshot, now=now):
                recent[snapshot.id] = (snapshot.version, encode(ghost))
            else:
                old.append(snapshot.id)
        if not recent and not old:
            break
        removed += len(await store.swap(DELIVERIES, recent)) + len(old)
        await store.delete(DELIVERIES, old)
    for collection in (DIGESTS, MATCHES, FEEDBACK, SIGN_INS, SESSIONS):
        await store.delete(collection, [s.id async for s in every(store, collection, {"uid": uid})])
    await store.delete(USERS, [s.id async for s in every(store, USERS, {"of": uid})])
    return removed if was_there or removed else None


async def _remove_person(store: Store, uid: str) -> bool:
    """False: there is none. The mark of a complaint stands under the address that the person had last."""
    for _ in range(SWAP_TRIES_MAX):
        found = (await store.get(USERS, [uid])).get(uid)
        if found is None:
            return False
        mark = _mark(found.data)
        if mark == found.data:
            return False
        if await store.commit(await _removal(store, found, mark)):
            return True
    raise Contended("the user document kept changing; try again")


async def _removal(store: Store, user: Snapshot, mark: dict[str, object] | None) -> list[Write]:
    if mark is None:
        return [Delete(USERS, user.id, version=user.version)]
    address = user.data.get("address")
    home = ids.uid_of(address) if isinstance(address, str) else user.id
    pointer = (await store.get(USERS, [home])).get(home) if home != user.id else None
    if pointer is None:
        return [Swap(USERS, user.id, user.version, mark)]
    return [Delete(USERS, user.id, version=user.version), Swap(USERS, home, pointer.version, {**mark, "uid": home})]


def _mark(data: Mapping[str, object]) -> dict[str, object] | None:
    if data.get("stopped") not in (Stop.BOUNCED.value, Stop.COMPLAINED.value):
        return None
    kept = ("uid", "created_at", "token", "stopped", "stopped_at")  # without a token no user can be read
    return {k: data[k] for k in kept if k in data} | {"address": "", "active": False}


def _ghost(uid: str, row: Snapshot, *, now: datetime) -> Delivery | None:
    """A row of the last 48 h, emptied: only its id goes on saying that this was decided."""
    created_at = row.data.get("created_at")
    if not isinstance(created_at, datetime) or now - created_at > GHOST_KEPT:
        return None
    key = ids.split_pair(row.id)[1]
    return Delivery(
        uid=uid, key=key, job_id=key, state=State.EXPIRED, via=Via.ALERT, created_at=created_at, first_seen=created_at,
        title="", link="", score=0, reason="", why=GHOST_WHY, final_at=now, expire_at=now + GHOST_KEPT,
    )  # fmt: skip
