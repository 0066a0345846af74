"""What is behind a URL that a person pasted: a board we know, a careers page, a feed, or a page that links one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

from scan.aside import AsideBusy, aside
from scan.exchange import Fetched
from scan.fetch import Fetch, Fetcher
from scan.links import shown
from scan.posting import Failed
from scan.sources.document import Document, read_document
from scan.sources.jsonfeed import NotAFeed, RawEntry
from scan.sources.registry import kind_of, recognised

LOOKED_AT_MAX = 4  # requests of one look: the page, and feeds that it links
PAGE_MAX_CHARS = 1024 * 1024
LINKS_MAX = 2000
NAME_MAX_CHARS = 40

_FEED_TYPES = re.compile(r"application/(?:rss\+xml|atom\+xml|feed\+json|rdf\+xml)", re.IGNORECASE)
_LINK_TAG = re.compile(r"<link\s[^<>]{1,5000}>", re.IGNORECASE)  # no < inside: a run of half tags stays cheap
_ANCHOR = re.compile(r"<(?:a|script|iframe)\s[^<>]{1,5000}>", re.IGNORECASE)
_HREF = re.compile(
    r"\s(?:href|src)\s{0,5}=\s{0,5}(?:\"([^\"]{1,2000})\"|'([^']{1,2000})'|([^\s\"'>]{1,2000}))", re.IGNORECASE
)
_LIKE_A_FEED = re.compile(
    r"(?:\.rss|\.atom|/rss|/feed|/atom|[./](?:rss|feed|atom|index)\.(?:xml|json))/?(?:\?|$)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Found:
    """The fields of an entry, but for its name; how it was found; and what a job's id will be."""

    entry: dict[str, Any]
    how: str
    ids: str


class Remembering(Fetcher):
    """A fetcher that asks for the same thing once: what is looked at and then polled is one request."""

    async def fetch(self, url: str, **how: Any) -> Fetch:
        if how.get("content") is not None or how.get("headers"):
            return await super().fetch(url, **how)
        memory = self.__dict__.setdefault("_memory", {})
        if url not in memory:
            memory[url] = await super().fetch(url, **how)
        answer: Fetch = memory[url]
        return answer


async def discover(url: str, fetcher: Fetcher, *, now: datetime, deadline_s: float) -> Found | Failed | str:
    """What the URL is; why it could not be fetched; or, as text, why it is nothing that can be read."""
    if (known := _known(url, "the board")) is not None:
        return known
    waiting = [(url, "a feed")]
    reason = "neither a feed nor a page that links one"
    for number in range(LOOKED_AT_MAX):
        if not waiting:
            break
        place, how = waiting.pop(0)
        answer = await fetcher.fetch(place, now=now, deadline_s=deadline_s)
        if not isinstance(answer, Fetched):
            if number == 0:
                return answer if isinstance(answer, Failed) else "not modified, though it was never asked before"
            continue
        try:
            document = await aside(lambda fetched=answer: _document(fetched), deadline_s=deadline_s)  # type: ignore[misc]
        except (TimeoutError, AsideBusy):
            return "could not be parsed in time"
        if isinstance(document, Document):
            return Found({"kind": "feed", "url": place}, how, _ids_of(document.entries))
        if number == 0:
            reason = document
            for link in _links(answer):
                if (known := _known(link, f"linked from {shown(url)}: the board")) is not None:
                    return known
            waiting += [(link, f"linked from {shown(url)}: a feed") for link in _feeds(answer)]
    return reason


def name_for(entry: dict[str, Any], taken: Sequence[str]) -> str:
    """A name that no other entry has, after the board or the host."""
    board = str(entry.get("board", "")).partition(":")[2]
    host = (urlsplit(str(entry.get("url", ""))).hostname or "").removeprefix("www.")
    label = board or (entry["kind"] if entry["kind"] != "feed" else host)
    plain = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")[:NAME_MAX_CHARS] or "source"
    names = (plain if number == 1 else f"{plain}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _known(url: str, how: str) -> Found | None:
    found = recognised(url)
    if found is None:
        return None
    kind, fields = found
    return Found(
        {"kind": kind.name, **fields}, f"{how} {fields.get('board') or kind.attribution or kind.name}", kind.ids
    )


def _document(fetched: Fetched) -> Document | str:
    try:
        return read_document(fetched.body, fetched.content_type)
    except NotAFeed as error:
        return f"{error}, and it links none" if "HTML" in str(error) else str(error)
    except Exception as error:  # the edge to a parser that may raise anything; the outcome is the answer
        return f"the parser failed with {type(error).__name__}"


def _links(page: Fetched) -> Iterator[str]:
    for number, anchor in enumerate(_ANCHOR.finditer(_text(page))):
        if number >= LINKS_MAX:
            return
        href = _HREF.search(anchor[0])
        if href and (link := _joined(page.url, href[1] or href[2] or href[3])):
            yield link


def _feeds(page: Fetched) -> list[str]:
    """Feeds that the page declares, then links that look like one."""
    declared = []
    for tag in _LINK_TAG.finditer(_text(page)):
        href = _HREF.search(tag[0])
        if href and _FEED_TYPES.search(tag[0]):
            declared.append(_joined(page.url, href[1] or href[2] or href[3]))
    likely = [link for link in _links(page) if _LIKE_A_FEED.search(link)]
    return [link for link in dict.fromkeys((*declared, *likely)) if link][: LOOKED_AT_MAX - 1]


def _text(page: Fetched) -> str:
    return page.body.decode("utf-8", "replace")[:PAGE_MAX_CHARS]


def _joined(base: str, href: str) -> str:
    try:
        link = urljoin(base, unescape(href).strip())
        return link if urlsplit(link).scheme in ("http", "https") and urlsplit(link).hostname else ""
    except ValueError:
        return ""


def _ids_of(entries: Sequence[RawEntry]) -> str:
    """Which name the rule `auto` will take, on this document."""
    count = len(entries)
    if not count:
        return kind_of("feed").ids
    for what, names in (("guid", [e.guid for e in entries]), ("link", [e.link for e in entries])):
        if all(names) and len(set(names)) == count:
            return f"auto: the {what}, of which each of the {count} items has its own"
    return f"auto: the guid, else the link, else title and date: not all of the {count} items have names of their own"
