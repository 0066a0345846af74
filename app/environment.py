"""Reading one setting from the environment: a good value, the default, or one line that says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from decimal import Decimal, InvalidOperation
from email.utils import parseaddr
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from ledger.ids import BadAddress, canonical_address
from ledger.schedule import BadZone, time_of

DOLLARS_MAX = Decimal(100_000)


class BadSetting(ValueError):
    """A setting that cannot be used; the message is one line that says what to do."""


def bad(name: str, what: str) -> NoReturn:
    raise BadSetting(f"{name} {what}")


def read_text(env: Mapping[str, str], name: str) -> str | None:
    return env.get(name, "").strip() or None  # files and shells add line ends


def read_line(env: Mapping[str, str], name: str, default: str) -> str:
    text = read_text(env, name) or default
    if not text.isprintable() or not is_address(parseaddr(text)[1]):
        bad(name, "must be one line with an address, such as Scout <scout@example.com>")
    return text


def read_word(env: Mapping[str, str], name: str) -> str | None:
    """A key: never repeated in a message."""
    text = read_text(env, name)
    if text is not None and not (text.isascii() and text.isprintable() and " " not in text):
        bad(name, "holds a character that no key has; copy it again")
    return text


def read_whole(env: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    text = read_text(env, name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        bad(name, f"is {text[:20]!r}; it must be a whole number from {low} to {high}")
    return int(text)


def read_switch(env: Mapping[str, str], name: str) -> bool:
    text = (read_text(env, name) or "false").lower()
    if text not in ("true", "false"):
        bad(name, f"is {text[:20]!r}; it must be true or false")
    return text == "true"


def read_choice(env: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str | None:
    text = read_text(env, name)
    if text is not None and text not in choices:
        bad(name, f"is {text[:20]!r}; it must be {' or '.join(choices)}")
    return text


def read_time(env: Mapping[str, str], name: str, default: str) -> time:
    try:
        return time_of(read_text(env, name) or default)
    except BadZone as error:
        bad(name, f"is {error}")


def read_file(env: Mapping[str, str], name: str) -> Path | None:
    text = read_text(env, name)
    if text is None:
        return None
    path = Path(text)
    if not path.is_file():
        bad(name, f"names no file: {text[:200]!r}")
    return path


def read_dollars(env: Mapping[str, str], name: str, default: str) -> Decimal:
    text = read_text(env, name) or default
    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal(-1)
    if not dollars.is_finite() or not 0 <= dollars <= DOLLARS_MAX:
        bad(name, f"is {text[:20]!r}; it must be dollars from 0 to {DOLLARS_MAX}, such as 1.50")
    return dollars


def read_api_url(env: Mapping[str, str], name: str) -> str | None:
    text = read_text(env, name)
    return None if text is None else web_address(text, name, "https://api.example.com")


def web_address(text: str, name: str, example: str) -> str:
    """The address without its last slash."""
    try:
        parts = urlsplit(text)
        reachable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        ok = reachable and not parts.query and not parts.fragment and "@" not in parts.netloc
    except ValueError:
        ok = False
    if not ok:
        bad(name, f"is {text[:100]!r}; it must be like {example}")
    return text.rstrip("/")


def is_address(text: str) -> bool:
    try:
        canonical_address(text)
    except BadAddress:
        return False
    return True
