"""JSON Feed 1.0 and 1.1 (jsonfeed.org) to raw entries."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION_PREFIXES = ("https://jsonfeed.org/version/1", "http://jsonfeed.org/version/1")


class NotAFeed(ValueError):
    """The document is something else. The text is for people."""


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One entry as its feed says it: untouched strings, relative links, dates as written."""

    guid: str = ""
    link: str = ""
    title: str = ""
    title_is_html: bool = False
    markup: str = ""
    is_html: bool = True
    date_text: str = ""  # as written: part of an id must not depend on what we can read
    dates: tuple[object, ...] = ()  # candidates, the best first
    company: str = ""
    place: str = ""
    pay: str = ""
    tags: tuple[str, ...] = ()


def read_json_feed(body: bytes) -> tuple[RawEntry, ...]:
    """Raises NotAFeed. An item that is no object becomes an empty entry, which is then counted."""
    try:
        feed = json.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        raise NotAFeed("not JSON that can be read") from error
    if not isinstance(feed, dict) or not _text(feed.get("version")).startswith(VERSION_PREFIXES):
        raise NotAFeed("JSON, but no JSON Feed")
    items = feed.get("items")
    if not isinstance(items, list):
        raise NotAFeed("a JSON Feed without items")
    return tuple(_raw(item) if isinstance(item, dict) else RawEntry() for item in items)


def _raw(item: Mapping[str, Any]) -> RawEntry:
    markup = _text(item.get("content_html"))
    dates = tuple(item[key] for key in ("date_published", "date_modified") if item.get(key) is not None)
    tags = item.get("tags")
    return RawEntry(
        guid=_text(item.get("id")),
        link=_text(item.get("url")) or _text(item.get("external_url")),
        title=_text(item.get("title")),
        markup=markup or _text(item.get("content_text")) or _text(item.get("summary")),
        is_html=bool(markup),
        date_text=next((text for date in dates if (text := _text(date))), ""),
        dates=dates,
        company=_author(item),
        tags=tuple(text for tag in tags if (text := _text(tag))) if isinstance(tags, list) else (),
    )


def _author(item: Mapping[str, Any]) -> str:
    """1.1 has `authors`, 1.0 had `author`."""
    authors = item.get("authors")
    candidates = [*(authors if isinstance(authors, list) else ()), item.get("author")]
    names = (_text(author.get("name")) for author in candidates if isinstance(author, dict))
    return next((name for name in names if name), "")


def _text(value: object) -> str:
    """Text as it is, numbers as text: 1.0 publishers wrote numeric ids, and readers must coerce them."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**40 else ""
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return ""
