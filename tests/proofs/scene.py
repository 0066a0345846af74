"""A small scout for proofs: one source in memory, four people, and runs at any time, by the real cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.cycle import Skipped, cycle
from app.deadline import Deadline
from app.parts import Parts
from app.report import Report
from app.settings import load
from ledger import users
from ledger.collections import DELIVERIES, DIGESTS, JOBS, LOCKS
from ledger.documents import decode
from ledger.lifecycle import Attempt, DigestState, State
from ledger.records import Delivery, Mode, Search, SourceState, User
from ledger.store import Store, every
from mail.letter import Site
from scan.posting import Answer, Items, Posting, Source
from scan.verdict import Judge
from tests.proofs.stopping import Building, Stopped, StoppingStore, StoppingTransport, Stops

START = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)  # a Monday, an hour before the daily digest
INSTANT, FRESH, DAILY, WEEKLY = "ann@example.com", "cy@example.com", "bob@example.com", "dee@example.com"


@dataclass
class Board:
    """A source that lists what it is told."""

    name: str = "board"
    platform: str = "board"
    min_interval_s: int = 0
    attribution: str = ""
    jobs: list[str] = field(default_factory=list)
    published_at: datetime | None = None

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        return Items(tuple(self._posting(job) for job in self.jobs))

    def _posting(self, job: str) -> Posting:
        return Posting(
            platform=self.platform,
            native_id=job,
            title=f"Python developer {job}",
            link=f"https://jobs.example.com/{job}",
            text="We use Python.",
            aliases=(f"guid of {job}",),
            published_at=self.published_at,
        )


@dataclass
class Scene:
    store: Store
    now: datetime = START
    board: Board = field(default_factory=Board)
    building: Building = field(default_factory=Building)
    reports: list[Report] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    judge: Callable[[Stops], Judge] | None = None  # a process's own, which stops with it

    async def person(self, address: str, mode: Mode, *, at: datetime | None = None, **fields: Any) -> User:
        def edit(user: User) -> User:
            return replace(user, mode=mode, searches={"default": Search(keywords=("python",))}, **fields)

        return (await users.save_profile(self.store, address, edit, now=at or self.now)).user

    async def run(
        self,
        stops: Stops | None = None,
        outcomes: Sequence[Attempt] = (),
        store: Store | None = None,
        sources: Mapping[str, Source] | None = None,
    ) -> Report | Skipped | None:
        """One run of a process of its own; None if it was stopped."""
        stops = stops or Stops()
        settings = load(self.environment)
        parts = Parts(
            settings=settings,
            store=store or StoppingStore(self.store, stops),
            sources={self.board.name: self.board} if sources is None else sources,
            transport=StoppingTransport(self.building, stops, outcomes),
            site=Site(base_url="https://scout.example.com", mail_from="Scout <scout@example.com>"),
            clock=lambda: self.now,
            judge=self.judge(stops) if self.judge is not None else None,
        )
        try:
            outcome = await cycle(parts, deadline=Deadline(300, clock=parts.clock, monotonic=lambda: 0.0))
        except (Stopped, BaseExceptionGroup):
            assert stops.dead
            return None
        if stops.dead:
            return None
        if isinstance(outcome, Report):
            self.reports.append(outcome)
        return outcome

    async def lease_ran_out(self) -> None:
        """What time does to a dead run's lock; the emulator's clock cannot be moved."""
        await self.store.delete(LOCKS, ["cron"])

    def later(self, **delta: float) -> None:
        self.now += timedelta(**delta)

    async def until(self, when: datetime, *, every_min: int = 240) -> None:
        """Runs now and then until `when`."""
        while self.now < when:
            self.now = min(when, self.now + timedelta(minutes=every_min))
            await self.run()

    async def rows(self) -> dict[tuple[str, str], Delivery]:
        """(address, job) -> row."""
        found: dict[tuple[str, str], Delivery] = {}
        async for snapshot in every(self.store, DELIVERIES, {}):
            row = decode(Delivery, snapshot)
            found[_address(row.uid), row.link.rsplit("/", 1)[-1]] = row
        return found

    async def left_over(self) -> list[str]:
        """What is not at its end: rows in a state that waits, live digests, open jobs."""
        waiting = [
            f"row {k} {r.state}" for k, r in (await self.rows()).items() if r.state in (State.QUEUED, State.CLAIMED)
        ]
        live = [f"digest {s.data['state']}" async for s in every(self.store, DIGESTS, {}) if s.data["state"] in
                (DigestState.OPEN, DigestState.SENDING)]  # fmt: skip
        open_ = [f"job {s.data['title']}" async for s in every(self.store, JOBS, {"state": "open"})]
        return [*waiting, *live, *open_]


def _address(uid: str) -> str:
    from ledger.ids import address_of

    return address_of(uid)
