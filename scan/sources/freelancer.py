"""Freelancer.com: the active projects, those that moved last first. A token is optional."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from urllib.parse import quote, urlencode, urlsplit

from scan.fetch import Fetcher
from scan.posting import Posting
from scan.sources.board import Ask, BoardSource, Page
from scan.sources.fields import Amounts, posting, reading, with_skills
from scan.sources.item import Item, Unreadable, items_at, json_of
from scan.sources.kind import Kind, Option, Secrets, SourceConfig

QUARTER_S = 900
PAGE_ITEMS = 100
SITE = "https://www.freelancer.com/projects/"


def parse(body: bytes, *, now: datetime) -> Page | Unreadable:
    document = json_of(body)
    if isinstance(document, Unreadable):
        return document
    if Item(document).text("status") == "error":
        return Unreadable("the board answered with an error")
    items = items_at(body, "result", "projects")
    return items if isinstance(items, Unreadable) else Page(reading(items, partial(_posting, now=now)))


def _posting(item: Item, *, now: datetime) -> Posting | str | None:
    if item.flag("deleted") or item.flag("nonpublic"):
        return None
    id_, slug = item.text("id"), item.text("seo_url")
    budget, kind = item.item("budget"), item.text("type").lower()
    skills = [job.text("name") for job in item.items("jobs")]
    period = {"hourly": "hour", "fixed": "fixed"}.get(kind, "")
    return posting(
        "freelancer",
        id_,
        name=item.text("title"),
        link=SITE + (quote(slug, safe="/-_.~%") if slug else id_),
        markup=with_skills(item.text("description", "preview_description"), skills),
        now=now,
        place=item.item("location").item("country").text("name"),
        amounts=Amounts(budget.number("minimum"), budget.number("maximum"), item.item("currency").text("code"), period),
        contract="freelance",
        language=item.text("language"),
        tags=(kind, *skills),
        dates=(item.raw("time_submitted"), item.raw("submitdate"), item.raw("time_updated")),
        is_html=False,
    )


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> BoardSource:
    token, query = config.options.get("token", ""), config.options.get("query", "")
    wanted = {
        "limit": str(PAGE_ITEMS),
        "sort_field": "time_updated",
        "full_description": "true",
        "job_details": "true",
    }
    asked = urlencode(wanted | ({"query": query} if query else {}))
    url = config.url if urlsplit(config.url).query else f"{config.url}?{asked}"
    headers = {"freelancer-oauth-v1": token} if token else {}
    return BoardSource(
        config,
        fetcher=fetcher,
        first=lambda now: Ask(url, partial(parse, now=now), headers),
        platform=KIND.platform,
        floor_s=QUARTER_S,
    )


KIND = Kind(
    "freelancer",
    make,
    ids="the project's number",
    url="https://www.freelancer.com/api/projects/0.1/projects/active/",
    platform="freelancer",
    min_interval_s=QUARTER_S,
    floor_s=QUARTER_S,
    attribution="Freelancer.com",
    terms="An API for registered developers: whether it answers without a token, and how often, is not published.",
    options={
        "token": Option("an OAuth token; optional"),
        "query": Option("words that the board looks for; unset: all projects"),
    },
    hosts=("freelancer.com",),
    job_link=re.compile(r"//freelancer\.com/projects/(?:[^?#]*-)?([0-9]{5,15})(?:\.html)?(?:[?]|$)"),
)
