"""A person, some rows and a letter, for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.ids import outside_id, uid_of
from ledger.lifecycle import State, Via
from ledger.records import Delivery, User
from mail.letter import Letter, Site
from mail.render import render_alert

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
SITE = Site("https://scout.example.com", "Scout <jobs@scout.example.com>")


def user(address: str = "ann@example.com", *, token: str = "t0ken-of-ann") -> User:
    return User(uid=uid_of(address), address=address, created_at=NOW, token=token)


def row(number: int = 0, **changes: Any) -> Delivery:
    return Delivery(
        **{
            "uid": "uid",
            "key": f"j1{number:032x}",
            "job_id": f"j1{number:032x}",
            "state": State.CLAIMED,
            "via": Via.ALERT,
            "created_at": NOW,
            "first_seen": NOW - timedelta(hours=3),
            "title": f"Senior Python Developer {number}",
            "link": f"https://jobs.example.com/{number}",
            "score": 5,
            "reason": "python in the title",
            "company": "Acme",
            "place": "Remote",
            "source": "board",
            **changes,
        }
    )


def letter(address: str = "ann@example.com", *, number: int = 0, **changes: Any) -> Letter:
    return render_alert(user(address), [row(number, **changes)], outside_id=outside_id(str(number)), at=NOW, site=SITE)
