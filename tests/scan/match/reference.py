"""Matching once more, slow and plain: people and jobs in a loop, by the rules as they are stated."""

from __future__ import annotations

from datetime import datetime

from ledger.records import Job, Search, User
from tests.scan.match.reference_words import readings, stands_in, usable


def score(search: Search, job: Job, now: datetime) -> int | None:
    """None: does not fit."""
    keywords = [k for k in search.keywords if usable(k)]
    must = [k for k in search.must if usable(k)]
    if not keywords and not must:
        return None

    head, _, last = f"\n{job.text}".rpartition("\n")
    listed = last.startswith("Skills: ")
    skills = last.removeprefix("Skills: ").split(", ") if listed else []
    text, first, others = head[1:] if listed else job.text, ", ".join(skills[:3]), ", ".join(skills[3:])

    def found(k: str) -> bool:
        return any(stands_in(k, field) for field in (job.title, text, first, others))

    def said(k: str) -> bool:
        return any(stands_in(k, field) for field in (job.title, text, first))

    def worth(k: str) -> int:
        return 2 if stands_in(k, job.title) else 1 if stands_in(k, text) else 0

    if keywords and not any(map(found, keywords)):
        return None
    if not all(map(found, must)) or any(said(k) for k in search.exclude if usable(k)):
        return None
    when = job.published_at or job.first_seen
    if search.max_age_h is not None and (now - when).total_seconds() > search.max_age_h * 3600:
        return None
    names = {job.source.lower(), job.platform.lower(), job.platform.split(":")[0].lower()}
    wanted = {name.strip().lower() for name in search.sources} - {""}
    if wanted and not wanted & names:
        return None
    if not gates_open(search, job):
        return None
    return sum(worth(k) for k in {frozenset(readings(k)): k for k in keywords + must}.values())


A_YEAR = {"hour": 2080, "day": 260, "week": 52, "month": 12, "year": 1}
OPEN_TO = {"DE": {"DE"}, "US": {"US"}, "EU": {"DE"}, "WORLD": {"DE", "US"}}  # of the two countries of these tests


def gates_open(search: Search, job: Job) -> bool:
    """Each gate as its rule is stated; unknown passes unless strict."""
    unknown = not search.strict
    verdicts = []
    if search.min_hourly is not None or search.min_fixed is not None:
        top, period = job.pay_max, job.period
        floor = search.min_fixed if period == "fixed" else search.min_hourly
        if (top is None and job.pay_min is None) or not period:
            verdicts.append(unknown)
        elif floor is not None:
            factor = 1.0 if period == "fixed" else A_YEAR[period] / 2080
            if job.currency != search.currency:
                verdicts.append(unknown)
            elif top is None:
                verdicts.append(unknown or (job.pay_min or 0) * factor >= floor)
            else:
                verdicts.append(top * factor >= floor)
    if search.countries:
        mine = set().union(*(OPEN_TO[area] for area in search.countries))
        theirs = set().union(*(OPEN_TO[area] for area in job.countries))
        verdicts.append(bool(mine & theirs) if theirs else unknown)
    if search.contracts:
        wanted_kinds, kinds = set(search.contracts), set(job.contracts)
        if kinds == {"part-time"} and wanted_kinds & {"freelance", "temporary"}:
            wanted_kinds |= kinds if unknown else set()
        verdicts.append(bool(wanted_kinds & kinds) if kinds else unknown)
    if search.languages:
        verdicts.append(job.language in search.languages if job.language else unknown)
    rating = job.client.rating if job.client else None
    if search.min_client_rating is not None:
        verdicts.append(unknown if rating is None else rating >= search.min_client_rating)
    verified = job.client.payment_verified if job.client else None
    if search.payment_verified_only:
        verdicts.append(unknown if verified is None else verified)
    return all(verdicts)


def best(user: User, job: Job, now: datetime) -> tuple[str, int] | None:
    """(search, score) of the best search; of equals the first."""
    scored = [(name, s) for name, search in user.searches.items() if (s := score(search, job, now)) is not None]
    return max(scored, key=lambda pair: pair[1], default=None)
