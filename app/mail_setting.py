"""SCOUT_MAIL: where letters go. Its messages never repeat it: a password may stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from app.environment import bad, read_text, read_word

KEY_OF = {"sendgrid": "SENDGRID_API_KEY", "resend": "RESEND_API_KEY"}  # what each of these needs

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def read_mail(env: Mapping[str, str]) -> str:
    """Raises BadSetting."""
    text = read_text(env, "SCOUT_MAIL") or "outbox:///outbox"
    scheme, colon, rest = text.partition(":")
    ok = {
        "outbox": rest.startswith("///") and len(rest) > 3,
        "smtp": rest.startswith("//"),
        "smtps": rest.startswith("//"),
        **dict.fromkeys(KEY_OF, rest in ("", "//")),
    }
    if not colon or not ok.get(scheme, False):
        bad(
            "SCOUT_MAIL",
            "must be outbox:///PATH, smtp://[USER:PASS@]HOST[:PORT], smtps://..., sendgrid: or resend:",
        )
    if scheme in KEY_OF and read_word(env, KEY_OF[scheme]) is None:
        bad(KEY_OF[scheme], f"is not set, and SCOUT_MAIL is {scheme}: put the key of your account there")
    if scheme in ("smtp", "smtps"):
        _check_smtp(text)
    return text


def _check_smtp(text: str) -> None:
    form = "write smtp://user:pass@host:587, with %-escapes in user and password"
    try:
        parts = urlsplit(text)
        reachable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        reachable = False
    if not reachable:
        bad("SCOUT_MAIL", f"has no usable host and port; {form}")
    if bool(parts.username) != bool(parts.password):
        bad("SCOUT_MAIL", f"has {'a user and no password' if parts.username else 'a password and no user'}; {form}")
    try:
        unquote(parts.netloc, errors="strict")
        is_escaped = not _BAD_ESCAPE.search(parts.netloc)
    except UnicodeDecodeError:
        is_escaped = False
    if not is_escaped:
        bad("SCOUT_MAIL", f"has a % that begins no escape, a % itself is %25; {form}")
