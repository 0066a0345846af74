"""A scout for measurements: a SQLite file, boards on loopback, and the parts wired as `scout serve` wires them.

Nothing here is friendlier than the product: the people come from a store file written and closed before, the jobs come
over HTTP as a feed, and every log line is made (and thrown away).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from app.cycle import Skipped, cycle
from app.deadline import Deadline
from app.pace import Limits
from app.parts import Parts, utc_now
from app.report import Report
from app.settings import load
from app.wiring import wired
from bench._town import Ad, Town, feed, write_people

INTERVAL_S = 900
WALL_S = 2000  # a measurement is not cut; what a run does with a shorter one is not the question here


@dataclass(slots=True)
class Scout:
    """Parts whose boards have been polled once. `clock` is ours, so that the next poll is due when we say."""

    parts: Parts
    folder: Path
    names: tuple[str, ...]
    ahead: timedelta = timedelta(0)

    def now(self) -> datetime:
        return utc_now() + self.ahead

    def later(self) -> None:
        self.ahead += timedelta(seconds=INTERVAL_S + 1)

    def publish(self, ads: list[Ad]) -> None:
        """The ads, dealt out to the boards."""
        for n, name in enumerate(self.names):
            (self.folder / f"{name}.rss").write_bytes(feed(ads[n :: len(self.names)], name=name, now=self.now()))

    async def run(self) -> tuple[Report, float]:
        """One cycle and its seconds by our own watch."""
        began = time.perf_counter()
        outcome = await cycle(self.parts, deadline=Deadline(WALL_S, clock=self.now))
        took_s = time.perf_counter() - began
        assert not isinstance(outcome, Skipped)
        assert not outcome.errors, outcome.as_json()
        assert not outcome.sources.failed, outcome.as_json()
        return outcome, took_s


@asynccontextmanager
async def scout(
    folder: Path,
    town: Town,
    *,
    mail: dict[str, str],
    boards: int = 1,
    board_delay_s: float = 0.0,
    limits: Limits | None = None,
) -> AsyncIterator[Scout]:
    """A scout with the town's people, whose boards have been polled once and list nothing new yet."""
    await write_people(town, folder / "scout.db")
    names = tuple(f"board{n}" for n in range(boards))
    with web(folder, delay_s=board_delay_s) as port:
        (folder / "sources.toml").write_text(sources_toml(names, port=port))
        settings = load(environment(folder) | {"SCOUT_WALL_S": f"{WALL_S}", "SCOUT_LOCK_S": f"{WALL_S + 1}"} | mail)
        made: list[Scout] = []
        async with wired(settings, clock=lambda: made[0].now() if made else utc_now(), limits=limits) as parts:
            world = Scout(parts, folder, names)
            made.append(world)
            world.publish([])
            await world.run()
            yield world


@asynccontextmanager
async def with_news(folder: Path, town: Town, *, mail: dict[str, str], **more: object) -> AsyncIterator[Scout]:
    """The same, and the town's jobs are listed: the next run finds them."""
    async with scout(folder, town, mail=mail, **more) as world:  # type: ignore[arg-type]
        world.publish(town.ads())
        world.later()
        yield world


def environment(folder: Path) -> dict[str, str]:
    return {
        "SCOUT_STORE": f"sqlite:///{folder}/scout.db",
        "SCOUT_SOURCES": f"{folder}/sources.toml",
        "SCOUT_MAIL": f"outbox:///{folder}/outbox",
        "SCOUT_MAIL_FROM": "Scout <scout@example.com>",
        "SCOUT_ALLOW_LOOPBACK": "true",
    }


def sources_toml(names: tuple[str, ...], *, port: int, interval_s: int = INTERVAL_S) -> str:
    return "\n".join(
        f'[[source]]\nname = "{name}"\nkind = "feed"\nurl = "http://127.0.0.1:{port}/{name}.rss"\n'
        f"min_interval_s = {interval_s}\n"
        for name in names
    )


def web(folder: Path, *, delay_s: float) -> AbstractContextManager[int]:
    """The port of boards and a mail provider in a process of its own, which answer after `delay_s`."""
    return _serving("bench._web", str(delay_s), str(folder))


def smtp_sink(*, delay_s: float) -> AbstractContextManager[int]:
    """The port of a mail server in a process of its own that answers each body after `delay_s`."""
    return _serving("bench._sink", str(delay_s))


@contextmanager
def _serving(module: str, *args: str) -> Iterator[int]:
    server = subprocess.Popen([sys.executable, "-m", module, *args], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield int(server.stdout.readline())
    finally:
        server.kill()
        server.wait()
