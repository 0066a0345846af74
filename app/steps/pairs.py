"""A pair on its way to its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.purse import Over
from app.steps.match import Wanted
from ledger.documents import Stored
from ledger.records import Job, User
from ledger.verdicts import Held, Verdict, VerdictState
from scan.match import Fit

ALONE_AFTER_TRIES = 2  # a pair that keeps coming back may spoil its neighbours' answer


@dataclass(slots=True)
class Pair:
    """One job (with its twins, the best first) for one person, and what is known of its verdict.

    `version` is None while it has no document. `is_ours` says that the document is as we last read or wrote it;
    if not, another run is at it.
    """

    verdict: Verdict
    version: str | None
    fits: tuple[tuple[Fit, Job], ...]
    is_ours: bool = True
    left: Over | None = None  # why it was not asked about in this run

    @property
    def job(self) -> Job:
        return self.fits[0][1]

    @property
    def held(self) -> Held:
        assert self.version is not None
        return Stored(self.verdict, self.version)

    def becomes(self, held: Held | None) -> None:
        """What the store says it is now; None: somebody else has it."""
        if held is None:
            self.is_ours = False
        else:
            self.verdict, self.version, self.is_ours = held.record, held.version, True


def batches(pairs: Sequence[Pair], *, size: int) -> list[list[Pair]]:
    """One list a call: the best by keywords first; a pair that came back again and again goes alone."""
    ranked = sorted(pairs, key=lambda pair: (-pair.verdict.fit_score, pair.verdict.key))
    together = [pair for pair in ranked if pair.verdict.tries < ALONE_AFTER_TRIES]
    alone = [[pair] for pair in ranked if pair.verdict.tries >= ALONE_AFTER_TRIES]
    return [together[i : i + size] for i in range(0, len(together), size)] + alone


@dataclass(slots=True)
class Case:
    """One person and all of their pairs in this run.

    `may_ask`: they want verdicts, and there is a judge. `settled` are fits that need none: they have a row, or no
    verdict is wanted. `carried` are the keys of the pairs that came with their document, not with an open job.
    """

    user: User
    wanted: Wanted | None
    may_ask: bool
    pairs: list[Pair] = field(default_factory=list)
    settled: list[tuple[Fit, Job]] = field(default_factory=list)
    carried: set[str] = field(default_factory=set)

    def pending(self) -> list[Pair]:
        return [pair for pair in self.pairs if pair.verdict.state is VerdictState.PENDING]

    def due(self, now: datetime) -> list[Pair]:
        """Pending ones that nobody is asking about."""
        return [p for p in self.pending() if p.is_ours and (p.version is None or _is_due(p.verdict, now))]


def _is_due(verdict: Verdict, now: datetime) -> bool:
    return verdict.wake_at is None or verdict.wake_at <= now
