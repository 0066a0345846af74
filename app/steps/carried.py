"""Carried: pairs whose document alone holds them, because their job has closed. They wait, are decided, and are told.

A pair that is to be mailed keeps its `wake_at` until its row exists, so that a run that dies in between loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.parts import Run
from app.steps.match import Matched
from app.steps.pairs import Case, Pair
from ledger import deliveries, jobs, verdicts
from ledger.collections import DELIVERIES
from ledger.records import Job, User
from ledger.verdicts import Held
from scan.match import Fit, decide


async def add_carried(
    run: Run,
    cases: dict[str, Case],
    matched: Matched,
    people: Mapping[str, User],
    due: Mapping[str, Sequence[Held]],
) -> None:
    """Put the due pairs into the cases of their people.

    Those of somebody who pauses wait for the end. Those that nobody waits for any more are dropped, but for the word
    of a model: it was paid for, and is kept for when it is wanted again.
    """
    known = {pair.verdict.id for case in cases.values() for pair in case.pairs}
    held = [one for ones in due.values() for one in ones if one.record.id not in known]
    found = await jobs.read(run.store, (id_ for one in held for id_ in one.record.job_ids), run.report.unread("jobs"))
    changed: list[tuple[Held, verdicts.Verdict]] = []
    for one in held:
        user = people.get(one.record.uid)
        if user is not None and user.active and user.paused_until is not None and user.paused_until > run.now:
            changed.append((one, verdicts.asleep(one.record, until=user.paused_until)))
            continue
        fits = _still_fits(user, one, found)
        if user is None or isinstance(fits, str):
            why = fits if isinstance(fits, str) else deliveries.GONE_WHY
            changed.append((one, verdicts.let_go(one.record, why=why, now=run.now)))
            continue
        case = cases.get(user.uid)
        if case is None:
            wanted = matched.wanted.get(user.uid)
            case = Case(user, wanted, may_ask=user.ai and run.parts.judge is not None)
            case.settled = list(wanted.fits) if wanted is not None else []
            cases[user.uid] = case
        case.pairs.append(Pair(verdicts.taken_up(one.record, now=run.now), one.version, fits))
        case.carried.add(one.record.key)
    await verdicts.change(run.store, changed)


def _still_fits(user: User | None, held: Held, known: Mapping[str, Job]) -> tuple[tuple[Fit, Job], ...] | str:
    """The jobs of the pair that fit as the profile is now, as of when it was wanted; or why there is none."""
    if user is None or not user.active:
        return deliveries.unwanted_why(user)
    verdict = held.record
    found = [known[id_] for id_ in verdict.job_ids if id_ in known]
    decisions = [(decide(user, job, now=verdict.created_at), job) for job in found]
    fits = tuple((said, job) for said, job in decisions if isinstance(said, Fit))
    if fits:
        return fits
    return getattr(decisions[0][0], "detail", "it does not fit any more") if decisions else "its job is gone"


async def note_served(run: Run, matched: Matched) -> None:
    """The carried pairs that have their row by now ask for no more attention. The others come again."""
    if not matched.carried:
        return
    rows = await run.store.get(DELIVERIES, [held.record.id for held in matched.carried])
    served = [held for held in matched.carried if held.record.id in rows]
    await verdicts.change(run.store, [(held, verdicts.told(held.record)) for held in served])
