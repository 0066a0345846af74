"""Remotive: all of its public jobs in one JSON answer. Its own filters have been seen to return everything."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial

from scan.posting import Posting
from scan.sources.board import Page, in_one_answer
from scan.sources.fields import posting, reading
from scan.sources.item import Item, Unreadable, items_at
from scan.sources.kind import Kind

FOUR_A_DAY_S = 6 * 3600


def parse(body: bytes, *, now: datetime) -> Page | Unreadable:
    items = items_at(body, "jobs")
    return items if isinstance(items, Unreadable) else Page(reading(items, partial(_posting, now=now)))


def _posting(item: Item, *, now: datetime) -> Posting | str:
    return posting(
        "remotive",
        item.text("id"),
        name=item.text("title"),
        link=item.text("url"),
        markup=item.text("description"),
        now=now,
        company=item.text("company_name"),
        place=item.text("candidate_required_location"),
        pay=item.text("salary"),
        tags=(*item.texts("tags"), item.text("category"), item.text("job_type").replace("_", " ")),
        countries=item.text("candidate_required_location").split(","),
        contract=item.text("job_type").replace("_", " "),
        dates=(item.raw("publication_date"),),  # without a zone; read as UTC
    )


KIND = Kind(
    "remotive",
    in_one_answer(parse, platform="remotive", floor_s=FOUR_A_DAY_S),
    ids="the board's own number, which also ends the link",
    url="https://remotive.com/api/remote-jobs",
    platform="remotive",
    min_interval_s=FOUR_A_DAY_S,
    floor_s=FOUR_A_DAY_S,
    attribution="Remotive",
    terms="At most 4 polls a day; jobs are 24 hours late; link back and name the source; no passing on to aggregators.",
    hosts=("remotive.com", "remotive.io"),
    job_link=re.compile(r"//remotive\.(?:com|io)/remote-jobs/(?:[^?#]*-)?([0-9]{4,15})(?:[?]|$)", re.IGNORECASE),
)
