"""Many at once: whom an earlier run has dealt with, and who is decided without a letter.

A letter takes its turn; what needs none must not stand in that queue. Else a run that was cut would spend the next
one on looking again at the people it had served, and those behind them would never be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from app.dispatch import read_again
from app.parts import Run
from app.steps.choose import Choice, choose
from app.steps.match import Matched, Wanted
from ledger import deliveries, ids, users
from ledger.collections import DELIVERIES
from ledger.deliveries import Row
from ledger.lifecycle import State
from ledger.records import Delivery, User

PEOPLE_AT_ONCE = 200


async def unserved(run: Run, uids: Sequence[str], matched: Matched) -> list[str]:
    """Without those whose fits all have rows: a run that was cut has served them. Raises StoreError.

    Only jobs that an earlier run left open are looked up; in an ordinary run there are none.
    """
    pairs: dict[str, list[str]] = {}
    for uid in uids:
        wanted = matched.wanted[uid]
        if wanted.catch_up is None and all(job.first_seen < run.now for _, job in wanted.fits):
            pairs[uid] = [ids.pair_id(uid, job.key) for _, job in wanted.fits]
    served: set[str] = set()
    for batch in _batches(list(pairs)):
        found = await run.store.get(DELIVERIES, [id_ for uid in batch for id_ in pairs[uid]])
        served |= {uid for uid in batch if all(id_ in found for id_ in pairs[uid])}
    return [uid for uid in uids if uid not in served]


async def without_letter(run: Run, uids: Sequence[str], matched: Matched) -> tuple[list[str], list[str]]:
    """Decide and queue for those who expect no letter. Returns (not decided, those who get one after all)."""
    undecided: list[str] = []
    lettered: list[str] = []
    for batch in _batches(uids):
        if run.deadline.left_s() <= 0:
            undecided += batch
            continue
        unreadable, fresh = await read_again(run, batch)
        choices = {uid: chosen(run, fresh.get(uid), matched.wanted[uid]) for uid in batch if uid not in unreadable}
        lettered += [uid for uid, choice in choices.items() if choice.has_letter]
        decided = {uid: choice for uid, choice in choices.items() if not choice.has_letter}
        await queue(run, [row for choice in decided.values() for row in choice.queue])
        await note_catch_ups(run, decided)
        undecided += [uid for uid, choice in decided.items() if choice.is_undecided]
    return undecided, lettered


def chosen(
    run: Run, user: User | None, wanted: Wanted | None, waiting: Sequence[Row] = (), *, held_back: str = ""
) -> Choice:
    """What becomes of this person's fits and due rows at this moment."""
    hour = run.parts.hour(user) if user is not None else run.parts.default_hour
    return choose(user, wanted, waiting, hour=hour, now=run.parts.clock(), held_back=held_back)


async def queue(run: Run, rows: Sequence[Delivery]) -> int:
    """Returns how many are new; a pair that has its row already is decided."""
    new = await deliveries.queue(run.store, rows) if rows else 0
    run.report.rows(State.QUEUED, new)
    return new


async def note_catch_ups(run: Run, choices: dict[str, Choice]) -> None:
    """After their rows exist: the catch-ups that were answered, and those that wait for a pause to end."""
    edits = {uid: edit for uid, choice in choices.items() if (edit := _edit(choice)) is not None}
    moving = await users.change_many(run.store, edits, run.report.unread("users")) if edits else []
    if moving:
        run.report.error("users", f"{len(moving)} documents kept changing; their catch-up comes again")


def _edit(choice: Choice) -> Callable[[User], User] | None:
    if (value := choice.caught_up) is not None:
        return lambda user: users.caught_up(user, value)
    if (until := choice.asleep_until) is not None:
        return lambda user: users.asleep(user, until)
    return None


def _batches(uids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(uids), PEOPLE_AT_ONCE):
        yield list(uids[start : start + PEOPLE_AT_ONCE])
