"""What somebody types about a person, checked: each refusal is one line that names what was typed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from email_validator import EmailNotValidError, validate_email

from app import gates
from app.profile import BadProfile
from ledger import ids
from ledger.ids import BadAddress
from ledger.schedule import BadZone, time_of, zone_of
from scan.keywords import BadKeywords, parse_keywords
from scan.text import squeezed
from scan.tokens import pattern_of

MAX_AGE_MAX_H = 24 * 90
SHOWN_MAX_CHARS = 60
ABOUT_MAX_CHARS = 2_000


def address_of(typed: str, *, smtputf8: bool) -> str:
    """The address as typed, if it can be written to; `smtputf8` is what the transport can do. Raises BadProfile."""
    trimmed = typed.strip()
    try:
        validate_email(trimmed, check_deliverability=False, test_environment=True, allow_smtputf8=True, strict=True)
        ids.uid_of(trimmed)
    except (EmailNotValidError, BadAddress) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise BadProfile(f"{trimmed[:SHOWN_MAX_CHARS]!r} is not an e-mail address: {reason}") from error
    if not smtputf8 and not trimmed.rpartition("@")[0].isascii():
        raise BadProfile(f"{trimmed!r} has letters before the @ that this mail transport cannot send to; "
                         "use an address with ASCII letters there")  # fmt: skip
    return trimmed


def about_of(typed: str | None) -> str | None:
    """What somebody says about themselves, for the model. Raises BadProfile."""
    if typed is None:
        return None
    if len(typed) > ABOUT_MAX_CHARS:
        raise BadProfile(f"--about: at most {ABOUT_MAX_CHARS:,} characters; these are {len(typed):,}")
    return squeezed(typed)


def keywords_of(typed: str | None, what: str) -> tuple[str, ...] | None:
    """The keywords of a typed line; None if there is none. Raises BadProfile, which names the option."""
    if typed is None:
        return None
    try:
        keywords = parse_keywords(typed)
    except BadKeywords as error:
        raise BadProfile(f"{what}: {error}") from error
    for keyword in keywords:
        if not pattern_of(keyword):
            raise BadProfile(f"{what}: {keyword[:SHOWN_MAX_CHARS]!r} has no letter or digit to look for")
    return keywords


def sources_of(typed: str | None, known: Collection[str]) -> tuple[str, ...] | None:
    """Names of sources or boards, commas between; an empty line is all. Raises BadProfile for an unknown one."""
    if typed is None:
        return None
    names = tuple(dict.fromkeys(name for part in typed.split(",") if (name := part.strip())))
    folded = {name.casefold() for name in known}
    for name in names:
        if name.casefold() not in folded:
            raise BadProfile(f"--sources: unknown source {name[:SHOWN_MAX_CHARS]!r}; known: {', '.join(sorted(known))}")
    return names


def at_of(typed: str | None) -> str | None:
    """HH:MM. Raises BadProfile."""
    try:
        return None if typed is None else time_of(typed).isoformat("minutes")
    except BadZone as error:
        raise BadProfile(f"--at: {error}") from error


def zone_named(typed: str | None) -> str | None:
    """An IANA name. Raises BadProfile."""
    try:
        return None if typed is None else zone_of(typed).key
    except BadZone as error:
        raise BadProfile(f"--zone: {error}") from error


def gates_of(given: Mapping[str, str | bool | None]) -> dict[str, Any]:
    """The gates that were given, as fields of a search. Raises BadProfile."""
    try:
        return gates.typed(given)
    except gates.BadGate as error:
        raise BadProfile(str(error)) from error
