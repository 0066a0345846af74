"""Pinning: which rows a period's digest holds, decided in one commit before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ledger import deliveries, digests, ids
from ledger.collections import DELIVERIES, DIGESTS
from ledger.deliveries import Row
from ledger.digests import Held
from ledger.documents import Stored, encode
from ledger.lifecycle import UNCLEAR_PERIODS_MAX, DigestState, State, ends_left_out
from ledger.records import Delivery, Digest
from ledger.schedule import Due
from ledger.store import BATCH_MAX_BYTES, BATCH_MAX_DOCS, Create, Store, Swap, Write
from ledger.values import bytes_of

ROWS_MAX = 450  # pinned to one digest: one commit takes 500 writes
ROWS_MAX_BYTES = BATCH_MAX_BYTES // 3  # a store may write a text more than twice as long as it is


@dataclass(frozen=True, slots=True)
class Pinned:
    digest: Held | None  # None: no row was left to send
    gave_up: tuple[Delivery, ...]  # unclear in too many periods: FAILED with this pin


async def pin(
    store: Store,
    uid: str,
    rows: Sequence[Row],
    *,
    due: Due,
    older: Held | None,
    older_rows: Sequence[Row],
    cap: int,
    now: datetime,
    notes: Sequence[str] = (),
) -> Pinned | None:
    """Bind `rows` to the period's digest in one commit; an older live digest is closed as SUPERSEDED.

    `rows` come in the order of the letter, `notes` stand above them. The older digest's rows come first and
    outside the cap. What finds no room in one commit is counted as `beyond`. None: the period already has its
    digest, or a row moved; whoever did that carries on.
    """
    nonce = ids.new_nonce()
    carried, gave_up = _take_over(older, older_rows, now=now)
    room = _room(carried, rows, others=len(gave_up) + 2)
    beyond = rows[len(room) - len(carried) :]
    digest = Digest(
        uid=uid,
        period=due.period,
        due_at=due.at,
        created_at=now,
        state=DigestState.OPEN,
        rows=tuple(row.record.key for row in room),
        shown=min(len(room), len(carried) + cap),
        beyond=len(beyond),
        beyond_ending=sum(ends_left_out(row.record.left_over) for row in beyond),
        live=True,
        outside=ids.outside_id(ids.digest_id(uid, due.period)),
        nonce=nonce,
        wake_at=now,
        notes=tuple(notes),
    )
    id_ = digests.digest_id(digest)
    writes: list[Write] = [Create(DIGESTS, id_, encode(digest))] if room else []
    writes += [_swap(row, replace(row.record, period=due.period, wake_at=None)) for row in room]
    writes += [_swap(row, failed) for row, failed in gave_up]
    if older is not None:
        closed = digests.closed(older.record, DigestState.SUPERSEDED, now=now, why=f"its rows went to {due.period}")
        writes.append(Swap(DIGESTS, digests.digest_id(older.record), older.version, encode(closed)))
    taken = await store.commit(writes)
    failures = tuple(failed for _, failed in gave_up)
    if not room:
        return Pinned(None, failures) if taken else None
    # Read whatever the commit said: a lost answer says False for one that took effect; the nonce is the proof.
    found = (await store.get(DIGESTS, [id_])).get(id_)
    if found is None or found.data.get("nonce") != nonce:
        return None
    return Pinned(Stored(digest, found.version), failures)


def _room(carried: Sequence[Row], rows: Sequence[Row], *, others: int) -> list[Row]:
    """As many as one commit takes beside `others`: one that is too large would never be made.

    All that are carried, since the commit that pinned them took them too; and one at least.
    """
    room = list(carried)
    size_bytes = sum(bytes_of(encode(row.record)) for row in carried)
    for row in rows[: max(0, min(ROWS_MAX, BATCH_MAX_DOCS - others) - len(carried))]:
        size_bytes += bytes_of(encode(row.record))
        if room and size_bytes > ROWS_MAX_BYTES:
            break
        room.append(row)
    return room


def _take_over(
    older: Held | None, older_rows: Sequence[Row], *, now: datetime
) -> tuple[list[Row], list[tuple[Row, Delivery]]]:
    """An older digest's rows: those that go on, and those that were unclear once too often."""
    carried: list[Row] = []
    gave_up: list[tuple[Row, Delivery]] = []
    was_unclear = older is not None and older.record.unclear > 0
    for row in older_rows:
        periods = row.record.unclear_periods + (1 if was_unclear else 0)
        counted = replace(row.record, unclear_periods=periods)
        if periods >= UNCLEAR_PERIODS_MAX:
            gave_up.append((row, deliveries.final(counted, State.FAILED, now=now, why=digests.GAVE_UP_WHY)))
        else:
            carried.append(Stored(counted, row.version))
    return carried, gave_up


def _swap(row: Row, new: Delivery) -> Swap:
    return Swap(DELIVERIES, deliveries.row_id(new), row.version, encode(new))
