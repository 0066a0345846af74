"""Boards on loopback, and fetchers that may reach them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.records import SourceState
from scan.fetch import Fetcher
from tests.boards import Board

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def new_state(now: datetime) -> SourceState:
    """What is remembered of a source that was never polled."""
    return SourceState("board", next_poll_at=now)


@pytest.fixture
def board() -> Iterator[Board]:
    with Board() as board:
        yield board


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(user_agent="Scout tests", allow_loopback=True) as fetcher:
        yield fetcher


@pytest.fixture
def cases() -> Path:
    """The folder of faults from the field; it is not part of this repository."""
    return _shared("cases")


@pytest.fixture
def recordings() -> Path:
    """The folder of recorded answers; it is not part of this repository."""
    return _shared("data")


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"no folder ../shared/{name} beside the repository")
    return folder
