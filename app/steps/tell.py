"""Tell: what only the operator can mend. One letter a day at most, and only if SCOUT_OPERATOR is set."""

from __future__ import annotations

from datetime import timedelta

from app.dispatch import send
from app.parts import Run
from ledger import ids, matters
from ledger.collections import SOURCES
from ledger.documents import BadRecord, decode
from ledger.records import SourceState
from mail.notes import to_operator

SILENT_AFTER = timedelta(hours=24)


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
    await send(run, letter)


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
            if state.ok_at is not None and run.now - state.ok_at >= SILENT_AFTER:
                met.append(f"Source {name} has been silent since {state.ok_at:%d %b %H:%M} UTC: {state.reason}")
    return met
