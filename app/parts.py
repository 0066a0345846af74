"""The wired parts of a scout, and one run of it. Made by wiring.py; handed to everything in app."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from app.deadline import Deadline
from app.pace import Limits, Pace
from app.quota import Quota
from app.report import Report
from app.settings import Settings
from ledger.records import User
from ledger.schedule import Hour, hour_of, zone_of
from ledger.store import Store
from mail.letter import Site
from mail.transports.port import Transport
from scan.posting import Source
from scan.verdict import Judge

Clock = Callable[[], datetime]
Watch = Callable[[str], None]


def utc_now() -> datetime:
    return datetime.now(UTC)


def nobody_watches(_stage: str) -> None:
    """Told each stage of a run as it begins; this one says nothing."""


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    store: Store
    sources: Mapping[str, Source]
    transport: Transport
    site: Site
    clock: Clock = utc_now
    limits: Limits = field(default_factory=Limits)
    watch: Watch = nobody_watches
    judge: Judge | None = None  # None: who wants verdicts is served by keywords

    @property
    def default_hour(self) -> Hour:
        return Hour(self.settings.digest_at, zone_of("UTC"))

    def hour(self, user: User) -> Hour:
        """When the user's digest is due."""
        return hour_of(user, default_at=self.settings.digest_at)


@dataclass(frozen=True, slots=True)
class Run:
    """One run under the lease. `now` is when it began; time that matters to a claim is read from the clock."""

    parts: Parts
    report: Report
    deadline: Deadline
    pace: Pace
    quota: Quota
    now: datetime
    refused: list[tuple[User, str]] = field(default_factory=list)  # letters since the last accepted one, and why

    @property
    def store(self) -> Store:
        return self.parts.store

    @property
    def lease_s(self) -> float:
        return float(self.parts.settings.lock_s)

    def may_claim(self) -> bool:
        """Whether a letter may still begin: the circuit is closed and one whole attempt fits before the answer."""
        return self.pace.paused is None and self.deadline.allows(self.parts.transport.longest_s(self.wait_s))

    @property
    def wait_s(self) -> float:
        """The longest single wait of an attempt: a quarter of the wall."""
        return self.deadline.share_s(self.deadline.wall_s)


def new_run_id(now: datetime) -> str:
    """Sorts by time, and is told apart from another run of the same second."""
    return f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
