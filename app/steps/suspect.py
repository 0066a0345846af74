"""A feed whose items are all new, poll after poll: its ids move, and each poll would mail the same jobs again.

A board that is simply busy looks alike, but its jobs are dated after the last poll. So there are two signs. Titles
that were in the last poll, under ids and links that nobody knows, are the same jobs: they are stored as seen at
once. And a feed of some size without such dates, in which everything is new. Either of them twice running suspends
the feed, until the operator has looked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.parts import Run
from ledger import ids, jobs
from ledger.jobs import Candidate
from ledger.joiners import without
from ledger.records import SEEN_MAX, Health, JobState, SourceState
from scan.posting import Items

ALL_NEW_MAX = 2  # polls running
SAME_MIN_ITEMS = 2  # items whose titles come again; one alone may be another job of the same name
SIZE_MIN_ITEMS = 5  # of a feed without such titles: a handful of items may well be all new twice


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What an answer adds to it: the candidates to store, and why the source is to be suspended, if it is."""

    candidates: Sequence[Candidate]
    streak: int = 0
    suspended: str = ""


async def judged(run: Run, state: SourceState, answer: Items, fresh: Sequence[Candidate]) -> Suspicion:
    """`fresh` are the items that the last poll had not, as jobs to be. Raises StoreError."""
    is_all = len(fresh) == len(answer.postings) > 0
    if answer.has_own_ids or not is_all or await jobs.any_known(run.store, fresh):
        return Suspicion(fresh)
    before = set(state.titles)
    again = {c.job.id for c in fresh if title_hash(c.job.title) in before}
    comes_again = len(again) >= max(SAME_MIN_ITEMS, len(fresh) / 2)
    is_odd = comes_again or (len(fresh) >= SIZE_MIN_ITEMS and not state.ids_vetted and not _is_later(state, fresh))
    streak = state.all_new_streak + 1 if is_odd else 0
    if streak >= ALL_NEW_MAX:
        why = "the same titles under new ids" if comes_again else "every item new"
        return Suspicion((), streak, f"{why} twice running: its ids seem to change with every answer; give it another "
                                     "id_rule, then run: scout sources resume")  # fmt: skip
    if comes_again:
        return Suspicion([_as_seen(c) if c.job.id in again else c for c in fresh], streak)
    return Suspicion(fresh, streak)


def _is_later(state: SourceState, fresh: Sequence[Candidate]) -> bool:
    """Whether most of them are dated after the last poll that was read: then the board was busy meanwhile."""
    dates = [c.job.published_at for c in fresh if c.job.published_at is not None]
    return state.ok_at is not None and sum(date > state.ok_at for date in dates) > len(fresh) / 2


def suspended(state: SourceState, suspicion: Suspicion) -> SourceState:
    """Not polled again before it is resumed."""
    return replace(
        state,
        next_poll_at=None,
        health=Health.SUSPENDED,
        reason=suspicion.suspended,
        failures=state.failures + 1,
        all_new_streak=suspicion.streak,
    )


def titles_of(answer: Items) -> tuple[str, ...]:
    """What the next poll is compared with; nothing for boards that have ids of their own."""
    if answer.has_own_ids:
        return ()
    return tuple(dict.fromkeys(title_hash(posting.title) for posting in answer.postings))[:SEEN_MAX]


def title_hash(title: str) -> str:
    return ids.source_hash(" ".join(without(title).casefold().split()))


def _as_seen(candidate: Candidate) -> Candidate:
    return replace(candidate, job=replace(candidate.job, state=JobState.SEEN, fresh_at=None))
