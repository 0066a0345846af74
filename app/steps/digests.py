"""Digests: at least once. For each user whose hour has come: pin the rows, attempt the letter, flip the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from app.dispatch import OUT_OF_TIME, dispatch, send
from app.parts import Run
from app.quota import OVER
from app.silence import notes_for, silent_sources
from app.steps.alerts import note_outcome
from app.steps.wake import Woken
from ledger import deliveries, digests, ids
from ledger.deliveries import Row, best_first
from ledger.digests import Held
from ledger.documents import BadRecord, Stored
from ledger.lifecycle import DigestState, Outcome, State, Via
from ledger.records import Delivery, Digest, SourceState, User
from ledger.schedule import Due, latest_due, next_due
from mail.letter import Letter, Site
from mail.render import render_digest

log = structlog.get_logger()

ACCEPTED_THEN_DIED = "accepted by an attempt that died before its end"


async def send_digests(run: Run, woken: Woken) -> None:
    """Serve everyone with due digest rows or a digest due for an attempt."""

    async def serve(uid: str, user: User | None) -> bool:
        return await _serve(run, uid, user, woken.digest_rows.get(uid, []), silent)

    people = sorted({*woken.digest_rows, *woken.digests})
    silent = await silent_sources(run) if people else []
    left = await dispatch(run, people, serve)
    run.report.remaining.users += len(left)


async def _serve(run: Run, uid: str, user: User | None, due_rows: Sequence[Row], silent: Sequence[SourceState]) -> bool:
    live = await digests.find_live(run.store, uid)
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
        current = await _pin(run, user, due, due_rows, standing, notes=notes_for(user, silent, run.parts.sources))
        return await _attempt(run, user, current) if current is not None else True
    await _wait_for_next(run, user, due_rows)  # this period has its digest
    if digests.is_spent(current.record):
        await digests.wait(run.store, current, until=next_due(run.parts.hour(user), now).at)
        return True
    if current.record.wake_at is not None and current.record.wake_at > now:
        return True
    return await _attempt(run, user, current)


def _is_mine_to_touch(run: Run, digest: Held) -> bool:
    """Not one that another run is sending: SENDING belongs to its attempt until the lease is over."""
    wake_at = digest.record.wake_at
    return digest.record.state is not DigestState.SENDING or (wake_at is not None and wake_at <= run.parts.clock())


async def _after_death(run: Run, user: User, digest: Held) -> Held | None:
    """A digest whose attempt outlived its lease: finished if a flipped row proves it was accepted, else unclear."""
    if digest.record.state is not DigestState.SENDING:
        return digest
    rows = await _rows_of(run, digest)
    if digests.was_accepted(digest.record, rows):
        await digests.close(
            run.store, digest, rows, state=DigestState.SENT, hour=run.parts.hour(user), now=run.parts.clock(),
            why=ACCEPTED_THEN_DIED,
        )  # fmt: skip
        return None
    log.warning("digest unclear: the run that was sending it died", outside=digest.record.outside)
    return Stored(digests.died(digest.record), digest.version)


async def _pin(
    run: Run, user: User, due: Due, due_rows: Sequence[Row], standing: Sequence[Held], *, notes: Sequence[str]
) -> Held | None:
    now, hour = run.parts.clock(), run.parts.hour(user)
    older = standing[-1] if standing else None
    id_ = ids.digest_id(user.uid, due.period)
    taken = id_ in await digests.read(run.store, [id_])
    is_due = any(next_due(hour, row.record.created_at).at <= now for row in due_rows) or older is not None
    if taken or not is_due:
        await _wait_for_next(run, user, due_rows)
        if older is not None:
            await digests.wait(run.store, older, until=next_due(hour, now).at)
        return None
    rows = await _waiting_rows(run, user.uid)
    older_rows = await _rows_of(run, older) if older is not None else {}
    pinned = await digests.pin(
        run.store,
        user.uid,
        rows,
        due=due,
        older=older,
        older_rows=open_rows_of(older, older_rows) if older is not None else [],
        cap=run.parts.settings.digest_cap,
        notes=notes,
        now=now,
    )
    if pinned is None:
        return None
    run.report.rows(State.FAILED, len(pinned.gave_up))
    beyond = [row for row in rows if pinned.digest is None or row.record.key not in pinned.digest.record.rows]
    await _wait_for_next(run, user, beyond)
    return pinned.digest


def open_rows_of(digest: Held, rows: Mapping[str, Row]) -> list[Row]:
    """The digest's rows that are still to be sent by it, in the order of the letter."""
    there = [rows[key] for key in digest.record.rows if key in rows]
    return [r for r in there if r.record.state is State.QUEUED and r.record.period == digest.record.period]


