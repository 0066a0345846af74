"""Adzuna: the newest results of one search in one country, under the owner's key."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from urllib.parse import urlencode

from scan.fetch import Fetcher
from scan.posting import Posting
from scan.sources.board import Ask, BoardSource, Page
from scan.sources.fields import Amounts, posting, reading
from scan.sources.item import Item, Unreadable, items_at
from scan.sources.kind import Kind, Option, Secrets, SourceConfig

HOUR_S = 3600
PAGE_ITEMS = 50
CURRENCIES = {
    "at": "EUR", "au": "AUD", "be": "EUR", "br": "BRL", "ca": "CAD", "ch": "CHF", "de": "EUR", "es": "EUR",
    "fr": "EUR", "gb": "GBP", "in": "INR", "it": "EUR", "mx": "MXN", "nl": "EUR", "nz": "NZD", "pl": "PLN",
    "sg": "SGD", "us": "USD", "za": "ZAR",
}  # fmt: skip


def parse(body: bytes, *, now: datetime, country: str = "") -> Page | Unreadable:
    items = items_at(body, "results")
    return items if isinstance(items, Unreadable) else Page(reading(items, partial(_posting, now=now, country=country)))


def _posting(item: Item, *, now: datetime, country: str) -> Posting | str:
    is_guess = item.text("salary_is_predicted") == "1" or bool(item.flag("salary_is_predicted"))
    low, high = item.number("salary_min"), item.number("salary_max")
    return posting(
        "adzuna",
        item.text("id"),
        name=item.text("title"),
        link=item.text("redirect_url"),
        markup=item.text("description"),
        now=now,
        company=item.item("company").text("display_name"),
        place=item.item("location").text("display_name"),
        amounts=None if is_guess else Amounts(low, high, CURRENCIES.get(country, ""), "year"),
        contract=item.text("contract_type"),
        tags=(
            item.text("contract_type"),
            item.text("contract_time").replace("_", " "),
            item.item("category").text("label"),
        ),
        dates=(item.raw("created"),),
    )


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> BoardSource:
    options = config.options
    country = options["country"].lower()
    query = {
        "app_id": options["app_id"],
        "app_key": options["app_key"],
        "results_per_page": str(PAGE_ITEMS),
        "sort_by": "date",
        "content-type": "application/json",
    } | ({"what": options["query"]} if options.get("query") else {})
    url = f"{config.url.rstrip('/')}/{country}/search/1?{urlencode(query)}"
    return BoardSource(
        config,
        fetcher=fetcher,
        first=lambda now: Ask(url, partial(parse, now=now, country=country)),
        platform=KIND.platform,
        floor_s=HOUR_S,
    )


KIND = Kind(
    "adzuna",
    make,
    ids="the board's own id; its links change with every call",
    url="https://api.adzuna.com/v1/api/jobs",
    platform="adzuna",
    min_interval_s=HOUR_S,
    floor_s=HOUR_S,
    attribution="Jobs by Adzuna",
    terms="250 calls a day and 2,500 a month by default: at most three searches once an hour.",
    options={
        "app_id": Option("the application's id", required=True),
        "app_key": Option("the application's key", required=True),
        "country": Option(
            f"one of {', '.join(CURRENCIES)}", required=True, pattern="(?i:" + "|".join(CURRENCIES) + ")"
        ),
        "query": Option("words to look for; unset: everything"),
    },
    job_link=re.compile(r"//adzuna\.[a-z.]{2,6}/(?:jobs/)?(?:land/ad|details)/([0-9]{4,15})(?:[/?#]|$)"),
)
