"""What else a search asks of a job, after its words: a list that grows.

A gate looks at the rules and the job, never at the person, so people with the same rules share its answer.
A new gate is a field in Rules, a function, and a line in GATES (in the order in which they are told).

What a board does not say passes, unless the rules are strict. A gate that a search does not ask for is never shut.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ledger.records import Client, Job
from scan.areas import are_known, meet, named
from scan.contracts import leaves_open
from scan.language import NAMES
from scan.pay import figure
from scan.pay_gate import pay_gate
from scan.reasons import Refusal, Why, listed
from scan.rules import Rules, folded_name

AREAS_MAX_SHOWN = 5

Gate = Callable[[Rules, Job, datetime], Refusal | None]


def refused(rules: Rules, job: Job, now: datetime) -> Refusal | None:
    """The first gate that is shut, or None."""
    for gate in GATES:
        if refusal := gate(rules, job, now):
            return refusal
    return None


def newest(job: Job) -> datetime:
    """When the job is from: the board's date, or when we first saw it."""
    return job.published_at or job.first_seen


def _source(rules: Rules, job: Job, now: datetime) -> Refusal | None:  # noqa: ARG001
    """A name may be the configured source, the board, or the kind of board: greenhouse of greenhouse:gitlab."""
    if not rules.sources:
        return None
    names = {folded_name(job.source), folded_name(job.platform), folded_name(job.platform.partition(":")[0])}
    if not names.isdisjoint(rules.sources):
        return None
    return Refusal(Why.OTHER_SOURCE, f"it comes from {job.source or job.platform}, not from {listed(rules.sources)}")


def _country(rules: Rules, job: Job, now: datetime) -> Refusal | None:  # noqa: ARG001
    if not rules.countries or not are_known(rules.countries):
        return None
    if not are_known(job.countries):
        return Refusal(Why.COUNTRY_UNKNOWN, "it does not say where the worker may be") if rules.strict else None
    if meet(rules.countries, job.countries):
        return None
    return Refusal(
        Why.OTHER_COUNTRY, f"the worker must be in {_areas(job.countries)}, not in {_areas(rules.countries)}"
    )


def _contract(rules: Rules, job: Job, now: datetime) -> Refusal | None:  # noqa: ARG001
    if not rules.contracts:
        return None
    if not job.contracts:
        return Refusal(Why.CONTRACT_UNKNOWN, "it does not say what kind of work it is") if rules.strict else None
    if not set(rules.contracts).isdisjoint(job.contracts):
        return None
    if leaves_open(job.contracts, rules.contracts):
        told = f"it is {listed(job.contracts)}, and does not say whether {listed(rules.contracts)}"
        return Refusal(Why.CONTRACT_UNKNOWN, told) if rules.strict else None
    return Refusal(Why.OTHER_CONTRACT, f"it is {listed(job.contracts)}, not {listed(rules.contracts)}")


def _client(rules: Rules, job: Job, now: datetime) -> Refusal | None:  # noqa: ARG001
    asked = rules.client
    if asked is None:
        return None
    known = job.client or Client()
    numbers = (
        ("rating", asked.rating, known.rating),
        ("spend", asked.spent, known.spent),
        ("number of hires", asked.hires, known.hires),
    )
    for name, least, value in numbers:
        if least is not None and value is not None and value < least:
            return Refusal(Why.CLIENT_TOO_LOW, f"the client's {name} is {figure(value)}, the least is {figure(least)}")
    if asked.payment_verified and known.payment_verified is False:
        return Refusal(Why.CLIENT_TOO_LOW, "the client's way of paying is not verified")
    missing = [name for name, least, value in numbers if least is not None and value is None]
    missing += ["way of paying"] if asked.payment_verified and known.payment_verified is None else []
    if rules.strict and missing:
        return Refusal(Why.CLIENT_UNKNOWN, f"it does not tell the client's {listed(missing)}")
    return None


def _language(rules: Rules, job: Job, now: datetime) -> Refusal | None:  # noqa: ARG001
    if not rules.languages:
        return None
    if not job.language:
        return Refusal(Why.LANGUAGE_UNKNOWN, "its language is not clear") if rules.strict else None
    if job.language in rules.languages:
        return None
    wanted = [NAMES.get(code, code) for code in rules.languages]
    return Refusal(Why.OTHER_LANGUAGE, f"it is in {NAMES.get(job.language, job.language)}, not in {listed(wanted)}")


def _age(rules: Rules, job: Job, now: datetime) -> Refusal | None:
    if rules.max_age_h is None:
        return None
    age_h = (now - newest(job)).total_seconds() / 3600
    if age_h <= rules.max_age_h:
        return None
    verb = "published" if job.published_at else "first seen"
    return Refusal(Why.TOO_OLD, f"{verb} {age_h:.0f} h ago, the limit is {rules.max_age_h} h")


def _areas(areas: tuple[str, ...]) -> str:
    """`Germany, Austria and 40 more`."""
    shown = ", ".join(named(area) for area in areas[:AREAS_MAX_SHOWN])
    left = len(areas) - AREAS_MAX_SHOWN
    return f"{shown} and {left} more" if left > 0 else shown


GATES: tuple[Gate, ...] = (pay_gate, _source, _country, _contract, _client, _language, _age)
