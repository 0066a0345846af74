"""Fetch: ask each source whose turn it is, and store what is new.

The next poll is booked before the request, so two runs never ask twice. Validators and the baseline mark are
stored after the items, so a cut poll is asked again in full.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from app.parts import Run
from app.steps.suspect import Suspicion, judged, suspended, titles_of
from ledger import ids, jobs, sources
from ledger.jobs import Candidate
from ledger.records import SEEN_MAX, Health, Job, JobState, SourceState
from ledger.sources import SILENT_AFTER, Held
from ledger.store import StoreError
from scan.facts import with_facts
from scan.fingerprint import fingerprint, reposted
from scan.links import canonical
from scan.posting import Failed, Items, NotModified, Posting, Source

log = structlog.get_logger()

SOURCE_S = 20.0  # a source's total deadline
POLLS_AT_ONCE_MAX = 50
FRESH_FOR = timedelta(hours=24)
BASELINE_AFTER = timedelta(days=20)  # without a successful poll: then what is there is no news
SEEN_KEPT = timedelta(days=7)  # then everything is looked up once, and touched
BACKOFF_MAX_S = 6 * 3600  # for a source that keeps refusing us
BACKOFF_DOUBLINGS_MAX = 6


async def poll(run: Run) -> None:
    """Poll every due source, all at once; each failure is that source's own."""
    configured = run.parts.sources
    if not configured:
        run.report.error("sources", "none is configured: nothing can be found")
    due, bad = await sources.due(run.store, list(configured), now=run.now)
    for error in bad:
        run.report.error("sources", str(error))
    run.report.sources.not_due += len(configured) - len(due)
    gate = asyncio.Semaphore(POLLS_AT_ONCE_MAX)

    async def one(held: Held) -> None:
        async with gate:
            try:
                await _poll_one(run, configured[held.record.name], held)
            except StoreError:
                raise
            except Exception as error:  # one source's fault, or ours with it, is told and never stops the others
                run.report.source_failed(held.record.name, f"could not be read: {type(error).__name__}")
                log.exception("source raised", source=held.record.name)

    async with asyncio.TaskGroup() as group:
        for held in due:
            group.create_task(one(held))


async def _poll_one(run: Run, source: Source, held: Held) -> None:
    deadline_s = run.deadline.share_s(SOURCE_S)
    if not run.deadline.allows(deadline_s):
        run.report.sources.not_due += 1
        return
    now = run.parts.clock()
    booked = await sources.book(run.store, held, next_poll_at=now + timedelta(seconds=source.min_interval_s), now=now)
    if booked is None:
        run.report.sources.not_due += 1
        return
    state = _due_for_a_full_look(booked.record, now=now)
    try:
        answer = await source.poll(state, now=now, deadline_s=deadline_s)
    except Exception as error:  # no source should raise; one that does has failed, as far as people are concerned
        log.exception("source raised", source=source.name)
        answer = Failed(Health.MALFORMED, f"could not be read: {type(error).__name__}")
    match answer:
        case Items():
            after = await _take_in(run, source, state, answer, now=now)
        case NotModified():
            run.report.sources.not_modified += 1
            after = _succeeded(state, Health.NOT_MODIFIED, wait_s=answer.wait_s, source=source, now=now)
        case Failed():
            after = _failed(run, source, state, answer, now=now)
    if not await sources.finish(run.store, booked, after):
        log.warning("source state moved during its poll", source=source.name)


def _due_for_a_full_look(state: SourceState, *, now: datetime) -> SourceState:
    """Once a week nothing is taken as seen, so that what is still listed is touched and does not expire."""
    if state.seen_since is None or now - state.seen_since < SEEN_KEPT:
        return state
    return replace(state, seen=(), seen_since=None, etag=None, last_modified=None, body_hash=None)


