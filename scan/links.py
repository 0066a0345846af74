"""Links: absolute for people, canonical for identity, masked for reasons. Nothing here raises."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from w3lib.url import canonicalize_url, safe_url_string

LINK_MAX_CHARS = 4000
SHOWN_MAX_CHARS = 160

_TRACKING = frozenset(
    {"source", "ref", "referrer_url_path", "gclid", "fbclid", "gh_src", "lever-source", "lever_source"}
)
_TRACKING_PREFIXES = ("utm_", "mc_")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def absolute(link: str, base: str = "") -> str:
    """An absolute http(s) link, percent-encoded where it must be; empty for anything else.

    A link with a user name in it is refused too: its host is not the one that a person reads.
    """
    text = "".join(c for c in link.strip() if c.isprintable())
    if not text or len(text) > LINK_MAX_CHARS:
        return ""
    try:
        joined = urljoin(base, text)
        parts = urlsplit(joined)
        if parts.scheme.lower() not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
            return ""
        _ = parts.port  # raises for what is not a port
        safe: str = safe_url_string(joined)
    except (ValueError, UnicodeError):
        return ""
    return safe if len(safe) <= LINK_MAX_CHARS else ""


def canonical(link: str) -> str:
    """The one form of a link: two links that differ only in tracking, case of the host, order of the query,
    `www.`, default port, trailing slash, fragment or `%7E` are the same. For identity, never to be opened.
    """
    try:
        parts = urlsplit(canonicalize_url(link))
        host = (parts.hostname or "").removeprefix("www.")
        host = f"[{host}]" if ":" in host else host
        port = "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
        query = parse_qsl(parts.query, keep_blank_values=True, encoding="utf-8", errors="surrogateescape")
    except (ValueError, UnicodeError):
        return link.strip()
    kept = [(name, value) for name, value in query if not _is_tracking(name.lower())]
    path = parts.path.rstrip("/")
    return urlunsplit(
        (parts.scheme, host + port, path, urlencode(kept, encoding="utf-8", errors="surrogateescape"), "")
    )


def shown(url: str) -> str:
    """A URL for reports and logs: scheme, host and path; no user name, no query string, no fragment."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "(unreadable URL)"
    text = "".join(c for c in f"{parts.scheme}://{host}{parts.path}" if c.isprintable())
    return text if len(text) <= SHOWN_MAX_CHARS else text[: SHOWN_MAX_CHARS - 1] + "…"


def _is_tracking(name: str) -> bool:
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)
