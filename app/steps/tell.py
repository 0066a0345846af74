"""Tell: what only the operator can mend. One letter a day at most, and only if SCOUT_OPERATOR is set."""

from __future__ import annotations

from datetime import datetime

from app.dispatch import send
from app.parts import Run
from ledger import ids, matters
from ledger.collections import SOURCES
from ledger.documents import BadRecord, decode
from ledger.lifecycle import Outcome
from ledger.records import Health, SourceState
from ledger.sources import SILENT_AFTER
from mail.notes import to_operator

NEVER_MIN_POLLS = 3  # without one answer: then its entry is likely wrong, or the board wants nothing to do with us


async def tell_operator(run: Run) -> None:
    """Note this run's matters, and send what has gathered if a letter may go."""
    operator = run.parts.settings.operator
    if operator is None:
        return
    now = run.parts.clock()
    met = await _met(run)
    if met:
        await matters.note(run.store, met, now=now)
    if not met and not run.report.mail.sent and not run.report.sources.ok:
        return  # nothing new, and an idle run asks the store nothing more
    if not run.may_claim():
        return
    taken = await matters.claim(run.store, now=now)
    if taken is None:
        return
    lines = [f"{what} (since {since:%d %b %H:%M} UTC)" for what, since in sorted(taken.open.items())]
    letter = to_operator(operator, lines=lines, outside_id=ids.outside_id(taken.nonce), at=now, site=run.parts.site)
    attempt = await send(run, letter)
    if attempt.outcome in (Outcome.ACCEPTED, Outcome.UNCLEAR):
        return
    # Not taken: the next run tries again, or after a refusal the next day.
    await matters.put_back(run.store, taken, told_at=now if attempt.outcome is Outcome.REJECTED else taken.told_at)
    run.report.error("operator", f"the letter was not taken: {attempt.reason}")


async def _met(run: Run) -> list[str]:
    report = run.report
    met = [f"Mail is paused: {run.pace.paused}"] if run.pace.paused is not None else []
    if report.mail.unclear:
        met.append("Letters are unclear: they may or may not have arrived; scout verify lists them")
    met += [reason for reason in report.errors if reason.startswith("users: one was stopped")][:1]
    names = [failed["name"] for failed in report.sources.failed]
    if names:
        found = await run.store.get(SOURCES, names)
        for name, snapshot in sorted(found.items()):
            try:
                state = decode(SourceState, snapshot)
            except BadRecord:
                continue  # told in the report already
            if trouble := _trouble(state, now=run.now):
                met.append(f"Source {name} {trouble}: {state.reason}")
    return met


def _trouble(state: SourceState, *, now: datetime) -> str:
    """What is worth a letter about a source whose poll failed; nothing for a bad hour."""
    if state.health is Health.SUSPENDED:
        return "is suspended"
    if state.ok_at is not None:
        return f"has been silent since {state.ok_at:%d %b %H:%M} UTC" if now - state.ok_at >= SILENT_AFTER else ""
    return "has never answered" if state.failures >= NEVER_MIN_POLLS else ""
