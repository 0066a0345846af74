"""Links that prove who reads a mailbox: random, kept as a hash only, for one purpose, spent once, for 15 minutes.

Showing a link changes nothing: scanners open links, several times. Spending it is a swap, so of two clicks
one wins; a repeat by the same browser within a minute is the same click, and succeeds too.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from ledger import ids
from ledger.collections import SIGN_INS
from ledger.documents import BadRecord, Instant, Stored, decode, encode, tolerant
from ledger.store import Store, every

LINK_VALID = timedelta(minutes=15)
LINK_KEPT = timedelta(days=1)  # so that a late click is told "too old", not "unknown"
SAME_CLICK = timedelta(seconds=60)
TOKEN_BYTES = 32
TOKEN_MAX_CHARS = 64


class Purpose(StrEnum):
    SIGN_IN = "sign-in"
    OLD_ADDRESS = "old-address"  # the mailbox that is left agrees
    NEW_ADDRESS = "new-address"  # the mailbox that is taken up agrees


@tolerant
@dataclass(frozen=True, slots=True)
class Link:
    """`address` is what the link is about, as typed: whose account, or for a change the new address.

    `other` is the id of a change's second link; `then` a page of ours to go on to.
    """

    purpose: Purpose
    uid: str
    address: str
    created_at: Instant
    expire_at: Instant
    other: str = ""
    then: str = ""
    spent_at: Instant | None = None
    spent_by: str = ""  # hash of the browser's cookie
    nonce: str = ""


class Refusal(StrEnum):
    """Why a link does not work."""

    UNKNOWN = "unknown"
    TOO_OLD = "too old"
    SPENT = "spent"


def new_link(purpose: Purpose, uid: str, address: str, *, then: str = "", now: datetime) -> tuple[str, Link]:
    """(token, link). The token goes into one letter and nowhere else."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    link = Link(purpose, uid, address, created_at=now, expire_at=now + LINK_KEPT, then=then, nonce=ids.new_nonce())
    return token, link


def link_key(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


async def keep(store: Store, links: Mapping[str, Link]) -> None:
    """Store links by token."""
    await store.create(SIGN_INS, {link_key(token): encode(link) for token, link in links.items()})


async def look(
    store: Store, token: str, purposes: Collection[Purpose], *, browser: str = "", now: datetime
) -> Link | Refusal:
    """What a token stands for, or why it does not work any more. Changes nothing. Raises StoreError."""
    held = await read(store, link_key(token))
    if held is None or held.record.purpose not in purposes:
        return Refusal.UNKNOWN
    return _refusal(held.record, browser, now=now) or held.record


async def spend(
    store: Store, token: str, purposes: Collection[Purpose], *, browser: str, now: datetime
) -> Link | Refusal:
    """Use the link. `browser` is the hash of a cookie that the page with the button set. Raises StoreError."""
    id_ = link_key(token)
    held = await read(store, id_)
    if held is None or held.record.purpose not in purposes:
        return Refusal.UNKNOWN
    if (refusal := _refusal(held.record, browser, now=now)) is not None:
        return refusal
    if held.record.spent_at is not None:
        return held.record  # the same click once more
    spent = replace(held.record, spent_at=now, spent_by=browser, nonce=ids.new_nonce())
    if await store.swap(SIGN_INS, {id_: (held.version, encode(spent))}):
        return spent
    again = await read(store, id_)
    if again is None:
        return Refusal.UNKNOWN
    if again.record.nonce == spent.nonce:
        return spent  # a lost answer
    return _refusal(again.record, browser, now=now) or again.record


async def forget(store: Store, uid: str, *, but: Collection[str] = ()) -> None:
    """No link of this person works any more. `but` are ids of spent ones, kept so that a repeat is the same click."""
    gone = [snapshot.id async for snapshot in every(store, SIGN_INS, {"uid": uid}) if snapshot.id not in but]
    await store.delete(SIGN_INS, gone)


async def read(store: Store, id_: str) -> Stored[Link] | None:
    snapshot = (await store.get(SIGN_INS, [id_])).get(id_)
    if snapshot is None:
        return None
    try:
        return Stored(decode(Link, snapshot), snapshot.version)
    except BadRecord:
        return None  # good for nothing


def _refusal(link: Link, browser: str, *, now: datetime) -> Refusal | None:
    if link.spent_at is not None:
        is_same = bool(browser) and secrets.compare_digest(browser, link.spent_by)
        return None if is_same and now - link.spent_at < SAME_CLICK else Refusal.SPENT
    return Refusal.TOO_OLD if now - link.created_at >= LINK_VALID else None
