"""A Maildir instead of a mail server: the default, for trials and for people who read it with a mail program.

A letter is written to `tmp/`, synced, and renamed into `new/`: the rename is the acceptance. A repeat of a
letter is a second file, because it is a second letter that left the building.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ledger.lifecycle import Attempt, Outcome
from mail.envelope import Unsendable, as_bytes, not_sent
from mail.letter import Letter
from mail.transports.port import Check

WRITERS_MAX = 8
DEADLINE_S = 10.0

# Trying again changes nothing until somebody makes room or gives permission.
_OPERATORS_FAULT = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ENAMETOOLONG,
    }
)


class OutboxTransport:
    """Writes letters into the Maildir at `path`, which is made at the first letter."""

    def __init__(self, path: Path, *, deadline_s: float = DEADLINE_S) -> None:
        self._path = path
        self._deadline_s = deadline_s
        self._counter = itertools.count(1)
        self._writers = ThreadPoolExecutor(WRITERS_MAX, thread_name_prefix="outbox")

    @property
    def name(self) -> str:
        return "outbox"

    def longest_s(self, at_most_s: float) -> float:
        return min(self._deadline_s, at_most_s)

    @property
    def smtputf8(self) -> bool:
        return True

    async def send(self, letter: Letter, *, at_most_s: float = math.inf) -> Attempt:
        """ACCEPTED with the file's name as receipt. DEFERRED or PAUSED if it failed before the rename."""
        try:
            data = as_bytes(letter).replace(b"\r\n", b"\n")  # as mail programs expect it in a Maildir
        except Unsendable as error:
            return not_sent(error)
        # The id first, so that a listing groups the letters; then what makes this attempt a file of its own.
        name = f"{letter.outside_id}.{time.time_ns()}.{os.getpid()}_{next(self._counter)}"
        writing = asyncio.get_running_loop().run_in_executor(self._writers, _deliver, self._path, name, data)
        try:
            return await asyncio.wait_for(writing, self.longest_s(at_most_s))
        except TimeoutError:
            return Attempt(Outcome.UNCLEAR, "the outbox did not answer in time")

    async def check(self, *, at_most_s: float) -> Check:
        """Whether a letter could be written, by writing and removing an empty file."""
        checking = asyncio.get_running_loop().run_in_executor(self._writers, _try, self._path)
        try:
            return await asyncio.wait_for(checking, self.longest_s(at_most_s))
        except TimeoutError:
            return Check(False, "the folder did not answer in time")

    async def close(self) -> None:
        await asyncio.to_thread(self._writers.shutdown)


def _deliver(path: Path, name: str, data: bytes) -> Attempt:
    temporary = path / "tmp" / name
    try:
        _make_maildir(path)
        _write_synced(temporary, data)
        temporary.rename(path / "new" / name)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        outcome = Outcome.PAUSED if error.errno in _OPERATORS_FAULT else Outcome.DEFERRED
        return Attempt(
            outcome, f"the outbox {path.absolute()} cannot be written: {os.strerror(error.errno or errno.EIO)}"
        )
    try:
        _sync_directory(path / "new")
    except OSError as error:
        # It stands there, but a power cut may still take it away.
        return Attempt(Outcome.UNCLEAR, f"the outbox cannot be synced: {os.strerror(error.errno or errno.EIO)}")
    return Attempt(Outcome.ACCEPTED, receipt=name)


def _try(path: Path) -> Check:
    trial = path / "tmp" / f"trial.{time.time_ns()}.{os.getpid()}"
    try:
        _make_maildir(path)
        _write_synced(trial, b"")
        trial.unlink()
    except OSError as error:
        why = os.strerror(error.errno or errno.EIO)
        return Check(
            False, f"{path.absolute()} cannot be written: {why}", "give it room and permission, or name another"
        )
    return Check(True, f"letters go to {path}")


def _make_maildir(path: Path) -> None:
    if (path / "new").is_dir() and (path / "tmp").is_dir():
        return
    for part in ("tmp", "new", "cur"):
        (path / part).mkdir(mode=0o700, parents=True, exist_ok=True)
    _sync_directory(path)


def _write_synced(file: Path, data: bytes) -> None:
    """A file that nobody else has and only the owner can read; raises OSError."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(handle)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
