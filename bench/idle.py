"""An idle cycle: no source and no digest due. Its cost must not grow with the users."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.report import Report
from bench import Finding, Line
from bench._town import Town
from bench._world import scout

READS_MAX, WRITES_MAX = 12, 5


def run() -> Iterator[Finding]:
    for people in (10, 5000):
        report = asyncio.run(_idle(people))
        yield Line(f"reads with {people} users", report.cost.reads, at_most=READS_MAX)
        yield Line(f"writes with {people} users", report.cost.writes, at_most=WRITES_MAX)
        yield Line(f"round trips with {people} users", report.cost.round_trips)


async def _idle(people: int) -> Report:
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder:
        async with scout(Path(folder), Town(people=people, jobs=1, fits=1), mail={}) as world:
            report, _ = await world.run()  # the board was polled just now: not due again for a while
            assert report.sources.not_due == 1
            return report
