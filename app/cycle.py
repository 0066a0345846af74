"""One run: fetch, match, alert, digest, sweep, under one lease and one deadline.

Busy is a normal answer. What a run leaves is exactly what the next one does: nothing here remembers how far it
came, the ledger does.
"""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass
from datetime import datetime

import structlog

from app.deadline import Deadline
from app.ending import ended
from app.pace import Pace
from app.parts import Parts, Run, new_run_id
from app.quota import Quota
from app.report import Report, Status
from app.steps.alerts import alerts
from app.steps.carried import note_served
from app.steps.digests import send_digests
from app.steps.judge import judge
from app.steps.match import match
from app.steps.people import note_refusals
from app.steps.poll import poll
from app.steps.sweep import sweep
from app.steps.tell import tell_operator
from app.steps.wake import Woken, wake
from ledger import lease, runs
from ledger.lease import Busy, Lease
from ledger.store import Counts, StoreError, counted

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Skipped:
    """Another run holds the lease."""

    run_id: str
    started_at: datetime
    took_s: float
    holder: str
    since: datetime
    stats: dict[str, object]


async def cycle(parts: Parts, *, deadline: Deadline) -> Report | Skipped:
    """Run once, or say who is running. Never raises for what the world does: the report tells.

    Cancelled, it gives its lease back and ends; one that had only that left to do has its report all the same.
    """
    now = parts.clock()
    report = Report(run_id=new_run_id(now), started_at=now)
    with counted() as cost:
        report.cost = cost
        try:
            held = await _acquired(parts, report.run_id, now)
        except StoreError as error:
            return _finished(report, deadline, failed=f"the store cannot be used: {error}")
        if isinstance(held, Busy):
            log.info("run skipped", run_id=report.run_id, holder=held.holder, since=held.since.isoformat())
            return Skipped(
                report.run_id, now, deadline.elapsed_s(), held.holder, held.since, {"age_s": round(held.age_s)}
            )
        with structlog.contextvars.bound_contextvars(run_id=report.run_id):
            if held.warning:
                report.error("lock", held.warning)
            quota = Quota(parts.store, daily_max=parts.settings.mail_daily_max, clock=parts.clock)
            run = Run(parts, report, deadline, Pace(parts.limits), quota, now)
            try:
                failed = await _steps(run)
                _finished(report, deadline, failed=failed, paused=run.pace.paused)
                await _keep(run)
            finally:
                await _given_back(parts, held)  # the timestamp covers the end that never comes here
    return report


async def _acquired(parts: Parts, run_id: str, now: datetime) -> Lease | Busy:
    """The lease, or who holds it. Raises StoreError.

    A request that is on its way cannot be called back: cancelled meanwhile, it waits for what it got, gives it back
    and ends.
    """
    holder, lease_s = holder_name(run_id), parts.settings.lock_s
    asking = asyncio.create_task(lease.acquire(parts.store, holder=holder, lease_s=lease_s, now=now))
    was_cancelled = await ended([asking])
    if not was_cancelled:
        return asking.result()
    if asking.exception() is None and isinstance(held := asking.result(), Lease):
        await _given_back(parts, held)
    raise asyncio.CancelledError


async def _given_back(parts: Parts, held: Lease) -> None:
    """Whether or not the run is cancelled meanwhile: the store is closed behind it, and nobody else can do it."""
    releasing = asyncio.create_task(_release(parts, held))
    await ended([releasing])
    releasing.result()


async def _release(parts: Parts, held: Lease) -> None:
    try:
        is_released = await lease.release(parts.store, held)
    except StoreError as error:
        log.warning("the lock could not be given back; it is free after its lease", reason=str(error))
        return
    if not is_released:
        log.warning("the lock was somebody else's by the end of the run, or the store lost the answer")


async def _steps(run: Run) -> str | None:
    """The flow. Returns why the run as a whole could not work, or None."""
    try:
        run.parts.watch("fetch")
        await poll(run)
        run.parts.watch("match")
        matched = await match(run)
        woken = await wake(run)
        matched = await judge(run, matched, woken)
        if run.quota.is_limited:  # the day's letters go to the digests first
            await _digests(run, woken)
        run.parts.watch("alerts")
        await alerts(run, matched, woken)
        await note_served(run, matched)
        if not run.quota.is_limited:
            await _digests(run, woken)
        await note_refusals(run)
        run.parts.watch("sweep")
        await sweep(run)
        await run.quota.give_back()
        await tell_operator(run)
    except StoreError as error:
        log.exception("store failed")
        return f"the store cannot be used: {error}"
    except ExceptionGroup as group:
        found = _store_error(group)
        log.exception("run failed")
        return f"the store cannot be used: {found}" if found is not None else "an error of scout's own; see the log"
    except Exception as error:  # the edge: whatever it was, the report says so and the lease is given back
        log.exception("run failed")
        return f"an error of scout's own ({type(error).__name__}); see the log"
    return None


async def _digests(run: Run, woken: Woken) -> None:
    run.parts.watch("digests")
    await send_digests(run, woken)


def _store_error(group: ExceptionGroup[Exception]) -> StoreError | None:
    for error in group.exceptions:
        inner = _store_error(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(inner, StoreError):
            return inner
    return None


def _finished(report: Report, deadline: Deadline, *, failed: str | None, paused: str | None = None) -> Report:
    report.took_s = deadline.elapsed_s()
    if failed is not None:
        report.status, report.reason = Status.FAILED, failed
    elif paused is not None:
        report.status, report.reason = Status.FAILED, f"mail is paused: {paused}"
    elif report.remaining.users or report.remaining.jobs or report.remaining.pairs:
        report.status, report.reason = Status.PARTIAL, "the next call does the rest"
    return report


async def _keep(run: Run) -> None:
    report = run.report
    complete = report.status is Status.COMPLETED
    sealed = report.seal(Counts(writes=1, deletes=1, round_trips=2))  # this log entry, and the lock given back
    try:
        await runs.keep(
            run.store,
            report.run_id,
            sealed,
            started_at=report.started_at,
            completed_at=run.parts.clock() if complete else None,
        )
    except StoreError as error:
        log.warning("the report could not be kept", reason=str(error))
    log.info("run", **{key: value for key, value in sealed.items() if key != "run_id"})


def holder_name(run_id: str) -> str:
    """For people who ask who holds the lock: host, process and run. The lease itself goes by its nonce."""
    return f"{socket.gethostname()}:{os.getpid()}:{run_id}"
