"""The bytes of a feed to raw entries: RSS 0.9x to 2.0, RDF, Atom, JSON Feed. What they mean comes later.

The parser is tolerant, and its opinion on well-formedness is no verdict: a board whose namespaces are
undeclared still lists jobs. What has no version it knows is not a feed, however cleanly it parsed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import feedparser

from scan.encoding import mended
from scan.sources.jsonfeed import NotAFeed, RawEntry, read_json_feed

TTL_MAX_MINUTES = 7 * 24 * 60
TAGS_MAX = 30

# Own elements of boards, by the last part of their name: `company`, `job_listing:company`, ...
# Himalayas' locationRestriction is not among them: it repeats, the parser keeps one of them, and a job that is
# open to ten countries must not look as if it were open to one.
_COMPANY = ("company", "companyname", "company_name")
_PLACE = ("region", "country", "location")
_PAY = ("salary", "pay", "compensation")
_KIND = ("type", "job_type", "employment_type")
_SKILLS = ("skills",)

_DATE_KEYS = ("published", "published_parsed", "created", "created_parsed", "updated", "updated_parsed")
_RDF = frozenset({"rss090", "rss10"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_HTML_PAGE = re.compile(rb"\s{0,200}(?:<!doctype\s+html|<html|<head|<body)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    entries: tuple[RawEntry, ...]
    ttl_s: float = 0.0


def read_document(body: bytes, content_type: str) -> Document:
    """Raises NotAFeed with a reason; the parser itself may raise anything for hostile input."""
    start = body[:400].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise NotAFeed("the body is empty")
    if start.startswith((b"{", b"[")):
        return Document(read_json_feed(body))
    headers = {"content-type": content_type} if content_type else {}
    # No base is handed in: the parser would resolve guids too, and a guid must not depend on where it was found.
    parsed = feedparser.parse(
        mended(body, content_type), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
    )
    if not parsed.version:
        raise NotAFeed("an HTML page, not a feed" if _HTML_PAGE.match(start) else "not a feed")
    # The parser's own mapping maps keys onto others, and warns: plain ones from here on.
    entries = (dict(dict.items(entry)) for entry in parsed.entries)
    return Document(tuple(_raw(values, version=parsed.version) for values in entries), _ttl_s(parsed.feed))


def _raw(values: Mapping[str, Any], *, version: str) -> RawEntry:
    guid, link = _text(values.get("id")), _text(values.get("link"))
    guid_is_url = guid.lower().startswith(("http://", "https://"))
    if not link and guid_is_url and version in _RDF:
        link = guid  # rdf:about
    elif not values.get("links") and not guid_is_url:
        link = ""  # the parser took a guid that is no link for one
    detail = values.get("title_detail")
    markup, is_html = _longest_text(values)
    return RawEntry(
        guid=guid,
        link=link,
        title=_text(values.get("title")),
        title_is_html=version.startswith("atom") and isinstance(detail, Mapping) and detail.get("type") in _HTML_TYPES,
        markup=markup,
        is_html=is_html,
        date_text=_first(values, ("published", "updated", "created")),
        dates=tuple(values[key] for key in _DATE_KEYS if isinstance(values.get(key), str | time.struct_time)),
        company=_own(values, _COMPANY),
        place=_own(values, _PLACE, join=True),
        pay=_own(values, _PAY),
        tags=_tags(values),
    )


def _longest_text(values: Mapping[str, Any]) -> tuple[str, bool]:
    """Feeds give a teaser and a full text, in no fixed place."""
    contents = values.get("content")
    found = [
        (_text(content.get("value")), content.get("type") in _HTML_TYPES)
        for content in (contents if isinstance(contents, list) else ())
        if isinstance(content, Mapping)
    ]
    detail = values.get("summary_detail")
    kind = detail.get("type") if isinstance(detail, Mapping) else "text/html"
    found.append((_text(values.get("summary")), kind in _HTML_TYPES))
    return max(found, key=lambda pair: len(pair[0]))


def _own(values: Mapping[str, Any], names: tuple[str, ...], *, join: bool = False) -> str:
    found: list[str] = []
    for name in names:
        for key, value in values.items():
            is_named = key.lower() == name or key.lower().endswith("_" + name)
            if is_named and isinstance(value, str) and value.strip() and value.strip() not in found:
                found.append(value.strip())
    return ", ".join(found) if join else next(iter(found), "")


def _tags(values: Mapping[str, Any]) -> tuple[str, ...]:
    tags = [_text(tag.get("term")) for tag in values.get("tags") or () if isinstance(tag, Mapping)]
    tags += re.split(r",\s*(?:and\s+)?", _own(values, _SKILLS))  # "a, b, and c"
    tags.append(_own(values, _KIND))
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))[:TAGS_MAX]


def _first(values: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := _text(values.get(key)))), "")


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _ttl_s(feed: Mapping[str, Any]) -> float:
    text = _text(dict(feed).get("ttl"))
    return min(int(text), TTL_MAX_MINUTES) * 60.0 if text.isascii() and text.isdigit() and len(text) < 10 else 0.0
