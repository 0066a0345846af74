"""Alerts through a mail server that answers after 200 ms: all at the pace's window, against one after the other."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from app.pace import Limits
from bench import Line, _world
from bench._world import quiet_logs, scout, smtp_sink

PEOPLE = 2000
ONE_BY_ONE = 25
DELAY_S = 0.2


def run() -> Iterator[Line]:
    quiet_logs()
    with smtp_sink(delay_s=DELAY_S) as port:
        alone_s = asyncio.run(_seconds_a_letter(port, people=ONE_BY_ONE, limits=Limits(window_max=1)))
        paced_s = asyncio.run(_seconds_a_letter(port, people=PEOPLE, limits=Limits()))
    yield Line("one user after the other", alone_s * 1000, "ms a letter", note=f"{ONE_BY_ONE} users")
    yield Line("at the pace's window", paced_s * 1000, "ms a letter", note=f"{PEOPLE} users, one fit each")
    yield Line("speed-up", alone_s / paced_s, "x", at_least=20)


async def _seconds_a_letter(port: int, *, people: int, limits: Limits) -> float:
    with tempfile.TemporaryDirectory() as folder:
        environment = {"SCOUT_MAIL": f"smtp://127.0.0.1:{port}"}
        async with scout(Path(folder) / "scout.db", people=people, environment=environment, limits=limits) as (
            parts,
            board,
        ):
            board.count = 1
            began = time.perf_counter()
            report = await _world.run(parts)
            took_s = time.perf_counter() - began
            assert report.mail.sent == people, report.as_json()
            assert (await _world.run(parts)).mail.sent == 0
    return took_s / people
