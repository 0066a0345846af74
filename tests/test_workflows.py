"""The shipped caller, run for real against a loopback stub; and every schedule that we ship or advise."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
B111 = ROOT.parent / "shared/cases/B111_bad_schedules.yml"
SECRET = "correct-horse-battery-staple"
FIELD = r"(?:\*(?:/\d+)?|\d+(?:[-,/]\d+)*)"
CRON = re.compile(rf"(?<![\w*/.,-]){FIELD}(?: {FIELD}){{4}}(?![\w*/.,-])")

Reply = tuple[int, str]
COMPLETED: Reply = (200, '{"status": "completed", "mail": {"sent": 3}}')
PARTIAL: Reply = (200, '{"status":"partial"}')
SKIPPED: Reply = (200, '{"status": "skipped", "skipped": "previous run in flight"}')
WRONG_SECRET: Reply = (401, '{"detail": "wrong secret"}')
BROKEN: Reply = (500, "")
PAUSED: Reply = (503, '{"status": "failed", "errors": ["mail account paused"]}')
REDIRECT: Reply = (302, "")
LANDING_PAGE: Reply = (200, "<html>Welcome</html>")


@pytest.mark.parametrize(
    ("replies", "succeeds", "calls"),
    [
        pytest.param([COMPLETED], True, 1, id="completed"),
        pytest.param([SKIPPED], True, 1, id="skipped"),
        pytest.param([PARTIAL, COMPLETED], True, 2, id="partial, then completed"),
        pytest.param([PARTIAL], True, 3, id="partial for ever"),
        pytest.param([PARTIAL, BROKEN], False, 2, id="partial, then 500"),
        pytest.param([WRONG_SECRET], False, 1, id="401"),
        pytest.param([BROKEN], False, 1, id="500"),
        pytest.param([PAUSED], False, 1, id="503"),
        pytest.param([(500, COMPLETED[1])], False, 1, id="500 with a fair report"),
        pytest.param([REDIRECT], False, 1, id="302"),
        pytest.param([LANDING_PAGE], False, 1, id="a page with 200"),
    ],
)
def test_the_caller_is_green_only_when_a_run_took_place(replies: list[Reply], succeeds: bool, calls: int) -> None:
    with stub(replies) as server:
        done = call_workflow(server.url)
    assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
    assert server.headers == [f"Bearer {SECRET}"] * calls
    assert replies[-1][1] in done.stdout


def test_the_secret_is_neither_printed_nor_in_any_argument(tmp_path: Path) -> None:
    real = shutil.which("curl")
    spy = tmp_path / "curl"
    spy.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/arguments\nexec {real} "$@"\n')
    spy.chmod(0o755)
    with stub([PARTIAL, WRONG_SECRET]) as server:
        done = call_workflow(server.url, PATH=f"{tmp_path}:{os.environ['PATH']}")
    arguments = (tmp_path / "arguments").read_text()
    assert arguments.count("/cron") == 2
    assert SECRET not in done.stdout + done.stderr + arguments


def test_the_caller_fails_when_nobody_answers() -> None:
    with stub([COMPLETED]) as server:
        pass
    assert call_workflow(server.url).returncode != 0


@pytest.mark.parametrize("missing", ["SCOUT_URL", "SCOUT_CRON_SECRET"])
def test_the_caller_names_the_repository_secret_that_is_missing(missing: str) -> None:
    with stub([COMPLETED]) as server:
        done = call_workflow(server.url, **{missing: ""})
    assert done.returncode != 0
    assert missing in done.stderr
    assert server.headers == []


def test_a_new_call_waits_and_never_cuts_the_running_one() -> None:
    caller = load(ROOT / ".github/workflows/scout.yml")
    assert caller["concurrency"]["group"]
    assert not caller["concurrency"]["cancel-in-progress"]
    script = caller["jobs"]["call"]["steps"][0]["run"]
    limits = dict(re.findall(r"\b(\w+_s)=(\d+)", script))
    longest_s = int(limits["repeat_until_s"]) + int(limits["call_max_s"])
    assert longest_s < caller["jobs"]["call"]["timeout-minutes"] * 60


@pytest.mark.parametrize(
    "path", [*WORKFLOWS, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_every_schedule_we_ship_or_advise_runs_as_often_as_it_reads(path: Path) -> None:
    found = schedules(path) if path.suffix == ".yml" else CRON.findall(path.read_text())
    assert [(cron, fault) for cron in found if (fault := minute_fault(cron))] == []


def test_the_caller_runs_every_fifteen_minutes() -> None:
    (cron,) = schedules(ROOT / ".github/workflows/scout.yml")
    assert CRON.fullmatch(cron)
    minutes = sorted(map(int, cron.split()[0].split(",")))
    assert {(b - a) % 60 for a, b in zip(minutes, minutes[1:] + minutes[:1], strict=True)} == {15}
    assert cron.split()[1:] == ["*"] * 4


@pytest.mark.parametrize("cron", ["*/50 20 * * *", "* 8 * * *", "0 8 * * *", "0,30 * * * *", "*/7 * * * *", "7 * * *"])
def test_a_schedule_that_misleads_is_told(cron: str) -> None:
    assert minute_fault(cron)


@pytest.mark.parametrize("cron", ["7,22,37,52 * * * *", "*/15 * * * *", "12 8 * * 1-5"])
def test_a_schedule_that_reads_as_it_runs_passes(cron: str) -> None:
    assert minute_fault(cron) is None


def test_the_three_bad_schedules_from_the_field_are_told() -> None:
    if not B111.exists():
        pytest.skip(f"{B111} is not here")
    bad = schedules(B111)
    assert len(bad) == 3
    assert all(minute_fault(cron) for cron in bad)


def minute_fault(cron: str) -> str | None:
    """What misleads in a five-field schedule's minute, or None: a plain number (not 0) or a step that divides 60."""
    fields = cron.split()
    if len(fields) != 5:
        return "not five fields"
    minute = fields[0]
    if step := re.fullmatch(r"\*/(\d+)", minute):
        return None if int(step[1]) and 60 % int(step[1]) == 0 else "the step does not divide 60, so gaps are uneven"
    numbers = [int(part) if re.fullmatch(r"[0-9]{1,2}", part) else 60 for part in minute.split(",")]
    if max(numbers) > 59:
        return "not a minute: every one of them, or no number"
    return "minute 0 is the busiest of the hour" if 0 in numbers else None


def schedules(path: Path) -> list[str]:
    triggers = load(path)["on"]
    return [entry["cron"] for entry in triggers.get("schedule", [])]


def load(path: Path) -> dict[str, Any]:
    """A workflow; YAML 1.1 reads the key `on` as true."""
    return {"on" if key is True else key: value for key, value in yaml.safe_load(path.read_text()).items()}


def call_workflow(url: str, **env: str) -> subprocess.CompletedProcess[str]:
    script = load(ROOT / ".github/workflows/scout.yml")["jobs"]["call"]["steps"][0]["run"]
    env = {"PATH": os.environ["PATH"], "SCOUT_URL": url, "SCOUT_CRON_SECRET": SECRET, **env}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


class Stub:
    def __init__(self, url: str) -> None:
        self.url = url
        self.headers: list[str | None] = []


@contextmanager
def stub(replies: list[Reply]) -> Iterator[Stub]:
    """Answers GET /cron with each reply in turn, the last one from then on."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.headers.append(self.headers["Authorization"])
            status, body = replies[min(len(known.headers), len(replies)) - 1]
            self.send_response(status if self.path == "/cron" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        known = Stub(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield known
        finally:
            server.shutdown()
            thread.join()
