"""Other people's text and links, made harmless before they are shown.

A title, a company, a model's reason: all of it comes from strangers. `line` makes one visible line of it,
`web_link` a link that only ever opens a web page. Escaping for HTML is the template's work, not done here.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from urllib.parse import quote, urlsplit, urlunsplit

import idna

from ledger.joiners import JOINERS, shapes

LINK_MAX_BYTES = 20_000  # of any link that was stored: 4,000 characters, of which an escape may make five
READ_MAX_CHARS = 10_000  # of one field; what lies beyond cannot be shown anyway
ELLIPSIS = "…"

# Everything a URL may hold besides letters and digits (RFC 3986), `%` included so that nothing is escaped twice.
# The single quote is left out: it ends an attribute in sloppy readers.
_URL_SAFE = "!#$%&()*+,-./:;=?@[]_~"
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_URL_IN_TEXT = re.compile(r"(?:https?://|www\.)\S*[^\s.,;:!?)]", re.IGNORECASE)
URL_LEFT_OUT = "(link left out)"
_HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]")


def line(text: str, max_bytes: int) -> str:
    """One line of visible text, at most `max_bytes` long as UTF-8 with HTML escapes, cut with an ellipsis.

    Line breaks, tabs and every other kind of space become one space; control, zero-width, bidirectional and
    other characters that cannot be seen are dropped, but for a joiner where it shapes what stands beside it.
    """
    text = text[:READ_MAX_CHARS]
    if not text.isprintable():
        seen = (c if c.isprintable() or shapes(text, at) else " " if c.isspace() else "" for at, c in enumerate(text))
        text = "".join(seen)
    text = " ".join(text.split())
    if weight(text) <= max_bytes:
        return text
    return _cut(text, max_bytes)


def reason_line(text: str, max_bytes: int) -> str:
    """Like `line`, without web addresses: a model that was talked into naming one must not pass it on."""
    return line(_URL_IN_TEXT.sub(URL_LEFT_OUT, text[:READ_MAX_CHARS]), max_bytes)


def is_showable(text: str) -> bool:
    """Whether it is one visible line, as `line` makes it."""
    return text.isprintable() or all(c.isprintable() or shapes(text, at) for at, c in enumerate(text))


def web_link(url: str, max_bytes: int) -> str | None:
    """The link as ASCII that needs no further quoting, or None if it is not a plain http(s) link.

    None also for a link with a user name (it shows one host and opens another), with white space or control
    characters inside, or longer than `max_bytes` (with HTML escapes): half a link is none.
    """
    url = url.strip()
    if len(url) > max_bytes or not url.isprintable() or " " in url or "\\" in url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
        host = _ascii_host(parts.hostname or "")
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or host is None or "@" in parts.netloc:
        return None
    netloc = host if port is None else f"{host}:{port}"
    rest = [_BAD_PERCENT.sub("%25", quote(part, safe=_URL_SAFE)) for part in (parts.path, parts.query, parts.fragment)]
    link = urlunsplit((parts.scheme.lower(), netloc, rest[0] or "/", rest[1], rest[2]))
    return link if weight(link) <= max_bytes else None


def host_of(link: str) -> str:
    """The host that a link opens, for showing."""
    return (urlsplit(link).hostname or "").removeprefix("www.")


def _ascii_host(host: str) -> str | None:
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            return None
    elif ":" in host:
        host = f"[{host}]"
    return host if _HOST.fullmatch(host) else None


def weight(text: str) -> int:
    """Its bytes as UTF-8 with HTML escapes: what the limits count."""
    return len(escape(text).encode("utf-8", "surrogatepass"))


def _clings(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character) in ("Mn", "Mc", "Me", "Sk")


def _cut(text: str, max_bytes: int) -> str:
    """Cut at a character that stands alone, preferably at a space."""
    left = max_bytes - len(ELLIPSIS.encode())
    end = 0
    for end, character in enumerate(text):  # noqa: B007 - the place where the room ran out is what we want
        left -= weight(character)
        if left < 0:
            break
    while end and (_clings(text[end]) or text[end - 1] in JOINERS):
        end -= 1
    space = text.rfind(" ", end * 3 // 4, end)
    return text[: space if space > 0 else end].rstrip() + ELLIPSIS
