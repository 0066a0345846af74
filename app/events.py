"""Apply a provider's events: people first, so that a stop does not wait behind anything; then letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from app.parts import Parts
from ledger import deliveries, digests, events, ids, users
from ledger.documents import BadRecord
from ledger.events import Event
from ledger.lifecycle import DigestState

log = structlog.get_logger()


@dataclass(slots=True)
class Tally:
    """What a batch of events came to."""

    events: int = 0
    stopped: int = 0  # people
    settled: int = 0  # rows
    skipped: int = 0  # elements that say nothing that can be used


async def apply(parts: Parts, batch: Sequence[Event], tally: Tally) -> None:
    """Duplicates and disorder change nothing. Raises StoreError and Contended: the sender comes again."""
    now = parts.clock()
    for event in batch:
        if event.stop is not None:
            try:
                tally.stopped += await events.stop(parts.store, event, now=now)
            except ids.BadAddress:
                tally.skipped += 1
    taken = {event.outside: event.receipt for event in batch if event.taken and event.outside}
    for outside, receipt in taken.items():
        settled, known = await events.settle_alert(parts.store, outside, receipt=receipt, now=now)
        tally.settled += settled if known else await _settle_digest(parts, outside, receipt=receipt)


async def _settle_digest(parts: Parts, outside: str, *, receipt: str | None) -> int:
    """Flip the rows that the letter listed, as its own attempt would have."""
    try:
        digest = await events.unsettled_digest(parts.store, outside)
        user = await users.read(parts.store, digest.record.uid) if digest is not None else None
        if digest is None or user is None:
            return 0
    except BadRecord as error:
        log.warning("event not applied", outside=outside, reason=str(error))
        return 0
    record = digest.record
    row_ids = [ids.pair_id(record.uid, key) for key in record.rows]
    found = await deliveries.read(parts.store, row_ids, lambda _, error: log.warning("row unread", reason=str(error)))
    closed = await digests.close(
        parts.store,
        digest,
        {row.record.key: row for row in found.values()},
        state=DigestState.SENT,
        hour=parts.hour(user.record),
        now=parts.clock(),
        why=events.TAKEN_WHY,
        receipt=receipt,
    )
    return len(closed.rows)
