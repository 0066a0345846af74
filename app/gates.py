"""The gates of a search on the command line: how each is typed, and how it is told. A list that grows.

A new gate is a field of ledger.records.Search, a gate of scan.gates, and a line in GATES.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ledger.records import Search
from scan.areas import area_named, named
from scan.contracts import Contract, contract_named
from scan.language import NAMES, language_named
from scan.money import AMOUNT_MAX, currency_named
from scan.pay import Period, converted, figure, parse_pay, period_named
from scan.reasons import one_line

LIST_MAX = 100
_NUMBER = re.compile(  # 90.000,50; 90 000; 60.5; 90k
    r"(?:\d{1,3}(?:[ .,'\u2019\u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d+(?:[.,]\d+)?)"
    r"(?:\s?(?:k|tsd|thousand|lakh|lac)(?![^\W\d_]))?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{0,3}\$|[^\W\d_]+|[^\w\s/().,'-]")  # US$; EUR; €
_JOINING = frozenset(["per", "a", "an", "each", "p", "pro", "je", "par", "por", "al", "de", "l", "à"])
RATING_MAX = 5


class BadGate(ValueError):
    """What was typed cannot be kept; one line that names it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate. `read` makes of what was typed the fields of Search that it sets; it raises BadGate."""

    field: str
    option: str  # of the command line
    metavar: str  # empty: a switch
    help: str
    label: str
    read: Callable[[str], dict[str, Any]]
    told: Callable[[Search], str]  # empty: nothing is asked


def typed(given: Mapping[str, str | bool | None]) -> dict[str, Any]:
    """The fields of Search for what was given by field name; None was not. Raises BadGate, which names the option."""
    values: dict[str, Any] = {}
    for gate in sorted(
        GATES, key=lambda gate: gate.field == "currency"
    ):  # named by itself, a currency has the last word
        value = given.get(gate.field)
        if value is None:
            continue
        if isinstance(value, bool):
            values[gate.field] = value
            continue
        try:
            values |= gate.read(value)
        except BadGate as error:
            raise BadGate(f"{gate.option}: {error}") from None
    return values


def told(search: Search) -> dict[str, str]:
    """The gates that ask something, in words by their labels."""
    return {gate.label: words for gate in GATES if (words := gate.told(search))}


def _floor(field: str, per: Period) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        if not text.strip(" 0.,"):
            return {field: None}
        pay = parse_pay(text, period=per) if _is_only_pay(text) else None
        amount = None if pay is None or pay.low is None or pay.period is None else converted(pay.low, pay.period, per)
        if pay is None or amount is None or pay.low != (pay.high or pay.low):
            unit = "500" if per is Period.FIXED else "60, '60 EUR' or '90k a year'"
            raise BadGate(f"{one_line(text)!r} is not an amount; write it as {unit}")
        return {field: amount} | ({"currency": pay.currency} if pay.currency else {})

    return read


def _is_only_pay(text: str) -> bool:
    """Whether there is one number, and beside it nothing but currency and period: the reader of ads skips the rest."""
    words = _WORD.findall(_NUMBER.sub(" ", text))
    known = all(currency_named(word) or period_named(word) or word.casefold() in _JOINING for word in words)
    return known and len(_NUMBER.findall(text)) == 1


def _currency(text: str) -> dict[str, Any]:
    code = currency_named(text)
    if not code:
        raise BadGate(f"unknown: {one_line(text)!r}; give a code such as USD, EUR, GBP")
    return {"currency": code}


def _list(field: str, of: Callable[[str], str | None], known: str) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        names = [name for part in text.split(",") if (name := part.strip())]
        if len(names) > LIST_MAX:
            raise BadGate(f"at most {LIST_MAX} of these")
        found: dict[str, None] = {}
        for name in names:
            one = of(name)
            if not one:
                raise BadGate(f"unknown: {one_line(name)!r}; {known}")
            found[str(one)] = None
        return {field: tuple(found)}

    return read


def _number(field: str, kind: type[int] | type[float], most: float) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        try:
            value = kind(text.strip().replace(",", "")[:20] or 0)
        except ValueError:
            value = kind(-1)
        if not math.isfinite(value) or not 0 <= value <= most:
            number = "whole number" if kind is int else "number"
            raise BadGate(f"{one_line(text)!r} is not a {number} from 0 to {most:,.0f}")
        return {field: value or None}

    return read


def hourly_written(amount: float) -> str:
    """What reads back as the same pay an hour: `60`, or `90,000 a year` where an hour of it has no round figure."""
    return figure(amount) if round(amount, 2) == amount else f"{_a_year(amount)} a year"


def _a_year(hourly: float) -> str:
    yearly = converted(hourly, Period.HOUR, Period.YEAR)
    assert yearly is not None
    return figure(yearly)


def _at_least(field: str) -> Callable[[Search], str]:
    return lambda search: "" if (least := getattr(search, field)) is None else f"at least {figure(least)}"


def _amount(field: str) -> Callable[[Search], str]:
    def told(search: Search) -> str:
        least = getattr(search, field)
        return "" if least is None else f"at least {search.currency} {figure(least)}"

    return told


def _hourly(search: Search) -> str:
    """Both: who typed a year finds it again."""
    least = search.min_hourly
    return "" if least is None else f"{_amount('min_hourly')(search)} ({_a_year(least)} a year)"


def _names(field: str, name: Callable[[str], str]) -> Callable[[Search], str]:
    return lambda search: ", ".join(map(name, getattr(search, field)))


def _switch(field: str) -> Callable[[Search], str]:
    return lambda search: "yes" if getattr(search, field) else ""


_AREAS = "give names, codes or regions, such as Germany, US, EU, LATAM"
_KINDS = f"give some of {', '.join(Contract)}"
_TONGUES = "give names or codes, such as English, de"

GATES: tuple[Gate, ...] = (
    Gate(
        "min_hourly", "--min-hourly", "AMOUNT", "The least an hour: 60, '60 EUR', '90k a year'; 0: any.",
        "pay an hour", _floor("min_hourly", Period.HOUR), _hourly,
    ),
    Gate(
        "min_fixed", "--min-fixed", "AMOUNT", "The least fixed price; 0: any.", "fixed price",
        _floor("min_fixed", Period.FIXED), _amount("min_fixed"),
    ),
    Gate(
        "currency", "--currency", "CODE", "Of both. Pay in another currency counts as unknown.", "currency",
        _currency, lambda _: "",  # told with the amounts
    ),
    Gate(
        "countries", "--countries", "LIST", "Where they may work: names, codes, regions; '' for anywhere.", "countries",
        _list("countries", area_named, _AREAS), _names("countries", named),
    ),
    Gate(
        "contracts", "--contract", "LIST", f"Kinds of work: {', '.join(Contract)}; '' for any.", "contract",
        _list("contracts", contract_named, _KINDS), _names("contracts", str),
    ),
    Gate(
        "languages", "--languages", "LIST", "That they read, such as en,de; '' for any.", "languages",
        _list("languages", language_named, _TONGUES), _names("languages", lambda code: NAMES.get(code, code)),
    ),
    Gate(
        "min_client_rating", "--min-rating", "N", "The client's least rating, of 5; 0: any.", "client's rating",
        _number("min_client_rating", float, RATING_MAX), _at_least("min_client_rating"),
    ),
    Gate(
        "min_client_spend", "--min-spend", "N", "The least a client has spent; 0: any.", "client has spent",
        _number("min_client_spend", float, AMOUNT_MAX), _at_least("min_client_spend"),
    ),
    Gate(
        "min_client_hires", "--min-hires", "N", "The least hires of a client; 0: any.", "client has hired",
        _number("min_client_hires", int, AMOUNT_MAX), _at_least("min_client_hires"),
    ),
    Gate(
        "payment_verified_only", "--payment-verified/--any-payment", "", "Only clients whose payment is verified.",
        "payment verified", lambda _: {}, _switch("payment_verified_only"),
    ),
    Gate(
        "strict", "--strict/--lenient", "", "What a board does not say counts as no.", "strict",
        lambda _: {}, _switch("strict"),
    ),
)  # fmt: skip
