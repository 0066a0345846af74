"""People and jobs for the matching tests, and the tables of known faults."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from hypothesis import HealthCheck, settings

from ledger.records import Job, JobState, Search, User
from tests.shared import shared

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

# A busy machine makes no test fail, and two runs of one tree say the same.
PATIENT = partial(settings, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def a_user(uid: str = "u", /, **searches: Search) -> User:
    return User(uid, "person@example.com", NOW, f"token-{uid}", searches)


def looking_for(*keywords: str, uid: str = "u", **more: Any) -> User:
    return a_user(uid, default=Search(keywords=keywords, **more))


def a_job(title: str = "", text: str = "", *, n: int = 1, age_h: float = 1, **more: Any) -> Job:
    id_ = f"j1{n:032x}"
    seen = NOW - timedelta(hours=age_h)
    known: dict[str, Any] = {"platform": "upwork", "source": "upwork-python", "first_seen": seen}
    return Job(id=id_, key=id_, title=title, text=text, link="", state=JobState.OPEN, **(known | more))


def table(name: str) -> list[dict[str, Any]]:
    """The rows of a table of known faults; skips the test where the folder is absent."""
    rows: list[dict[str, Any]] = json.loads(shared(f"cases/{name}_table.json").read_text("utf-8"))
    assert rows
    return rows
