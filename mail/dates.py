"""Dates and times as people read them, the same in letters and on pages."""

from __future__ import annotations

import contextlib
from datetime import UTC, date, datetime

from ledger.schedule import BadZone, zone_of

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def moment(at: datetime, zone: str = "UTC") -> str:
    """`Mon 30 Nov, 08:00`, where the person lives; with the zone's name if that is UTC."""
    local = at.astimezone(UTC)
    named = " UTC"
    with contextlib.suppress(BadZone):
        local, named = at.astimezone(zone_of(zone)), " UTC" if zone == "UTC" else ""
    return f"{_day(local)}, {local:%H:%M}{named}"


def day(at: datetime, zone: str = "UTC") -> str:
    return moment(at, zone).partition(",")[0]


def period_name(period: str) -> str:
    """`2026-11-30` -> `Mon 30 Nov 2026`, `2026-W49` -> `week to Mon 30 Nov`."""
    year, week, number = period.partition("-W")
    if week:
        return f"week to {_day(date.fromisocalendar(int(year), int(number), 1))}"
    named = date.fromisoformat(period)
    return f"{_day(named)} {named.year}"


def _day(named: date) -> str:
    return f"{_DAYS[named.weekday()]} {named.day} {_MONTHS[named.month - 1]}"
