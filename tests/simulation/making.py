"""Plans out of seeds: short ones, many and close together, and long ones of four days."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.simulation.plan import KIND, Call, Edit, Plan
from tests.simulation.scenes import SCENES

MOODY = (("accepted", 12), ("rejected", 1), ("deferred", 3), ("paused", 1), ("unclear-taken", 2), ("unclear-not", 2))
SULKY = (("accepted", 2), ("deferred", 3), ("paused", 1), ("unclear-taken", 2), ("unclear-not", 1))
ANSWERS = (("answered", 8), ("unclear", 2), ("busy", 1), ("cut", 1), ("declined", 1))
CROWDS = (
    ("instant",), ("instant",), ("daily",), ("weekly",), ("instant", "instant"), ("instant", "instant"),
    ("daily", "instant"), ("daily", "daily"), ("instant", "weekly"), ("instant", "instant", "instant"),
    ("daily", "instant", "instant"), ("daily", "instant", "instant", "weekly"),
)  # fmt: skip
WHATS = (
    "mode:instant", "mode:daily", "mode:weekly", "at:06:30", "at:20:00", "zone:Asia/Tokyo", "zone:America/New_York",
    "pause:9", "pause:1", "stop", "stop", "save", "save", "delete", "back", "back",
)  # fmt: skip
AROUND = ("create locks", "swap locks", "get locks", "commit", "put runs", "swap users", "get users", "poll")
TROUBLES = ("kill-before", "kill-after", "kill-after", "refused", "untold", "lost", "lost")
STOPS_S = (30, 290, 310, 590, 610, 700, 700, 4000)
STOPS = tuple(f"{how} {stop_s}" for how in ("stop", "late") for stop_s in STOPS_S)
LONG_STOPS = frozenset(stop for stop in STOPS if int(stop.split()[1]) > 600)  # longer than the lease
TROUBLES_MAX = 3  # in one run
OPERATIONS_MAX = 50  # of a short run
LEASE_S = 600.0

DAY_S = 86_400.0
LONG_DAYS = 4
LONG_CROWD = ("instant", "instant", "instant", "daily", "daily", "weekly")
LONG_JOBS = 14
LONG_CALLS_A_DAY = 14


def make(seed: int) -> Plan:
    """A short one: a few people and jobs, two to six calls that meet."""
    rng = random.Random(seed)
    start = rng.choice(tuple(SCENES))
    modes = rng.choice(CROWDS)
    at_s = 0.0
    calls: list[Call] = []
    for name in range(rng.randint(2, 5)):
        calls.append(_call(rng, round(at_s, 1), name, around=SCENES[start].around, often=0.55))
        is_long = any(what in LONG_STOPS for _, what in calls[-1].troubles)
        near_s = LEASE_S + rng.uniform(0, 5) if is_long and rng.random() < 0.7 else rng.uniform(0, 400)
        at_s += rng.choice((0.0, rng.uniform(0, 3), rng.uniform(0, 30), near_s, near_s, LEASE_S + 2))
    span_s = at_s + 60.0
    whats = [rng.choice(WHATS) for _ in range(rng.choice((0, 0, 1, 1, 2)))]
    return Plan(
        seed=seed,
        start=start,
        modes=modes,
        jobs=tuple(sorted(rng.choice((0.0, 0.0, round(rng.uniform(0, span_s), 1))) for _ in range(rng.randint(1, 4)))),
        calls=tuple(calls),
        edits=tuple(Edit(round(rng.uniform(0, span_s), 1), rng.randrange(len(modes)), what) for what in whats),
        outcomes=rng.choice((KIND, KIND, MOODY, MOODY, SULKY)),
        answers=rng.choice((ANSWERS, ANSWERS[:1])),
        slow=rng.random() < 0.9,
    )


def make_long(seed: int) -> Plan:
    """Four days of calls all day, sometimes two at once, and people who change their minds."""
    rng = random.Random(seed)
    start = rng.choice(("alerts", "alerts", "verdicts", "twins", "renamed"))
    around = (*SCENES[start].around, *SCENES["retry"].around, *SCENES["digest"].around)
    calls: list[Call] = []
    for number in range(LONG_DAYS * LONG_CALLS_A_DAY):
        at_s = round(number * DAY_S / LONG_CALLS_A_DAY + rng.uniform(0, 1800), 1)
        calls.append(_call(rng, at_s, len(calls), around=around, often=0.4))
        while rng.random() < 0.25:  # a second caller, at once or while the first still runs
            later_s = rng.choice((0.0, rng.uniform(0, 60), rng.uniform(0, 900)))
            calls.append(_call(rng, round(at_s + later_s, 1), len(calls), around=around, often=0.4))
    end_s = LONG_DAYS * DAY_S
    edits = [
        Edit(rng.uniform(0, end_s), rng.randrange(len(LONG_CROWD)), rng.choice(WHATS)) for _ in range(rng.randrange(6))
    ]
    return Plan(
        seed=seed,
        start=start,
        modes=LONG_CROWD,
        jobs=tuple(sorted(round(rng.uniform(0, end_s), 1) for _ in range(LONG_JOBS))),
        calls=tuple(sorted(calls, key=lambda call: call.at_s)),
        edits=tuple(sorted((replace(edit, at_s=round(edit.at_s, 1)) for edit in edits), key=lambda edit: edit.at_s)),
        outcomes=MOODY if rng.random() < 0.7 else KIND,
        answers=ANSWERS,
    )


def _call(rng: random.Random, at_s: float, name: int, *, around: tuple[str, ...], often: float) -> Call:
    troubles: dict[int | str, str] = {}
    while rng.random() < often and len(troubles) < TROUBLES_MAX:
        at = rng.choice((*around, *AROUND)) if rng.random() < 0.7 else rng.randint(1, OPERATIONS_MAX)
        troubles[at] = rng.choice(TROUBLES) if rng.random() < 0.75 else rng.choice(STOPS)
    return Call(at_s, name, tuple(troubles.items()))
