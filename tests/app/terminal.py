"""The real `scout` as a process of its own, and its commands in this one."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SCOUT = Path(sys.executable).with_name("scout")
DONE_MAX_S = 60


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`scout ...` in this folder, with this environment and no other; nobody at the keyboard."""
    command = [str(SCOUT), *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=environ(env),
        capture_output=True,
        text=True,
        timeout=DONE_MAX_S,
        stdin=subprocess.DEVNULL,
    )


@contextlib.contextmanager
def started(folder: Path, *arguments: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    """The same, while it runs; it is ended with the block, if it has not by itself."""
    with (
        (folder / "stderr").open("w") as errors,
        subprocess.Popen(
            [SCOUT, *arguments],
            cwd=folder,
            env=environ(env),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def on_a_terminal(folder: Path, *arguments: str, **env: str) -> str:
    """What a person sees: both streams, on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [SCOUT, *arguments],
        cwd=folder,
        env=environ(env) | {"TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # EIO: the other side is closed
            while part := os.read(ours, 65536):
                seen += part
        os.close(ours)
        assert process.wait(DONE_MAX_S) == 0, seen.decode()
    return seen.decode()


def environ(env: dict[str, str]) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **env}
