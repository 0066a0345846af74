"""Jobicy: the newest hundred jobs as JSON."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial

from scan.posting import Posting
from scan.sources.board import Page, in_one_answer
from scan.sources.fields import Amounts, posting, reading
from scan.sources.item import Item, Unreadable, items_at
from scan.sources.kind import Kind

HOUR_S = 3600


def parse(body: bytes, *, now: datetime) -> Page | Unreadable:
    items = items_at(body, "jobs")
    return items if isinstance(items, Unreadable) else Page(reading(items, partial(_posting, now=now)))


def _posting(item: Item, *, now: datetime) -> Posting | str:
    return posting(
        "jobicy",
        item.text("id"),
        name=item.text("jobTitle"),
        link=item.text("url"),
        markup=item.text("jobDescription", "jobExcerpt"),
        now=now,
        company=item.text("companyName"),
        place=item.text("jobGeo"),
        amounts=Amounts(
            item.number("salaryMin"), item.number("salaryMax"), item.text("salaryCurrency"), item.text("salaryPeriod")
        ),
        countries=item.text("jobGeo").split(","),
        contract=", ".join(item.texts("jobType")),
        tags=(*item.texts("jobType"), *item.texts("jobIndustry"), item.text("jobLevel").removeprefix("Any")),
        dates=(item.raw("pubDate"),),
    )


KIND = Kind(
    "jobicy",
    in_one_answer(parse, platform="jobicy", floor_s=HOUR_S),
    ids="the board's own number, which also begins the last part of the link",
    url="https://jobicy.com/api/v2/remote-jobs?count=100",
    platform="jobicy",
    min_interval_s=HOUR_S,
    floor_s=HOUR_S,
    attribution="Jobicy",
    terms="At most one poll an hour; jobs are 6 hours late; credit and a direct link; no passing on to aggregators.",
    hosts=("jobicy.com",),
    job_link=re.compile(r"//jobicy\.com/jobs/([0-9]{1,15})(?:-[^/?#]*)?(?:[?]|$)"),
)
