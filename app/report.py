"""The run report: what /cron answers, what runs/ keeps and what the CLI prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from ledger.documents import OnBad
from ledger.lifecycle import State
from ledger.store import Counts

ERRORS_MAX = 50  # an answer is read by callers that take 64 KB at most
FAILED_SOURCES_MAX = 50
REASON_MAX_CHARS = 200
HIDDEN = ("errors_more", "not_taken", "not_taken_why", "reason", "sealed", "ai")  # shown in other words, or not at all


class Status(StrEnum):
    COMPLETED = "completed"
    PARTIAL = "partial"  # cut by the wall or the budget; the next call does exactly the rest
    SKIPPED = "skipped"  # another run holds the lease
    FAILED = "failed"  # the run as a whole could not work


@dataclass(slots=True)
class SourceCounts:
    ok: int = 0
    not_modified: int = 0
    not_due: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class JobCounts:
    seen: int = 0  # items read
    new: int = 0
    twins: int = 0
    stale: int = 0  # open for 24 h: matched a last time, for the digest
    skipped: int = 0  # items that could not be used


@dataclass(slots=True)
class MatchCounts:
    pairs: int = 0
    fit: int = 0
    ai_calls: int = 0
    ai_cached: int = 0
    undecided: int = 0


@dataclass(slots=True)
class MailCounts:
    """`alerts`, `digests` and `sent` count letters that were accepted; the others count delivery rows."""

    alerts: int = 0
    digests: int = 0
    sent: int = 0
    queued: int = 0
    failed: int = 0
    deferred: int = 0
    unclear: int = 0
    expired: int = 0


@dataclass(slots=True)
class AiCost:
    """Tokens as the provider bills them, cached input included; money in millionths of a US dollar."""

    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0


@dataclass(slots=True)
class Remaining:
    users: int = 0
    jobs: int = 0
    pairs: int = 0  # verdicts for which there was no time


@dataclass(slots=True)
class Report:
    run_id: str
    started_at: datetime
    status: Status = Status.COMPLETED
    reason: str = ""  # why partial or failed
    took_s: float = 0.0
    sources: SourceCounts = field(default_factory=SourceCounts)
    jobs: JobCounts = field(default_factory=JobCounts)
    matches: MatchCounts = field(default_factory=MatchCounts)
    mail: MailCounts = field(default_factory=MailCounts)
    cost: Counts = field(default_factory=Counts)
    ai: AiCost = field(default_factory=AiCost)
    remaining: Remaining = field(default_factory=Remaining)
    errors: list[str] = field(default_factory=list)
    errors_more: int = 0
    not_taken: int = 0  # letters that were not taken, or may not have been
    not_taken_why: str = ""  # of the first
    sealed: dict[str, Any] | None = None

    def error(self, where: str, reason: str) -> None:
        """Count one bad thing with its reason; it never stops the rest. No address and no secret in it."""
        if len(self.errors) < ERRORS_MAX:
            self.errors.append(f"{where}: {reason}"[:REASON_MAX_CHARS])
        else:
            self.errors_more += 1

    def unread(self, where: str) -> OnBad:
        """For whoever reads many documents: tells of each that cannot be read. Never its id: it may be an address."""
        return lambda _id, error: self.error(where, str(error))

    def letter_not_taken(self, reason: str) -> None:
        self.not_taken += 1
        self.not_taken_why = self.not_taken_why or reason

    def source_failed(self, name: str, reason: str) -> None:
        if len(self.sources.failed) < FAILED_SOURCES_MAX:
            self.sources.failed.append({"name": name, "reason": reason[:REASON_MAX_CHARS]})
        else:
            self.errors_more += 1

    def rows(self, state: State, count: int = 1) -> None:
        """Count delivery rows by the state they came to."""
        match state:
            case State.QUEUED:
                self.mail.queued += count
            case State.FAILED:
                self.mail.failed += count
            case State.UNCLEAR:
                self.mail.unclear += count
            case State.EXPIRED:
                self.mail.expired += count
            case State.SENT | State.CLAIMED:
                pass  # told as letters; a claim is not an end

    def spent(self, input_tokens: int, output_tokens: int, micros: int) -> None:
        """Count what one call to the judge cost."""
        self.ai.input_tokens += input_tokens
        self.ai.output_tokens += output_tokens
        self.ai.micros += micros

    def seal(self, closing: Counts) -> dict[str, Any]:
        """Fix the report before it is kept; `closing` is the cost of what still follows. Answer and log agree."""
        if self.not_taken:
            count = "one letter was" if self.not_taken == 1 else f"{self.not_taken} letters were"
            self.error("mail", f"{count} not taken, or unclear; the first: {self.not_taken_why}")
        for name, count in asdict(closing).items():
            setattr(self.cost, name, getattr(self.cost, name) + count)
        self.cost = replace(self.cost)  # what follows is counted on the old one
        self.sealed = self.as_json()
        return self.sealed

    def as_json(self) -> dict[str, Any]:
        """The documented shape; instants as ISO 8601 in UTC."""
        if self.sealed is not None:
            return self.sealed
        shown = {k: v for k, v in _plain(self).items() if k not in HIDDEN}
        shown["status"] = self.status.value
        shown["started_at"] = self.started_at.isoformat()
        shown["took_s"] = round(self.took_s, 3)
        shown["cost"] |= {
            "ai_input_tokens": self.ai.input_tokens,
            "ai_output_tokens": self.ai.output_tokens,
            "ai_usd": self.ai.micros / 1e6,
        }
        if self.reason:
            shown["reason"] = self.reason[:REASON_MAX_CHARS]
        if self.errors_more:
            shown["errors"].append(f"and {self.errors_more} more")
        return shown


def _plain(value: Any) -> Any:
    """Counts as maps, lists as their own copies; `asdict` would copy each number too, in every run."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, list):
        return [dict(one) if isinstance(one, dict) else one for one in value]
    return value
