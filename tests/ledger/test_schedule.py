"""When a digest is due, in every kind of zone and on every kind of day."""

from __future__ import annotations

import json
import time as process_time
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.schedule import BadZone, Due, Hour, latest_due, next_due, quiet_until, time_of, zone_of
from tests.shared import shared

MICROSECOND = timedelta(microseconds=1)
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu",
         "America/Havana", "Africa/Casablanca", "Pacific/Kiritimati", "Antarctica/Troll"]  # fmt: skip


def hour(at: str, zone: str, *, weekly: bool = False) -> Hour:
    return Hour(time_of(at), zone_of(zone), weekly)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def test_the_next_due_time_is_strictly_after_and_the_latest_is_at_or_before() -> None:
    eight = hour("08:00", "UTC")
    due = Due(utc(2026, 11, 30, 8), "2026-11-30")
    assert next_due(eight, due.at - MICROSECOND) == due
    assert next_due(eight, due.at) == Due(utc(2026, 12, 1, 8), "2026-12-01")
    assert latest_due(eight, due.at) == due
    assert latest_due(eight, due.at - MICROSECOND) == Due(utc(2026, 11, 29, 8), "2026-11-29")


def test_an_hour_is_local_and_the_period_is_the_local_date() -> None:
    assert next_due(hour("08:00", "Asia/Kathmandu"), utc(2026, 11, 30)) == Due(utc(2026, 11, 30, 2, 15), "2026-11-30")
    assert next_due(hour("00:30", "Pacific/Kiritimati"), utc(2026, 11, 30)) == Due(
        utc(2026, 11, 30, 10, 30), "2026-12-01"
    )
    assert next_due(hour("23:30", "America/Havana"), utc(2026, 12, 1)) == Due(utc(2026, 12, 1, 4, 30), "2026-11-30")


@pytest.mark.parametrize(
    ("at", "zone", "day", "instant"),
    [
        ("02:30", "Europe/Berlin", "2026-03-29", utc(2026, 3, 29, 1)),  # 02:00 to 03:00 is missing
        ("02:00", "Europe/Berlin", "2026-03-29", utc(2026, 3, 29, 1)),
        ("03:00", "Europe/Berlin", "2026-03-29", utc(2026, 3, 29, 1)),
        ("02:15", "Australia/Lord_Howe", "2026-10-04", utc(2026, 10, 3, 15, 30)),  # half an hour is missing
        ("00:00", "America/Havana", "2026-03-08", utc(2026, 3, 8, 5)),  # midnight itself is missing
    ],
)
def test_an_hour_in_a_gap_is_due_at_the_first_instant_after_it(at: str, zone: str, day: str, instant: datetime) -> None:
    assert next_due(hour(at, zone), instant - timedelta(hours=12)) == Due(instant, day)
    assert latest_due(hour(at, zone), instant) == Due(instant, day)


