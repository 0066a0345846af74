"""One posting of each applicant tracking system. Pure; ats.py says where the postings are."""

from __future__ import annotations

from datetime import datetime

from scan.posting import Posting
from scan.sources.fields import Amounts, posting
from scan.sources.item import Item

INTERVALS = {"per-year-salary": "year", "per-month-salary": "month", "per-hour-wage": "hour", "per-day-wage": "day"}


def greenhouse(item: Item, *, platform: str, board: str, now: datetime) -> Posting | str:
    """Its `content` is HTML escaped to entities, by design."""
    return posting(
        platform,
        item.text("id"),
        name=item.text("title"),
        link=item.text("absolute_url"),
        markup=item.text("content"),
        now=now,
        company=item.text("company_name") or _named(board),
        place=item.item("location").text("name"),
        amounts=_greenhouse_pay(item),
        language=item.text("language"),
        tags=tuple(part.text("name") for part in item.items("departments")),
        dates=(item.raw("first_published"), item.raw("updated_at")),
    )


def _greenhouse_pay(item: Item) -> Amounts | None:
    for part in item.items("pay_input_ranges"):
        low, high = (None if cents is None else cents / 100 for cents in map(part.number, ("min_cents", "max_cents")))
        title = part.text("title", "blurb").lower()
        period = "hour" if "hour" in title else "year" if "annual" in title or "salary" in title else ""
        found = Amounts(low, high, part.text("currency_type"), period)
        if found.low or found.high:
            return found
    return None


def lever(item: Item, *, platform: str, board: str, now: datetime) -> Posting | str:
    """Its `createdAt` counts milliseconds; live postings may be years old."""
    where, pay = item.item("categories"), item.item("salaryRange")
    lists = (f"<p>{part.text('text')}</p><ul>{part.text('content')}</ul>" for part in item.items("lists"))
    text = (item.text("description", "descriptionPlain"), *lists, item.text("additional", "additionalPlain"))
    interval = pay.text("interval")
    return posting(
        platform,
        item.text("id"),
        name=item.text("text"),
        link=item.text("hostedUrl", "applyUrl"),
        markup="\n".join(text),
        now=now,
        company=_named(board),
        place=where.texts("allLocations") or where.text("location"),
        amounts=Amounts(pay.number("min"), pay.number("max"), pay.text("currency"), INTERVALS.get(interval, "")),
        contract=where.text("commitment"),
        tags=(where.text("commitment"), item.text("workplaceType"), where.text("department"), where.text("team")),
        dates=(item.raw("createdAt"),),
    )


def ashby(item: Item, *, platform: str, board: str, now: datetime) -> Posting | str | None:
    if item.flag("isListed") is False:
        return None
    pay = item.item("compensation")
    others = (part.text("location") for part in item.items("secondaryLocations"))
    return posting(
        platform,
        item.text("id"),
        name=item.text("title"),
        link=item.text("jobUrl", "applyUrl"),
        markup=item.text("descriptionHtml", "descriptionPlain"),
        now=now,
        company=_named(board),
        place=(item.text("location"), *others, "Remote" if item.flag("isRemote") else ""),
        pay=pay.text("scrapeableCompensationSalarySummary", "compensationTierSummary"),
        contract=item.text("employmentType"),
        tags=(item.text("employmentType"), item.text("workplaceType"), item.text("department"), item.text("team")),
        dates=(item.raw("publishedAt"),),
    )


def workable(item: Item, *, platform: str, board: str, now: datetime) -> Posting | str:
    place = ", ".join(part for part in (item.text(name) for name in ("city", "state", "country")) if part)
    return posting(
        platform,
        item.text("shortcode"),
        name=item.text("title"),
        link=item.text("url", "shortlink", "application_url"),
        markup=item.text("description"),
        now=now,
        company=item.text("company") or _named(board),
        place=(place, "Remote" if item.flag("telecommuting") else ""),
        contract=item.text("employment_type"),
        tags=(item.text("employment_type"), item.text("department"), item.text("function"), item.text("industry")),
        dates=(item.raw("published_on"), item.raw("created_at")),
    )


def _named(board: str) -> str:
    """A board's name as a company's: these answers do not tell how the company writes itself."""
    return board.replace("-", " ").replace("_", " ").strip().title() if board.islower() else board
