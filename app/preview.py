"""Samples of every letter, made up, as they would leave with these settings: for the eye, before anybody gets one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from html import escape
from pathlib import Path
from typing import TypedDict

from ledger.ids import outside_id, uid_of
from ledger.lifecycle import ALERT_CAP_JOBS, State, Via
from ledger.records import Delivery, Mode, User
from ledger.schedule import Hour, latest_due, next_due, time_of, zone_of
from mail import notes
from mail.envelope import as_bytes
from mail.letter import Letter, Site
from mail.render import Later, render_alert, render_digest

ADDRESS = "ann@example.com"
TOKEN = "a-sample-token"  # opens nothing
LONG_DIGEST_JOBS = 40

_SAMPLES = (  # (title, company, place, pay, reason)
    ("Senior Python Developer", "Alder & Finch", "Anywhere", "$45 - $70 / hour", "python in the title"),
    ("Data Engineer, 3 months", "Brightwater Labs", "Europe", "EUR 550 a day", "airflow, dbt in the text"),
    ("Backend Engineer (m/f/x) für Bücher & Karten", "Köhler Verlag", "Berlin or remote", "", "django in the text"),
    ("Machine Learning Engineer", "", "", "$120,000 - $150,000", "“machine learning” in the title"),
    ("مهندس برمجيات Python", "Kestrel Energy", "EMEA time zones", "", "python in the title"),
)  # fmt: skip
_VERDICT = "You have built APIs with Django, and this team wants one."
_HOSTILE = (
    "Dev\r\nBcc: victim@example.com\x00\u202e<img src=x onerror=alert(1)> " + "very " * 900 + "long",
    '"><a href="https://evil.example">click</a>',
    "javascript:alert(1)",
)


class _Frame(TypedDict):
    outside_id: str
    at: datetime
    site: Site


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    letter: Letter


def samples(site: Site, *, sources: tuple[str, ...], now: datetime) -> list[Sample]:
    """Every kind of letter, the short and the long of it; equal arguments make equal letters."""
    user = User(uid=uid_of(ADDRESS), address=ADDRESS, created_at=now, token=TOKEN, mode=Mode.INSTANT)
    rows = [_row(number, sources, now=now) for number in range(LONG_DIGEST_JOBS)]
    hostile = replace(rows[0], title=_HOSTILE[0], company=_HOSTILE[1], link=_HOSTILE[2])
    twins = replace(rows[1], twin_links=("https://other.example.org/job/7", "https://third.example.net/job/9"))

    judged = replace(rows[2], search="Side gig", verdict_score=82, verdict_reason=_VERDICT, caveat="No pay is stated.")
    later = Later(16, next_due(Hour(time_of("08:00"), zone_of("UTC")), now).at)

    def alert(*chosen: Delivery, later: Later | None = None) -> Letter:
        return render_alert(user, chosen, outside_id=_id(f"alert {len(chosen)}"), at=now, site=site, later=later)

    def digest(chosen: list[Delivery], *, more: int = 0, weekly: bool = False) -> Letter:
        period = latest_due(Hour(time_of("08:00"), zone_of("UTC"), weekly=weekly), now).period
        id_ = _id(f"digest {period}")
        ending = more // 4
        return render_digest(user, chosen, more=more, ending=ending, period=period, outside_id=id_, at=now, site=site)

    base = site.base_url.rstrip("/")
    written: _Frame = {"outside_id": _id("note"), "at": now, "site": site}
    return [
        Sample("alert-one-job", alert(rows[0])),
        Sample("alert-some-jobs", alert(rows[0], twins, judged, *rows[3:5])),
        Sample("alert-most-jobs", alert(*rows[:ALERT_CAP_JOBS], later=later)),
        Sample("alert-hostile", alert(hostile, rows[1])),
        Sample("digest-daily", digest(rows[:5])),
        Sample("digest-weekly", digest(rows[:8], weekly=True)),
        Sample("digest-longest", digest(rows, more=13)),
        Sample("sign-in", notes.sign_in(ADDRESS, url=f"{base}/login/{TOKEN}", **written)),
        Sample("confirm-address", notes.confirm_new_address(ADDRESS, url=f"{base}/confirm/{TOKEN}", **written)),
        Sample("goodbye", notes.goodbye(ADDRESS, **written)),
        Sample("operator", notes.to_operator(ADDRESS, lines=["the mail account is paused"], **written)),
    ]


def write(made: list[Sample], folder: Path) -> list[Path]:
    """`NAME.html`, `NAME.txt` and `NAME.eml` for each, and an index to click through. Raises OSError, Unsendable."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for sample in made:
        for suffix, content in (
            ("html", sample.letter.html.encode()),
            ("txt", sample.letter.text.encode()),
            ("eml", as_bytes(sample.letter)),
        ):
            written.append(folder / f"{sample.name}.{suffix}")
            written[-1].write_bytes(content)
    index = folder / "index.html"
    index.write_text(_index(made), encoding="utf-8")
    return [index, *written]


def _row(number: int, sources: tuple[str, ...], *, now: datetime) -> Delivery:
    title, company, place, pay, reason = _SAMPLES[number % len(_SAMPLES)]
    return Delivery(
        uid=uid_of(ADDRESS),
        key=f"j1{number:032x}",
        job_id=f"j1{number:032x}",
        state=State.CLAIMED,
        via=Via.ALERT,
        created_at=now,
        first_seen=now - timedelta(minutes=7),
        title=title,
        link=f"https://jobs.example.com/{number}",
        score=9 - number % 9,
        reason=reason,
        company=company,
        place=place,
        pay=pay,
        source=sources[number % len(sources)] if sources else "board",
        published_at=now - timedelta(minutes=20 + 47 * number) if number % 3 else None,
    )


def _id(name: str) -> str:
    return outside_id(f"preview of {name}")


def _index(made: list[Sample]) -> str:
    items = "".join(
        f'<li><a href="{sample.name}.html">{escape(sample.letter.subject)}</a> '
        f'({sample.name}, {len(as_bytes(sample.letter)):,} bytes as sent, <a href="{sample.name}.txt">text</a>)</li>'
        for sample in made
    )
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Letters</title>'
    return f"{head}<h1>Letters</h1><ul>{items}</ul></html>\n"
