"""Match: which open jobs fit whom, and what a newly saved profile has waiting.

The order is the promise: the run has stored its jobs, then reads the users, then the fresh jobs. Who saves a
profile meanwhile is matched by the next run's catch-up, so that nobody falls between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.parts import Run
from ledger import jobs, users
from ledger.documents import BadRecord, Stored
from ledger.lifecycle import ALERT_AGE_MAX
from ledger.records import Job, Mode, User
from ledger.schedule import quiet_end
from ledger.verdicts import Held, Verdict
from scan.match import Fit, Matcher

FRESH_FOR = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What fits one user in this run, and what was known of them when it was matched."""

    uid: str
    mode: Mode
    catch_up: str | None
    fits: tuple[tuple[Fit, Job], ...] = ()  # of open jobs; in a catch-up of all fresh ones too
    open_ids: frozenset[str] = frozenset()  # ids of the jobs that are new to everybody
    last_call: frozenset[str] = frozenset()  # ids of jobs matched for the last time: never left out
    ai: bool = False  # wants a model's word on what fits
    is_quiet: bool = False  # in their quiet hours
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)  # by key, of the fits that have one

    @property
    def expects_letter(self) -> bool:
        """Whether an alert would go out now, if nothing has changed since."""
        return self.mode is Mode.INSTANT and not self.is_quiet and any(j.id not in self.last_call for _, j in self.fits)


@dataclass(frozen=True, slots=True)
class Matched:
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    open_jobs: Mapping[str, Stored[Job]] = field(default_factory=dict)
    stale: frozenset[str] = frozenset()  # open for 24 h: this was their last match
    stay_open: frozenset[str] = frozenset()  # ids of jobs about which another run is asking
    carried: tuple[Held, ...] = ()  # verdicts whose document alone holds the pair, until its row exists


async def match(run: Run) -> Matched:
    """Match the open jobs against every active user, and the fresh jobs against those who wait for them."""
    found, bad_jobs = await jobs.open_jobs(run.store)
    if found:
        people = [user async for user in users.active(run.store, run.report.unread("users"))]
    else:
        people = await users.waking(run.store, now=run.now, bad=run.report.unread("users"))
    catching_up = [u for u in people if u.active and u.catch_up is not None and not _is_paused(u, run.now)]
    # Read after the users: a job stored before a profile was saved is in here, one stored later is open.
    fresh: list[Job] = []
    bad_fresh: list[BadRecord] = []
    if catching_up:
        fresh, bad_fresh = await jobs.fresh_jobs(run.store, since=run.now - FRESH_FOR)
    for error in (*bad_jobs, *bad_fresh):
        run.report.error("jobs", str(error))

    open_ = {job.record.id: job for job in found}
    stale = frozenset(id_ for id_, job in open_.items() if run.now - job.record.first_seen >= ALERT_AGE_MAX)
    both = {job.id: job for job in fresh} | {id_: job.record for id_, job in open_.items()}
    late = {u.uid for u in catching_up}
    fits = await asyncio.to_thread(_fits, [u for u in people if u.uid not in late], open_.keys(), both, run.now)
    fits |= await asyncio.to_thread(_fits, catching_up, both.keys(), both, run.now)

    run.report.matches.pairs += (len(people) - len(late)) * len(open_) + len(late) * len(both)
    run.report.matches.fit += sum(len(pairs) for pairs in fits.values())
    known = {user.uid: user for user in people}
    open_ids = frozenset(open_)
    wanted = {
        uid: Wanted(
            uid=uid,
            mode=known[uid].mode,
            catch_up=known[uid].catch_up if uid in late else None,
            fits=tuple(fits.get(uid, ())),
            open_ids=open_ids,
            last_call=stale,
            ai=known[uid].ai,
            is_quiet=quiet_end(known[uid], run.now) is not None,
        )
        for uid in (*sorted(fits), *sorted(late - fits.keys()))
    }
    return Matched(wanted, open_, stale)


def _fits(
    people: list[User], job_ids: Iterable[str], all_jobs: Mapping[str, Job], now: datetime
) -> dict[str, list[tuple[Fit, Job]]]:
    by_user: dict[str, list[tuple[Fit, Job]]] = {}
    if not people:
        return by_user
    matcher = Matcher.of(people)
    for id_ in job_ids:
        job = all_jobs[id_]
        for fit in matcher.match(job, now=now):
            by_user.setdefault(fit.uid, []).append((fit, job))
    return by_user


def _is_paused(user: User, now: datetime) -> bool:
    return user.paused_until is not None and user.paused_until > now
