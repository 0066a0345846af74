"""Ads as the demo's boards publish them: RSS in two dialects, Atom, JSON Feed. And a board that is down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import format_datetime
from html import escape

from app.demo.jobs import Ad


@dataclass(frozen=True, slots=True)
class Page:
    body: bytes
    content_type: str
    status: int = 200


@dataclass(frozen=True, slots=True)
class Board:
    """A board: its source in the list, its path on loopback, and how it writes ads. `write` None: it is down."""

    name: str
    path: str
    format: str
    write: Callable[[Sequence[Ad]], Page] | None
    toml: str = ""  # further lines of its entry


def rss_with_own_elements(ads: Sequence[Ad]) -> Page:
    """Company, region and pay in elements of the board's own; HTML in CDATA; the second item is broken."""
    items = [
        f"<item><title>{escape(ad.title)}</title><link>https://lantern.example/jobs/{ad.number}?utm_source=rss</link>"
        f'<guid isPermaLink="false">lantern-{ad.number}</guid><pubDate>{format_datetime(ad.at)}</pubDate>'
        f"<job:company>{escape(ad.company)}</job:company><job:location>{escape(ad.place)}</job:location>"
        f"<job:salary>{escape(ad.pay)}</job:salary><description><![CDATA[{ad.html}]]></description></item>"
        for ad in ads
    ]
    items.insert(1, "<item><link>https://lantern.example/jobs/</link><description></description></item>")
    head = '<rss version="2.0" xmlns:job="https://lantern.example/ns"><channel><title>Lantern Jobs</title>'
    return Page(f"<?xml version='1.0'?>{head}{''.join(items)}</channel></rss>".encode(), "application/rss+xml")


def rss_with_company_in_title(ads: Sequence[Ad]) -> Page:
    """`Company: Title`, escaped HTML, pay and place in the text only."""
    items = [
        f"<item><title>{escape(f'{ad.company}: {ad.title}')}</title><link>https://harbor.example/gigs/{ad.number}</link>"
        f"<guid>https://harbor.example/gigs/{ad.number}</guid><pubDate>{format_datetime(ad.at)}</pubDate>"
        f"<description>{escape(ad.html_with_terms)}</description></item>"
        for ad in ads
    ]
    head = '<rss version="2.0"><channel><title>Freelance Harbor</title>'
    return Page(f"<?xml version='1.0'?>{head}{''.join(items)}</channel></rss>".encode(), "text/xml; charset=utf-8")


def atom(ads: Sequence[Ad]) -> Page:
    entries = [
        f"<entry><id>tag:orchard.example,2026:{ad.number}</id><title>{escape(ad.title)}</title>"
        f'<link href="https://orchard.example/{ad.number}"/><updated>{ad.at.isoformat()}</updated>'
        f"<o:company>{escape(ad.company)}</o:company><o:region>{escape(ad.place)}</o:region>"
        f'<o:pay>{escape(ad.pay)}</o:pay><content type="html">{escape(ad.html)}</content></entry>'
        for ad in ads
    ]
    head = (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="https://orchard.example/ns"><title>Remote Orchard</title>'
        "<id>tag:orchard.example,2026:feed</id><updated>2026-11-30T00:00:00Z</updated>"
    )
    return Page(f"<?xml version='1.0'?>{head}{''.join(entries)}</feed>".encode(), "application/atom+xml")


def json_feed(ads: Sequence[Ad]) -> Page:
    items = [
        {
            "id": str(ad.number),
            "url": f"https://stack.example/j/{ad.number}",
            "title": ad.title,
            "content_html": ad.html_with_terms,
            "date_published": ad.at.isoformat(),
            "authors": [{"name": ad.company}],
        }
        for ad in ads
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Stackhouse", "items": items}
    return Page(json.dumps(feed).encode(), "application/feed+json")


DOWN = Page(b"Internal Server Error", "text/plain", status=500)

BOARDS = (
    Board("lantern-jobs", "/lantern.rss", "RSS 2.0", rss_with_own_elements, 'attribution = "Lantern Jobs"'),
    Board("freelance-harbor", "/harbor.rss", "RSS 2.0", rss_with_company_in_title, 'title_form = "{company}: {title}"'),
    Board("remote-orchard", "/orchard.atom", "Atom", atom),
    Board("stackhouse", "/stackhouse.json", "JSON Feed", json_feed),
    Board("night-owl-gigs", "/nightowl.rss", "RSS 2.0", None),
)


def page_of(board: Board, ads: Sequence[Ad]) -> Page:
    """What the board answers while it lists these ads."""
    return board.write([ad for ad in ads if ad.board == board.name]) if board.write is not None else DOWN
