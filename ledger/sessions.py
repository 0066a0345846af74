"""Who is signed in. The browser holds 256 random bits, the store their hash; ending one is deleting it."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ledger.collections import SESSIONS
from ledger.documents import BadRecord, Instant, decode, encode, tolerant
from ledger.store import Store, every

IDLE_MAX = timedelta(days=30)
AGE_MAX = timedelta(days=180)
SEEN_EVERY = timedelta(days=1)  # a visit is noted once a day, not at each page
KEY_BYTES = 32


@tolerant
@dataclass(frozen=True, slots=True)
class Session:
    uid: str
    created_at: Instant
    seen_at: Instant
    expire_at: Instant
    browser: str = ""  # family and system, for people; empty: not known


def session_id(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


async def begin(store: Store, uid: str, *, browser: str = "", now: datetime) -> str:
    """A new session; returns the key for the cookie."""
    key = secrets.token_urlsafe(KEY_BYTES)
    session = Session(uid, created_at=now, seen_at=now, expire_at=now + IDLE_MAX, browser=browser)
    await store.create(SESSIONS, {session_id(key): encode(session)})
    return key


async def find(store: Store, key: str, *, now: datetime) -> Session | None:
    """The session of a cookie, if it is alive. Notes the visit at most once in SEEN_EVERY. Raises StoreError."""
    id_ = session_id(key)
    snapshot = (await store.get(SESSIONS, [id_])).get(id_)
    if snapshot is None:
        return None
    try:
        session = decode(Session, snapshot)
    except BadRecord:
        return None
    if now >= session.expire_at:
        return None
    if now - session.seen_at >= SEEN_EVERY:
        ends = min(now + IDLE_MAX, session.created_at + AGE_MAX)
        seen = replace(session, seen_at=now, expire_at=ends)
        await store.swap(SESSIONS, {id_: (snapshot.version, encode(seen))})  # lost to another page: noted by it
    return session


async def end(store: Store, key: str) -> None:
    await store.delete(SESSIONS, [session_id(key)])


async def end_one(store: Store, uid: str, id_: str) -> None:
    """End one of this person's, by its id; nobody else's."""
    found = (await store.get(SESSIONS, [id_])).get(id_)
    if found is not None and found.data.get("uid") == uid:
        await store.delete(SESSIONS, [id_])


async def of(store: Store, uid: str, *, now: datetime) -> dict[str, Session]:
    """Everywhere that somebody is signed in, for people, by id."""
    found: dict[str, Session] = {}
    async for snapshot in every(store, SESSIONS, {"uid": uid}):
        try:
            session = decode(Session, snapshot)
        except BadRecord:
            continue
        if now < session.expire_at:
            found[snapshot.id] = session
    return found


async def end_all(store: Store, uid: str) -> int:
    """Sign out everywhere. Returns how many sessions there were."""
    gone = [snapshot.id async for snapshot in every(store, SESSIONS, {"uid": uid})]
    await store.delete(SESSIONS, gone)
    return len(gone)
