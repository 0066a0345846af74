"""Asking anew: a changed profile re-scores only what its person asks for, with the price shown first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.prices import Price
from ledger import verdicts
from ledger.collections import DELIVERIES, JOBS
from ledger.documents import BadRecord, decode
from ledger.records import Job, User
from ledger.store import Store
from ledger.verdicts import Held, VerdictState
from scan.match import Fit, decide
from scan.prompt import profile_version, question


@dataclass(frozen=True, slots=True)
class Found:
    """Verdicts on an older profile whose jobs are there, fit as ever, and have not been sent; and the price."""

    held: tuple[Held, ...] = ()
    most_micros: int = 0  # what it can cost at the most
    last_micros: int = 0  # what the same verdicts cost the last time


async def find(store: Store, user: User, *, price: Price, batch: int) -> Found:
    """Nothing for who wants no verdicts. Raises StoreError."""
    if not user.ai:
        return Found()
    now_is = profile_version(user)
    old = [
        held
        for held in await verdicts.of_user(store, user.uid)
        if held.record.state is VerdictState.DECIDED and held.record.profile_version != now_is
    ]
    if not old:
        return Found()
    sent = await store.get(DELIVERIES, [held.record.id for held in old])
    jobs = await _jobs(store, [held.record.job_id for held in old])
    wanted = [
        (held, jobs[held.record.job_id])
        for held in old
        if held.record.id not in sent and held.record.job_id in jobs and held.record.wake_at is None
    ]
    fitting = [(held, job) for held, job in wanted if isinstance(decide(user, job, now=held.record.created_at), Fit)]
    most = 0
    for start in range(0, len(fitting), batch):
        named = [(f"{n:08}", job) for n, (_, job) in enumerate(fitting[start : start + batch])]
        most += price.at_most(question(user, named)).micros
    return Found(tuple(held for held, _ in fitting), most, sum(held.record.cost_micros for held, _ in fitting))


async def want(store: Store, found: Found, *, now: datetime) -> int:
    """Let the next run ask about them. Returns how many; one that changed meanwhile is left."""
    return len(await verdicts.change(store, [(h, verdicts.wanted_again(h.record, now=now)) for h in found.held]))


async def _jobs(store: Store, job_ids: list[str]) -> dict[str, Job]:
    found: dict[str, Job] = {}
    for id_, snapshot in (await store.get(JOBS, job_ids)).items():
        try:
            found[id_] = decode(Job, snapshot)
        except BadRecord:
            continue
    return found
