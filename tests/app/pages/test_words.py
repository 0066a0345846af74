"""What became of a job, in words that its person knows; the rest is for the operator."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.pages.words import became, standing
from app.quota import OVER
from ledger import deliveries, digests
from ledger.lifecycle import State, Via
from ledger.records import Delivery, Mode, Stop, User

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
EIGHT = NOW.replace(hour=8) + timedelta(days=1)
USER = User(uid="u", address="ann@example.com", created_at=NOW, token="t", zone="Asia/Tokyo")
WEEKLY = replace(USER, mode=Mode.WEEKLY)
PAUSED = replace(USER, paused_until=NOW + timedelta(days=2))
LEFT = replace(USER, active=False, stopped=Stop.UNSUBSCRIBED, stopped_at=NOW)
QUIET = replace(USER, quiet_from="22:00", quiet_to="18:01")
PROVIDER = "429 too many requests"


def row(state: State, via: Via = Via.ALERT, **fields: Any) -> Delivery:
    return Delivery(
        uid="u", key="k", job_id="k", state=state, via=via, created_at=NOW, first_seen=NOW, title="t", link="",
        score=1, reason="python", **fields,
    )  # fmt: skip


ALERT, DIGEST = Via.ALERT, Via.DIGEST
SOON = NOW + timedelta(minutes=1)
SAID = (
    (row(State.QUEUED, wake_at=SOON, why=PROVIDER, tries=1), USER,
     "Waiting: the mail could not be handed over yet and is tried again from Mon 30 Nov, 18:01 on"),
    (row(State.QUEUED, wake_at=NOW, why=PROVIDER), USER,
     "Waiting: the mail could not be handed over yet and is tried again soon"),
    (row(State.QUEUED, wake_at=SOON), QUIET, "Waiting until Mon 30 Nov, 18:01, when your quiet hours end"),
    (row(State.QUEUED, wake_at=SOON), USER, "Waiting until Mon 30 Nov, 18:01"),
    (row(State.QUEUED, wake_at=NOW), USER, "Waiting to be sent, soon"),
    (row(State.QUEUED, DIGEST, wake_at=EIGHT), USER, "Waiting for your daily mail of Tue 1 Dec, 17:00"),
    (row(State.QUEUED, DIGEST, wake_at=EIGHT), WEEKLY, "Waiting for your weekly mail of Tue 1 Dec, 17:00"),
    (row(State.QUEUED, DIGEST, wake_at=EIGHT, why=PROVIDER), USER,
     "Waiting for your daily mail of Tue 1 Dec, 17:00; it could not be sent at once"),
    (row(State.QUEUED, DIGEST, wake_at=EIGHT, why=OVER), USER,
     "Waiting for your daily mail of Tue 1 Dec, 17:00; it could not come at once: the mails of the day were used up"),
    (row(State.QUEUED, DIGEST, period="2026-W49"), USER, "Waiting: your weekly mail with it has not gone out yet"),
    (row(State.QUEUED, DIGEST, wake_at=EIGHT), PAUSED, "Waiting until your pause ends, Wed 2 Dec, 18:00"),
    (row(State.QUEUED, wake_at=SOON), PAUSED, "Waiting until your pause ends, Wed 2 Dec, 18:00"),
    (row(State.QUEUED, DIGEST, wake_at=EIGHT), LEFT, "Not sent: you unsubscribed"),
    (row(State.CLAIMED), USER, "Being sent at this moment"),
    (row(State.SENT, final_at=NOW), LEFT, "Sent Mon 30 Nov, 18:00"),
    (row(State.SENT, DIGEST, final_at=NOW, period="2026-11-30"), USER, "Sent Mon 30 Nov, 18:00, in your daily mail"),
    (row(State.SENT, DIGEST, final_at=NOW, period="2026-W49"), USER, "Sent Mon 30 Nov, 18:00, in your weekly mail"),
    (row(State.FAILED, why=PROVIDER), USER, "Not sent: the mail with it was refused on its way to you"),
    (row(State.FAILED, DIGEST, why=digests.GAVE_UP_WHY), USER,
     "You may or may not have this one: three mails held it, and nobody can tell whether one arrived"),
    (deliveries.abandoned(row(State.CLAIMED), now=NOW), USER,
     "You may or may not have this one: nobody can tell whether the mail arrived, and it is not sent twice"),
    (row(State.EXPIRED, DIGEST, why=digests.LEFT_OUT_WHY), USER, "Not sent: two of your mails had no room for it"),
    (row(State.EXPIRED, why=deliveries.unwanted_why(LEFT)), USER, "Not sent: you unsubscribed"),
    (row(State.EXPIRED, why=deliveries.unwanted_why(replace(LEFT, stopped=Stop.BOUNCED))), USER,
     "Not sent: a mail to your address came back"),
    (row(State.EXPIRED, why=deliveries.unwanted_why(None)), USER, "Not sent: it was not wanted any more"),
)  # fmt: skip


@pytest.mark.parametrize(("delivery", "user", "said"), SAID, ids=[said for _, _, said in SAID])
def test_each_state_is_told_in_causes_that_a_person_knows(delivery: Delivery, user: User, said: str) -> None:
    assert became(delivery, user, NOW) == said


def test_none_of_our_own_words_is_among_them() -> None:
    ours = re.compile(r"\b(digest|alert|run|claim|letter|user|expired|unclear)s?\b", re.IGNORECASE)
    told = [became(delivery, user, NOW) for delivery, user, _ in SAID]
    told += [standing(replace(LEFT, stopped=stop), NOW) for stop in Stop]
    assert [said for said in told if ours.search(said) or PROVIDER in said] == []
    assert {delivery.state for delivery, _, _ in SAID} == set(State)
