"""When somebody's next digest comes, and what waits for it after a change of hour."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ledger import deliveries, digests, ids
from ledger.lifecycle import Via
from ledger.records import Delivery, User
from ledger.schedule import Due, Hour, next_due
from ledger.store import Store

DAY = timedelta(days=1)


async def next_digest(store: Store, uid: str, hour: Hour, *, after: datetime) -> Due:
    """The first due time after `after` whose period has no digest yet.

    Who moves their hour to later in a day that has had its digest gets the next one a day on: a period has one.
    """
    due = next_due(hour, after)
    if await digests.is_taken(store, ids.digest_id(uid, due.period)):
        return next_due(hour, due.at)
    return due


async def follow(store: Store, user: User, *, hour: Hour, now: datetime) -> list[Delivery]:
    """What waits for a digest waits for the user's next one, after a change of hour, zone or mode. Returns those moved.

    Not before the end of a pause. What is due already is left to the run, which asks the user's hour itself; a run
    that never comes to this moves nothing and loses nothing: each row still wakes at its old time.
    """
    waiting = await deliveries.waiting(store, user.uid, via=Via.DIGEST)
    asleep = [row for row in waiting if row.record.wake_at is not None and row.record.wake_at > now]
    if not asleep:
        return []
    at, awake_at = (await next_digest(store, user.uid, hour, after=now)).at, user.paused_until or now

    def moved(row: Delivery) -> Delivery:
        # Of a weekly letter whose new hour has just passed: it would have gone by now, and does not wait a week more.
        is_late = row.wake_at is not None and at - row.wake_at > DAY and next_due(hour, row.created_at).at <= now
        return replace(row, wake_at=max(awake_at, now if is_late else at))

    return await deliveries.change(store, [(row, moved(row.record)) for row in asleep])
