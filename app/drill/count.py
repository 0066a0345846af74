"""Count the mail that left the building, per person and job, and hold it against the promise."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.drill.sink import REJECTION, Taken
from app.drill.stage import Stage
from ledger.collections import DELIVERIES, DIGESTS, INDEXES, LOCKS, RUNS, USERS
from ledger.documents import decode
from ledger.ids import address_of, split_pair
from ledger.lifecycle import State
from ledger.records import Delivery, Mode
from ledger.store import Store, every


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken, and what was seen of it."""

    promise: str
    what: str
    who: str = ""
    job: int | None = None


@dataclass
class Verdict:
    """One drill's end: its figures, in the order to be told, and the promises it broke."""

    name: str
    figures: dict[str, Any] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    timeline: list[tuple[float, str]] = field(default_factory=list)
    took_s: float = 0.0

    @property
    def is_kept(self) -> bool:
        return not self.violations

    def broke(self, promise: str, what: str, *, who: str = "", job: int | None = None) -> None:
        self.violations.append(Violation(promise, what, who, job))


async def count(stage: Stage, verdict: Verdict, *, kills: int = 0) -> None:
    """Every fit, once everything has settled.

    A copy of a digest is explained by an earlier one whose answer was lost on the way, or by one of the `kills`
    (or suspensions) of a process with that digest in flight: at most one copy of each digest a kill.
    """
    digest_ids = {s.data["outside"] async for s in every(stage.store, DIGESTS, {})}
    alerts: dict[tuple[str, int], list[Taken]] = defaultdict(list)
    digests: dict[tuple[str, int], list[Taken]] = defaultdict(list)
    for letter in stage.sink.letters:
        kind = digests if letter.outside in digest_ids else alerts
        for job in letter.jobs:
            kind[letter.to, job].append(letter)
    rows = await _rows(stage)
    for (who, job), letters in sorted(alerts.items()):
        if len(letters) > 1:
            verdict.broke("alerts never twice", f"came {len(letters)} times", who=who, job=job)
        if (who, job) in digests:
            verdict.broke("alerts never twice", "came as an alert and in a digest", who=who, job=job)
    stopped = {s.data["address"] async for s in every(stage.store, USERS, {"active": False})}
    if stopped and not stage.sink.rejected:
        verdict.broke("nobody is starved", f"{len(stopped)} people were stopped though no letter was rejected")
    for who, job in sorted(stage.fits()):
        if who not in stopped:
            _account(verdict, stage, rows.get((who, job)), alerts, digests, (who, job))
    repeated = _copies(stage, verdict, digest_ids, kills=kills)
    for (who, job), answers in sorted(stage.model.answered.items()):
        if answers - 1 > kills:
            verdict.broke("no verdict is paid twice", f"{answers} good answers, {kills} kills", who=who, job=job)
    states = Counter(row.state for row in rows.values())
    waiting = states[State.QUEUED] + states[State.CLAIMED]
    if waiting:
        verdict.broke("the equation", f"{waiting} rows are still waiting though everything has settled")
    verdict.figures |= {
        "people": len(stage.people),
        "fits": len(stage.fits()),
        "letters": len(stage.sink.letters),
        "alerts twice": sum(len(letters) > 1 for letters in alerts.values()),
        "unclear, listed": states[State.UNCLEAR],
        "digest copies": repeated,
        "model calls": stage.model.calls,
        "stopped people": len(stopped),
        "rows": " + ".join(f"{states[s]} {s}" for s in State if states[s]) or "0",
    }


def _copies(stage: Stage, verdict: Verdict, digest_ids: set[str], *, kills: int) -> int:
    """How many copies of digests went out; those that nothing explains are violations."""
    sent: dict[str, list[Taken]] = defaultdict(list)
    for letter in stage.sink.letters:
        if letter.outside in digest_ids:
            sent[letter.outside].append(letter)
    repeated = 0
    for copies in sent.values():
        repeated += len(copies) - 1
        certain = sum(copy.how == "accept" for copy in copies[:-1])
        if certain > kills:
            what = f"{certain} copies after one that was accepted and answered, {kills} kills"
            verdict.broke("digests repeat only where nobody could tell", what, who=copies[0].to)
    return repeated


def _account(
    verdict: Verdict,
    stage: Stage,
    row: Delivery | None,
    alerts: dict[tuple[str, int], list[Taken]],
    digests: dict[tuple[str, int], list[Taken]],
    pair: tuple[str, int],
) -> None:
    who, job = pair
    came = len(alerts[pair]) + len(digests[pair]) if pair in alerts or pair in digests else 0
    if row is None:
        verdict.broke("nobody is starved", "a fit has no row in the ledger", who=who, job=job)
    elif came or (row.state is State.FAILED and stage.sink.rejected and REJECTION in row.why):
        return
    elif row.state not in (State.UNCLEAR, State.FAILED, State.EXPIRED):
        is_digest = stage.people[who] is not Mode.INSTANT
        promise = "digest rows are never lost" if is_digest else "alerts are lost only where listed as unclear"
        verdict.broke(promise, f"never came, and its row says {row.state}", who=who, job=job)
    elif stage.people[who] is not Mode.INSTANT:
        verdict.broke("digest rows are never lost", f"never came: {row.state}, {row.why}", who=who, job=job)
    elif row.state is not State.UNCLEAR:
        verdict.broke("nobody is starved", f"{row.state}: {row.why}", who=who, job=job)


async def _rows(stage: Stage) -> dict[tuple[str, int], Delivery]:
    found: dict[tuple[str, int], Delivery] = {}
    async for snapshot in every(stage.store, DELIVERIES, {}):
        row = decode(Delivery, snapshot)
        found[address_of(split_pair(snapshot.id)[0]), int(row.link.rsplit("/", 1)[-1])] = row
    return found


async def state_of(store: Store) -> str:
    """A digest of the whole store, run log and lock aside: equal before and after means that nothing changed."""
    whole = hashlib.sha256()
    for collection in sorted(set(INDEXES) - {LOCKS, RUNS}):
        async for snapshot in every(store, collection, {}):
            plain = json.dumps([collection, snapshot.id, snapshot.data], sort_keys=True, default=_plain)
            whole.update(plain.encode())
    return whole.hexdigest()


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else repr(value)
