"""States and times in plain words, for the templates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from app.quota import OVER
from ledger.deliveries import STOPPED_WHY
from ledger.digests import GAVE_UP_WHY, LEFT_OUT_WHY
from ledger.lifecycle import State, Via
from ledger.records import Delivery, Mode, User
from mail.clean import LINK_MAX_BYTES, host_of, reason_line, web_link
from mail.dates import day, moment

SAID_MAX_BYTES = 2000
MODES = {Mode.INSTANT: "at once", Mode.DAILY: "once a day", Mode.WEEKLY: "on Mondays"}


def became(row: Delivery, user: User, now: datetime) -> str:
    """What became of a delivery, for its person: in causes that they know, not in a provider's words."""
    match row.state:
        case State.QUEUED:
            return _waits(row, user, now)
        case State.CLAIMED:
            return "Being sent at this moment"
        case State.SENT:
            how = "" if row.via is Via.ALERT else f", in your {_regular(row.period or '')} mail"
            return f"Sent {moment(row.final_at or row.created_at, user.zone)}{how}"
        case State.FAILED if row.why == GAVE_UP_WHY:
            return f"{_UNCLEAR}: three mails held it, and nobody can tell whether one arrived"
        case State.FAILED:
            return "Not sent: the mail with it was refused on its way to you"
        case State.UNCLEAR:
            return f"{_UNCLEAR}: nobody can tell whether the mail arrived, and it is not sent twice"
        case State.EXPIRED if row.why == LEFT_OUT_WHY:
            return "Not sent: two of your mails had no room for it"
        case State.EXPIRED if row.why.startswith(STOPPED_WHY):
            return f"Not sent: {_STOPS.get(row.why.removeprefix(STOPPED_WHY), _INACTIVE)}"
        case State.EXPIRED:
            return "Not sent: it was not wanted any more"


def _waits(row: Delivery, user: User, now: datetime) -> str:
    if is_stopped(user):
        return f"Not sent: {_STOPS.get(str(user.stopped), _INACTIVE)}"
    if is_paused(user, now):
        return f"Waiting until your pause ends, {moment(user.paused_until or now, user.zone)}"
    at = row.wake_at if row.wake_at is not None and row.wake_at > now else None
    if row.via is Via.DIGEST:
        late = f"; {_LATE.get(row.why, 'it could not be sent at once')}" if row.why else ""
        regular = _regular(row.period or ("-W" if user.mode is Mode.WEEKLY else ""))
        due = f" of {moment(row.wake_at, user.zone)}" if row.wake_at else ""
        return (
            f"Waiting for your {regular} mail{due}{late}"
            if due
            else f"Waiting: your {regular} mail with it has not gone out yet{late}"
        )
    if row.why:
        again = f"from {moment(at, user.zone)} on" if at else "soon"
        return f"Waiting: the mail could not be handed over yet and is tried again {again}"
    if at is None:
        return "Waiting to be sent, soon"
    is_quiet = user.quiet_to is not None and f", {user.quiet_to}" in moment(at, user.zone)
    return f"Waiting until {moment(at, user.zone)}{', when your quiet hours end' if is_quiet else ''}"


def _regular(period: str) -> str:
    return "weekly" if "-W" in period else "daily"


def standing(user: User, now: datetime) -> str:
    """Why nothing comes, or nothing."""
    if is_stopped(user):
        when = f" since {day(user.stopped_at, user.zone)}" if user.stopped_at else ""
        return f"No mail is sent to you{when}: {_STOPS.get(str(user.stopped), _INACTIVE)}."
    if is_paused(user, now):
        return f"Paused until {moment(user.paused_until or now, user.zone)}."
    return ""


def is_stopped(user: User) -> bool:
    return user.stopped is not None or not user.active


def is_paused(user: User, now: datetime) -> bool:
    return user.paused_until is not None and user.paused_until > now


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


def sentence(text: str) -> str:
    """With a capital first letter; what somebody typed keeps its case."""
    return text[:1].upper() + text[1:]


def said(text: str) -> str:
    """What a model or a board says, as a letter shows it: one line, without web addresses."""
    return reason_line(text, SAID_MAX_BYTES)


def safe_link(url: str) -> str:
    """A link that opens a web page, or nothing."""
    return web_link(url, LINK_MAX_BYTES) or ""


_UNCLEAR = "You may or may not have this one"
_INACTIVE = "your account is not active"
_LATE = {OVER: "it could not come at once: the mails of the day were used up"}
_STOPS = {
    "unsubscribed": "you unsubscribed",
    "bounced": "a mail to your address came back",
    "complained": "a mail was marked as spam",
    "rejected": "three mails in a row were refused by your mail server",
}
FILTERS: dict[str, Callable[..., Any]] = {
    "moment": moment, "day": day, "became": became, "ago": ago, "ahead": ahead, "counted": counted,
    "safe_link": safe_link, "host": host_of, "said": said,
}  # fmt: skip
