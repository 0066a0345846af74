"""Himalayas: a very large board, newest jobs first, twenty a page."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from urllib.parse import quote, urlsplit

from scan.fetch import Fetcher
from scan.links import canonical
from scan.posting import Posting
from scan.sources.board import Ask, BoardSource, Page
from scan.sources.fields import Amounts, posting, reading
from scan.sources.item import Item, Unreadable, items_at, json_of
from scan.sources.kind import Kind, Secrets, SourceConfig

PAGE_ITEMS = 20  # the board's own maximum
PAGES_MAX = 5
CURSOR_MAX_CHARS = 500
JOB = re.compile(r"//himalayas\.app/(companies/[^/?#]+/jobs/[^/?#]+)(?:[?]|$)")


def parse(body: bytes, *, now: datetime, root: str = "") -> Page | Unreadable:
    items = items_at(body, "jobs")
    if isinstance(items, Unreadable):
        return items
    cursor = Item(json_of(body)).text("nextCursor")
    found = reading(items, partial(_posting, now=now))
    if not cursor or len(cursor) > CURSOR_MAX_CHARS or not items:
        return Page(found)
    url = f"{root}?limit={PAGE_ITEMS}&cursor={quote(cursor, safe='')}"
    return Page(found, (Ask(url, partial(parse, now=now, root=root)),))


def _posting(item: Item, *, now: datetime) -> Posting | str:
    link = item.text("guid", "applicationLink")
    found = JOB.search(canonical(link))
    if found is None:
        return "no id"
    return posting(
        "himalayas",
        found[1],
        name=item.text("title"),
        link=link,
        markup=item.text("description", "excerpt"),
        now=now,
        company=item.text("companyName"),
        place=item.texts("locationRestrictions"),
        amounts=Amounts(
            item.number("minSalary"), item.number("maxSalary"), item.text("currency"), item.text("salaryPeriod")
        ),
        countries=item.texts("locationRestrictions"),
        contract=item.text("employmentType"),
        tags=(item.text("employmentType"), *(tag.replace("-", " ") for tag in item.texts("categories"))),
        dates=(item.raw("pubDate"),),
    )


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> BoardSource:
    root = urlsplit(config.url)._replace(query="", fragment="").geturl()
    first = config.url if urlsplit(config.url).query else f"{root}?limit={PAGE_ITEMS}"
    return BoardSource(
        config,
        fetcher=fetcher,
        first=lambda now: Ask(first, partial(parse, now=now, root=root)),
        platform=KIND.platform,
        pages_max=PAGES_MAX,
        newest_first=True,
    )


KIND = Kind(
    "himalayas",
    make,
    ids="the path of the listing, companies/X/jobs/Y",
    url="https://himalayas.app/jobs/api",
    platform="himalayas",
    min_interval_s=1800,
    attribution="Himalayas",
    terms="Attribution wanted.",
    hosts=("himalayas.app",),
    job_link=JOB,
)
