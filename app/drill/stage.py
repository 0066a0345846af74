"""The stage of a drill: a fresh store, people and jobs from a seed, a sink, boards, and the real server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from app.drill.boards import BoardJob, Boards
from app.drill.kills import Kill
from app.drill.model import Model
from app.drill.sink import Sink
from app.drill.target import clock_of
from app.settings import Settings, load
from app.wiring import store_of
from ledger import users
from ledger.collections import LOCKS
from ledger.records import Mode, Search, User
from ledger.store import Store

WORDS = ("python", "kotlin", "terraform", "figma", "rust", "salesforce", "copywriting", "kubernetes")
HOURS = ("02:30", "01:30", "08:00", "23:45")
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Melbourne", "Asia/Kolkata", "UTC")
AI_EVERY = 4
START_MAX_S = 60.0
CALL_MAX_S = 120.0
QUIET_RUNS_MAX = 300  # a short wall leaves many a run partial


@dataclass
class Server:
    """One process of the scout."""

    process: subprocess.Popen[str]
    port: int
    secret: str

    async def cron(self, *, method: str = "GET", hang_up_s: float | None = None) -> dict[str, Any] | None:
        """One call; None if there was no answer: the process died, or the caller hung up first."""
        headers = {"Authorization": f"Bearer {self.secret}"}
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=hang_up_s or CALL_MAX_S) as client:
                answer = await client.request(method, f"http://127.0.0.1:{self.port}/cron", headers=headers)
        except (httpx2.TransportError, httpx2.TimeoutException):
            return None
        report: dict[str, Any] = answer.json()
        return report | {"http": answer.status_code}

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def send_signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        await asyncio.to_thread(self.process.wait)
        if self.process.stdout is not None:
            self.process.stdout.close()


@dataclass
class Stage:
    folder: Path
    seed: int
    sink: Sink
    boards: Boards
    model: Model
    lock_s: int
    wall_s: int
    interval_s: int = 0  # between two polls of a source
    settings: Settings = field(init=False)
    store: Store = field(init=False)
    clock: Callable[[], datetime] = field(init=False)
    environment: dict[str, str] = field(default_factory=dict)
    people: dict[str, Mode] = field(default_factory=dict)  # address -> mode
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)  # address -> what they look for
    hours: dict[str, tuple[str, str]] = field(default_factory=dict)  # address -> at, zone
    timeline: list[tuple[float, str]] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    is_firestore: bool = False

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.secret = secrets.token_hex(16)
        self._began_s = time.monotonic()
        self._write("clock", 0)
        self._write("trouble", 0)
        sources = "".join(
            f'[[source]]\nname = "{name}"\nkind = "feed"\nplatform = "drill"\nurl = "{self.boards.url(f"/{name}")}"\n'
            f"min_interval_s = {self.interval_s}\n\n"
            for name in ("good", "moody")
        )
        (self.folder / "sources.toml").write_text(sources)
        self.is_firestore = bool(os.environ.get("FIRESTORE_EMULATOR_HOST"))
        sqlite = f"sqlite:///{self.folder / 'drill.db'}"
        self.environment = {
            "SCOUT_CRON_SECRET": self.secret,
            "SCOUT_STORE": f"firestore://drill-{secrets.token_hex(6)}" if self.is_firestore else sqlite,
            "SCOUT_SOURCES": str(self.folder / "sources.toml"),
            "SCOUT_ALLOW_LOOPBACK": "true",
            "SCOUT_MAIL": f"smtp://127.0.0.1:{self.sink.port}",
            "SCOUT_LOCK_S": str(self.lock_s),
            "SCOUT_WALL_S": str(self.wall_s),
            "SCOUT_LOG": "json",
        }
        self.settings = load(self.environment)
        self.clock = clock_of(self.folder / "clock")
        self.store = store_of(self.settings, clock=self.clock)

    def tell(self, what: str) -> None:
        self.timeline.append((time.monotonic() - self._began_s, what))

    def move(self, by: timedelta) -> None:
        """The world's clock, for every process at once."""
        self._write("clock", float((self.folder / "clock").read_text()) + by.total_seconds())
        self.tell(f"the clock moves by {by}")

    def trouble_store(self, share: float) -> None:
        """The share of writes that go wrong from now on, in servers that were started `troubled`."""
        self._write("trouble", share)

    def _write(self, name: str, figure: float) -> None:
        """Whole or not at all: servers read it at any moment."""
        fresh = self.folder / f"{name}.new"
        fresh.write_text(str(figure))
        fresh.rename(self.folder / name)

    def set_clock(self, to: datetime) -> None:
        self.move(to - self.clock())

    async def start(
        self, kill: Kill | None = None, *, judged: bool = False, troubled: bool = False, store_host: str = ""
    ) -> Server:
        """A server; with `judged` it asks the model (its SDK takes seconds to import); without, keywords decide.

        `troubled`: as many of its store's writes go wrong as `trouble_store` says. `store_host`: where its store is.
        """
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("SCOUT_", "DRILL_", "ANTHROPIC_"))
        }
        own = {
            "DRILL_CLOCK": str(self.folder / "clock"),
            "DRILL_COUNTS": str(self.folder / "counts"),
            "DRILL_KILL": str(kill or ""),
            "DRILL_TROUBLE": str(self.folder / "trouble") if troubled else "",
        }
        if judged:
            own |= {"ANTHROPIC_API_KEY": "drill", "ANTHROPIC_BASE_URL": self.model.url()}
        if store_host:
            own["FIRESTORE_EMULATOR_HOST"] = store_host
        log = (self.folder / "server.log").open("a")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-m", "app.drill.target"],
                env={**kept, **self.environment, **own},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdout is not None
        line = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), START_MAX_S)
        if not line.strip():
            raise RuntimeError(f"the server did not start; its log: {(self.folder / 'server.log').read_text()[-2000:]}")
        server = Server(process, int(line), self.secret)
        self.servers.append(server)
        self.tell(f"a server starts (pid {process.pid}){f', to be killed at {kill}' if kill else ''}")
        return server

    async def cron(self, server: Server, **how: Any) -> dict[str, Any] | None:
        report = await server.cron(**how)
        if report is None:
            self.tell("no answer")
        else:
            mail = report.get("mail", {})
            self.tell(f"{report['status']}: {mail.get('sent', 0)} letters, {mail.get('queued', 0)} queued")
        return report

    async def sign_up(self, *, instant: int, daily: int, zones: bool = False) -> None:
        """People with one or two words each, the baseline polled before them; the same for the same seed.

        With `zones` each has an hour and a zone of their own; two of the hours fall into changes of the clocks.
        """
        server = await self.start()
        await self.cron(server)
        await server.end()
        for number in range(instant + daily):
            address = f"u{number:04d}@drill.example"
            self.people[address] = Mode.INSTANT if number < instant else Mode.DAILY
            self.words[address] = tuple(sorted(self.rng.sample(WORDS, self.rng.choice((1, 2)))))
            if zones:
                self.hours[address] = (self.rng.choice(HOURS), self.rng.choice(ZONES))
        gate = asyncio.Semaphore(32)

        async def one(address: str) -> None:
            async with gate:
                await users.save_profile(
                    self.store, address, lambda user: self._profile(user, address), now=self.clock()
                )

        await asyncio.gather(*(one(address) for address in self.people))
        self.tell(f"{instant} instant and {daily} daily people signed up")
        server = await self.start()
        await self.quiet(server)
        await server.end()

    def _profile(self, user: User, address: str) -> User:
        """Every fourth person asks for a model's word; whatever it says is enough for them."""
        search = Search(keywords=self.words[address])
        at, zone = self.hours.get(address, (None, "UTC"))
        ai = int(address[1:5]) % AI_EVERY == 0
        about = f"This is {address[:5]}." if ai else ""
        mode = self.people[address]
        return replace(
            user, mode=mode, searches={"default": search}, at=at, zone=zone, ai=ai, about=about, ai_threshold=0
        )

    def new_jobs(self, count: int) -> None:
        begin = len(self.boards.jobs)
        self.boards.jobs += [BoardJob(begin + n, self.rng.choice(WORDS)) for n in range(count)]
        self.tell(f"{count} jobs appear")

    def fits(self) -> set[tuple[str, int]]:
        """Every (address, job) that has to arrive: nothing of scout's is asked."""
        return {(who, job.number) for who, words in self.words.items() for job in self.boards.jobs if job.word in words}

    async def lease_passes(self) -> None:
        """What time does to a dead run's lock and claims. The emulator's clock cannot be moved: there we wait."""
        if self.is_firestore and await self.store.get(LOCKS, ["cron"]):
            await asyncio.sleep(self.lock_s + 0.2)
        self.move(timedelta(seconds=self.lock_s + 1))

    async def quiet(self, server: Server) -> int:
        """Call until a run has nothing left to do. Returns how many calls it took."""
        for number in range(1, QUIET_RUNS_MAX + 1):
            report = await self.cron(server)
            if report is None:
                raise RuntimeError("the server died though nobody killed it")
            if report["status"] == "completed" and not report["mail"]["sent"] and not report["mail"]["queued"]:
                return number
            await self.lease_passes()
        raise RuntimeError(f"not quiet after {QUIET_RUNS_MAX} runs")

    async def settle_everything(self, *, judged: bool = False) -> None:
        """Until nothing waits: retries, then digest hours."""
        server = await self.start(judged=judged)
        try:
            await self.lease_passes()
            await self.quiet(server)
            for hours in (1, 5, 24, 24, 24):
                self.move(timedelta(hours=hours))
                await self.quiet(server)
        finally:
            await server.end()

    def counts(self) -> dict[str, int]:
        """The outside calls of the last run that came to its end, by kind."""
        found: dict[str, int] = json.loads((self.folder / "counts").read_text())
        return found


@asynccontextmanager
async def staged(
    *, seed: int, lock_s: int = 3, wall_s: int = 2, interval_s: int = 0, delay_s: float = 0.02
) -> AsyncIterator[Stage]:
    """A stage in a folder of its own; everything on it has ended and gone afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="scout-drill-") as folder,
        Sink(delay_s=delay_s, seed=seed) as sink,
        Boards() as boards,
        Model(seed=seed) as model,
    ):
        stage = Stage(Path(folder), seed, sink, boards, model, lock_s, wall_s, interval_s)
        try:
            yield stage
        finally:
            for server in stage.servers:
                await server.end()
            await stage.store.close()
