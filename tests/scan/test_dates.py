"""Dates as boards write them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scan.dates import parse_date

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-30 12:00:33", datetime(2026, 11, 30, 12, 0, 33, tzinfo=UTC)),  # no zone: UTC
        ("2026-11-30T12:00:33Z", datetime(2026, 11, 30, 12, 0, 33, tzinfo=UTC)),
        ("2026-11-30T07:00:33-05:00", datetime(2026, 11, 30, 12, 0, 33, tzinfo=UTC)),
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC)),
        ("Mon, 23 Nov 2026 10:00:00 GMT", datetime(2026, 11, 23, 10, tzinfo=UTC)),
        ("Mon, 23 Nov 2026 10:00:00 +0300", datetime(2026, 11, 23, 7, tzinfo=UTC)),
        ("Mon, 30 Nov 2026 13:03:47 PST", datetime(2026, 11, 30, 21, 3, 47, tzinfo=UTC)),
        ("Mon, 23 Nov 2026\n 10:00:00 -0000", datetime(2026, 11, 23, 10, tzinfo=UTC)),
        ("1790401136", datetime(2026, 9, 26, 5, 38, 56, tzinfo=UTC)),
        ("1790401136000", datetime(2026, 9, 26, 5, 38, 56, tzinfo=UTC)),
        (1790401136, datetime(2026, 9, 26, 5, 38, 56, tzinfo=UTC)),
        (1790401136000, datetime(2026, 9, 26, 5, 38, 56, tzinfo=UTC)),
        (datetime(2026, 11, 30, 9), datetime(2026, 11, 30, 9, tzinfo=UTC)),  # noqa: DTZ001 - a naive one is the point
        (time.struct_time((2026, 11, 30, 9, 5, 61, 0, 0, 0)), datetime(2026, 11, 30, 9, 5, 59, tzinfo=UTC)),
        ("2026-12-02T11:00:00Z", datetime(2026, 12, 2, 11, tzinfo=UTC)),  # ahead, within two days
    ],
)
def test_a_date_is_read_as_aware_utc(written: object, meant: datetime) -> None:
    assert parse_date(written, NOW) == meant


@pytest.mark.parametrize(
    "written",
    [
        "Fri, 01 Jan 2099 00:00:00 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "2026-12-03T12:00:00Z",
        "yesterday",
        "30/11/2026",
        "Mon, 31 Nov 2026 10:00:00 GMT",
        "Posted 3 days ago",
        "03/04",
        "17",
        "9999999999999",
        "",
        None,
        True,
        float("nan"),
        float("inf"),
        pytest.param(10**400, id="huge"),
        [],
        time.struct_time((0, 0, 0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_what_cannot_be_believed_is_no_date(written: object) -> None:
    assert parse_date(written, NOW) is None


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.one_of(st.text(max_size=60), st.integers(), st.floats(), st.from_regex(r"[0-9T:. +\-A-Za-z,]{0,40}")))
def test_nothing_written_as_a_date_raises(written: object) -> None:
    read = parse_date(written, NOW)
    assert read is None or read.tzinfo is UTC
