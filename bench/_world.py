"""A scout for measurements: a real SQLite file, the real cycle, people and one job that fits them all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from app.cycle import Skipped, cycle
from app.deadline import Deadline
from app.pace import Limits
from app.parts import Parts, utc_now
from app.report import Report
from app.settings import load
from app.wiring import site_of, transport_of
from ledger import users
from ledger.records import USERS, Mode, Search, SourceState, encode
from ledger.sqlite import SqliteStore
from scan.posting import Answer, Items, Posting


class OneBoard:
    """A source in memory that lists `count` jobs, none at its first poll."""

    name = platform = "board"
    min_interval_s = 0
    attribution = ""
    count = 0

    async def poll(self, state: SourceState, *, now: object, deadline_s: float) -> Answer:  # noqa: ARG002
        jobs = range(self.count)
        return Items(
            tuple(
                Posting("board", f"{n}", f"Python developer {n}", f"https://jobs.example.com/{n}", "We use Python.")
                for n in jobs
            )
        )


@asynccontextmanager
async def scout(
    path: Path, *, people: int, environment: Mapping[str, str], limits: Limits | None = None
) -> AsyncIterator[tuple[Parts, OneBoard]]:
    """A scout with `people` instant users whose baseline has been polled."""
    settings = load({"SCOUT_MAIL_FROM": "Scout <scout@example.com>", **environment})
    store = SqliteStore(path, clock=utc_now)
    board = OneBoard()
    transport = transport_of(settings)
    parts = Parts(settings, store, {board.name: board}, transport, site_of(settings, ()), limits=limits or Limits())
    fresh = [users.new_user(f"user{n}@example.com", now=utc_now()) for n in range(people)]
    search = {"default": Search(keywords=("python",))}
    await store.create(USERS, {u.uid: encode(replace(u, mode=Mode.INSTANT, searches=search)) for u in fresh})
    try:
        await run(parts)
        yield parts, board
    finally:
        await transport.close()
        await store.close()


async def run(parts: Parts) -> Report:
    outcome = await cycle(parts, deadline=Deadline(parts.settings.wall_s, clock=utc_now))
    assert not isinstance(outcome, Skipped)
    return outcome


@contextmanager
def smtp_sink(*, delay_s: float) -> Iterator[int]:
    """The port of a mail server in a process of its own that answers each body after `delay_s`."""
    sink = subprocess.Popen([sys.executable, "-m", "bench._sink", str(delay_s)], stdout=subprocess.PIPE, text=True)
    try:
        assert sink.stdout is not None
        yield int(sink.stdout.readline())
    finally:
        sink.kill()
        sink.wait()


def quiet_logs() -> None:
    import logging

    import structlog

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
