"""What every store owes: a failure is raised, within seconds, and is never an empty answer."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.firestore import FirestoreStore
from ledger.sqlite import SqliteStore
from ledger.store import Create, Refused, Store, StoreError, Unreachable
from tests.conftest import real_clock
from tests.emulator import free_port

T0 = datetime(2026, 11, 30, 8, tzinfo=UTC)
PATIENCE_S = 20

CALLS: dict[str, Callable[[Store], Awaitable[object]]] = {
    "create": lambda store: store.create("jobs", {"a": {"n": 1}}),
    "swap": lambda store: store.swap("jobs", {"a": ("1.000000000", {"n": 1})}),
    "get": lambda store: store.get("jobs", ["a"]),
    "find": lambda store: store.find("jobs", {"state": "open"}),
    "find_range": lambda store: store.find_range("jobs", "fresh_at", at_most=T0),
    "put": lambda store: store.put("jobs", {"a": {"n": 1}}),
    "delete": lambda store: store.delete("jobs", ["a"]),
    "commit": lambda store: store.commit([Create("jobs", "a", {"n": 1})]),
    "ping": lambda store: store.ping(),
}


async def failures(store: Store, expected: type[StoreError]) -> dict[str, str]:
    """What each call said, after all were made at once."""
    async with asyncio.timeout(PATIENCE_S):
        ended = await asyncio.gather(*[call(store) for call in CALLS.values()], return_exceptions=True)
        await store.close()
    assert {name: type(end) for name, end in zip(CALLS, ended, strict=True)} == dict.fromkeys(CALLS, expected)
    return {name: str(end) for name, end in zip(CALLS, ended, strict=True)}


async def test_a_firestore_that_nobody_answers_for_is_unreachable_within_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", host)
    said = await failures(FirestoreStore("nowhere"), Unreachable)
    hint = f"is an emulator running at {host} (FIRESTORE_EMULATOR_HOST)?"
    assert set(said.values()) == {f"Firestore, project nowhere: UNAVAILABLE; {hint}"}


async def test_a_firestore_that_takes_the_call_and_never_answers_is_unreachable_within_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ledger.firestore_rpc.TRY_TIMEOUT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel connects, nobody reads
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", f"127.0.0.1:{silent.getsockname()[1]}")
        said = await failures(FirestoreStore("silent"), Unreachable)
    codes = {text.partition(";")[0] for text in said.values()}
    assert codes <= {f"Firestore, project silent: {code}" for code in ("DEADLINE_EXCEEDED", "UNAVAILABLE")}


def test_the_tries_of_one_firestore_call_end_within_twelve_seconds() -> None:
    from ledger import firestore_rpc

    assert firestore_rpc.TOTAL_TIMEOUT_S <= 12
    assert len(firestore_rpc.PAUSES_S) == firestore_rpc.TRIES_MAX - 1


async def test_a_file_in_a_missing_folder_is_unreachable_and_says_where(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "scout.db"
    said = await failures(SqliteStore(path, clock=real_clock), Unreachable)
    assert {str(path) in text and "does its folder exist?" in text for text in said.values()} == {True}
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOENT, "does its folder exist?"),
        (errno.EACCES, "may this user write it?"),
        (errno.EROFS, "may this user write it?"),
        (errno.EISDIR, "name a file in it"),
    ],
)
async def test_a_file_that_cannot_be_opened_is_named_in_full_with_a_hint_that_fits(
    number: int, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_arguments: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ledger.sqlite_file.os.open", refused)
    store = SqliteStore(Path("scout.db"), clock=real_clock)
    with pytest.raises(Unreachable) as caught:
        await store.ping()
    monkeypatch.undo()
    assert str(caught.value) == f"cannot open {tmp_path / 'scout.db'}: {os.strerror(number)}; {hint}"
    await store.close()


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, this is no database. " * 100)
    before = path.read_bytes()
    said = await failures(SqliteStore(path, clock=real_clock), Refused)
    assert {"not a database" in text for text in said.values()} == {True}
    assert path.read_bytes() == before


async def test_a_file_that_another_process_keeps_locked_is_unreachable(
    sqlite_store: SqliteStore, sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.sqlite_file.BUSY_TIMEOUT_S", 0.1)
    await sqlite_store.create("jobs", {"a": {"n": 1}})
    with closing(sqlite3.connect(sqlite_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unreachable, match="busy"):
            await sqlite_store.create("jobs", {"b": {"n": 1}})
        assert set(await sqlite_store.get("jobs", ["a", "b"])) == {"a"}  # reading goes on
        other.execute("ROLLBACK")
    assert set(await sqlite_store.create("jobs", {"b": {"n": 1}})) == {"b"}


async def test_a_read_that_fails_raises_and_is_never_empty(sqlite_store: SqliteStore, sqlite_path: Path) -> None:
    await sqlite_store.create("jobs", {"a": {"state": "open"}})
    with closing(sqlite3.connect(sqlite_path)) as other:
        other.execute("DROP TABLE jobs")
    for read in ("get", "find", "find_range"):
        with pytest.raises(Refused, match="no such table"):
            await CALLS[read](sqlite_store)


async def test_a_store_that_was_away_at_first_works_once_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "later" / "scout.db"
    store = SqliteStore(path, clock=real_clock)
    with pytest.raises(Unreachable):
        await store.ping()
    path.parent.mkdir()
    assert set(await store.create("jobs", {"a": {"n": 1}})) == {"a"}
    await store.close()
