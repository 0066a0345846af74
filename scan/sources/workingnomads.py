"""Working Nomads: one JSON array without an id; the number is in the link, which only redirects."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial

from scan.posting import Posting
from scan.sources.board import Page, in_one_answer
from scan.sources.fields import posting, reading
from scan.sources.item import Item, Unreadable, items_at
from scan.sources.kind import Kind

GO = re.compile(r"//(?:www\.)?workingnomads\.com/job/go/([0-9]{1,15})(?:[/?#]|$)")


def parse(body: bytes, *, now: datetime) -> Page | Unreadable:
    items = items_at(body)
    return items if isinstance(items, Unreadable) else Page(reading(items, partial(_posting, now=now)))


def _posting(item: Item, *, now: datetime) -> Posting | str:
    link = item.text("url")
    found = GO.search(link)
    return posting(
        "workingnomads",
        found[1] if found else "",
        name=item.text("title"),
        link=link,
        markup=item.text("description"),
        now=now,
        company=item.text("company_name"),
        place=item.text("location"),
        tags=(item.text("category_name"), *item.text("tags").split(",")),
        dates=(item.raw("pub_date"),),
    )


KIND = Kind(
    "workingnomads",
    in_one_answer(parse, platform="workingnomads"),
    ids="the number in the link",
    url="https://www.workingnomads.com/api/exposed_jobs/",
    platform="workingnomads",
    min_interval_s=3600,
    attribution="Working Nomads",
    terms="The jobs that the board exposes to others; link back through its own links.",
    hosts=("workingnomads.com", "workingnomads.co"),
    job_link=GO,
)
