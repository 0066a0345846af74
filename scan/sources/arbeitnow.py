"""Arbeitnow: newest jobs first, page by page."""

from __future__ import annotations

import html
import re
from datetime import datetime
from functools import partial
from urllib.parse import urlsplit

from scan.fetch import Fetcher
from scan.posting import Posting
from scan.sources.board import Ask, BoardSource, Page
from scan.sources.fields import posting, reading
from scan.sources.item import Item, Unreadable, items_at, json_of
from scan.sources.kind import Kind, Secrets, SourceConfig

PAGES_MAX = 3
NUMBER = re.compile(r"-([0-9]{3,12})$")


def parse(body: bytes, *, now: datetime, root: str = "") -> Page | Unreadable:
    """`root` is the URL that was configured: a next page is asked for at the same place only."""
    items = items_at(body, "data")
    if isinstance(items, Unreadable):
        return items
    following = Item(json_of(body)).item("links").text("next")
    found = reading(items, partial(_posting, now=now))
    query = _query(following)
    if not items or not query or not root:
        return Page(found)
    url = urlsplit(root)._replace(query=query, fragment="").geturl()
    return Page(found, (Ask(url, partial(parse, now=now, root=root)),))


def _query(url: str) -> str:
    try:
        query = urlsplit(url).query
    except ValueError:
        return ""
    return query if query.isascii() and query.isprintable() and len(query) < 500 else ""


def _posting(item: Item, *, now: datetime) -> Posting | str:
    slug, company = item.text("slug"), item.text("company_name")
    number = NUMBER.search(slug)
    # The slug holds the title and may move when that is edited; firm and number say that it is the same job.
    aliases = (f"number\n{company.casefold()}\n{number[1]}",) if number and company else ()
    return posting(
        "arbeitnow",
        slug,
        name=item.text("title"),
        link=item.text("url"),
        markup=_markup(item.text("description")),
        now=now,
        company=company,
        place=(item.text("location"), "Remote" if item.flag("remote") else ""),
        contract=", ".join(item.texts("job_types")),
        tags=(*item.texts("job_types"), *item.texts("tags")),
        dates=(item.raw("created_at"),),
        aliases=aliases,
    )


def _markup(description: str) -> str:
    """Some descriptions are escaped once more, but for a trailer of the board's own."""
    return html.unescape(description) if description.startswith("&lt;") else description


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> BoardSource:
    return BoardSource(
        config,
        fetcher=fetcher,
        first=lambda now: Ask(config.url, partial(parse, now=now, root=config.url)),
        platform=KIND.platform,
        pages_max=PAGES_MAX,
        newest_first=True,
    )


KIND = Kind(
    "arbeitnow",
    make,
    ids="the slug; its number and the company are known as well, for when a title is edited",
    url="https://www.arbeitnow.com/api/job-board-api",
    platform="arbeitnow",
    min_interval_s=3600,
    attribution="Arbeitnow",
    terms="A public feed of mostly German jobs; link back to the listing.",
    hosts=("arbeitnow.com",),
    job_link=re.compile(r"//arbeitnow\.com/jobs/companies/[^/?#]+/([^/?#]+)(?:[?]|$)"),
)
