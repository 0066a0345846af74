"""An idle cycle: no source and no digest due. Its cost must not grow with the users."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.report import Report
from bench import Line, _world
from bench._world import quiet_logs, scout

READS_MAX, WRITES_MAX = 12, 5


def run() -> Iterator[Line]:
    quiet_logs()
    for people in (10, 5000):
        report = asyncio.run(_idle(people))
        yield Line(f"reads with {people} users", report.cost.reads, at_most=READS_MAX)
        yield Line(f"writes with {people} users", report.cost.writes, at_most=WRITES_MAX)


async def _idle(people: int) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        async with scout(Path(folder) / "scout.db", people=people, environment={}) as (parts, board):
            board.min_interval_s = 3600
            await _world.run(parts)  # polled: not due again for an hour
            report = await _world.run(parts)
            assert report.sources.not_due == 1
            return report
