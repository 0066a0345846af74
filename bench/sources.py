"""One cycle over 40 sources, of which 5 hang, 5 are broken and 5 drip: it ends with its slowest deadline.

The other 25 are read whole. Wall time, and the most memory that the process ever held.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from app.cycle import Skipped, cycle
from app.deadline import Deadline
from app.logs import set_up
from app.parts import utc_now
from app.report import Report
from app.settings import load
from app.steps.poll import SOURCE_S
from app.wiring import wired
from bench import Finding, Line
from bench._boards import BROKEN, DRIPPING, HANGING, HEALTHY, ITEMS, boards
from bench._machine import peak_mib

SICK = HANGING + BROKEN + DRIPPING
OVER_MAX_S = 2.0
MEMORY_MAX_MB = 300
ENTRY = '[[source]]\nname = "{name}"\nkind = "feed"\nurl = "{url}"\nmin_interval_s = 0\n'


def run() -> Iterator[Finding]:
    """In a process of its own, so that the memory is this cycle's."""
    done = subprocess.run([sys.executable, "-m", "bench.sources"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    yield Line("seconds beyond the slowest deadline", found["took_s"] - SOURCE_S, "s", at_most=OVER_MAX_S)
    yield Line("sources read whole", found["ok"], at_least=HEALTHY, at_most=HEALTHY)
    yield Line("sources failed with a reason", found["failed"], at_least=SICK, at_most=SICK)
    yield Line("items read", found["seen"], at_least=HEALTHY * ITEMS, at_most=HEALTHY * ITEMS)
    yield Line("most memory held", found["peak_mb"], "MB", at_most=MEMORY_MAX_MB)


def main() -> None:
    set_up("json", level=logging.CRITICAL)
    with boards() as urls, tempfile.TemporaryDirectory(prefix="scout-bench-") as folder:
        report, took_s = asyncio.run(_cycle(Path(folder), urls))
    found = {
        "took_s": took_s,
        "ok": report.sources.ok,
        "failed": len(report.sources.failed),
        "seen": report.jobs.seen,
        "peak_mb": peak_mib(),
    }
    sys.stdout.write(json.dumps(found))


async def _cycle(folder: Path, urls: dict[str, str]) -> tuple[Report, float]:
    entries = "".join(ENTRY.format(name=name, url=url) for name, url in urls.items())
    (folder / "sources.toml").write_text(entries)
    settings = load({
        "SCOUT_STORE": f"sqlite:///{folder / 'scout.db'}", "SCOUT_MAIL": f"outbox:///{folder / 'outbox'}",
        "SCOUT_SOURCES": str(folder / "sources.toml"), "SCOUT_ALLOW_LOOPBACK": "true",
    })  # fmt: skip
    async with wired(settings) as parts:
        began = time.monotonic()
        outcome = await cycle(parts, deadline=Deadline(settings.wall_s, clock=utc_now))
        assert not isinstance(outcome, Skipped)
        return outcome, time.monotonic() - began


if __name__ == "__main__":
    main()
