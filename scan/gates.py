"""What else a search asks of a job, after its words: a list that grows.

A gate looks at the rules and the job, never at the person, so people with the same rules share its answer.
A new gate is a field in Rules, a function, and a line in GATES (in the order in which they are told).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ledger.records import Job, Search
from scan.reasons import Refusal, Why, listed


@dataclass(frozen=True, slots=True)
class Rules:
    """The part of a search that the gates read. Equal rules are one object in a Matcher."""

    sources: tuple[str, ...] = ()  # folded names of sources or boards; empty: all
    max_age_h: int | None = None


Gate = Callable[[Rules, Job, datetime], Refusal | None]


def rules_of(search: Search) -> Rules:
    names = dict.fromkeys(folded for name in search.sources if (folded := _name(name)))
    return Rules(sources=tuple(names), max_age_h=search.max_age_h)


def refused(rules: Rules, job: Job, now: datetime) -> Refusal | None:
    """The first gate that is shut, or None."""
    for gate in GATES:
        if refusal := gate(rules, job, now):
            return refusal
    return None


def newest(job: Job) -> datetime:
    """When the job is from: the board's date, or when we first saw it."""
    return job.published_at or job.first_seen


def _source(rules: Rules, job: Job, now: datetime) -> Refusal | None:  # noqa: ARG001 - every gate has one shape
    """A name may be the configured source, the board, or the kind of board: greenhouse of greenhouse:gitlab."""
    if not rules.sources:
        return None
    names = {_name(job.source), _name(job.platform), _name(job.platform.partition(":")[0])}
    if not names.isdisjoint(rules.sources):
        return None
    return Refusal(Why.OTHER_SOURCE, f"it comes from {job.source or job.platform}, not from {listed(rules.sources)}")


def _age(rules: Rules, job: Job, now: datetime) -> Refusal | None:
    if rules.max_age_h is None:
        return None
    age_h = (now - newest(job)).total_seconds() / 3600
    if age_h <= rules.max_age_h:
        return None
    verb = "published" if job.published_at else "first seen"
    return Refusal(Why.TOO_OLD, f"{verb} {age_h:.0f} h ago, the limit is {rules.max_age_h} h")


def _name(typed: str) -> str:
    return typed.strip().casefold()


GATES: tuple[Gate, ...] = (_source, _age)
