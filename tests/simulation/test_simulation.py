"""Seeded simulations, a few of many: `python -m tests.simulation --seeds 1000` runs more, and shrinks what fails."""

from __future__ import annotations

import logging

import pytest
import structlog

from tests.simulation.judge import simulate
from tests.simulation.plan import make

# Seeds that once broke a promise stay here; the rest is breadth.
ONCE_BROKEN: tuple[int, ...] = ()
BREADTH = range(12)


@pytest.fixture(autouse=True)
def quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # killed processes leave their tasks
@pytest.mark.parametrize("seed", [*ONCE_BROKEN, *BREADTH])
def test_whatever_the_order_the_promises_are_kept(seed: int) -> None:
    broken, world = simulate(make(seed))
    assert world.sent, "nothing was mailed: the simulation proves nothing"
    assert broken == [], "\n".join(world.told[-80:])


def test_a_seed_means_the_same_simulation() -> None:
    first, second = (simulate(make(3))[1] for _ in range(2))
    assert first.told == second.told
