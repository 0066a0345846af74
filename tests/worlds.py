"""Fixtures that make worlds; a folder's conftest imports what its tests ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog

from tests.world import World


@pytest.fixture(autouse=True)
def plain_logs() -> None:
    """Log lines as JSON: the default draws a picture of every traceback, which takes longer than most tests."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ]
    )


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A world on a SQLite file."""
    async with World(tmp_path) as made:
        yield made


@pytest.fixture
async def each_world(kind: str, place: str, tmp_path: Path) -> AsyncIterator[World]:
    """A world on each store in turn."""
    async with World(tmp_path, store=store_url(kind, place)) as made:
        yield made


def store_url(kind: str, place: str) -> str:
    """SCOUT_STORE for the fixtures `kind` and `place`."""
    return f"sqlite:///{place}" if kind == "sqlite" else f"firestore://{place}"
