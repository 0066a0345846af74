"""Dates as boards write them, to aware UTC; None for what cannot be believed. Nothing here raises.

A date is shown and may feed an age filter. It never decides what is new.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

SANE_FROM = datetime(2000, 1, 1, tzinfo=UTC)
SANE_AHEAD = timedelta(days=2)  # clocks and zones may be off; a board that is further ahead is wrong
DATE_MAX_CHARS = 80

_EPOCH = re.compile(r"-?[0-9]{9,13}(?:\.[0-9]{1,9})?\Z")
_ISO = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}")
_EPOCH_MS_FROM = 1e11  # in seconds that is the year 5138


def parse_date(value: object, now: datetime) -> datetime | None:
    """Epoch seconds or milliseconds (number or text), ISO 8601, RFC 2822, a UTC `struct_time`.

    Without a zone it is UTC. None outside SANE_FROM .. now + SANE_AHEAD.
    """
    try:
        moment = _read(value)
        if moment is None:
            return None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError, TypeError, IndexError, AttributeError):
        return None
    return moment if SANE_FROM <= moment <= now + SANE_AHEAD else None


def parse_http_date(text: str) -> datetime | None:
    """RFC 9110 dates, whatever they say; aware UTC."""
    try:
        moment = parsedate_to_datetime(text[:DATE_MAX_CHARS])
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _read(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, time.struct_time):
        return datetime(*value[:5], min(value[5], 59), tzinfo=UTC)  # a leap second is close enough
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_epoch(float(value))
    if not isinstance(value, str):
        return None
    text = " ".join(value[:DATE_MAX_CHARS].split())
    if _EPOCH.match(text):
        return _from_epoch(float(text))
    if _ISO.match(text):
        return datetime.fromisoformat(text)
    # A bare number or a word would be read as a day of some month; RFC 2822 names the month.
    return parsedate_to_datetime(text) if re.search(r"[A-Za-z]{3}", text) else None


def _from_epoch(number: float) -> datetime:
    return datetime.fromtimestamp(number / 1000 if abs(number) > _EPOCH_MS_FROM else number, UTC)
