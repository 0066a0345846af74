"""One job as a letter shows it: every text one clean line, cut so that twenty of them always fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from ledger.records import Delivery
from mail.clean import LINK_MAX_BYTES, host_of, line, reason_line, web_link, weight
from mail.letter import Site

PREHEADER_MAX_BYTES = 220  # no mailbox shows more than about 140 characters


class Limits(NamedTuple):
    """How long each field of a job may be, as UTF-8 with HTML escapes."""

    title_bytes: int
    name_bytes: int  # company, place
    pay_bytes: int
    source_bytes: int
    reason_bytes: int  # shared with why there was no verdict
    caveat_bytes: int  # 0: none is shown
    link_bytes: int
    twins: int
    note: bool  # a link to the page where its person may keep a note


GENEROUS = Limits(
    title_bytes=300,
    name_bytes=140,
    pay_bytes=100,
    source_bytes=200,
    reason_bytes=400,
    caveat_bytes=250,
    link_bytes=2000,
    twins=4,
    note=True,
)
TIGHT = Limits(
    title_bytes=120,
    name_bytes=60,
    pay_bytes=40,
    source_bytes=70,
    reason_bytes=90,
    caveat_bytes=0,
    link_bytes=390,
    twins=0,
    note=False,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """One job as a letter shows it; every text is one clean line."""

    title: str
    link: str | None
    opens: str  # its page here, if its link is too long for the letter
    facts: tuple[str, ...]  # company, place and pay, as far as they are stated
    age: str
    source: str
    search: str  # which of several searches it fits
    why: str
    caveat: str
    score: str  # "82 of 100", of a model's verdict; empty without one
    not_scored: str  # why there is none though it was wanted
    note: str  # its page here, where its person may keep a note; empty where room is short
    twins: tuple[tuple[str, str], ...]  # (link, host)


def shown(row: Delivery, at: datetime, site: Site, limits: Limits) -> Shown:
    page = f"{site.base_url.rstrip('/')}/me/jobs/{quote(row.key, safe='')}"
    link = web_link(row.link, limits.link_bytes)
    is_too_long = link is None and web_link(row.link, LINK_MAX_BYTES) is not None
    twins = [other for twin in row.twin_links if (other := web_link(twin, limits.link_bytes)) and other != link]
    facts = (
        line(row.company, limits.name_bytes),
        line(row.place, limits.name_bytes),
        line(row.pay, limits.pay_bytes),
    )
    source = line(row.source, limits.source_bytes // 2)
    attribution = line(site.attribution.get(row.source, ""), limits.source_bytes)
    unscored_bytes = limits.reason_bytes // 3 if row.not_scored else 0
    search = line(row.search, limits.reason_bytes // 3)
    why_bytes = limits.reason_bytes - unscored_bytes - weight(search)
    return Shown(
        title=line(row.title, limits.title_bytes) or "A job without a title",
        link=link,
        opens=page if is_too_long else "",
        facts=tuple(filter(None, facts)),
        age=age_of(row, at),
        source=attribution or (f"via {source}" if source else ""),
        note=page if limits.note and not is_too_long else "",
        search=search,
        why=reason_line(row.verdict_reason or row.reason, why_bytes),
        caveat=reason_line(row.caveat, limits.caveat_bytes) if limits.caveat_bytes else "",
        score="" if row.verdict_score is None else f"{row.verdict_score} of 100",
        not_scored=reason_line(row.not_scored, unscored_bytes) if unscored_bytes else "",
        twins=tuple((twin, host_of(twin)) for twin in dict.fromkeys(twins))[: limits.twins],
    )


def preheader(best: Delivery, jobs: Sequence[Shown], limits: Limits) -> str:
    """What a mailbox shows behind the subject, which has the count and the best title: the rest of the first facts."""
    facts = (line(best.company, limits.name_bytes), line(best.pay, limits.pay_bytes), jobs[0].why.rstrip("."))
    next_titles = "; ".join(job.title for job in jobs[1:3])
    return line(". Also: ".join(filter(None, (" · ".join(filter(None, facts)), next_titles))), PREHEADER_MAX_BYTES)


def age_of(row: Delivery, at: datetime) -> str:
    """How old the job is, and by whose word: the board's, or our first sight of it."""
    seconds = max(0.0, (at - (row.published_at or row.first_seen)).total_seconds())
    word = "posted" if row.published_at else "first seen"
    if seconds < 60:
        return f"{word} just now"
    if seconds < 3600:
        return f"{word} {int(seconds // 60)} min ago"
    if seconds < 48 * 3600:
        return f"{word} {int(seconds // 3600)} h ago"
    return f"{word} {int(seconds // 86400)} days ago"
