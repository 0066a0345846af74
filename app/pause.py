"""Pause: nothing comes until its end, then the jobs of the last 24 hours. Ending it sooner wakes what sleeps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from app.profile import BadProfile, state
from ledger import deliveries, digests, users, verdicts
from ledger.records import User
from ledger.schedule import BadZone, zone_of
from ledger.store import Store

DAYS_MAX = 3650


async def pause(store: Store, uid: str, *, until: datetime | None, now: datetime) -> User | None:
    """Pause until then, or end the pause. None: no such user. Raises BadProfile, users.Contended, StoreError."""
    before: list[datetime | None] = []

    def edit(user: User) -> User:
        if user.stopped is not None or not user.active:
            raise BadProfile(f"nothing is sent to them anyway: {state(user, now=now)}")
        before.append(user.paused_until)
        return users.with_catch_up(replace(user, paused_until=until), now=now)

    user = await users.change(store, uid, edit)
    was = before[-1] if before else None
    if user is not None and was is not None and was > now and (until is None or until < was):
        await _wake(store, uid, asleep_until=was, at=max(now, until or now))
    return user


def first_day(typed: str, user: User, *, now: datetime) -> datetime:
    """The start of that day (`YYYY-MM-DD`) where the person lives, as UTC. Raises BadProfile."""
    try:
        day = date.fromisoformat(typed.strip())
    except ValueError as error:
        raise BadProfile(f"--until: not a date: {typed[:20]!r}; write YYYY-MM-DD") from error
    try:
        zone = zone_of(user.zone)
    except BadZone:
        zone = zone_of("UTC")
    start = datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
    if not now < start <= now + timedelta(days=DAYS_MAX):
        raise BadProfile(f"--until: {day} does not lie within the next {DAYS_MAX} days")
    return start


async def _wake(store: Store, uid: str, *, asleep_until: datetime, at: datetime) -> None:
    """What the pause put to sleep wakes at `at`. A document that cannot be read is left to the run, which tells it."""
    rows = [row for row in await deliveries.waiting(store, uid) if row.record.wake_at == asleep_until]
    await deliveries.change(store, [(row, replace(row.record, wake_at=at)) for row in rows])
    live, _ = await digests.find_live(store, uid)
    for digest in live:
        if digest.record.wake_at == asleep_until:
            await digests.wait(store, digest, until=at)
    held = [one for one in await verdicts.of_user(store, uid) if one.record.wake_at == asleep_until]
    await verdicts.change(store, [(one, replace(one.record, wake_at=at)) for one in held])
