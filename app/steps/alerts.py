"""Alerts: at most once. For each user: render, claim, send what was won, settle."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from app.dispatch import OUT_OF_TIME, dispatch, read_again, send
from app.parts import Run
from app.quota import OVER
from app.steps.choose import Choice, choose
from app.steps.match import Matched, Wanted
from app.steps.wake import Woken
from ledger import deliveries, ids, jobs, users
from ledger.deliveries import Row, best_first
from ledger.lifecycle import ALERT_AFTER, Attempt, Outcome, State
from ledger.records import Delivery, Mode, Stop, User
from mail.render import Later, render_alert

log = structlog.get_logger()

BULK_USERS = 200  # without a letter: read, decided and queued together


async def alerts(run: Run, matched: Matched, woken: Woken) -> None:
    """Serve everyone with fits or due alert rows; then close the jobs that are decided for all."""
    everyone = sorted({*matched.wanted, *woken.alerts})
    quiet = [uid for uid in everyone if uid not in woken.alerts and matched.wanted[uid].mode is not Mode.INSTANT]
    waiting = sorted(set(everyone) - set(quiet))
    if run.quota.is_limited:
        waiting.sort(key=lambda uid: -_best_score(matched.wanted.get(uid), woken.alerts.get(uid, [])))
    left, turned_instant = await _in_bulk(run, quiet, matched, woken)

    async def serve(uid: str, user: User | None) -> bool:
        return await _serve(run, user, matched.wanted.get(uid), woken.alerts.get(uid, []))

    left += await dispatch(run, [*turned_instant, *waiting], serve)
    run.report.remaining.users += len(left)
    await _close_decided(run, matched, left)


def _best_score(wanted: Wanted | None, waiting: Sequence[Row]) -> int:
    fits = (fit.score for fit, _ in wanted.fits) if wanted is not None else ()
    return max((*fits, *(row.record.score for row in waiting)), default=0)


async def _in_bulk(run: Run, uids: Sequence[str], matched: Matched, woken: Woken) -> tuple[list[str], list[str]]:
    """Those who were not instant when matched: queue for many at once. Returns (not served, instant by now)."""
    turned_instant: list[str] = []
    for start in range(0, len(uids), BULK_USERS):
        if run.deadline.left_s() <= 0:
            return list(uids[start:]), turned_instant
        batch = uids[start : start + BULK_USERS]
        unreadable, fresh = await read_again(run, batch)
        choices: list[tuple[str, Choice]] = []
        for uid in batch:
            if uid in unreadable:
                continue
            user = fresh.get(uid)
            if user is not None and user.mode is Mode.INSTANT:
                turned_instant.append(uid)
                continue
            choices.append((uid, _choose(run, user, matched.wanted[uid], woken.alerts.get(uid, []))))
        await _queue(run, [row for _, choice in choices for row in choice.queue])
        for uid, choice in choices:
            await _note_catch_up(run, uid, choice)
    return [], turned_instant


def _choose(
    run: Run, user: User | None, wanted: Wanted | None, waiting: Sequence[Row], *, held_back: str = ""
) -> Choice:
    now = run.parts.clock()
    hour = run.parts.hour(user) if user is not None else run.parts.default_hour
    return choose(user, wanted, waiting, hour=hour, now=now, held_back=held_back)


async def _serve(run: Run, user: User | None, wanted: Wanted | None, waiting: Sequence[Row]) -> bool:
    choice = _choose(run, user, wanted, waiting)
    if choice.has_letter and not await run.quota.take(digest=False):
        choice = _choose(run, user, wanted, waiting, held_back=OVER)
    for row in await deliveries.change(run.store, choice.changes):
        if row.state is State.EXPIRED:
            run.report.rows(row.state)
    new = await _queue(run, choice.queue)
    if user is None:
        return True
    if not choice.has_letter:
        await _note_catch_up(run, user.uid, choice)
        return True
    # What is not new may have been sent by the run that made it: the letter counts what waits.
    queue = choice.queue
    more = new if new == len(queue) else await deliveries.count_waiting(run.store, queue)
    return await _send_letter(run, user, choice, _later(more, queue))


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
    await _note_catch_up(run, user.uid, choice)
    if not won:
        run.quota.untaken(digest=False)
        return True
    if len(won) < len(rows):
        held = [row.record for row in won]
        letter = render_alert(user, held, outside_id=outside, at=now, site=run.parts.site, later=later)
    attempt = await send(run, letter)
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


async def note_outcome(run: Run, user: User, attempt: Attempt) -> None:
    """What an attempt says about the person: a mailbox that does not exist, or letters refused in a row."""
    now = run.parts.clock()
    if attempt.suppress:
        await users.stop(run.store, user.uid, Stop.BOUNCED, detail=attempt.reason, now=now)
        run.report.error("users", f"one was stopped: the mailbox does not exist ({attempt.reason})")
        return
    if attempt.outcome not in (Outcome.ACCEPTED, Outcome.REJECTED):
        return
    rejected = attempt.outcome is Outcome.REJECTED
    if await users.note_letter(run.store, user, rejected=rejected, reason=attempt.reason, now=now):
        run.report.error("users", f"one was stopped: letters were rejected in a row ({attempt.reason})")


async def _queue(run: Run, rows: Sequence[Delivery]) -> int:
    new = await deliveries.queue(run.store, rows) if rows else 0
    run.report.rows(State.QUEUED, new)
    return new


async def _note_catch_up(run: Run, uid: str, choice: Choice) -> None:
    if choice.caught_up is not None:
        await users.caught_up(run.store, uid, choice.caught_up)
    elif choice.asleep_until is not None:
        await users.sleep(run.store, uid, until=choice.asleep_until)


async def _close_decided(run: Run, matched: Matched, left: Sequence[str]) -> None:
    undecided = {
        job.id for uid in left if uid in matched.wanted for _, job in matched.wanted[uid].fits
    } & matched.open_jobs.keys() | (matched.stay_open & matched.open_jobs.keys())
    decided = [job for id_, job in matched.open_jobs.items() if id_ not in undecided]
    closed = await jobs.close(run.store, decided)
    run.report.jobs.stale += sum(job.record.id in matched.stale for job in decided)
    run.report.remaining.jobs += len(matched.open_jobs) - closed
