"""Digests: at least once. For each user whose hour has come: pin the rows, attempt the letter, flip the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from app.dispatch import OUT_OF_TIME, dispatch, in_turn, send
from app.parts import Run
from app.quota import OVER
from app.silence import notes_for, silent_sources
from app.steps.digest_rows import leave_over, open_rows_of, pinned, rows_of, wait_for_next, waiting_rows
from app.steps.people import note_outcome
from app.steps.wake import Woken
from ledger import deliveries, digests
from ledger.deliveries import Row
from ledger.digests import Held
from ledger.documents import Stored
from ledger.lifecycle import DigestState, Outcome, State, ends_left_out
from ledger.records import Delivery, Digest, SourceState, User
from ledger.schedule import latest_due, next_due
from ledger.unreadable import let_go_of_digest
from mail.letter import Letter, Site
from mail.render import render_digest

log = structlog.get_logger()

ACCEPTED_THEN_DIED = "accepted by an attempt that died before its end"


async def send_digests(run: Run, woken: Woken) -> None:
    """Serve everyone with due digest rows or a digest due for an attempt."""

    async def serve(uid: str, user: User | None) -> bool:
        return await _serve(run, uid, user, woken.digest_rows.get(uid, []), silent)

    people = in_turn(run, {*woken.digest_rows, *woken.digests})
    silent = await silent_sources(run) if people else []
    left = await dispatch(run, people, serve)
    run.report.remaining.users += len(left)


async def _serve(run: Run, uid: str, user: User | None, due_rows: Sequence[Row], silent: Sequence[SourceState]) -> bool:
    live = await _live(run, uid, user)
    if user is None or not user.active:
        await _drop(run, uid, user, live)
        return True
    now = run.parts.clock()
    if user.paused_until is not None and user.paused_until > now:
        await deliveries.change(run.store, [(r, replace(r.record, wake_at=user.paused_until)) for r in due_rows])
        for digest in live:
            if _is_mine_to_touch(run, digest) and (unsent := await _after_death(run, user, digest)) is not None:
                await digests.wait(run.store, unsent, until=user.paused_until)
        return True
    if any(not _is_mine_to_touch(run, digest) for digest in live):
        return True  # another run is sending it at this moment
    checked = [await _after_death(run, user, digest) for digest in live]
    standing = [digest for digest in checked if digest is not None]
    due = latest_due(run.parts.hour(user), now)
    current = next((d for d in standing if d.record.period == due.period), None)
    if current is None:
        current = await pinned(run, user, due, due_rows, standing, notes=notes_for(user, silent, run.parts.sources))
        return await _attempt(run, user, current) if current is not None else True
    await wait_for_next(run, user, due_rows)  # this period has its digest
    if digests.is_spent(current.record):
        await digests.wait(run.store, current, until=next_due(run.parts.hour(user), now).at)
        return True
    if current.record.wake_at is not None and current.record.wake_at > now:
        return True
    return await _attempt(run, user, current)


async def _live(run: Run, uid: str, user: User | None) -> list[Held]:
    """The user's live digests. One that cannot be read lets its rows go to the next."""
    live, unreadable = await digests.find_live(run.store, uid)
    now = run.parts.clock()
    hour = run.parts.hour(user) if user is not None else run.parts.default_hour
    for digest in unreadable:
        freed = await let_go_of_digest(run.store, digest, uid, wake_at=next_due(hour, now).at, now=now)
        run.report.error("digests", f"one could not be read; its {freed} rows go with the next")
    return live


def _is_mine_to_touch(run: Run, digest: Held) -> bool:
    """Not one that another run is sending: SENDING belongs to its attempt until the lease is over."""
    wake_at = digest.record.wake_at
    return digest.record.state is not DigestState.SENDING or (wake_at is not None and wake_at <= run.parts.clock())


async def _after_death(run: Run, user: User, digest: Held) -> Held | None:
    """A digest whose attempt outlived its lease: finished if a flipped row proves it was accepted, else unclear."""
    if digest.record.state is not DigestState.SENDING:
        return digest
    rows = await rows_of(run, digest)
    if digests.was_accepted(digest.record, rows):
        await _close(run, user, digest, rows, state=DigestState.SENT, why=ACCEPTED_THEN_DIED)
        return None
    log.warning("digest unclear: the run that was sending it died", outside=digest.record.outside)
    return Stored(digests.died(digest.record), digest.version)


