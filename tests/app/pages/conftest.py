from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.app.pages.visits import BASE
from tests.world import World
from tests.worlds import plain_logs

__all__ = ["plain_logs"]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A scout on plain loopback, as a trial has it, with an operator."""
    async with World(tmp_path, SCOUT_BASE_URL=BASE, SCOUT_OPERATOR="ops@example.com") as made:
        yield made
