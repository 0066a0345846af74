"""Cold start: from the start of the process to the first answered `/cron`, each time in a fresh process.

It is held against a fresh process that imports FastAPI and the store's client and does nothing at all. The call polls a
board over HTTP: once the board lists nothing new, as most calls find it, and once a new job, which is mailed (to an
outbox); the second is told. All three in turn; medians.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import Finding, Line, Skipped
from bench._town import Ad, Town, feed
from bench._world import environment, sources_toml, web
from tests.emulator import find_emulator, free_port, shared_emulator

ROUNDS = 7
ANSWER_MAX_S = 60.0
ASK_AGAIN_S = 0.002  # until the socket listens
SECRET = "a-secret-of-a-measurement"
ALONE = {"sqlite": "import fastapi, sqlite3", "firestore": "import fastapi, google.cloud.firestore"}
TOWN = Town(people=1, jobs=ROUNDS + 1, fits=ROUNDS + 1)  # a job for each round


def run() -> Iterator[Finding]:
    yield from _against("sqlite", {})
    script = find_emulator()
    if script is None:
        yield Skipped("cold start with Firestore", "the emulator is not installed here")
        return
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder, shared_emulator(script, Path(folder)) as host:
        yield from _against("firestore", {"FIRESTORE_EMULATOR_HOST": host})


def _against(store: str, more: dict[str, str]) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as name, web(Path(name), delay_s=0.0) as board:
        folder = Path(name)
        # Compiled as it is where it is installed: the first round writes what the others read.
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SCOUT_") and k != "PYTHONDONTWRITEBYTECODE"}
        env = kept | environment(folder) | more
        env["SCOUT_CRON_SECRET"] = SECRET
        if store == "firestore":
            env["SCOUT_STORE"] = "firestore://cold-start"
        _prepare(folder, env, board=board)
        taken = []
        for n in range(TOWN.jobs):
            alone_s, quiet_s = _alone_s(ALONE[store]), _first_answer_s(folder, env, letters=0)
            _publish(folder, TOWN.ads()[: n + 1])
            taken.append((alone_s, quiet_s, _first_answer_s(folder, env, letters=1)))
    # The first round warms up what the machine keeps of files.
    alone_s, quiet_s, letter_s = (statistics.median(column) for column in zip(*taken[1:], strict=True))
    yield Line(f"FastAPI and the client of {store}, imported", alone_s * 1000, "ms")
    yield Line(f"first answered /cron with {store}", quiet_s * 1000, "ms", note="one board polled, nothing new")
    yield Line(f"cold start with {store} against the imports alone", quiet_s / alone_s, "x", at_most=2)
    yield Line(f"the same with a first letter, with {store}", letter_s / alone_s, "x", note="one job found and mailed")


def _prepare(folder: Path, env: dict[str, str], *, board: int) -> None:
    """A person whom every job fits, and a board that was polled once."""
    (folder / "sources.toml").write_text(sources_toml(("board0",), port=board, interval_s=0))
    _publish(folder, [])
    for args in (["users", "add", "ann@example.com", "--keywords", ", ".join(TOWN.keywords(0))], ["cron"]):
        subprocess.run([_scout(), *args], env=env, cwd=folder, check=True, capture_output=True)


def _publish(folder: Path, ads: list[Ad]) -> None:
    (folder / "board0.rss").write_bytes(feed(ads, name="board0", now=datetime.now(UTC)))


def _alone_s(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def _first_answer_s(folder: Path, env: dict[str, str], *, letters: int) -> float:
    port = free_port()
    command = [_scout(), "serve", "--port", str(port)]
    began = time.perf_counter()
    server = subprocess.Popen(command, env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        report = _called(port)
        took_s = time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()
    assert report["status"] == "completed", report
    assert (report["sources"]["failed"], report["mail"]["sent"]) == ([], letters), report
    return took_s


def _scout() -> str:
    return str(Path(sys.executable).with_name("scout"))


def _called(port: int) -> dict[str, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/cron", headers={"Authorization": f"Bearer {SECRET}"})
    ends = time.monotonic() + ANSWER_MAX_S
    while True:
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_MAX_S) as answer:
                report: dict[str, Any] = json.load(answer)
                return report
        except urllib.error.HTTPError:
            raise  # it answered, but not as a run that worked
        except urllib.error.URLError:
            if time.monotonic() > ends:
                raise
            time.sleep(ASK_AGAIN_S)
