"""The demo's scout: real settings, real parts, real runs, a clock moved by hand; and what its ledger says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.cron import Runs
from app.demo.boards import Boards
from app.demo.feeds import BOARDS
from app.parts import Parts
from app.settings import Settings, load
from ledger import users
from ledger.collections import DELIVERIES, JOBS
from ledger.documents import decode
from ledger.lifecycle import State
from ledger.records import Delivery, Job, User
from ledger.sources import every_state
from ledger.store import every

WALL_S = 60.0
INTERVAL_S = 900


@dataclass(slots=True)
class HandClock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now

    def move_to(self, moment: datetime) -> None:
        self.now = moment


def settings_of(place: Path) -> Settings:
    """The demo's own; nothing of the environment."""
    absolute = place.resolve()
    (absolute / "sources.toml").touch()
    return load(
        {
            "SCOUT_STORE": f"sqlite:///{absolute}/scout.db",
            "SCOUT_SOURCES": f"{absolute}/sources.toml",
            "SCOUT_MAIL": f"outbox:///{absolute}/outbox",
            "SCOUT_ALLOW_LOOPBACK": "true",
            "SCOUT_MAIL_FROM": "Scout <scout@example.com>",
        }
    )


def sources_toml(boards: Boards) -> str:
    entries = (
        f'[[source]]\nname = "{board.name}"\nkind = "feed"\nurl = "{boards.url(board.path)}"\n'
        f"min_interval_s = {INTERVAL_S}\n{board.toml}\n"
        for board in BOARDS
    )
    return "\n".join(entries)


@dataclass(frozen=True, slots=True)
class SourceSeen:
    name: str
    format: str
    health: str
    known: int  # jobs of it in the ledger
    new: int  # first seen at this time


@dataclass(frozen=True, slots=True)
class MatchSeen:
    user: User
    rows: tuple[Delivery, ...]  # made at this time, best first


@dataclass(frozen=True, slots=True)
class Stage:
    parts: Parts
    clock: HandClock

    async def run(self) -> dict[str, Any]:
        """One run, as GET /cron answers it."""
        return await Runs().run(self.parts, wall_s=WALL_S)

    async def sources(self) -> list[SourceSeen]:
        jobs = [decode(Job, snapshot) async for snapshot in every(self.parts.store, JOBS, {})]
        known = Counter(job.source for job in jobs)
        new = Counter(job.source for job in jobs if job.first_seen == self.clock())
        states, _ = await every_state(self.parts.store)
        health = {state.name: state.health.value for state in states if state.health is not None}
        return [
            SourceSeen(
                board.name, board.format, health.get(board.name, "never polled"), known[board.name], new[board.name]
            )
            for board in BOARDS
        ]

    async def matched(self) -> list[MatchSeen]:
        """Everybody, with the rows made at this time."""
        rows = [row for row in await self._rows() if row.created_at == self.clock()]
        return [
            MatchSeen(user, tuple(sorted((r for r in rows if r.uid == user.uid), key=lambda r: -r.score)))
            for user in await self._people()
        ]

    async def waiting(self) -> list[MatchSeen]:
        """Those with rows that still wait, and the rows."""
        rows = [row for row in await self._rows() if row.state is State.QUEUED]
        found = [MatchSeen(user, tuple(r for r in rows if r.uid == user.uid)) for user in await self._people()]
        return [one for one in found if one.rows]

    async def _rows(self) -> list[Delivery]:
        return [decode(Delivery, snapshot) async for snapshot in every(self.parts.store, DELIVERIES, {})]

    async def _people(self) -> list[User]:
        found = [user async for user in users.active(self.parts.store, _refuse)]
        return sorted(found, key=lambda user: (user.mode.value != "instant", user.mode.value, user.address))


def _refuse(_uid: str, error: Exception) -> None:
    raise error
