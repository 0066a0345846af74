"""The same faults from a server that somebody else wrote: Postfix's `smtp-sink`."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.lifecycle import Outcome
from mail.transports.smtp import SmtpTransport
from tests.mail.samples import letter
from tests.sinks import HOST, refused_port

BINARY = shutil.which("smtp-sink", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(BINARY is None, reason="smtp-sink (Debian package postfix) is not installed")

START_MAX_S = 60.0
Start = Callable[..., int]


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[Start]:
    """Starts smtp-sink with these options; returns its port. Every complete letter becomes a file."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*options: str) -> int:
        port = refused_port()
        who = ["-u", "root"] if os.getuid() == 0 else []
        command = [str(BINARY), *who, *options, "-d", f"{tmp_path}/letter.", f"inet:{HOST}:{port}", "64"]
        started.append(subprocess.Popen(command, start_new_session=True, cwd=tmp_path, stderr=subprocess.PIPE))
        until = time.monotonic() + START_MAX_S
        while time.monotonic() < until:
            if started[-1].poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex((HOST, port)) == 0:
                    return port
            time.sleep(0.01)
        assert started[-1].stderr is not None
        pytest.fail(f"smtp-sink did not start: {started[-1].stderr.read()!r}")

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def bodies(tmp_path: Path) -> int:
    """smtp-sink ends a file that it keeps with the last line of the body."""
    return sum(b"</html>" in kept(file) for file in tmp_path.glob("letter.*"))


def kept(file: Path) -> bytes:
    """Nothing of a letter that was not completed: smtp-sink removes its file, maybe at this moment."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


FAULTS = [
    ((), Outcome.ACCEPTED, 1),
    (("-f", "CONNECT"), Outcome.PAUSED, 0),
    (("-r", "CONNECT"), Outcome.DEFERRED, 0),
    (("-q", "CONNECT"), Outcome.DEFERRED, 0),
    (("-f", "EHLO,HELO"), Outcome.PAUSED, 0),
    (("-r", "EHLO,HELO"), Outcome.DEFERRED, 0),
    (("-f", "MAIL"), Outcome.PAUSED, 0),
    (("-r", "MAIL"), Outcome.DEFERRED, 0),
    (("-q", "MAIL"), Outcome.DEFERRED, 0),
    (("-Q", "MAIL"), Outcome.DEFERRED, 0),
    (("-f", "RCPT"), Outcome.REJECTED, 0),
    (("-r", "RCPT"), Outcome.DEFERRED, 0),
    (("-q", "RCPT"), Outcome.DEFERRED, 0),
    (("-f", "DATA"), Outcome.REJECTED, 0),
    (("-r", "DATA"), Outcome.DEFERRED, 0),
    (("-q", "DATA"), Outcome.DEFERRED, 0),
    (("-f", "."), Outcome.REJECTED, None),
    (("-r", "."), Outcome.DEFERRED, None),
    (("-q", "."), Outcome.UNCLEAR, None),
    (("-Q", "."), Outcome.DEFERRED, None),
    (("-f", "QUIT"), Outcome.ACCEPTED, 1),
    (("-q", "QUIT"), Outcome.ACCEPTED, 1),
    (("-W", ".:3"), Outcome.UNCLEAR, None),
    (("-W", "RCPT:3"), Outcome.DEFERRED, 0),
]


@pytest.mark.parametrize(("options", "outcome", "kept"), FAULTS, ids=[" ".join(f[0]) or "none" for f in FAULTS])
async def test_a_fault_in_any_phase_has_the_outcome_of_the_table(
    sink: Start, tmp_path: Path, options: tuple[str, ...], outcome: Outcome, kept: int | None
) -> None:
    slow = "-W" in options
    deadline_s = 1.5 if slow else 15.0
    transport = SmtpTransport(HOST, sink(*options), deadline_s=deadline_s, dot_deadline_s=deadline_s)
    result = await transport.send(letter())
    await transport.close()
    assert result.outcome is outcome, result.reason
    if kept is not None:  # whether a refused or interrupted letter is kept as a file is smtp-sink's own affair
        assert bodies(tmp_path) == kept
    assert bodies(tmp_path) <= 1


async def test_a_refusal_in_the_middle_of_the_body_is_seen_or_in_doubt(sink: Start, tmp_path: Path) -> None:
    transport = SmtpTransport(HOST, sink("-A", "0"))
    result = await transport.send(letter())
    await transport.close()
    assert result.outcome in (Outcome.REJECTED, Outcome.UNCLEAR)  # its reset may overtake its answer
    assert bodies(tmp_path) == 0


async def test_letters_share_a_connection_with_a_server_that_somebody_else_wrote(sink: Start, tmp_path: Path) -> None:
    transport = SmtpTransport(HOST, sink())
    outcomes = [(await transport.send(letter(number=n))).outcome for n in range(5)]
    await transport.close()
    assert outcomes == [Outcome.ACCEPTED] * 5
    assert bodies(tmp_path) == 5
