"""What somebody would have got: the cycle's own decisions, on the jobs of the last days.

Writes nothing and asks no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.pages.week import Told
from ledger.records import Job, Mode, User
from ledger.schedule import Hour, next_due
from scan.match import Fit, Matcher, NoFit, rank
from scan.reasons import Why

SHOWN_MAX = 8
NEAR_MAX = 8
RUN_APART = timedelta(minutes=15)  # jobs that came within it would have been in one letter
FAR = frozenset({Why.NO_KEYWORDS, Why.NO_KEYWORD_FOUND})


@dataclass(frozen=True, slots=True)
class Tried:
    job: Job
    said: Fit | NoFit


@dataclass(frozen=True, slots=True)
class Preview:
    """`fits` best first, `near` the newest of those that had a keyword and fell at something else."""

    looked_at: int
    fit_count: int
    mails: int
    fits: tuple[Tried, ...]
    near_count: int
    near: tuple[Tried, ...]


def preview(user: User, week: Sequence[Told], *, hour: Hour) -> Preview:
    """Each job is decided as of the moment when it came, as the run of that moment did."""
    matcher = Matcher.of([user])
    jobs = {told.job.id: told.job for told in week}
    fits: list[Fit] = []
    near: list[NoFit] = []
    for told in week:
        for said in matcher.explain(told.job, now=told.job.first_seen, reading=told.reading):
            if isinstance(said, Fit):
                fits.append(said)
            elif said.why not in FAR:
                near.append(said)
    ranked = [Tried(jobs[fit.job_id], fit) for fit in rank(_one_of_each_twin(fits, jobs))]
    return Preview(
        looked_at=len(week),
        fit_count=len(ranked),
        mails=letters([tried.job.first_seen for tried in ranked], user.mode, hour),
        fits=tuple(ranked[:SHOWN_MAX]),
        near_count=len(near),
        near=tuple(Tried(jobs[said.job_id], said) for said in near[:NEAR_MAX]),
    )


def letters(came: Sequence[datetime], mode: Mode, hour: Hour) -> int:
    """How many letters jobs that came at these times make."""
    if mode is not Mode.INSTANT:
        return len({next_due(hour, at).period for at in came})
    count, last = 0, None
    for at in sorted(came):
        if last is None or at - last >= RUN_APART:
            count, last = count + 1, at
    return count


def _one_of_each_twin(fits: Sequence[Fit], jobs: dict[str, Job]) -> list[Fit]:
    """The ledger knows twins by one key, and a person gets one of them."""
    best: dict[str, Fit] = {}
    for fit in rank(fits):
        best.setdefault(jobs[fit.job_id].key, fit)
    return list(best.values())
