"""The store in memory keeps the port's contract: the same tests as for the real ones, where they need no process."""

from __future__ import annotations

import pytest

from tests.conftest import OpenStore, real_clock

# The suite's own tests, run again with this module's fixtures in place of the real stores.
from tests.contract.test_commit import *  # noqa: F403
from tests.contract.test_counts import *  # noqa: F403
from tests.contract.test_create import *  # noqa: F403
from tests.contract.test_read import *  # noqa: F403
from tests.contract.test_swap import *  # noqa: F403
from tests.contract.test_values import *  # noqa: F403
from tests.simulation.memory import MemoryStore


@pytest.fixture(params=["memory"])
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def open_store() -> OpenStore:
    store = MemoryStore(clock=real_clock)

    async def one(**_: object) -> MemoryStore:
        return store

    return one


@pytest.fixture
async def store(open_store: OpenStore) -> MemoryStore:
    found: MemoryStore = await open_store()
    return found
