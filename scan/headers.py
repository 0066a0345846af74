"""What answer headers mean: validators, and how long to stay away."""

from __future__ import annotations

import re
from datetime import datetime

from scan.dates import parse_http_date

WAIT_MAX_S = 24 * 3600.0  # a feed's own wish (ttl, max-age) counts up to this
RETRY_AFTER_MAX_S = 7 * 24 * 3600.0
VALIDATOR_MAX_CHARS = 1024

_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,12})", re.IGNORECASE)


def validator(text: str | None) -> str | None:
    """An ETag or Last-Modified that can be sent back byte for byte, or None."""
    if not text or len(text) > VALIDATOR_MAX_CHARS or not (text.isascii() and text.isprintable()):
        return None
    return text


def max_age_s(cache_control: str) -> float:
    """RFC 9111 `max-age`, at most WAIT_MAX_S; 0 when there is none or it must not be cached."""
    if re.search(r"\bno-(?:store|cache)\b", cache_control, re.IGNORECASE):
        return 0.0
    found = _MAX_AGE.search(cache_control)
    return min(float(found[1]), WAIT_MAX_S) if found else 0.0


def retry_after_s(text: str, now: datetime) -> float | None:
    """RFC 9110 `Retry-After`, seconds or an HTTP date, from 0 to RETRY_AFTER_MAX_S; None if unreadable."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), RETRY_AFTER_MAX_S)
    at = parse_http_date(text)
    return None if at is None else min(max(0.0, (at - now).total_seconds()), RETRY_AFTER_MAX_S)
