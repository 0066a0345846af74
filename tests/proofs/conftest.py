"""Many stores for one proof: each schedule starts from an empty one."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from ledger.firestore import FirestoreStore
from ledger.sqlite import SqliteStore
from ledger.store import Store
from tests.conftest import real_clock


@pytest.fixture
async def new_store(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Callable[[], Awaitable[Store]]]:
    """`await new_store()`: an empty store of the test's kind. All but the newest are closed on the way."""
    opened: list[Store] = []
    if kind == "firestore":
        request.getfixturevalue("firestore_project")

    async def one() -> Store:
        while opened:
            await opened.pop().close()
        name = f"t-{secrets.token_hex(8)}"
        opened.append(FirestoreStore(name) if kind == "firestore" else SqliteStore(tmp_path / name, clock=real_clock))
        return opened[-1]

    yield one
    while opened:
        await opened.pop().close()
