"""States and times in plain words, for the templates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ledger.lifecycle import State, Via
from ledger.records import Delivery, Mode, User
from mail.clean import LINK_MAX_BYTES, host_of, web_link
from mail.dates import day, moment

MODES = {Mode.INSTANT: "at once", Mode.DAILY: "once a day", Mode.WEEKLY: "on Mondays"}


def became(row: Delivery, zone: str = "UTC") -> str:
    """What became of a delivery, for its person."""
    waits = f" {moment(row.wake_at, zone)}" if row.wake_at else " the next one"
    why = f": {row.why}" if row.why else ""
    match row.state:
        case State.QUEUED if row.via is Via.DIGEST:
            return f"Waiting for the digest of{waits}{why}"
        case State.QUEUED:
            return f"Waiting, goes out from{waits} on{why}"
        case State.CLAIMED:
            return "Being sent at this moment"
        case State.SENT:
            return f"Sent {moment(row.final_at or row.created_at, zone)}" + (
                ", in a digest" if row.via is Via.DIGEST else ""
            )
        case State.FAILED:
            return f"Not sent{why}"
        case State.UNCLEAR:
            return "Unclear: you may or may not have this one" + (f" ({row.why})" if row.why else "")
        case State.EXPIRED:
            return f"Expired{why}"


def standing(user: User, now: datetime) -> str:
    """Why nothing comes, or nothing."""
    if user.stopped is not None or not user.active:
        when = f" since {day(user.stopped_at, user.zone)}" if user.stopped_at else ""
        return f"No mail is sent to you{when}: {_STOPS.get(str(user.stopped), 'your account is not active')}."
    if user.paused_until is not None and user.paused_until > now:
        return f"Paused until {moment(user.paused_until, user.zone)}."
    return ""


def ago(at: datetime | None, now: datetime) -> str:
    """`12 min ago`, `never`."""
    if at is None:
        return "never"
    return _span((now - at).total_seconds()) + " ago"


def ahead(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "not planned"
    seconds = (at - now).total_seconds()
    return "now" if seconds <= 0 else f"in {_span(seconds)}"


def _span(seconds: float) -> str:
    seconds = max(0.0, seconds)
    for size, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (size < 86400 and seconds >= size):
            return f"{int(seconds // size)} {name}"
    return f"{int(seconds)} s"


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def sentence(said: str) -> str:
    """With a capital first letter; what somebody typed keeps its case."""
    return said[:1].upper() + said[1:]


def safe_link(url: str) -> str:
    """A link that opens a web page, or nothing."""
    return web_link(url, LINK_MAX_BYTES) or ""


_STOPS = {
    "unsubscribed": "you unsubscribed",
    "bounced": "a letter to your address came back",
    "complained": "a letter was marked as spam",
    "rejected": "three letters in a row were refused by your mail server",
}
FILTERS: dict[str, Callable[..., Any]] = {
    "moment": moment, "day": day, "became": became, "ago": ago, "ahead": ahead, "counted": counted,
    "safe_link": safe_link, "host": host_of,
}  # fmt: skip
