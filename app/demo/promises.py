"""What the demo must have shown; held against the reports and the letters that left."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from app.demo.letters import Mail

JOB_LINK = re.compile(r"https://[a-z]+\.example/\S+")


@dataclass(slots=True)
class Seen:
    """The report of each run, and the letters in the outbox after it, in order."""

    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    mails: dict[str, list[Mail]] = field(default_factory=dict)

    def note(self, run: str, report: dict[str, Any], mails: list[Mail]) -> None:
        self.reports[run], self.mails[run] = report, mails


@dataclass(frozen=True, slots=True)
class Promise:
    text: str
    is_kept: bool


def promises(seen: Seen) -> list[Promise]:
    reports, mails = seen.reports, seen.mails
    last = mails["later"]
    told = sum(report["mail"]["sent"] for report in reports.values())
    return [
        Promise("every run was completed", all(report["status"] == "completed" for report in reports.values())),
        Promise("the backlog of the first poll was mailed to nobody", not mails["first"]),
        Promise("new jobs were mailed at once, the others in digests", _letters_left(reports)),
        Promise("a board that is down was named and stopped nothing", _failure_stopped_nothing(reports)),
        Promise("a broken item was counted and stopped nothing", reports["new"]["jobs"]["skipped"] > 0),
        Promise("the letters of the reports are those in the outbox", told == len(last) > 0),
        Promise("nobody was mailed a job twice", not _twice(last)),
        Promise("a second run did nothing", is_silent(seen, "again", before="digests")),
        Promise("a quarter of an hour later nothing was new", is_silent(seen, "later", before="again")),
    ]


def is_silent(seen: Seen, run: str, *, before: str) -> bool:
    """By its report nothing was new, nothing fitted, no row moved; and the outbox holds what it held."""
    report = seen.reports[run]
    figures = [*report["mail"].values(), report["jobs"]["new"], report["matches"]["fit"]]
    return not any(figures) and [m.file for m in seen.mails[run]] == [m.file for m in seen.mails[before]]


def _letters_left(reports: dict[str, dict[str, Any]]) -> bool:
    return bool(reports["new"]["mail"]["alerts"] and reports["digests"]["mail"]["digests"])


def _failure_stopped_nothing(reports: dict[str, dict[str, Any]]) -> bool:
    sources = reports["new"]["sources"]
    return len(sources["failed"]) == 1 and bool(sources["failed"][0]["reason"]) and sources["ok"] > 1


def _twice(mails: list[Mail]) -> list[tuple[str, str]]:
    seen = Counter((mail.to, link) for mail in mails for link in set(JOB_LINK.findall(mail.text)))
    return [pair for pair, count in seen.items() if count > 1]