async def _attempt(run: Run, user: User, digest: Held) -> bool:
    """One attempt: the document says SENDING before the letter goes, the rows are flipped after it was accepted."""
    rows = await rows_of(run, digest)
    open_rows = open_rows_of(digest, rows)
    if not open_rows:
        await _close(run, user, digest, rows, state=DigestState.EXPIRED, why="no row was left to send")
        return True
    letter = _render(run, user, digest, open_rows)
    if letter is None:
        return False
    if not await run.quota.take(digest=True):
        await digests.wait(run.store, digest, until=run.quota.renews_at())
        run.report.mail.deferred += len(open_rows)
        return True
    listed = [row.record.key for row in open_rows[: letter.listed]]
    sending = await digests.begin(run.store, digest, listed=listed, now=run.parts.clock(), lease_s=run.lease_s)
    if sending is None:
        run.quota.untaken(digest=True)
        return True
    attempt = await send(run, letter, uid=user.uid)
    if attempt.outcome in (Outcome.DEFERRED, Outcome.PAUSED):
        run.quota.untaken(digest=True)
    state = {Outcome.ACCEPTED: DigestState.SENT, Outcome.REJECTED: DigestState.FAILED}.get(attempt.outcome)
    if state is not None:
        if state is DigestState.SENT:
            run.report.mail.digests += 1
            run.report.mail.sent += 1
        await _close(run, user, sending, rows, state=state, why=attempt.reason, receipt=attempt.receipt)
        if state is DigestState.SENT and digest.record.beyond:
            await leave_over(run, user, digest.record)
    else:
        hour, now = run.parts.hour(user), run.parts.clock()
        _, is_written = await digests.end(run.store, sending, attempt, hour=hour, now=now, lease_s=run.lease_s)
        if not is_written:
            _told_refused(run, 1)
        if attempt.outcome is Outcome.UNCLEAR:
            run.report.mail.unclear += len(open_rows)
        else:
            run.report.mail.deferred += len(open_rows)
    await note_outcome(run, user, attempt)
    return attempt is not OUT_OF_TIME


def _render(run: Run, user: User, digest: Held, open_rows: Sequence[Row]) -> Letter | None:
    try:
        return letter_of(run.parts.site, user, digest.record, open_rows)
    except Exception as error:  # nothing is claimed: the digest stays open and due
        run.report.error("letters", f"one digest could not be rendered: {type(error).__name__}")
        log.exception("digest not rendered", outside=digest.record.outside)
        return None


def letter_of(site: Site, user: User, digest: Digest, open_rows: Sequence[Row]) -> Letter:
    """The digest's letter: the same at every attempt. Raises ValueError without rows."""
    every_row = [row.record for row in open_rows]
    shown, left_out = every_row[: digest.shown], every_row[digest.shown :]
    return render_digest(
        user,
        shown,
        more=len(left_out) + digest.beyond,
        ending=sum(ends_left_out(row.left_over) for row in left_out) + digest.beyond_ending,
        period=digest.period,
        outside_id=digest.outside,
        at=digest.created_at,
        site=site,
        notes=[*_notes(shown), *digest.notes],
    )


def _notes(rows: Sequence[Delivery]) -> list[str]:
    held_back = sum(row.why == OVER for row in rows)
    if not held_back:
        return []
    return [f"{held_back} of these could not come at once: {OVER}."]


async def _close(
    run: Run, user: User | None, digest: Held, rows: Mapping[str, Row], *, state: DigestState, why: str = "",
    receipt: str | None = None,
) -> None:  # fmt: skip
    hour = run.parts.hour(user) if user is not None else run.parts.default_hour
    closed = await digests.close(
        run.store, digest, rows, state=state, hour=hour, now=run.parts.clock(), why=why, receipt=receipt
    )
    for row in closed.rows:
        if row.state is not State.QUEUED:
            run.report.rows(row.state)
    _told_refused(run, closed.refused + (not closed.is_whole))


def _told_refused(run: Run, count: int) -> None:
    if count:
        run.report.error("digests", f"{count} documents of a digest were settled by somebody else")
        log.warning("flip refused", documents=count)


async def _drop(run: Run, uid: str, user: User | None, live: Sequence[Held]) -> None:
    """Nobody is there to write to: rows and digests become EXPIRED with the reason."""
    now = run.parts.clock()
    why = deliveries.unwanted_why(user)
    waiting = await waiting_rows(run, uid)
    expired = await deliveries.change(
        run.store, [(row, deliveries.final(row.record, State.EXPIRED, now=now, why=why)) for row in waiting]
    )
    run.report.rows(State.EXPIRED, len(expired))
    for digest in live:
        if not _is_mine_to_touch(run, digest):
            continue
        rows = await rows_of(run, digest)
        was_accepted = digests.was_accepted(digest.record, rows)  # by an attempt that died before its end
        state = DigestState.SENT if was_accepted else DigestState.EXPIRED
        await _close(run, user, digest, rows, state=state, why=ACCEPTED_THEN_DIED if was_accepted else why)
