"""Asking anew: a changed profile re-scores only what its person asks for, with the price shown first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.prices import Price
from ledger import ids, jobs, verdicts
from ledger.collections import DELIVERIES
from ledger.records import Job, User
from ledger.store import Store
from ledger.verdicts import Held, VerdictState
from scan.match import Matcher
from scan.prompt import profile_version, question

ONE_GO_MAX_PAIRS = 100


@dataclass(frozen=True, slots=True)
class Found:
    """Verdicts on an older profile whose jobs are there, fit as the profile is now, and have not been sent.

    The newest first, as many as one go takes. `mark` says what was found, for whoever agrees to its price.
    """

    held: tuple[Held, ...] = ()
    more: int = 0  # found besides
    waiting: int = 0  # asked for anew already, and without an answer yet
    about_micros: int = 0  # one full answer for each; a call that brings none is made again
    spent_micros: int = 0  # what their verdicts have cost so far
    mark: str = ""


async def find(store: Store, user: User, *, price: Price, batch: int, now: datetime) -> Found:
    """Nothing for who wants no verdicts or gets no mail. Raises StoreError."""
    if not user.ai or not user.active:
        return Found()
    known = await verdicts.of_user(store, user.uid)
    waiting = sum(one.record.state is VerdictState.PENDING and one.record.was_decided for one in known)
    old = [one for one in known if _is_older(one, profile_version(user))]
    if not old:
        return Found(waiting=waiting)
    sent = await store.get(DELIVERIES, [one.record.id for one in old])
    unsent = [one for one in old if one.record.id not in sent]
    found = await jobs.read(store, (id_ for one in unsent for id_ in one.record.job_ids), lambda *_: None)
    return await asyncio.to_thread(_priced, user, unsent, found, waiting=waiting, price=price, batch=batch, now=now)


async def want(store: Store, found: Found, *, now: datetime) -> int:
    """Let the next run ask about them. Returns how many; one that changed meanwhile is left."""
    return len(await verdicts.change(store, [(h, verdicts.wanted_again(h.record, now=now)) for h in found.held]))


def _is_older(held: Held, profile: str) -> bool:
    verdict = held.record
    return verdict.state is VerdictState.DECIDED and verdict.profile_version != profile and verdict.wake_at is None


def _priced(
    user: User,
    unsent: Sequence[Held],
    known: Mapping[str, Job],
    *,
    waiting: int,
    price: Price,
    batch: int,
    now: datetime,
) -> Found:
    """Off the loop: a thousand jobs take seconds."""
    matcher = Matcher.of([user])
    fitting: list[tuple[Held, Job]] = []
    for held in sorted(unsent, key=lambda one: one.record.decided_at or one.record.created_at, reverse=True):
        its = (known[id_] for id_ in held.record.job_ids if id_ in known)
        if (job := next((job for job in its if matcher.match(job, now=now)), None)) is not None:
            fitting.append((held, job))
    taken = fitting[:ONE_GO_MAX_PAIRS]
    micros = 0
    for start in range(0, len(taken), batch):
        named = [(f"{n:08}", job) for n, (_, job) in enumerate(taken[start : start + batch])]
        micros += price.at_most(question(user, named)).micros
    return Found(
        held=tuple(held for held, _ in taken),
        more=len(fitting) - len(taken),
        waiting=waiting,
        about_micros=micros,
        spent_micros=sum(held.record.cost_micros for held, _ in taken),
        mark=ids.outside_id("\n".join([profile_version(user), *(f"{h.record.id} {h.version}" for h, _ in taken)])),
    )