async def _take_in(run: Run, source: Source, state: SourceState, answer: Items, *, now: datetime) -> SourceState:
    counts = run.report.jobs
    counts.seen += len(answer.postings) + len(answer.skipped)
    counts.skipped += len(answer.skipped)
    for skipped in answer.skipped:
        run.report.error(f"source {source.name}", f"item skipped: {skipped.reason}")
    if not answer.postings and answer.is_whole and not _is_believed_empty(state):
        reason = "an empty answer, though it had items before"
        return _failed(run, source, state, Failed(Health.EMPTY, reason), now=now)
    is_baseline = state.baseline_at is None or (state.ok_at is not None and now - state.ok_at > BASELINE_AFTER)
    known = set(state.seen)
    hashes = [ids.source_hash(posting.native_id) for posting in answer.postings]
    fresh = [
        _candidate(p, source, is_baseline=is_baseline, now=now)
        for p, h in zip(answer.postings, hashes, strict=True)
        if h not in known
    ]
    suspicion = Suspicion(fresh) if is_baseline else await judged(run, state, answer, fresh)
    if suspicion.suspended:
        run.report.source_failed(source.name, f"suspended: {suspicion.suspended}")
        log.warning("source suspended", source=source.name, reason=suspicion.suspended)
        return suspended(state, suspicion)
    admitted = await jobs.admit(run.store, suspicion.candidates, now=now)
    counts.twins += admitted.twins
    if not is_baseline:
        counts.new += sum(job.state is JobState.OPEN for job in admitted.new)
    run.report.sources.ok += 1
    log.info("source read", source=source.name, items=len(answer.postings), new=len(admitted.new), baseline=is_baseline)
    is_empty = answer.is_whole and not answer.postings
    health = Health.EMPTY if is_empty else Health.OK
    done = _succeeded(state, health, wait_s=answer.wait_s, source=source, now=now)
    return replace(
        done,
        empty_streak=state.empty_streak + 1 if is_empty else 0,
        ever_empty=state.ever_empty or is_empty,
        all_new_streak=suspicion.streak,
        titles=titles_of(answer),
        baseline_at=now if is_baseline else state.baseline_at,
        ever_items=state.ever_items or bool(answer.postings),
        etag=answer.etag,
        last_modified=answer.last_modified,
        body_hash=answer.body_hash,
        seen=tuple(hashes[:SEEN_MAX]),
        seen_since=state.seen_since or now,
    )


def _is_believed_empty(state: SourceState) -> bool:
    """Of a source that never had items, or was empty before, or is so twice running."""
    return not state.ever_items or state.ever_empty or state.empty_streak > 0


def _candidate(posting: Posting, source: Source, *, is_baseline: bool, now: datetime) -> Candidate:
    id_ = ids.job_id(posting.platform, posting.native_id)
    is_recent = posting.published_at is not None and now - posting.published_at < FRESH_FOR
    print_ = _print_of(posting)
    job = Job(
        id=id_,
        platform=posting.platform,
        source=source.name,
        title=posting.title,
        link=posting.link,
        text=posting.text,
        first_seen=now,
        state=JobState.SEEN if is_baseline else JobState.OPEN,
        key=id_,
        company=posting.company,
        place=posting.place,
        pay=posting.pay,
        tags=posting.tags,
        link_id=ids.link_id(canonical(posting.link)) if posting.link else "",
        published_at=posting.published_at,
        fresh_at=(posting.published_at if is_recent else None) if is_baseline else now,
    )
    aliases = tuple(ids.alias_id(posting.platform, alias) for alias in posting.aliases)
    return Candidate(with_facts(job, posting), aliases, ids.fingerprint_id(print_) if print_ else None)


def _print_of(posting: Posting) -> str | None:
    if posting.company:
        return fingerprint(company=posting.company, title=posting.title, text=posting.text)
    return reposted(platform=posting.platform, client=posting.place, title=posting.title, text=posting.text)


def _succeeded(state: SourceState, health: Health, *, wait_s: float, source: Source, now: datetime) -> SourceState:
    wait = timedelta(seconds=max(float(source.min_interval_s), wait_s))
    return replace(state, next_poll_at=now + wait, ok_at=now, health=health, reason="", failures=0, empty_streak=0)


def _failed(run: Run, source: Source, state: SourceState, failed: Failed, *, now: datetime) -> SourceState:
    run.report.source_failed(source.name, failed.reason + _silent_since(state, now=now))
    wait_s = float(source.min_interval_s)
    if failed.health is Health.REFUSED:
        wait_s = max(wait_s, min(BACKOFF_MAX_S, wait_s * 2 ** min(state.failures, BACKOFF_DOUBLINGS_MAX)))
    if failed.retry_after_s is not None:
        wait_s = max(wait_s, failed.retry_after_s)
    next_poll_at = now + timedelta(seconds=wait_s)
    log.warning(
        "source failed",
        source=source.name,
        health=failed.health.value,
        reason=failed.reason,
        failures=state.failures + 1,
        last_answer=state.ok_at.isoformat() if state.ok_at is not None else "never",
        next_poll=next_poll_at.isoformat(),
    )
    return replace(
        state,
        next_poll_at=next_poll_at,
        health=failed.health,
        reason=failed.reason,
        failures=state.failures + 1,
        empty_streak=state.empty_streak + 1 if failed.health is Health.EMPTY else state.empty_streak,
    )


def _silent_since(state: SourceState, *, now: datetime) -> str:
    if state.ok_at is None or now - state.ok_at < SILENT_AFTER:
        return ""
    return f"; silent since {state.ok_at:%Y-%m-%d %H:%M} UTC"