async def _waiting_rows(run: Run, uid: str) -> list[Row]:
    """All of the user's rows that wait for a digest and are not in one, best first."""

    def bad(error: BadRecord) -> None:
        run.report.error("deliveries", str(error))

    rows = await deliveries.waiting(run.store, uid, bad, via=Via.DIGEST)
    return sorted(rows, key=lambda row: best_first(row.record))


async def _rows_of(run: Run, digest: Held) -> dict[str, Row]:
    record = digest.record
    found = await deliveries.read(run.store, [ids.pair_id(record.uid, key) for key in record.rows])
    return {row.record.key: row for row in found.values()}


async def _wait_for_next(run: Run, user: User, rows: Sequence[Row]) -> None:
    at = next_due(run.parts.hour(user), run.parts.clock()).at
    await deliveries.change(run.store, [(row, replace(row.record, wake_at=at)) for row in rows])


async def _attempt(run: Run, user: User, digest: Held) -> bool:
    """One attempt: the document says SENDING before the letter goes, the rows are flipped after it was accepted."""
    rows = await _rows_of(run, digest)
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
    sending = await digests.begin(run.store, digest, now=run.parts.clock(), lease_s=run.lease_s)
    if sending is None:
        run.quota.untaken(digest=True)
        return True
    attempt = await send(run, letter)
    if attempt.outcome in (Outcome.DEFERRED, Outcome.PAUSED):
        run.quota.untaken(digest=True)
    state = {Outcome.ACCEPTED: DigestState.SENT, Outcome.REJECTED: DigestState.FAILED}.get(attempt.outcome)
    if state is not None:
        if state is DigestState.SENT:
            run.report.mail.digests += 1
            run.report.mail.sent += 1
        await _close(
            run, user, sending, rows, state=state, why=attempt.reason, receipt=attempt.receipt, listed=letter.listed
        )
    else:
        hour, now = run.parts.hour(user), run.parts.clock()
        await digests.end(run.store, sending, attempt, hour=hour, now=now, lease_s=run.lease_s)
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
    shown = [row.record for row in open_rows[: digest.shown]]
    return render_digest(
        user,
        shown,
        more=len(open_rows) - len(shown),
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
    return [f"{held_back} of these could not be sent as alerts: {OVER}."]


async def _close(
    run: Run,
    user: User,
    digest: Held,
    rows: Mapping[str, Row],
    *,
    state: DigestState,
    why: str = "",
    receipt: str | None = None,
    listed: int | None = None,
) -> None:
    flipped = await digests.close(
        run.store, digest, rows, state=state, hour=run.parts.hour(user), now=run.parts.clock(), why=why,
        receipt=receipt, listed=listed,
    )  # fmt: skip
    for row in flipped:
        if row.state is not State.QUEUED:
            run.report.rows(row.state)


async def _drop(run: Run, uid: str, user: User | None, live: Sequence[Held]) -> None:
    """Nobody is there to write to: rows and digests become EXPIRED with the reason."""
    now = run.parts.clock()
    why = "its user has gone" if user is None else f"its user has stopped: {user.stopped or 'inactive'}"
    waiting = await _waiting_rows(run, uid)
    expired = await deliveries.change(
        run.store, [(row, deliveries.final(row.record, State.EXPIRED, now=now, why=why)) for row in waiting]
    )
    run.report.rows(State.EXPIRED, len(expired))
    for digest in live:
        if not _is_mine_to_touch(run, digest):
            continue
        rows = await _rows_of(run, digest)
        was_accepted = digests.was_accepted(digest.record, rows)  # by an attempt that died before its end
        flipped = await digests.close(
            run.store,
            digest,
            rows,
            state=DigestState.SENT if was_accepted else DigestState.EXPIRED,
            hour=run.parts.default_hour,
            now=now,
            why=ACCEPTED_THEN_DIED if was_accepted else why,
        )
        run.report.rows(State.EXPIRED, sum(row.state is State.EXPIRED for row in flipped))
