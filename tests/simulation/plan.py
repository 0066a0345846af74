"""What happens in one simulation, made from a seed before it begins: so that a failing one can be made smaller."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ledger.records import Mode

DAY_S = 86_400.0
DAYS = 4
PEOPLE = 6
JOBS = 14
CALLS_A_DAY = 14


@dataclass(frozen=True, slots=True)
class Call:
    """Somebody calls /cron at `at_s`. Faults are by the number of the effect: from 1, in this run."""

    at_s: float
    kill_at: int | None = None
    faults: tuple[tuple[int, str], ...] = ()  # effect -> "refused" (not done, raises) or "lost" (done, told otherwise)
    stop_at: int | None = None  # suspended before this effect, for `stop_s`
    stop_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Edit:
    """A person changes something."""

    at_s: float
    person: int
    what: str  # "mode:daily", "at:20:00", "zone:...", "pause:hours", "stop", "save", "delete"


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    modes: tuple[Mode, ...]
    jobs: tuple[float, ...]  # when each appears on the board
    calls: tuple[Call, ...]
    edits: tuple[Edit, ...] = ()
    outcomes: tuple[tuple[str, int], ...] = ()  # what the provider does, and its weight
    slow: bool = field(default=True)  # whether the store and the provider take their time

    @property
    def size(self) -> int:
        return len(self.calls) + len(self.edits) + len(self.jobs) + sum(len(call.faults) for call in self.calls)


KIND = (("accepted", 12), ("rejected", 1), ("deferred", 3), ("paused", 1), ("unclear-taken", 2), ("unclear-not", 2))
WHATS = (
    "mode:instant", "mode:daily", "mode:weekly", "at:06:30", "at:20:00", "zone:Asia/Tokyo", "zone:America/New_York",
    "pause:9", "stop", "save", "save", "delete",
)  # fmt: skip


def make(seed: int) -> Plan:
    rng = random.Random(seed)
    calls: list[Call] = []
    for number in range(DAYS * CALLS_A_DAY):
        at_s = number * DAY_S / CALLS_A_DAY + rng.uniform(0, 1800)
        calls.append(_call(rng, at_s))
        while rng.random() < 0.25:  # a second caller, at once or while the first still runs
            calls.append(_call(rng, at_s + rng.choice((0.0, rng.uniform(0, 60), rng.uniform(0, 900)))))
    edits = [
        Edit(rng.uniform(0, DAYS * DAY_S), rng.randrange(PEOPLE), rng.choice(WHATS)) for _ in range(rng.randrange(6))
    ]
    return Plan(
        seed=seed,
        modes=tuple(rng.choice(list(Mode)) for _ in range(PEOPLE)),
        jobs=tuple(sorted(rng.uniform(0, DAYS * DAY_S) for _ in range(JOBS))),
        calls=tuple(sorted(calls, key=lambda call: call.at_s)),
        edits=tuple(sorted(edits, key=lambda edit: edit.at_s)),
        outcomes=KIND if rng.random() < 0.7 else (("accepted", 1),),
    )


def _call(rng: random.Random, at_s: float) -> Call:
    call = Call(at_s)
    if rng.random() < 0.3:
        call = replace(call, kill_at=rng.randint(1, 45))
    if rng.random() < 0.3:
        faults = {rng.randint(1, 45): rng.choice(("refused", "lost", "lost")) for _ in range(rng.randint(1, 4))}
        call = replace(call, faults=tuple(sorted(faults.items())))
    if rng.random() < 0.15:
        call = replace(call, stop_at=rng.randint(1, 40), stop_s=rng.choice((30.0, 290.0, 700.0, 4000.0)))
    return call


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with one thing less, the big cuts first."""
    for name in ("calls", "edits", "jobs"):
        items = getattr(plan, name)
        size = len(items) // 2
        while size:
            for start in range(0, len(items), size):
                yield replace(plan, **{name: items[:start] + items[start + size :]})
            size //= 2
    for number, call in enumerate(plan.calls):
        for less in (replace(call, kill_at=None), replace(call, faults=()), replace(call, stop_at=None)):
            if less != call:
                yield replace(plan, calls=(*plan.calls[:number], less, *plan.calls[number + 1 :]))
    if plan.outcomes != (("accepted", 1),):
        yield replace(plan, outcomes=(("accepted", 1),))
