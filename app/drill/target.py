"""`python -m app.drill.target`: the real server in a process of its own, made to be killed.

The same app as `scout serve`, on a free loopback port that it prints. From the environment: DRILL_CLOCK names a
file with the seconds that its clock is ahead, DRILL_KILL where it dies, DRILL_TROUBLE a file with the share of the
store's writes that go wrong, DRILL_COUNTS a file for the outside calls of each run.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn

from app import logs
from app.drill.kills import Kill, Killer
from app.drill.trouble import TroubledStore
from app.parts import Clock, Parts
from app.settings import load
from app.web import make_app


def clock_of(file: Path) -> Clock:
    """Real time, ahead by the seconds that stand in the file now."""
    ahead_s = figure_in(file)
    return lambda: datetime.now(UTC) + timedelta(seconds=ahead_s())


def figure_in(file: Path) -> Callable[[], float]:
    """The number that stands in the file now."""
    return lambda: float(file.read_text() or 0)


def main() -> None:
    settings = load({k: v for k, v in os.environ.items() if not k.startswith("DRILL_")})
    logs.set_up(settings.log)
    kill = Kill.parse(os.environ["DRILL_KILL"]) if os.environ.get("DRILL_KILL") else None
    killer = Killer(kill)
    trouble = Path(os.environ["DRILL_TROUBLE"]) if os.environ.get("DRILL_TROUBLE") else None
    counts = Path(os.environ["DRILL_COUNTS"])

    def note_counts(stage: str) -> None:
        if stage == "sweep":
            counts.write_text(json.dumps(killer.counts))

    def rewire(parts: Parts) -> Parts:
        if trouble is not None:
            parts = replace(parts, store=TroubledStore(parts.store, share=figure_in(trouble), seed=os.getpid()))
        return replace(killer.rewire(parts), watch=note_counts)

    if settings.anthropic_api_key is not None:
        import anthropic  # seconds: before the first call, whose wall is short

        assert anthropic
    app = make_app(settings, clock=clock_of(Path(os.environ["DRILL_CLOCK"])), rewire=rewire)
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on"))
    asyncio.run(server.serve(sockets=[listening]))


if __name__ == "__main__":
    main()
