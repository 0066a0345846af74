"""Boards that answer after 50 ms with ten new jobs each: all at once, against one after the other."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import Curve, Finding, Line, Series
from bench._town import Town
from bench._world import with_news

BOARDS = (1, 4, 16, 64, 100)  # with ten jobs each: 1,000 are matched in one cycle at most
JOBS_A_BOARD = 10
DELAY_S = 0.05


def run() -> Iterator[Finding]:
    took_s = {boards: asyncio.run(_seconds(boards)) for boards in BOARDS}
    most = BOARDS[-1]
    yield Line("a cycle with one board", took_s[1] * 1000, "ms", note=f"{JOBS_A_BOARD} new jobs of 3 KB, one person")
    yield Line(f"a cycle with {most} boards", took_s[most] * 1000, "ms", note=f"{most * JOBS_A_BOARD:,} new jobs")
    yield Line("a cycle for each board against one for all", took_s[1] * most / took_s[most], "x")
    yield Curve(
        "sources",
        f"Sources ({JOBS_A_BOARD} new jobs each, answers after 50 ms)",
        "sources",
        "seconds",
        (
            Series("one cycle a board", tuple((float(n), took_s[1] * n) for n in BOARDS), is_scaled=True),
            Series("Scout's cycle", tuple((float(n), s) for n, s in took_s.items())),
        ),
    )


async def _seconds(boards: int) -> float:
    town = Town(people=1, jobs=boards * JOBS_A_BOARD, fits=1)
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder:
        async with with_news(Path(folder), town, mail={}, boards=boards, board_delay_s=DELAY_S) as world:
            report, took_s = await world.run()
            assert report.sources.ok == boards, report.as_json()
            assert report.jobs.new == town.jobs, report.as_json()
            return took_s
