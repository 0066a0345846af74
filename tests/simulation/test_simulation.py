"""Seeded simulations: 20,000 short ones and a few of four days. `python -m tests.simulation` runs more."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.simulation.judge import shrink, simulate
from tests.simulation.making import make, make_long
from tests.simulation.once_broken import ONCE_BROKEN
from tests.simulation.plan import Plan, as_python
from tests.simulation.running import swiftly

SCHEDULES = int(os.environ.get("SIMULATION_SCHEDULES", "20000"))  # fewer where the same is run again and again
PART = 1000  # in one test; the tests share the cores
TOLD_MAX = 80

# Killed processes leave tasks behind that nobody awaits.
pytestmark = [pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"), pytest.mark.timeout(400)]


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with swiftly():
        yield


@pytest.mark.parametrize("first", range(0, SCHEDULES, PART))
def test_whatever_the_order_and_whatever_fails_the_promises_are_kept(first: int) -> None:
    letters = 0
    for seed in range(first, min(first + PART, SCHEDULES)):
        broken, world = simulate(make(seed))
        letters += len(world.sent)
        if broken:
            pytest.fail(_told(make(seed), broken), pytrace=False)
    assert letters > PART, "hardly anything was mailed: the simulations prove nothing"


@pytest.mark.parametrize("seed", range(6))
def test_four_days_of_troubled_calls_keep_the_promises(seed: int) -> None:
    broken, world = simulate(make_long(seed))
    assert world.sent
    assert broken == [], "\n".join([as_python(make_long(seed)), *world.told[-TOLD_MAX:]])


@pytest.mark.parametrize("plan", ONCE_BROKEN, ids=lambda plan: f"{plan.start}-{plan.seed}")
def test_a_plan_that_once_broke_a_promise_keeps_them_now(plan: Plan) -> None:
    broken, world = simulate(plan)
    assert broken == [], "\n".join(world.told[-TOLD_MAX:])


@pytest.mark.parametrize("planned", [make, make_long])
def test_a_seed_means_the_same_simulation(planned: object) -> None:
    assert callable(planned)
    first, second = (simulate(planned(3), is_loud=True)[1] for _ in range(2))
    assert first.told == second.told
    assert first.steps == second.steps


def _told(plan: Plan, broken: list[str]) -> str:
    small = shrink(plan)
    still, world = simulate(small, is_loud=True)
    return "\n".join([f"seed {plan.seed}: {broken[:3]}", as_python(small), f"{still}", *world.told[-TOLD_MAX:]])
