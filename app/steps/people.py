"""What a letter's end says about its person: a mailbox that does not exist, or letters refused in a row.

A refusal may be the provider's quarrel with us. So it counts against the person only once a later letter of the run
was accepted, or the run has come to its end with mail flowing.
"""

from __future__ import annotations

from app.parts import Run
from ledger import users
from ledger.documents import BadRecord
from ledger.lifecycle import Attempt, Outcome
from ledger.records import Stop, User


async def note_outcome(run: Run, user: User, attempt: Attempt) -> None:
    """Raises StoreError, Contended, BadRecord."""
    if attempt.suppress:
        await users.stop(run.store, user.uid, Stop.BOUNCED, detail=attempt.reason, now=run.parts.clock())
        run.report.error("users", f"one was stopped: the mailbox does not exist ({attempt.reason})")
    elif attempt.outcome is Outcome.REJECTED:
        run.refused.append((user, attempt.reason))
    elif attempt.outcome is Outcome.ACCEPTED:
        await users.note_letter(run.store, user, rejected=False, reason="", now=run.parts.clock())
        await _count_refused(run)


async def note_refusals(run: Run) -> None:
    """At the end of the run: those that nothing speaks for, unless mail was paused. Raises as `note_outcome`."""
    if run.pace.paused is None:
        await _count_refused(run)


async def _count_refused(run: Run) -> None:
    refused, run.refused[:] = run.refused[:], []
    for user, reason in refused:
        try:
            stopped = await users.note_letter(run.store, user, rejected=True, reason=reason, now=run.parts.clock())
        except (BadRecord, users.Contended) as error:
            run.report.error("users", str(error))
            continue
        if stopped:
            run.report.error("users", f"one was stopped: letters were rejected in a row ({reason})")
