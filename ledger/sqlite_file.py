"""One SQLite file: a thread with a connection that writes, another that reads.

Writes that wait together share one transaction and so one fsync; each caller hears of its own only after the
commit is durable. Safe for many tasks, several event loops and several processes on one file.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from ledger.sqlite_text import schema_version
from ledger.store import Refused, StoreError, Unreachable

GROUP_MAX_CALLS = 256  # how many waiting writes share a transaction
BUSY_TIMEOUT_S = 10.0  # how long a write waits for another process
OPEN_TRIES_MAX = 100  # the switch to WAL does not wait for a busy file; several processes start at once
OPEN_PAUSE_S = 0.05
_HINTS = {errno.ENOENT: "does its folder exist?", errno.EISDIR: "name a file in it"}

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Undo(Exception):
    """Raised by a write to take itself back, and nothing else; `answer` is then its result."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


class SqliteFile:
    def __init__(self, path: Path, schema: Sequence[str]) -> None:
        self._path = path
        self._schema = schema
        self._connections: dict[str, sqlite3.Connection] = {}
        self._waiting: deque[tuple[Work[Any], Future[Any]]] = deque()
        self._readers = ThreadPoolExecutor(1, thread_name_prefix="scout-sqlite-read")
        self._writers = ThreadPoolExecutor(1, thread_name_prefix="scout-sqlite-write")

    async def read(self, work: Work[T]) -> T:
        """The result of `work` on a connection that sees every commit before it. Raises StoreError."""
        return await asyncio.wrap_future(self._readers.submit(self._read, work))

    async def write(self, work: Work[T]) -> T:
        """The result of `work` once it is durable. Its exceptions undo it alone. Raises StoreError."""
        future: Future[T] = Future()
        self._waiting.append((work, future))
        self._writers.submit(self._drain)
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Finish what was begun, then give back the threads and the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._readers.shutdown()
        self._writers.shutdown()
        while self._connections:
            self._connections.popitem()[1].close()

    def _read(self, work: Work[T]) -> T:
        try:
            return work(self._connection("read"))
        except sqlite3.Error as error:
            raise _as_store_error(error, self._path) from error

    def _drain(self) -> None:
        group: list[tuple[Work[Any], Future[Any]]] = []
        while self._waiting and len(group) < GROUP_MAX_CALLS:
            work, future = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                group.append((work, future))
        if not group:
            return  # an earlier drain took the write that this one was asked for
        try:
            answers = _transaction(self._connection("write"), [work for work, _ in group])
        except Exception as error:  # each caller is told: this is where the outcome is recorded
            told = _as_store_error(error, self._path) if isinstance(error, sqlite3.Error) else error
            for _, future in group:
                future.set_exception(told)
            return
        for (_, future), (answer, failure) in zip(group, answers, strict=True):
            if failure is None:
                future.set_result(answer)
            else:
                future.set_exception(
                    _as_store_error(failure, self._path) if isinstance(failure, sqlite3.Error) else failure
                )

    def _connection(self, role: str) -> sqlite3.Connection:
        connection = self._connections.get(role)
        if connection is None:
            connection = self._connections[role] = _open(self._path, self._schema)
        return connection


def _transaction(connection: sqlite3.Connection, works: Sequence[Work[Any]]) -> list[tuple[Any, Exception | None]]:
    """All works in one durable transaction, each behind its own savepoint. Raises when none took effect."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        answers = [_apart(connection, work) for work in works]
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return answers


def _apart(connection: sqlite3.Connection, work: Work[Any]) -> tuple[Any, Exception | None]:
    connection.execute("SAVEPOINT one")
    answer, failure = None, None
    try:
        answer = work(connection)
    except Undo as undo:
        connection.execute("ROLLBACK TO one")
        answer = undo.answer
    except Exception as error:  # handed to the caller it belongs to; the others go on
        connection.execute("ROLLBACK TO one")
        failure = error
    connection.execute("RELEASE one")
    return answer, failure


def _open(path: Path, schema: Sequence[str]) -> sqlite3.Connection:
    try:
        # The file holds addresses: readable by its owner only. SQLite gives its side files the same mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        hint = _HINTS.get(error.errno or 0, "may this user write it?")
        raise Unreachable(f"cannot open {path.absolute()}: {error.strerror}; {hint}") from error
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        _into_wal(connection, path)
        connection.execute("PRAGMA synchronous=FULL")
        _make_schema(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _into_wal(connection: sqlite3.Connection, path: Path) -> None:
    for attempt in range(OPEN_TRIES_MAX):
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == OPEN_TRIES_MAX - 1:
                raise
            time.sleep(OPEN_PAUSE_S)
            continue
        if mode != "wal":
            raise Refused(f"{path.absolute()} cannot use a write-ahead log (is it on a network drive?)")
        return


def _make_schema(connection: sqlite3.Connection, schema: Sequence[str]) -> None:
    version = schema_version(schema)
    if connection.execute("PRAGMA user_version").fetchone()[0] == version:
        return
    connection.execute("BEGIN IMMEDIATE")
    for statement in schema:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version={version}")
    connection.execute("COMMIT")


def _as_store_error(error: sqlite3.Error, path: Path) -> StoreError:
    text, path = str(error), path.absolute()
    if isinstance(error, sqlite3.OperationalError) and ("locked" in text or "busy" in text):
        return Unreachable(f"{path} was busy for {BUSY_TIMEOUT_S:g} s: {text}")
    if isinstance(error, sqlite3.OperationalError) and ("unable to open" in text or "disk I/O" in text):
        return Unreachable(f"{path} cannot be read or written: {text}")
    return Refused(f"{path} refused: {text}")
