"""Remote OK: one JSON array, the first element of which is the board's terms."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial

from scan.posting import Posting
from scan.sources.board import Page, in_one_answer
from scan.sources.fields import Amounts, posting, reading
from scan.sources.item import Item, Unreadable, items_at
from scan.sources.kind import Kind

TEXT_MIN_CHARS = 40  # the board lists blog pages as well; they have a title and little else
NO_JOBS = frozenset({"menu", "blog", "about", "home", "jobs"})
PLACEHOLDER = (10_000, 750_000)  # what the board's form offers; nobody pays a range like that
ID = re.compile(r"[0-9]{1,15}")


def parse(body: bytes, *, now: datetime) -> Page | Unreadable:
    items = items_at(body)
    if isinstance(items, Unreadable):
        return items
    jobs = [item for item in items if not (isinstance(item, dict) and "legal" in item and "id" not in item)]
    return Page(reading(jobs, partial(_posting, now=now)))


def _posting(item: Item, *, now: datetime) -> Posting | str:
    id_ = item.text("id")
    if not ID.fullmatch(id_):
        return "no id"
    low, high = item.number("salary_min"), item.number("salary_max")
    is_stated = (low, high) != PLACEHOLDER
    found = posting(
        "remoteok",
        id_,
        name=item.text("position"),
        link=item.text("url"),
        markup=item.text("description"),
        now=now,
        company=item.text("company"),
        place=item.text("location").strip(" ,"),
        amounts=Amounts(low, high, "USD", "year") if is_stated else None,
        tags=item.texts("tags"),
        dates=(item.raw("epoch"), item.raw("date")),
    )
    if isinstance(found, Posting) and (
        not found.company or len(found.text) < TEXT_MIN_CHARS or found.title.casefold() in NO_JOBS
    ):
        return "no job: a page without a company or a description"
    return found


KIND = Kind(
    "remoteok",
    in_one_answer(parse, platform="remoteok"),
    ids="the number that ends the link",
    url="https://remoteok.com/api",
    platform="remoteok",
    min_interval_s=3600,
    attribution="Remote OK",
    terms="Link back with a followed link and name Remote OK as the source, or access is cut.",
    hosts=("remoteok.com", "remoteok.io"),
    job_link=re.compile(r"//remoteok\.(?:com|io)/remote-jobs/(?:[^/?#]*-)?([0-9]{4,15})(?:[?]|$)", re.IGNORECASE),
)
