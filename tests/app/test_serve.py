"""`scout serve`, as a process: what it prints, logs and refuses, and how it ends while a run is in flight."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.cron import STOPPED_WHY
from ledger import users
from ledger.collections import LOCKS
from ledger.lease import LOCK_ID
from ledger.records import Search, User
from ledger.sqlite import SqliteStore
from tests.app import terminal
from tests.boards import Board
from tests.sinks import Say, ScriptedSmtp

SECRET = "0123456789abcdef-serve"
PEOPLE = 12
ROOT = Path(__file__).parents[2]
WAIT_MAX_S = 60.0


def listening(process: subprocess.Popen[str]) -> tuple[str, str]:
    """(where it listens, all that it printed by then): three lines, once it is ready."""
    assert process.stdout is not None
    printed = "".join(process.stdout.readline() for _ in range(3))
    found = re.search(r"http://127\.0\.0\.1:\d+", printed)
    assert found, printed
    return found[0], printed


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "stderr").read_text().splitlines()]


def test_without_a_secret_it_refuses_to_start_in_one_line(tmp_path: Path) -> None:
    done = terminal.run(tmp_path, "serve")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"scout: SCOUT_CRON_SECRET is not set; make one with: .+\n", done.stderr)


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = terminal.run(tmp_path, "serve", "--port", str(port), SCOUT_CRON_SECRET=SECRET)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"scout: cannot listen on 127.0.0.1 port {port}: ")
    assert len(done.stderr.splitlines()) == 1


def test_it_says_where_it_listens_and_logs_requests_without_what_may_be_secret(tmp_path: Path) -> None:
    with terminal.started(tmp_path, "serve", "--port", "0", SCOUT_CRON_SECRET=SECRET) as process:
        url, printed = listening(process)
        with httpx2.Client(base_url=url) as client:
            assert client.get("/cron", params={"secret": SECRET}).status_code == 401
            assert client.get("/healthz").status_code == 200
            assert client.get(f"/nowhere/{SECRET}").status_code == 404
        process.terminate()
        assert process.wait(WAIT_MAX_S) == 0
        assert process.stdout is not None
        printed += process.stdout.read()
    assert f'curl -H "Authorization: Bearer $SCOUT_CRON_SECRET" {url}/cron' in printed
    requests = [(e["method"], e["route"], e["status"]) for e in events(tmp_path) if e["event"] == "request"]
    assert requests == [("GET", "/cron", 401), ("GET", "/healthz", 200), ("GET", "(none)", 404)]
    assert SECRET not in printed + (tmp_path / "stderr").read_text()


@pytest.mark.parametrize(
    "line",
    [
        f"SCOUT_CRON_SECRET={SECRET}",
        f'SCOUT_CRON_SECRET="{SECRET}" # mine',
        f"  export SCOUT_CRON_SECRET='{SECRET}'",
        f"SCOUT_CRON_SECRET={SECRET}  # mine",
        f"SCOUT_CRON_SECRET=an-earlier-secret-of-mine\nSCOUT_CRON_SECRET={SECRET}\r",
    ],
)
def test_the_line_that_it_prints_works_as_it_stands(tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text(f"PORT=8123\n{line}\nSCOUT_SOURCES=none.toml\n", newline="")
    (tmp_path / "none.toml").write_text("")
    with terminal.started(tmp_path, "serve", "--port", "0") as process:
        _, printed = listening(process)
        curl = printed.splitlines()[-1].strip()
        assert (curl.startswith("curl -H "), SECRET in printed) == (True, False)
        done = subprocess.run(
            ["sh", "-c", curl], cwd=tmp_path, env=terminal.environ({}), capture_output=True, text=True, check=False
        )
    assert json.loads(done.stdout)["status"] == "completed"


@pytest.mark.parametrize("secret", ["an odd secret, with blanks", "hash#in-the-middle-of-it"])
def test_a_secret_that_no_short_line_reads_is_named_and_not_shown(tmp_path: Path, secret: str) -> None:
    (tmp_path / ".env").write_text(f"SCOUT_CRON_SECRET='{secret}'\n")
    with terminal.started(tmp_path, "serve", "--port", "0") as process:
        _, printed = listening(process)
    assert "One run, with SCOUT_CRON_SECRET as in .env:\n" in printed
    assert 'Bearer $SCOUT_CRON_SECRET"' in printed
    assert secret not in printed


def wait_until(what: Any) -> None:
    deadline = time.monotonic() + WAIT_MAX_S
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def looks_for_python(user: User) -> User:
    return replace(user, searches={"default": Search(keywords=("python",))})


async def sign_up(folder: Path) -> None:
    store = SqliteStore(folder / "scout.db", clock=lambda: datetime.now(UTC))
    for number in range(PEOPLE):
        await users.save_profile(store, f"p{number}@example.com", looks_for_python, now=datetime.now(UTC))
    await store.close()


@contextlib.contextmanager
def slow_mail(folder: Path, *, answer_s: float = 0.3) -> Iterator[tuple[ScriptedSmtp, dict[str, str]]]:
    """A mail server that takes its time, a board with one job that is fresh for all, and settings with both."""
    date = format_datetime(datetime.now(UTC) - timedelta(hours=1))  # a new profile catches up on it
    item = f"<item><title>Python job</title><guid>1</guid><pubDate>{date}</pubDate></item>"
    with Board() as board, ScriptedSmtp({"dot": Say(delay_s=answer_s)}) as sink:
        url = board.serve("/feed.xml", f"<rss version='2.0'><channel><title>x</title>{item}</channel></rss>")
        (folder / "s.toml").write_text(f'[[source]]\nname = "b"\nkind = "feed"\nurl = "{url}"\nmin_interval_s = 0\n')
        yield (
            sink,
            {
                "SCOUT_CRON_SECRET": SECRET,
                "SCOUT_SOURCES": "s.toml",
                "SCOUT_ALLOW_LOOPBACK": "true",
                "SCOUT_MAIL": sink.url,
            },
        )


def stopped_between_people(report: dict[str, Any], sink: ScriptedSmtp) -> None:
    assert report["status"] == "partial"
    assert 0 < report["mail"]["sent"] == sink.accepted < PEOPLE
    assert report["remaining"]["users"] == PEOPLE - sink.accepted


def does_the_rest(folder: Path, sink: ScriptedSmtp, env: dict[str, str]) -> None:
    rest = json.loads(terminal.run(folder, "cron", "--json", **env).stdout)
    assert (rest["status"], rest["mail"]["unclear"]) == ("completed", 0)
    assert Counter(sink.recipients) == {f"p{n}@example.com": 1 for n in range(PEOPLE)}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_told_to_end_a_server_stops_its_run_between_people_and_the_next_run_does_the_rest(
    tmp_path: Path, number: signal.Signals
) -> None:
    await sign_up(tmp_path)
    with slow_mail(tmp_path) as (sink, env), ThreadPoolExecutor(1) as pool:
        with terminal.started(tmp_path, "serve", "--port", "0", **env) as process:
            where, _ = listening(process)
            told = {"Authorization": f"Bearer {SECRET}"}
            answer = pool.submit(httpx2.get, f"{where}/cron", headers=told, timeout=WAIT_MAX_S)
            wait_until(lambda: sink.bodies)
            process.send_signal(number)
            stopped_between_people(answer.result(WAIT_MAX_S).json(), sink)
            assert process.wait(WAIT_MAX_S) == 0
        assert [event["event"] for event in events(tmp_path)].count("stopping") == 1
        does_the_rest(tmp_path, sink, env)


async def test_told_to_end_a_run_at_the_keyboard_stops_between_people_too(tmp_path: Path) -> None:
    await sign_up(tmp_path)
    with slow_mail(tmp_path) as (sink, env):
        with terminal.started(tmp_path, "cron", "--json", **env) as process:
            wait_until(lambda: sink.bodies)
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=WAIT_MAX_S)
            assert process.returncode == 0
            stopped_between_people(json.loads(printed), sink)
        assert [event["event"] for event in events(tmp_path)].count("stopping") == 1
        does_the_rest(tmp_path, sink, env)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_told_twice_a_server_ends_its_run_at_once_answers_its_caller_and_gives_the_lease_back(
    tmp_path: Path, number: signal.Signals
) -> None:
    await sign_up(tmp_path)
    with slow_mail(tmp_path, answer_s=WAIT_MAX_S) as (sink, env), ThreadPoolExecutor(1) as pool:
        with terminal.started(tmp_path, "serve", "--port", "0", **env) as process:
            where, _ = listening(process)
            told = {"Authorization": f"Bearer {SECRET}"}
            answer = pool.submit(httpx2.get, f"{where}/cron", headers=told, timeout=WAIT_MAX_S)
            wait_until(lambda: sink.bodies)
            process.send_signal(number)
            wait_until(lambda: '"stopping"' in (tmp_path / "stderr").read_text())
            process.send_signal(number)
            assert process.wait(WAIT_MAX_S) == 1
            assert answer.result(WAIT_MAX_S).status_code == 503
            assert answer.result().json() == {"status": "failed", "reason": STOPPED_WHY}
        said = (tmp_path / "stderr").read_text()
        assert "Traceback" not in said
        assert said.splitlines()[-1] == f"scout: {STOPPED_WHY}"
    await lease_is_given_back(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_told_three_times_a_server_waits_for_nothing(tmp_path: Path, number: signal.Signals) -> None:
    await sign_up(tmp_path)
    with (
        slow_mail(tmp_path, answer_s=WAIT_MAX_S) as (sink, env),
        ThreadPoolExecutor(1) as pool,
        terminal.started(tmp_path, "serve", "--port", "0", **env) as process,
    ):
        where, _ = listening(process)
        with a_request_that_does_not_end(where):
            told = {"Authorization": f"Bearer {SECRET}"}
            answer = pool.submit(httpx2.get, f"{where}/cron", headers=told, timeout=WAIT_MAX_S)
            wait_until(lambda: sink.bodies)
            process.send_signal(number)
            wait_until(lambda: '"stopping"' in (tmp_path / "stderr").read_text())
            process.send_signal(number)
            assert answer.result(WAIT_MAX_S).status_code == 503
            process.send_signal(number)
            assert process.wait(WAIT_MAX_S) == -number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_twice_a_server_without_a_run_waits_for_no_visitor(tmp_path: Path, number: signal.Signals) -> None:
    with terminal.started(tmp_path, "serve", "--port", "0", SCOUT_CRON_SECRET=SECRET) as process:
        where, _ = listening(process)
        with a_request_that_does_not_end(where):
            process.send_signal(number)
            wait_until(lambda: '"stopping"' in (tmp_path / "stderr").read_text())
            process.send_signal(number)
            assert process.wait(WAIT_MAX_S) == -number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_told_once_with_its_supervisor_a_worker_stops_its_run_between_people(
    tmp_path: Path, number: signal.Signals
) -> None:
    """A terminal, or systemd, tells the whole group; the supervisor then tells its workers once more."""
    await sign_up(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        where = f"http://127.0.0.1:{(port := free.getsockname()[1])}"
    with slow_mail(tmp_path) as (sink, env), ThreadPoolExecutor(1) as pool:
        command = [sys.executable, "-m", "uvicorn", "app.main:app", "--workers", "2", "--port", str(port)]
        told = {"PYTHONPATH": str(ROOT), "SCOUT_BASE_URL": where, **env}
        with subprocess.Popen(
            command, cwd=tmp_path, env=terminal.environ(told), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        ) as supervisor:  # fmt: skip
            try:
                wait_until(lambda: answers(where))
                secret = {"Authorization": f"Bearer {SECRET}"}
                answer = pool.submit(httpx2.get, f"{where}/cron", headers=secret, timeout=WAIT_MAX_S)
                wait_until(lambda: sink.bodies)
                os.killpg(supervisor.pid, number)
                stopped_between_people(answer.result(WAIT_MAX_S).json(), sink)
                supervisor.wait(WAIT_MAX_S)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(supervisor.pid, signal.SIGKILL)
        does_the_rest(tmp_path, sink, env)


def answers(where: str) -> bool:
    try:
        httpx2.get(f"{where}/healthz", timeout=WAIT_MAX_S)
    except httpx2.TransportError:
        return False
    return True


@contextlib.contextmanager
def a_request_that_does_not_end(where: str) -> Iterator[None]:
    """It is being answered: the server has asked for its body, which never comes."""
    url = httpx2.URL(where)
    head = [
        "POST /login HTTP/1.1",
        f"Host: {url.host}",
        "Sec-Fetch-Site: same-origin",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: 9",
        "Expect: 100-continue",
    ]
    with socket.create_connection((url.host, url.port or 80), WAIT_MAX_S) as connection:
        connection.sendall("".join(f"{line}\r\n" for line in [*head, ""]).encode())
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        yield


async def test_told_three_times_a_run_at_the_keyboard_waits_for_nothing(tmp_path: Path) -> None:
    """Not for its lease either, which it cannot give back: another process holds the store."""
    await sign_up(tmp_path)
    with (
        slow_mail(tmp_path, answer_s=WAIT_MAX_S) as (sink, env),
        terminal.started(tmp_path, "cron", **env) as process,
        contextlib.closing(sqlite3.connect(tmp_path / "scout.db", isolation_level=None)) as holder,
    ):
        wait_until(lambda: sink.bodies)
        holder.execute("BEGIN IMMEDIATE")
        wait_until(lambda: has_ended(process, signal.SIGINT))
        assert process.returncode == -signal.SIGINT


def has_ended(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Tells it once more: of signals that come together, a process hears one."""
    process.send_signal(number)
    return process.poll() is not None


async def test_told_twice_a_run_at_the_keyboard_ends_at_once_and_gives_its_lease_back(tmp_path: Path) -> None:
    await sign_up(tmp_path)
    with slow_mail(tmp_path, answer_s=WAIT_MAX_S) as (sink, env):
        with terminal.started(tmp_path, "cron", "--json", **env) as process:
            wait_until(lambda: sink.bodies)
            process.send_signal(signal.SIGINT)
            wait_until(lambda: '"stopping"' in (tmp_path / "stderr").read_text())
            process.send_signal(signal.SIGINT)
            assert (process.communicate(timeout=WAIT_MAX_S)[0], process.returncode) == ("", 1)
        said = (tmp_path / "stderr").read_text().splitlines()
        assert said[-1] == f"scout: {STOPPED_WHY}"
    await lease_is_given_back(tmp_path)


async def lease_is_given_back(folder: Path) -> None:
    store = SqliteStore(folder / "scout.db", clock=lambda: datetime.now(UTC))
    assert await store.get(LOCKS, [LOCK_ID]) == {}
    await store.close()
