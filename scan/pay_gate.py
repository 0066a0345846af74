"""The gate of pay, and what is told of the pay of a job that passed it: the same figures, by the one conversion.

A range passes if its upper end reaches the floor. Rates have one floor and fixed prices another. What is unknown, or in
another currency, passes unless the rules are strict: nobody here knows the rate of exchange.
"""

from __future__ import annotations

from datetime import datetime

from ledger.records import Job
from scan.pay import Pay, Period, called, converted, figure, pay_of_job, said
from scan.reasons import Refusal, Why
from scan.rules import Rules


def pay_gate(rules: Rules, job: Job, now: datetime) -> Refusal | None:  # noqa: ARG001 - every gate has one shape
    if not _has_floor(rules):
        return None
    pay = pay_of_job(job)
    if pay is None:
        return Refusal(Why.PAY_UNKNOWN, "its pay is not stated clearly") if rules.strict else None
    if pay.period is None:
        return Refusal(Why.PAY_UNKNOWN, f"it pays {said(pay)}, {_unclear(pay)}") if rules.strict else None
    floor, per = (rules.min_fixed, Period.FIXED) if pay.period is Period.FIXED else (rules.min_hourly, Period.HOUR)
    if floor is None:
        return None
    if pay.currency != rules.currency:
        why = _unclear(pay) or f"not in {rules.currency}"
        return Refusal(Why.PAY_UNKNOWN, f"it pays {said(pay)}, {why}") if rules.strict else None
    if pay.high is None:
        is_open = rules.strict and _cents(pay.low, pay.period, per) < round(floor, 2)
        return Refusal(Why.PAY_UNKNOWN, f"it pays {said(pay)}, with no upper end") if is_open else None
    # Compared as shown, to the cent: a job that reads like the floor must not be under it.
    if _cents(pay.high, pay.period, per) >= round(floor, 2):
        return None
    least = f"the least is {rules.currency} {figure(floor)} {called(per)}"
    return Refusal(Why.PAY_TOO_LOW, f"it pays {said(pay)}{_as_hourly(pay)}; {least}")


def pay_told(rules: Rules, job: Job) -> str:
    """For somebody with a floor, of a job that passed: what the gate saw. Empty for the others."""
    if not _has_floor(rules):
        return ""
    pay = pay_of_job(job)
    if pay is None:
        return "pay not stated clearly" if job.pay else "pay not stated"
    unclear = _unclear(pay)
    return f"pays {said(pay)}{f', {unclear}' if unclear else _as_hourly(pay)}"


def _has_floor(rules: Rules) -> bool:
    return rules.min_hourly is not None or rules.min_fixed is not None


def _cents(amount: float | None, per: Period, to: Period) -> float:
    return round(converted(amount or 0, per, to) or 0, 2)


def _unclear(pay: Pay) -> str:
    missing = [name for name, known in (("period", pay.period), ("currency", pay.currency)) if not known]
    return f"{' and '.join(missing)} not stated" if missing else ""


def _as_hourly(pay: Pay) -> str:
    """`, which is USD 38.46 - 48.08 an hour`; empty where nothing is to convert."""
    if pay.period in (None, Period.HOUR, Period.FIXED):
        return ""
    low, high = (None if end is None else converted(end, pay.period, Period.HOUR) for end in (pay.low, pay.high))
    return f", which is {said(Pay(low, high, pay.currency, Period.HOUR))}"
