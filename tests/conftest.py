"""The stores that tests run on: real SQLite files, and the real Firestore emulator.

`store` is parametrised over both. `open_store` gives several store objects on the same data, as several
processes would have. Every test has data of its own: a file, or a project.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger.firestore import FirestoreStore
from ledger.sqlite import SqliteStore
from ledger.store import Store
from tests.emulator import find_emulator, shared_emulator
from tests.fault_table import print_faults

Clock = Callable[[], datetime]
OpenStore = Callable[..., Awaitable[Any]]


def real_clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture(scope="session")
def emulator_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of the Firestore emulator, shared by all workers of the session."""
    script = find_emulator()
    if script is None:
        missing = "the Firestore emulator is not installed (google-cloud-cli-firestore-emulator, and Java)"
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(missing)
        pytest.skip(missing)
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own
    with shared_emulator(script, folder) as host:
        yield host


@pytest.fixture
def firestore_project(emulator_host: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project nobody else uses, on the emulator that the environment names from here on."""
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", emulator_host)
    return f"t-{secrets.token_hex(8)}"


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "scout.db"


@pytest.fixture
async def sqlite_store(sqlite_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(sqlite_path, clock=real_clock)
    yield store
    await store.close()


@pytest.fixture
async def firestore_store(firestore_project: str) -> AsyncIterator[FirestoreStore]:
    store = FirestoreStore(firestore_project)
    yield store
    await store.close()


@pytest.fixture(params=["sqlite", "firestore"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which store this test runs on."""
    name: str = request.param
    return name


@pytest.fixture
def place(kind: str, request: pytest.FixtureRequest) -> str:
    """Where the test's data is: a path, or a project's id."""
    return str(request.getfixturevalue("sqlite_path" if kind == "sqlite" else "firestore_project"))


@pytest.fixture
async def open_store(kind: str, place: str) -> AsyncIterator[OpenStore]:
    """`await open_store(clock=...)`: another store object on the test's data. All are closed at the end."""
    opened: list[Store] = []

    async def one(*, clock: Clock = real_clock) -> Store:
        store = SqliteStore(place, clock=clock) if kind == "sqlite" else FirestoreStore(place)
        opened.append(store)
        return store

    yield one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_store: OpenStore) -> Any:
    """A store of each kind, empty."""
    return await open_store()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    print_faults(terminalreporter)
