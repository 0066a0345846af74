"""What somebody would have got: the cycle's own decisions, on the jobs of the last days.

Writes nothing and asks no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.pages.week import Told
from ledger.lifecycle import ALERT_CAP_JOBS, LEFT_OVER_MAX
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
    listed: int  # of those that fit, in any of the mails
    fits: tuple[Tried, ...]
    near_count: int
    near: tuple[Tried, ...]


def preview(user: User, week: Sequence[Told], *, hour: Hour, digest_cap: int) -> Preview:
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
    hour = replace(hour, not_before=None)  # the hour as it is now, tried on the days before it was chosen
    ranked = [Tried(jobs[fit.job_id], fit) for fit in rank(_one_of_each_twin(fits, jobs))]
    mails, listed = letters([tried.job.first_seen for tried in ranked], user.mode, hour, digest_cap=digest_cap)
    return Preview(
        looked_at=len(week),
        fit_count=len(ranked),
        mails=mails,
        listed=listed,
        fits=tuple(ranked[:SHOWN_MAX]),
        near_count=len(near),
        near=tuple(Tried(jobs[said.job_id], said) for said in near[:NEAR_MAX]),
    )


def letters(came: Sequence[datetime], mode: Mode, hour: Hour, *, digest_cap: int) -> tuple[int, int]:
    """(letters, jobs that they list) for jobs that came at these times, the best first: caps and carrying as in a run.

    Beyond an alert's cap a job waits for the daily digest; two digests without room for it, and it is in none.
    """
    waiting, count, listed = list(enumerate(came)), 0, 0
    if mode is Mode.INSTANT:
        runs = _runs(waiting)
        count, listed = len(runs), sum(min(len(run), ALERT_CAP_JOBS) for run in runs)
        waiting = [job for run in runs for job in run[ALERT_CAP_JOBS:]]
    arriving = sorted((next_due(hour, at).at, place) for place, at in waiting)
    carried: dict[int, int] = {}  # place -> digests that had no room for it
    due = arriving[0][0] if arriving else None
    while due is not None:
        there = sorted([*carried, *(place for at, place in arriving if at == due)])
        arriving = [(at, place) for at, place in arriving if at > due]
        count, listed = count + 1, listed + min(len(there), digest_cap)
        left = {place: carried.get(place, 0) + 1 for place in there[digest_cap:]}
        carried = {place: times for place, times in left.items() if times < LEFT_OVER_MAX}
        due = next_due(hour, due).at if carried else arriving[0][0] if arriving else None
    return count, listed


def _runs(came: Sequence[tuple[int, datetime]]) -> list[list[tuple[int, datetime]]]:
    """Those that would have come in one letter, the best first."""
    runs: list[list[tuple[int, datetime]]] = []
    for job in sorted(came, key=lambda job: job[1]):
        if not runs or job[1] - runs[-1][0][1] >= RUN_APART:
            runs.append([])
        runs[-1].append(job)
    return [sorted(run) for run in runs]


def _one_of_each_twin(fits: Sequence[Fit], jobs: dict[str, Job]) -> list[Fit]:
    """The ledger knows twins by one key, and a person gets one of them."""
    best: dict[str, Fit] = {}
    for fit in rank(fits):
        best.setdefault(jobs[fit.job_id].key, fit)
    return list(best.values())
