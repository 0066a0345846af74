"""Choose: what becomes of one user's fits and waiting rows. Pure: decide first, act afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.steps.match import Wanted
from ledger import deliveries
from ledger.deliveries import Row, best_first, row_id
from ledger.lifecycle import ALERT_CAP_JOBS, State, Via
from ledger.records import Delivery, Job, Mode, User
from ledger.schedule import Hour, next_due, quiet_end
from ledger.verdicts import Verdict, VerdictState
from scan.match import Fit

TWIN_LINKS_MAX = 10  # kept with a row; a letter shows fewer


@dataclass(frozen=True, slots=True)
class Choice:
    letter_fresh: tuple[Delivery, ...] = ()  # to be created CLAIMED
    letter_waiting: tuple[Row, ...] = ()  # to be swapped to CLAIMED
    queue: tuple[Delivery, ...] = ()  # to be created QUEUED
    changes: tuple[tuple[Row, Delivery], ...] = ()  # waiting rows that wait on, move to the digest, or expire
    caught_up: str | None = None  # the catch-up that this choice answers
    asleep_until: datetime | None = None  # a paused user's catch-up waits for the end of the pause
    is_undecided: bool = False  # a profile was saved since the match: its open jobs wait for the next run

    @property
    def has_letter(self) -> bool:
        return bool(self.letter_fresh or self.letter_waiting)


def choose(
    user: User | None, wanted: Wanted | None, waiting: Sequence[Row], *, hour: Hour, now: datetime, held_back: str = ""
) -> Choice:
    """The fresh user document decides: address, mode, or nothing at all.

    `held_back` says why no letter can go now (the day's limit); what would be in it waits for the digest.

    `wanted` was matched against an earlier reading of the user; if a profile was saved since, its catch-up
    decides instead. `waiting` are the user's due rows via alert.
    """
    if user is None or not user.active:
        why = deliveries.unwanted_why(user)
        gone = tuple((row, deliveries.final(row.record, State.EXPIRED, now=now, why=why)) for row in waiting)
        return Choice(changes=gone)
    if user.paused_until is not None and user.paused_until > now:
        asleep = tuple((row, replace(row.record, wake_at=user.paused_until)) for row in waiting)
        return Choice(changes=asleep, asleep_until=user.paused_until)
    offers, caught_up = _offers(user, wanted, waiting, now=now)
    again = _is_saved_since(user, wanted)
    if user.mode is not Mode.INSTANT:
        moved = tuple((row, deliveries.to_digest(row.record, hour=hour, now=now)) for row in waiting)
        every = (*offers.best, *offers.rest, *offers.last)
        return Choice(
            queue=_for_digest(every, hour=hour, now=now), changes=moved, caught_up=caught_up, is_undecided=again
        )
    spent = [row for row in waiting if deliveries.is_for_digest(row.record, now=now)]
    ready = [row for row in waiting if row not in spent]
    changes = [(row, deliveries.to_digest(row.record, hour=hour, now=now)) for row in spent]
    if quiet := quiet_end(user, now):
        changes += [(row, replace(row.record, wake_at=quiet)) for row in ready]
        later = tuple(replace(row, wake_at=quiet) for row in offers.best)
        queue = (*later, *_for_digest((*offers.rest, *offers.last), hour=hour, now=now))
        return Choice(queue=queue, changes=tuple(changes), caught_up=caught_up, is_undecided=again)
    if held_back:
        changes += [
            (row, deliveries.to_digest(replace(row.record, why=held_back), hour=hour, now=now)) for row in ready
        ]
        told = tuple(replace(row, why=held_back) for row in (*offers.best, *offers.rest))
        queue = _for_digest((*told, *offers.last), hour=hour, now=now)
        return Choice(queue=queue, changes=tuple(changes), caught_up=caught_up, is_undecided=again)
    fresh, due, over = _one_letter(offers.best, ready)
    queue = _for_digest((*over, *offers.rest, *offers.last), hour=hour, now=now)
    return Choice(fresh, due, queue, tuple(changes), caught_up, is_undecided=again)


def _is_saved_since(user: User, wanted: Wanted | None) -> bool:
    return wanted is not None and user.catch_up is not None and user.catch_up != wanted.catch_up


@dataclass(frozen=True, slots=True)
class _Offers:
    best: tuple[Delivery, ...] = ()  # at most one letter's worth
    rest: tuple[Delivery, ...] = ()  # further fits of open jobs
    last: tuple[Delivery, ...] = field(default=())  # of jobs matched for the last time: via digest


def _offers(user: User, wanted: Wanted | None, waiting: Sequence[Row], *, now: datetime) -> tuple[_Offers, str | None]:
    if wanted is None:
        return _Offers(), None
    last_pairs = [pair for pair in wanted.fits if pair[1].id in wanted.last_call]
    last = _rows(user, last_pairs, wanted.verdicts, now=now)
    if user.catch_up != wanted.catch_up:
        if _is_saved_since(user, wanted):
            return _Offers(last=last), None  # the next run matches the fresh jobs anew, and the open ones with them
        # Another run has answered it meanwhile; only what is open, and may be news to that run, is left.
        wanted = replace(
            wanted, catch_up=None, fits=tuple(pair for pair in wanted.fits if pair[1].id in wanted.open_ids)
        )
    others = (pair for pair in wanted.fits if pair[1].id not in wanted.last_call)
    rows = _rows(user, others, wanted.verdicts, now=now)
    best, rest = rows[:ALERT_CAP_JOBS], rows[ALERT_CAP_JOBS:]
    if wanted.catch_up is not None:
        # A new profile is not mailed the archive: beyond one letter only what is open, hence new to all, goes on.
        rest = tuple(row for row in rest if row.job_id in wanted.open_ids)
    already = {row_id(row.record) for row in waiting}
    kept = [tuple(row for row in part if row_id(row) not in already) for part in (best, rest, last)]
    return _Offers(*kept), wanted.catch_up


def _rows(
    user: User, pairs: Iterable[tuple[Fit, Job]], verdicts: Mapping[str, Verdict], *, now: datetime
) -> tuple[Delivery, ...]:
    """One row per key, best first; twins share it, and its letter lists the links of all."""
    by_key: dict[str, list[Delivery]] = {}
    has_several = len(user.searches) > 1
    for fit, job in pairs:
        search = fit.search if has_several else ""
        row = deliveries.offered(user.uid, job, score=fit.score, reason=fit.reason, search=search, now=now)
        by_key.setdefault(job.key, []).append(_judged(row, verdicts.get(job.key), user))
    rows: list[Delivery] = []
    for twins in by_key.values():
        first, *others = sorted(twins, key=lambda row: (best_first(row), row.job_id))
        links = tuple(row.link for row in others if row.link and row.link != first.link)
        rows.append(replace(first, twin_links=links[:TWIN_LINKS_MAX]))
    return tuple(sorted(rows, key=best_first))


def _judged(row: Delivery, verdict: Verdict | None, user: User) -> Delivery:
    """The row with what the model said, or with why it said nothing to somebody who wanted to hear it."""
    match verdict:
        case Verdict(state=VerdictState.DECIDED):
            return replace(row, verdict_score=verdict.score, verdict_reason=verdict.reason, caveat=verdict.caveat)
        case Verdict(state=VerdictState.UNSCORED) if user.ai:
            return replace(row, not_scored=verdict.why)
        case _:
            return row


def _one_letter(
    offers: Sequence[Delivery], ready: Sequence[Row]
) -> tuple[tuple[Delivery, ...], tuple[Row, ...], tuple[Delivery, ...]]:
    """The best of fresh and waiting together, up to the cap; and the fresh ones that found no room."""
    ranked: list[tuple[Delivery, Row | None]] = [(row, None) for row in offers]
    ranked += [(row.record, row) for row in ready]
    ranked.sort(key=lambda pair: best_first(pair[0]))
    chosen, over = ranked[:ALERT_CAP_JOBS], ranked[ALERT_CAP_JOBS:]
    fresh = tuple(row for row, held in chosen if held is None)
    due = tuple(held for _, held in chosen if held is not None)
    return fresh, due, tuple(row for row, held in over if held is None)


def _for_digest(rows: Iterable[Delivery], *, hour: Hour, now: datetime) -> tuple[Delivery, ...]:
    due = next_due(hour, now).at
    return tuple(replace(row, via=Via.DIGEST, wake_at=due) for row in rows)
