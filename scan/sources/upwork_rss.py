"""Upwork's RSS, which Upwork retired in August 2024: for archives, and for bridges that write the same format.

A description ends with facts in bold: range or budget, date, category, skills, the client's country.
"""

from __future__ import annotations

import re
from dataclasses import replace

from scan.fetch import Fetcher
from scan.posting import Posting
from scan.sources.feed import FeedSource, feed_source
from scan.sources.fields import labels, short, with_skills
from scan.sources.kind import Kind, Secrets, SourceConfig

# `~02` and 19 digits is the number that the API uses; `~01` and 16 hex cannot be mapped to one.
JOB_LINK = r"~(?:02(?=[0-9]{19}(?![0-9])))?(01[0-9a-f]{16}|[0-9]{19})"
FACTS = re.compile(r"(?:\A|\n)(?:(?:Hourly Range|Budget)\s*:[^\n]{0,200}\n)?Posted On\s*:")
FACT = re.compile(r"^(Hourly Range|Budget|Category|Skills|Country)\s*:\s*([^\n]{1,2000})$", re.MULTILINE)
PERIODS = {"Hourly Range": "hour", "Budget": "fixed"}


def finished(posting: Posting) -> Posting:
    """The facts at the end of the text where they belong; the text keeps the skills, and no date."""
    ends = [found.start() for found in FACTS.finditer(posting.text)]
    if not ends:
        return posting
    facts = {name: value for name, value in FACT.findall(posting.text[ends[-1] :])}  # noqa: C416 - of two, the last
    pay = next((name for name in PERIODS if name in facts), "")
    country = short(facts.get("Country", ""))
    skills = labels(facts.get("Skills", "").split(","))
    return replace(
        posting,
        text=with_skills(posting.text[: ends[-1]], skills),
        pay=short(facts.get(pay, "")),
        currency="USD",
        period=PERIODS.get(pay, ""),
        contract="freelance",
        place=f"client in {country}" if country else posting.place,
        tags=labels((*posting.tags, facts.get("Category", ""), *skills)),
    )


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> FeedSource:
    return feed_source(config, fetcher, finish=finished)


KIND = Kind(
    "upwork_rss",
    make,
    ids="the code after ~ in the link; the rest of the link changes with the title",
    platform="upwork",
    min_interval_s=3600,
    id_rule="regex:" + JOB_LINK,
    title_form="{title} - Upwork",
    attribution="Upwork",
    terms="Upwork no longer serves it.",
)
