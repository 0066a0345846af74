"""The store's last days, read once and kept for a while: what a profile is tried on while it is being edited."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ledger.collections import JOBS
from ledger.documents import BadRecord, decode
from ledger.records import Job
from ledger.store import Store
from scan.tokens import Reading, read

WEEK = timedelta(days=7)
JOBS_MAX = 2_000  # the newest
KEPT = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Told:
    """A job that came in the last days, read as the matcher reads it."""

    job: Job
    reading: Reading


class LastWeek:
    """Jobs that were new to somebody in the last WEEK, the newest first; shared by the pages of one process.

    Overlapping visitors share one reading of the store. A job is put into tokens once, however often it is asked
    about.
    """

    def __init__(self) -> None:
        self._told: dict[str, Told] = {}
        self._read_at: datetime | None = None
        self._lock = asyncio.Lock()

    async def jobs(self, store: Store, *, now: datetime) -> Sequence[Told]:
        """Raises StoreError."""
        async with self._lock:
            if self._read_at is None or not timedelta(0) <= now - self._read_at < KEPT:
                jobs = await _newest(store, since=now - WEEK)
                self._told = await asyncio.to_thread(_with_readings, jobs, self._told)
                self._read_at = now
            return list(self._told.values())


async def _newest(store: Store, *, since: datetime) -> list[Job]:
    jobs: list[Job] = []
    after = None
    while len(jobs) < JOBS_MAX:
        page = await store.find_range(JOBS, "fresh_at", at_least=since, newest_first=True, after=after)
        for snapshot in page.items:
            try:
                jobs.append(decode(Job, snapshot))
            except BadRecord:
                continue  # a run tells it
        if page.after is None:
            break
        after = page.after
    return jobs[:JOBS_MAX]


def _with_readings(jobs: Sequence[Job], known: dict[str, Told]) -> dict[str, Told]:
    return {job.id: Told(job, known[job.id].reading if job.id in known else _read(job)) for job in jobs}


def _read(job: Job) -> Reading:
    return read(job.title, job.text)
