"""When a digest is due: a wall-clock hour in the user's zone, as instants.

Never "the hour is 8": callers are late, early and absent. A row waits until the first due time after it;
a period is named by the local date of the latest due time that has passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ledger.records import Mode, User

TICK = timedelta(microseconds=1)


class BadZone(ValueError):
    """The zone or the hour cannot be used."""


@dataclass(frozen=True, slots=True)
class Hour:
    """When somebody wants digests: `at` local time in `zone`, each day or each Monday, and none before `not_before`."""

    at: time
    zone: ZoneInfo
    weekly: bool = False
    not_before: datetime | None = None  # aware


@dataclass(frozen=True, slots=True)
class Due:
    at: datetime  # aware UTC
    period: str  # `2026-11-30`, weekly `2026-W49`


def zone_of(name: str) -> ZoneInfo:
    """Raises BadZone with a hint; an IANA name such as `Europe/Berlin`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadZone(f"unknown time zone {name[:60]!r}; use an IANA name such as Europe/Berlin or UTC") from error


def time_of(text: str) -> time:
    """`HH:MM`, 24 hours. Raises BadZone."""
    try:
        parsed = datetime.strptime(text, "%H:%M")  # noqa: DTZ007 - a wall-clock hour has no zone of its own
    except ValueError as error:
        raise BadZone(f"not a time of day: {text[:20]!r}; write HH:MM, such as 08:00") from error
    return parsed.time()


def hour_of(user: User, *, default_at: time) -> Hour:
    """When the user's digest is due: theirs, else the operator's default, which is in UTC.

    An instant user's waiting rows go out daily. An hour or zone that cannot be read falls back to the default.
    """
    weekly = user.mode is Mode.WEEKLY
    try:
        if user.at is not None:
            return Hour(time_of(user.at), zone_of(user.zone), weekly, user.digests_from)
    except BadZone:
        pass
    return Hour(default_at, zone_of("UTC"), weekly, user.digests_from)


def next_due(hour: Hour, after: datetime) -> Due:
    """The first due time strictly after `after`."""
    if hour.not_before is not None:
        after = max(after, hour.not_before - TICK)
    day = after.astimezone(hour.zone).date() - timedelta(days=1)
    while True:
        if _is_day(hour, day) and (instant := _instant(hour, day)) > after:
            return Due(instant, _period(hour, day))
        day += timedelta(days=1)


def latest_due(hour: Hour, now: datetime) -> Due:
    """The last due time at or before `now`: it names the period."""
    day = now.astimezone(hour.zone).date() + timedelta(days=1)
    while True:
        if _is_day(hour, day) and (instant := _instant(hour, day)) <= now:
            return Due(instant, _period(hour, day))
        day -= timedelta(days=1)


def quiet_until(start: time, end: time, zone: ZoneInfo, now: datetime) -> datetime | None:
    """The end of the quiet hours that `now` falls into, or None. They may span midnight."""
    if start == end:
        return None
    local = now.astimezone(zone)
    for day in (local.date() - timedelta(days=1), local.date()):
        begins = _local_instant(day, start, zone)
        ends = _local_instant(day if end > start else day + timedelta(days=1), end, zone)
        if begins <= now < ends:
            return ends
    return None


def quiet_end(user: User, now: datetime) -> datetime | None:
    """The end of the user's quiet hours that `now` falls into. Hours that cannot be read hold nothing back."""
    if user.quiet_from is None or user.quiet_to is None:
        return None
    try:
        return quiet_until(time_of(user.quiet_from), time_of(user.quiet_to), zone_of(user.zone), now)
    except BadZone:
        return None


def _is_day(hour: Hour, day: date) -> bool:
    return not hour.weekly or day.weekday() == 0


def _period(hour: Hour, day: date) -> str:
    if not hour.weekly:
        return day.isoformat()
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"


def _instant(hour: Hour, day: date) -> datetime:
    return _local_instant(day, hour.at, hour.zone)


def _local_instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Local to UTC: in a fold the first of the two, in a gap the first instant after it."""
    first = datetime.combine(day, at, tzinfo=zone).replace(fold=0)
    utc = first.astimezone(UTC)
    if utc.astimezone(zone).replace(tzinfo=None) == first.replace(tzinfo=None):
        return utc
    # A gap. Read with the offset before it, the wall time lands after the gap; walk back to its end.
    low, high = first.replace(fold=1).astimezone(UTC), utc  # fold=1: the offset after the gap, an instant before it
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)