@pytest.mark.parametrize(
    ("at", "zone", "day", "instant"),
    [
        ("02:30", "Europe/Berlin", "2026-10-25", utc(2026, 10, 25, 0, 30)),
        ("01:30", "America/New_York", "2026-11-01", utc(2026, 11, 1, 5, 30)),
        ("01:45", "Australia/Lord_Howe", "2026-04-05", utc(2026, 4, 4, 14, 45)),
    ],
)
def test_an_hour_that_comes_twice_is_due_the_first_time_only(at: str, zone: str, day: str, instant: datetime) -> None:
    clock = hour(at, zone)
    assert next_due(clock, instant - timedelta(hours=12)) == Due(instant, day)
    for later in (timedelta(minutes=30), timedelta(hours=1), timedelta(hours=2)):
        assert latest_due(clock, instant + later) == Due(instant, day)
    assert next_due(clock, instant).period == (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def test_a_day_that_the_calendar_skips_is_due_right_after_it_and_no_period_comes_twice() -> None:
    eight = hour("08:00", "Pacific/Apia")  # 2011-12-30 never was: the 29th ended at 10:00 UTC on the 30th
    dues = list(walk(eight, utc(2011, 12, 28), times=5))
    assert dues == [
        Due(utc(2011, 12, 28, 18), "2011-12-28"),
        Due(utc(2011, 12, 29, 18), "2011-12-29"),
        Due(utc(2011, 12, 30, 10), "2011-12-30"),
        Due(utc(2011, 12, 30, 18), "2011-12-31"),
        Due(utc(2011, 12, 31, 18), "2012-01-01"),
    ]
    assert [latest_due(eight, due.at) for due in dues] == dues


def test_weekly_is_monday_and_its_period_is_the_iso_week_over_new_year() -> None:
    monday = hour("08:00", "Europe/Berlin", weekly=True)
    dues = list(walk(monday, utc(2026, 12, 20), times=4))
    assert [due.period for due in dues] == ["2026-W52", "2026-W53", "2027-W01", "2027-W02"]
    assert [due.at for due in dues] == [utc(2026, 12, 21 + 7 * n, 7) for n in (0, 1)] + [
        utc(2027, 1, 4 + 7 * n, 7) for n in (0, 1)
    ]
    assert latest_due(monday, utc(2027, 1, 3, 23)).period == "2026-W53"  # a Sunday of the old ISO year
    early = hour("08:00", "UTC", weekly=True)
    assert latest_due(early, utc(2025, 1, 1)).period == "2025-W01"  # whose Monday was in December


def test_monday_is_the_users_own() -> None:
    kiritimati = hour("08:00", "Pacific/Kiritimati", weekly=True)
    assert next_due(kiritimati, utc(2026, 11, 29)) == Due(utc(2026, 11, 29, 18), "2026-W49")


@given(
    zone=st.sampled_from(ZONES),
    at=st.times().map(lambda t: t.replace(second=0, microsecond=0)),
    now=st.datetimes(datetime(2005, 1, 1), datetime(2035, 1, 1)),  # noqa: DTZ001 - the next line gives it its zone
    weekly=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_between_the_latest_and_the_next_due_time_lies_none(zone: str, at: time, now: datetime, weekly: bool) -> None:
    now = now.replace(tzinfo=UTC)
    clock = Hour(at, ZoneInfo(zone), weekly)
    latest, following = latest_due(clock, now), next_due(clock, now)
    assert latest.at <= now < following.at
    assert next_due(clock, latest.at).at == following.at
    assert latest_due(clock, following.at).at == following.at
    assert latest_due(clock, following.at - MICROSECOND) == latest
    assert latest.period < following.period
    assert following.at - latest.at <= timedelta(days=8 if weekly else 2)


@pytest.fixture(params=["America/New_York", "Australia/Melbourne", "UTC"])
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The machine's own zone, which must not matter."""
    monkeypatch.setenv("TZ", request.param)
    process_time.tzset()
    yield request.param
    monkeypatch.undo()
    process_time.tzset()


def test_whatever_zone_the_host_has_a_day_has_one_period(host_zone: str) -> None:
    case = json.loads(shared("cases/B84_schedule.json").read_text())
    eight = hour("08:00", "UTC")
    for day in case["dates"]:
        calls = [datetime.fromisoformat(f"{day}T{call}+00:00") for call in case["calls_utc"]]
        periods = [latest_due(eight, call).period for call in calls]
        before = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
        assert periods == [before, day, day, day]


def test_a_call_hours_late_still_finds_the_day_due() -> None:
    case = json.loads(shared("cases/B85_schedule.json").read_text())
    early, late = (datetime.fromisoformat(f"{case['date']}T{call}+00:00") for call in case["calls_utc"])
    eight = hour("08:00", "UTC")
    assert latest_due(eight, late).period == case["date"]
    assert next_due(eight, early).at <= late


def test_quiet_hours_may_span_midnight_and_end_when_they_say() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    ends = utc(2026, 12, 1, 6)
    for now in (utc(2026, 11, 30, 21), utc(2026, 11, 30, 23, 30), utc(2026, 12, 1, 5, 59)):
        assert quiet_until(time(22), time(7), berlin, now) == ends
    for now in (utc(2026, 11, 30, 20, 59), ends, utc(2026, 12, 1, 12)):
        assert quiet_until(time(22), time(7), berlin, now) is None


def test_quiet_hours_within_a_day_do_not_touch_the_night() -> None:
    assert quiet_until(time(9), time(17), ZoneInfo("UTC"), utc(2026, 11, 30, 9)) == utc(2026, 11, 30, 17)
    assert quiet_until(time(9), time(17), ZoneInfo("UTC"), utc(2026, 11, 30, 3)) is None


def test_quiet_hours_that_end_where_they_begin_are_none() -> None:
    assert quiet_until(time(8), time(8), ZoneInfo("UTC"), utc(2026, 11, 30, 8)) is None


def test_quiet_hours_that_end_in_a_gap_end_right_after_it() -> None:
    assert quiet_until(time(22), time(2, 30), ZoneInfo("Europe/Berlin"), utc(2026, 3, 29, 0, 30)) == utc(2026, 3, 29, 1)


@pytest.mark.parametrize("name", ["", ".", "../etc/passwd", "/etc/localtime", "Mars/Base", "UTC\0", "x" * 500])
def test_an_unknown_zone_is_refused_with_a_hint(name: str) -> None:
    with pytest.raises(BadZone, match="use an IANA name"):
        zone_of(name)


@pytest.mark.parametrize("text", ["", "8", "24:00", "08:60", "08:00:00", " 08:00", "noon"])
def test_what_is_no_time_of_day_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(BadZone, match="write HH:MM"):
        time_of(text)


def walk(clock: Hour, start: datetime, *, times: int) -> Iterator[Due]:
    for _ in range(times):
        due = next_due(clock, start)
        yield due
        start = due.at
