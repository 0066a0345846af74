"""Alerts: at most once. For each user: render, claim, send what was won, settle."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from app.dispatch import OUT_OF_TIME, dispatch, in_turn, send
from app.parts import Run
from app.quota import OVER
from app.steps.bulk import chosen, note_catch_ups, queue, unserved, without_letter
from app.steps.choose import Choice
from app.steps.match import Matched, Wanted
from app.steps.people import note_outcome
from app.steps.wake import Woken
from ledger import deliveries, ids, jobs
from ledger.deliveries import Row, best_first
from ledger.lifecycle import ALERT_AFTER, Attempt, Outcome, State
from ledger.records import Delivery, User
from ledger.store import StoreError
from mail.render import Later, render_alert

log = structlog.get_logger()


async def alerts(run: Run, matched: Matched, woken: Woken) -> None:
    """Serve everyone with fits or due alert rows; then close the jobs that are decided for all."""
    unserved_ = await unserved(run, sorted(matched.wanted.keys() - woken.alerts.keys()), matched)
    letterless = [uid for uid in unserved_ if not matched.wanted[uid].expects_letter]
    left, lettered = await without_letter(run, letterless, matched)
    waiting = in_turn(run, {*woken.alerts, *unserved_} - set(letterless) | set(lettered))
    if run.quota.is_limited:
        waiting.sort(key=lambda uid: -_best_score(matched.wanted.get(uid), woken.alerts.get(uid, [])))

    async def serve(uid: str, user: User | None) -> bool:
        return await _serve(run, user, matched.wanted.get(uid), woken.alerts.get(uid, []))

    left += await dispatch(run, waiting, serve)
    run.report.remaining.users += len(left)
    await _close_decided(run, matched, left)


def _best_score(wanted: Wanted | None, waiting: Sequence[Row]) -> int:
    fits = (fit.score for fit, _ in wanted.fits) if wanted is not None else ()
    return max((*fits, *(row.record.score for row in waiting)), default=0)


async def _serve(run: Run, user: User | None, wanted: Wanted | None, waiting: Sequence[Row]) -> bool:
    choice = chosen(run, user, wanted, waiting)
    if choice.has_letter and not await run.quota.take(digest=False):
        choice = chosen(run, user, wanted, waiting, held_back=OVER)
    for row in await deliveries.change(run.store, choice.changes):
        if row.state is State.EXPIRED:
            run.report.rows(row.state)
    new = await queue(run, choice.queue)
    if user is None:
        return True
    if not choice.has_letter:
        await note_catch_ups(run, {user.uid: choice})
        return not choice.is_undecided
    # What is not new may have been sent by the run that made it: the letter counts what waits.
    more = new if new == len(choice.queue) else await deliveries.count_waiting(run.store, choice.queue)
    return await _send_letter(run, user, choice, _later(more, choice.queue)) and not choice.is_undecided


def _later(more: int, queue: Sequence[Delivery]) -> Later | None:
    return Later(more, min(filter(None, (row.wake_at for row in queue)))) if more else None


async def _send_letter(run: Run, user: User, choice: Choice, later: Later | None) -> bool:
    """The guarantee: the rows exist before the send, and the letter holds exactly the rows that were won."""
    now = run.parts.clock()
    nonce = ids.new_nonce()
    outside = ids.outside_id(nonce)
    rows = sorted((*choice.letter_fresh, *(row.record for row in choice.letter_waiting)), key=best_first)
    try:
        letter = render_alert(user, rows, outside_id=outside, at=now, site=run.parts.site, later=later)
    except Exception as error:  # nothing is claimed yet: its jobs stay open, its rows due
        run.report.error("letters", f"one alert could not be rendered: {type(error).__name__}")
        log.exception("alert not rendered", jobs=[row.job_id for row in rows])
        run.quota.untaken(digest=False)
        return False
    won = await deliveries.claim(
        run.store, choice.letter_fresh, choice.letter_waiting, nonce=nonce, now=now, lease_s=run.lease_s
    )
    try:
        await note_catch_ups(run, {user.uid: choice})
    except StoreError:  # the letter has not left
        await deliveries.give_back(run.store, won, now=run.parts.clock())
        raise
    if not won:
        run.quota.untaken(digest=False)
        return True
    if len(won) < len(rows):
        held = [row.record for row in won]
        letter = render_alert(user, held, outside_id=outside, at=now, site=run.parts.site, later=later)
    attempt = await send(run, letter, uid=user.uid)
    if ALERT_AFTER[attempt.outcome].state is State.QUEUED:
        run.quota.untaken(digest=False)
    settled = await deliveries.settle(run.store, won, attempt, hour=run.parts.hour(user), now=run.parts.clock())
    _count(run, attempt, settled.rows)
    if settled.refused:
        run.report.error("deliveries", f"{settled.refused} rows of a letter were settled by somebody else")
        log.warning("settle refused", outside=outside, rows=settled.refused)
    await note_outcome(run, user, attempt)
    return attempt is not OUT_OF_TIME


def _count(run: Run, attempt: Attempt, rows: Sequence[Delivery]) -> None:
    if attempt.outcome is Outcome.ACCEPTED:
        run.report.mail.alerts += 1
        run.report.mail.sent += 1
    elif attempt.outcome in (Outcome.DEFERRED, Outcome.PAUSED):
        run.report.mail.deferred += len(rows)
    else:
        for row in rows:
            run.report.rows(row.state)


async def _close_decided(run: Run, matched: Matched, left: Sequence[str]) -> None:
    undecided = {
        job.id for uid in left if uid in matched.wanted for _, job in matched.wanted[uid].fits
    } & matched.open_jobs.keys() | (matched.stay_open & matched.open_jobs.keys())
    decided = [job for id_, job in matched.open_jobs.items() if id_ not in undecided]
    closed = await jobs.close(run.store, decided)
    run.report.jobs.stale += sum(job.record.id in matched.stale for job in decided)
    run.report.remaining.jobs += len(matched.open_jobs) - closed
