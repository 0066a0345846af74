"""Promises that are looked at while they may be broken: at each write, each letter and each question of a process."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ledger.collections import DELIVERIES, DIGESTS, JOBS, LOCKS, MATCHES, USERS
from ledger.ids import pair_id
from ledger.lifecycle import FINAL
from ledger.store import Create, Delete, Put, Snapshot, Swap, Write
from mail.letter import Letter
from tests.simulation.process import LONG_S, SLOW_S, Process
from tests.simulation.world import JOB_LINK

# From the reading of a user to the claim, at most: some fifteen operations, there and back, and a long letter before.
READING_MAX = timedelta(seconds=2 * 15 * SLOW_S + LONG_S)
WATCHED = frozenset({LOCKS, DELIVERIES, DIGESTS, MATCHES, USERS})


def before(process: Process, write: Write) -> None:
    """Called at the moment of a write, with what it will replace."""
    if write.collection not in WATCHED:
        return
    if isinstance(write, Put):
        process.breaks("put", f"wrote to {write.collection} whatever was there")
    held = process.world.store.peek(write.collection, write.id)
    if not _will_happen(write, held):
        return
    if write.collection == LOCKS and write.id == "cron":
        _lock(process, held)
    elif write.collection == DELIVERIES and not isinstance(write, Delete):
        _row(process, held, write)
    elif write.collection == USERS and held is not None and not isinstance(write, Delete):
        _user(process, write.id, held, write.data)


def _will_happen(write: Write, held: Snapshot | None) -> bool:
    match write:
        case Create():
            return held is None
        case Put():
            return True
        case Swap(version=version):
            return held is not None and version == held.version
        case Delete(version=version):
            return version is None or (held is not None and version == held.version)


def _lock(process: Process, held: Snapshot | None) -> None:
    """Never two holders whose leases both stand, by the store's clock."""
    stands = held is not None and 0 <= held.age_s < held.data["lease_s"]
    if held is not None and stands and held.data["nonce"] != process.lock_nonce:
        process.breaks("lease", "took a lock that stood for another")


def _row(process: Process, held: Snapshot | None, write: Create | Swap | Put) -> None:
    """A row's life has one direction, and a claim belongs to its process until its lease is over."""
    if held is None:
        if not isinstance(write, Create):
            process.breaks("row", "wrote a row that was not there")
        return
    old, new = held.data, write.data
    if old["state"] in FINAL:
        process.breaks("row", f"changed a row that was {old['state']} to {new['state']}")
    elif old["state"] == "claimed":
        is_over = old["wake_at"] <= process.world.now() and new["state"] == "unclear"
        if process.world.claims.get(old["nonce"]) is not process and not is_over:
            process.breaks("row", f"made {new['state']} of a row that was claimed by another")
    elif old["via"] == "digest" and new["via"] == "alert":
        process.breaks("row", "moved a row from the digest back to the alerts")


def _user(process: Process, uid: str, held: Snapshot, new: Any) -> None:
    """A catch-up is cleared only by a run that matched for it."""
    value = held.data.get("catch_up")
    if value is not None and new.get("catch_up") is None and new["active"] and value not in process.matched_for:
        process.breaks("catch-up", f"cleared a catch-up of {uid[-6:]} that it had not matched for")


def after(process: Process, collection: str, id_: str, data: Any) -> None:
    """Called at the moment at which a document was written."""
    if collection == LOCKS and id_ == "cron":
        process.lock_nonce = data["nonce"]
    elif (collection == DELIVERIES and data["state"] == "claimed") or (
        collection == DIGESTS and data["state"] == "sending"
    ):
        process.world.claims[data["nonce"]] = process
        process.world.claimed_outside[data["outside"]] = process
        _claimed(process, data["uid"], collection)


def _claimed(process: Process, uid: str, what: str) -> None:
    """Nothing is claimed from the moment a user has left: their document is read just before."""
    world = process.world
    if uid not in process.read:
        process.breaks("left", f"claimed {what} without reading the user")
        return
    at, known = process.read[uid]
    user = world.store.peek(USERS, uid)
    if not _is_there(known, at):
        process.breaks("left", f"claimed {what} though it knew that the user had left")
    elif not _is_there(user.data if user is not None else None, world.now()):
        slack = READING_MAX + timedelta(seconds=process.suspended_s)
        if world.now() - at > slack:
            process.breaks("left", f"claimed {what} on a reading of {at:%H:%M:%S}, and the user has left since")


def _is_there(user: dict[str, Any] | None, at: datetime) -> bool:
    if user is None or not user.get("active", True):
        return False
    until = user.get("paused_until")
    return until is None or until <= at


def begins(process: Process, letter: Letter) -> None:
    """Called when a process hands a letter over: before anything can befall it on the way."""
    if (process.world.now() - process.began_at).total_seconds() >= process.world.settings.wall_s:
        process.breaks("late", "began a letter after its wall")
    if process.in_flight and not process.has_accepted:
        process.breaks("pace", "began a second letter before the first was accepted")
    if process.is_paused:
        process.breaks("pace", "began a letter though the account was at fault")
    if not process.suspended_s:
        _held(process, letter)


def _held(process: Process, letter: Letter) -> None:
    """The letter holds exactly the rows of its claim; a digest is sent only under its attempt."""
    world = process.world
    to = next((u for u in world.store.all(USERS).values() if u.get("address") == letter.to), None)
    if to is None:
        return  # deleted at this moment, and the rows with it
    if letter.kind == "alert":
        rows = [r for r in world.store.all(DELIVERIES).values() if r.get("outside") == letter.outside_id]
        claimed = {world.group(int(JOB_LINK.findall(r["link"])[0])) for r in rows if r["state"] == "claimed"}
        if claimed != world.groups(letter):
            process.breaks("claim", f"sends {sorted(world.groups(letter))} and has claimed {sorted(claimed)}")
    else:
        digests = [d for d in world.store.all(DIGESTS).values() if d["outside"] == letter.outside_id]
        if not any(d["state"] == "sending" and world.claims.get(d["nonce"]) is process for d in digests):
            process.breaks("claim", f"sends a digest that is {digests and digests[0]['state']}")


def asked(process: Process, uid: str, group: int) -> None:
    """A pair is asked about only under a claim, and never once its verdict is stored."""
    world = process.world
    keys = {data["key"] for data in world.store.all(JOBS).values() if data["title"] == f"Python {group}"}
    found = [held for key in keys if (held := world.store.peek(MATCHES, pair_id(uid, key))) is not None]
    if not found:
        process.breaks("verdict", f"asked about {group} without a document")
    elif found[0].data["state"] != "pending" or not found[0].data.get("nonce"):
        process.breaks("verdict", f"asked about {group} while its verdict was {found[0].data['state']}")
