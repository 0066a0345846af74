from __future__ import annotations

import asyncio
import errno
import mailbox
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.lifecycle import Outcome
from mail.transports.outbox import OutboxTransport
from tests.mail.samples import letter


def files(path: Path, part: str = "new") -> list[str]:
    return sorted(os.listdir(path / part))


@pytest.fixture
async def outbox(tmp_path: Path):
    transport = OutboxTransport(tmp_path / "outbox")
    yield transport
    await transport.close()


async def test_a_letter_is_a_file_that_a_mail_program_reads(outbox: OutboxTransport, tmp_path: Path) -> None:
    one = letter(title="Développeur")
    attempt = await outbox.send(one)
    assert attempt.outcome is Outcome.ACCEPTED
    assert files(tmp_path / "outbox") == [attempt.receipt]
    (message,) = mailbox.Maildir(tmp_path / "outbox", create=False)
    assert message["To"] == "ann@example.com"
    assert message["Message-ID"] == f"<{one.outside_id}@scout.example.com>"
    assert files(tmp_path / "outbox", "tmp") == []
    assert (tmp_path / "outbox" / "cur").is_dir()


async def test_a_repeat_is_a_second_file_beside_the_first(outbox: OutboxTransport, tmp_path: Path) -> None:
    one, other = letter(number=1), letter(number=2)
    for each in (one, other, one):
        assert (await outbox.send(each)).outcome is Outcome.ACCEPTED
    names = files(tmp_path / "outbox")
    assert len(names) == 3
    assert sum(name.startswith(one.outside_id) for name in names) == 2


async def test_only_the_owner_can_read_it(outbox: OutboxTransport, tmp_path: Path) -> None:
    attempt = await outbox.send(letter())
    assert attempt.receipt is not None
    assert (tmp_path / "outbox" / "new" / attempt.receipt).stat().st_mode & 0o777 == 0o600


async def test_many_at_once_are_as_many_files(outbox: OutboxTransport, tmp_path: Path) -> None:
    attempts = await asyncio.gather(*(outbox.send(letter(number=n)) for n in range(200)))
    assert {a.outcome for a in attempts} == {Outcome.ACCEPTED}
    assert len(files(tmp_path / "outbox")) == 200


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (errno.ENOSPC, Outcome.PAUSED),
        (errno.EDQUOT, Outcome.PAUSED),
        (errno.EACCES, Outcome.PAUSED),
        (errno.EROFS, Outcome.PAUSED),
        (errno.EIO, Outcome.DEFERRED),
        (errno.EMFILE, Outcome.DEFERRED),
    ],
)
@pytest.mark.parametrize("call", ["fsync", "rename"])
async def test_a_failure_before_the_rename_leaves_no_letter_and_says_who_must_act(
    outbox: OutboxTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, outcome: Outcome
) -> None:
    assert (await outbox.send(letter(number=1))).outcome is Outcome.ACCEPTED

    def failing(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, failing)
    attempt = await outbox.send(letter(number=2))
    monkeypatch.undo()
    assert attempt.outcome is outcome
    assert os.strerror(code) in attempt.reason
    assert "@" not in attempt.reason
    assert len(files(tmp_path / "outbox")) == 1
    assert files(tmp_path / "outbox", "tmp") == []


async def test_a_path_that_cannot_be_a_folder_is_the_operators_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    transport = OutboxTransport(tmp_path / "file" / "outbox")
    attempt = await transport.send(letter())
    assert attempt.outcome is Outcome.PAUSED
    assert str(tmp_path / "file" / "outbox") in attempt.reason
    await transport.close()


async def test_an_address_that_is_none_is_rejected_and_writes_nothing(outbox: OutboxTransport, tmp_path: Path) -> None:
    attempt = await outbox.send(replace(letter(), to="ann@example.com, eve@example.com"))
    assert attempt.outcome is Outcome.REJECTED
    assert not (tmp_path / "outbox").exists()


KILLED = """
    import asyncio, os, pathlib, signal, sys
    from mail.transports.outbox import OutboxTransport
    from tests.mail.samples import letter

    real = getattr(os, sys.argv[2])
    calls = 0

    def dies(*args, **kwargs):
        global calls
        calls += 1
        if calls == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)

    async def main():
        transport = OutboxTransport(pathlib.Path(sys.argv[1]))
        setattr(os, sys.argv[2], dies)
        await transport.send(letter())

    asyncio.run(main())
"""


# fsync: 1 the new Maildir, 2 the letter, 3 the folder after the rename.
@pytest.mark.parametrize(
    ("call", "nth", "letters"), [("fsync", 1, 0), ("fsync", 2, 0), ("rename", 1, 0), ("fsync", 3, 1)]
)
def test_a_kill_before_the_rename_leaves_no_letter_and_after_it_a_whole_one(
    tmp_path: Path, call: str, nth: int, letters: int
) -> None:
    path = tmp_path / "outbox"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path), call, str(nth)],
        cwd=Path(__file__).parents[2],
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert len(files(path)) == letters
    for message in mailbox.Maildir(path, create=False):
        assert not message.defects
        assert "</html>" in message.as_string()
