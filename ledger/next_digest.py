"""Digests after a change of hour: when the next one comes, and what waits for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta

from ledger import deliveries, digests, ids, users
from ledger.lifecycle import Via
from ledger.records import Delivery, User
from ledger.schedule import Due, Hour, hour_of, next_due
from ledger.store import Store

DAY = timedelta(days=1)
PERIODS_MAX = 4  # that can have had their digest ahead of a new hour: zones lie 26 hours apart


async def next_digest(store: Store, uid: str, hour: Hour, *, after: datetime) -> Due:
    """The first due time after `after` whose period has not had its digest."""
    due = next_due(hour, after)
    for _ in range(PERIODS_MAX):
        if not await digests.has_had(store, ids.digest_id(uid, due.period)):
            break
        due = next_due(hour, due.at)
    return due


async def note_hour(store: Store, user: User, *, default_at: time, now: datetime) -> User | None:
    """Keep the day from which digests of the new hour come: a day that has had its digest has no second one.

    Who moves their hour to later in such a day would else be promised one that never comes. Returns the user as kept;
    None: they have gone. Raises users.Contended, StoreError.
    """
    hour = hour_of(replace(user, digests_from=None), default_at=default_at)
    due = await next_digest(store, user.uid, hour, after=now)
    starts = due.at if due != next_due(hour, now) else None
    if starts == user.digests_from:
        return user

    def noted(current: User) -> User:
        is_same = (current.mode, current.at, current.zone) == (user.mode, user.at, user.zone)
        return replace(current, digests_from=starts) if is_same else current  # whoever moved it since notes that one

    return await users.change(store, user.uid, noted)


async def follow(store: Store, user: User, *, hour: Hour, now: datetime) -> list[Delivery]:
    """What waits for a digest waits for the user's next one, after a change of hour, zone or mode. Returns those moved.

    Not before the end of a pause. What is due already is left to the run, which asks the user's hour itself; a run
    that never comes to this moves nothing and loses nothing: each row still wakes at its old time.
    """
    at, awake_at = next_due(hour, now).at, user.paused_until or now
    waiting = await deliveries.waiting(store, user.uid, via=Via.DIGEST)
    asleep = [row for row in waiting if row.record.wake_at is not None and row.record.wake_at > now]

    def moved(row: Delivery) -> Delivery:
        # Of a weekly letter whose new hour has just passed: it would have gone by now, and does not wait a week more.
        is_late = row.wake_at is not None and at - row.wake_at > DAY and next_due(hour, row.created_at).at <= now
        return replace(row, wake_at=max(awake_at, now if is_late else at))

    return await deliveries.change(store, [(row, moved(row.record)) for row in asleep])
