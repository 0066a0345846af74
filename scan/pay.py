"""What a job pays: one reader for every board's words, one conversion for every figure that we show or compare.

What a text does not say stays unknown: no rate of exchange is made up, and no period is guessed but a year, of what
nobody is paid in less (`yearly`).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum

from ledger.records import Job
from scan.contracts import Contract
from scan.money import AMOUNT_MAX, Sum, code_in, currency_named, line_of, sums


class Period(StrEnum):
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"
    FIXED = "fixed"  # for the whole of the work


# A year of work: 52 weeks of 40 hours in days of 8, which is 2,080 hours. The only place that says so.
PER_YEAR = {Period.HOUR: 2080, Period.DAY: 260, Period.WEEK: 52, Period.MONTH: 12, Period.YEAR: 1}

_WORDS = {
    Period.HOUR: "h hr hrs hour hours hourly ph std stunde stunden stundenlohn stundensatz stündlich heure heures hora "
    "horas ora godzinę",
    Period.DAY: "d day days daily pd diem tag tage tagessatz täglich jour tjm día dia dzień",
    Period.WEEK: "w wk week weeks weekly pw woche wöchentlich semaine semana",
    Period.MONTH: "mo mon month months monthly pm pcm monat monatlich mois mensuel mensual mes mês mensal miesiąc",
    Period.YEAR: "y yr year years yearly annual annually annum pa lpa jahr jahre jährlich jahresgehalt an annuel "
    "annuelle año ano anual rok",
    Period.FIXED: "fixed flat total project oneoff onetime lump festpreis pauschal pauschale forfait gig",
}
_PERIOD_OF = {word: period for period, words in _WORDS.items() for word in words.split()}
_CALLED = {period: f"an {period}" if period is Period.HOUR else f"a {period}" for period in PER_YEAR}
# Words that speak of pay also when they do not stand beside the amount. An hour or a week alone may be time.
_APART_WORDS = (
    "hourly stundenlohn stundensatz stündlich daily tagessatz tjm weekly wöchentlich monthly monatlich mensuel mensual "
    "mensal pcm yearly annual annually annum jährlich jahresgehalt annuel annuelle anual lpa fixed flat festpreis "
    "pauschal pauschale forfait"
)
_APART = frozenset(_APART_WORDS.split())
_INITIALS = {"ph", "pd", "pw", "pm", "pa", "hr", "mo"}  # a shorter word beside an amount needs its slash or its per

_PER = r"(?:/|\bper\b|\bp/|\ban?\b|\beach\b|\bpro\b|\bje\b|\bpar\b|\bpor\b|\bal\b|\bde\sl'|\bà\sl')"
_BESIDE = re.compile(rf"\s?,?\(?\s?(?:(?P<per>{_PER})\s?)?(?P<word>[^\W\d_]+)(?P<more>[/.-]?[^\W\d_]*)", re.IGNORECASE)
_BETWEEN = re.compile(rf"\s?{_PER}\s?[^\W\d_]+\.?", re.IGNORECASE)
_ELSEWHERE = re.compile(rf"(?P<per>{_PER})\s?(?P<each>[^\W\d_]+)|(?P<word>[^\W\d_]+)", re.IGNORECASE)
_COUNTED = re.compile(r"\s?\+?\s?(?:%|percent|hours?\b|hrs?\b|h\b|days?\b|weeks?\b|months?\b|years?\b|yrs?\b)", re.I)
_WORKLOAD = re.compile(r"[0-9]+\s?\+?\s?(?:hours?|hrs?|h|days?|std|stunden|heures|horas)\.?\s?(?:/|per|a|pro|par|por)"
                       r"\s?(?:day|week|wk|month|woche|monat|tag|semaine|mois|semana|mes)\b", re.I)  # fmt: skip
_NOT_PAY_AFTER = re.compile(r"\s?(?:(?:in|sign-?on|signing|referral|annual|welcome|performance|learning)\s)?"
                            r"(?:funding|arr|revenue|raised|valuation|bonus|stipend)\b", re.I)  # fmt: skip
_NOT_PAY_BEFORE = re.compile(r"\b(?:raised|funding|revenue|valuation|bonus|stipend|series\s[a-f])(?:\sof|:)?\s?\Z",
                             re.I)  # fmt: skip
_UP_TO = re.compile(r"(?:\b(?:up\sto|max(?:imum)?|under|below|less\sthan|bis(?:\szu)?|jusqu'à|hasta|até)|[<≤]=?)"
                    r"[.:]?\s?\Z", re.I)  # fmt: skip
_FROM = re.compile(r"(?:\b(?:from|min(?:imum)?|at\sleast|starting\s(?:at|from)|starts\sat|over|above|more\sthan|ab|mind"
                   r"|desde|à\spartir\sde|a\spartir\sde)|[>≥]=?)[.:]?\s?\Z", re.I)  # fmt: skip
_NOT_YEARLY = re.compile(r"\b(?:budget|project|fixed|flat|total|prize|grant|bounty|milestone|reward|ote|commission)\b",
                         re.I)  # fmt: skip
YEAR_LOW_MIN, YEAR_HIGH_MIN, YEAR_HIGH_MAX = 10_000, 20_000, 1_000_000
YEARLY_CURRENCIES = frozenset(("USD", "EUR", "GBP", "CAD", "AUD", "NZD", "CHF", "SGD"))  # no such pay a month
_PLUS = re.compile(r"\+(?![A-Za-z])")


@dataclass(frozen=True, slots=True)
class Pay:
    """A range, both ends positive, low <= high. An end that is None is open; at most one is.

    An unknown currency is empty, an unknown period None.
    """

    low: float | None
    high: float | None
    currency: str
    period: Period | None


def converted(amount: float, per: Period, to: Period) -> float | None:
    """The same pay per another period; None between a fixed price and a rate: nobody knows the hours."""
    if per is to:
        return amount
    if Period.FIXED in (per, to):
        return None
    return amount * PER_YEAR[per] / PER_YEAR[to]


def parse_pay(text: str, *, currency: str | None = None, period: str | None = None) -> Pay | None:
    """What a statement of pay says; None if it states no pay, or none that can be read without guessing.

    `currency` and `period` are the board's own words beside the text: they count where the text says nothing, and
    `currency` also where it has only a dollar sign. Never raises; at most LINE_MAX_CHARS are read.
    """
    line = line_of(text)
    found = _stated(line, has_hint=bool(currency or period))
    if found is None:
        return None
    low, high = _ends(line, found)
    said = currency_named(currency or "")
    is_said, unit = _period(line, found)
    if not is_said:
        unit = period_named(period or "")
    return pay_of(low, high, currency=_currency(line, found, said), period=unit)


def pay_of(
    low: float | None, high: float | None, *, currency: str = "", period: Period | str | None = None
) -> Pay | None:
    """Pay in numbers. What is not positive, or beyond all measure, is unknown; two ends are put in order."""
    ends = [end for end in (low, high) if end is not None and math.isfinite(end) and 0 < end <= AMOUNT_MAX]
    if not ends or any(end is not None and end < 0 for end in (low, high)):
        return None
    unit = period if isinstance(period, Period) or period is None else period_named(period)
    if len(ends) == 2:
        return Pay(min(ends), max(ends), currency_named(currency), unit)
    return Pay(low if low in ends else None, high if high in ends else None, currency_named(currency), unit)


def yearly(pay: Pay, words: str = "") -> Pay:
    """A year where no period is stated, the amounts are those of one, and the words do not speak of a price."""
    ends = [end for end in (pay.low, pay.high) if end is not None]
    is_yearly = YEAR_HIGH_MIN <= max(ends) <= YEAR_HIGH_MAX and min(ends) >= YEAR_LOW_MIN
    if pay.period is not None or not is_yearly or pay.currency not in YEARLY_CURRENCIES or _NOT_YEARLY.search(words):
        return pay
    return replace(pay, period=Period.YEAR)


def pays_in(line: str, *, is_beside: bool) -> list[Pay]:
    """Every amount of money in a line (of `money.line_of`), with the period beside it, or else also one apart."""
    found: list[Pay] = []
    for one in sums(line, _BETWEEN):
        if one.is_money and _is_pay(line, one):
            low, high = _ends(line, one)
            unit = _beside(line, one)[1] if is_beside else _period(line, one)[1]
            if pay := pay_of(low, high, currency=_currency(line, one, ""), period=unit):
                found.append(pay)
    return found


def pay_of_job(job: Job) -> Pay | None:
    """As it is kept; to whoever is not a freelancer, what is only to be read as a year is one."""
    pay = pay_of(job.pay_min, job.pay_max, currency=job.currency, period=job.period)
    return pay if pay is None or job.contracts == (Contract.FREELANCE,) else yearly(pay, job.pay)


def period_named(name: str) -> Period | None:
    """What a board calls a period: `annual`, `per-year-salary`, `1 YEAR`, `FIXED_PRICE`. None: unknown, or two."""
    words = re.findall(r"[^\W\d_]+", name[:60].lower())
    found = {_PERIOD_OF[word] for word in words if word in _PERIOD_OF}
    return found.pop() if len(found) == 1 else None


def said(pay: Pay) -> str:
    """`USD 37.50 - 50 an hour`, `up to EUR 90,000 a year`, `from 500`: in the board's own period, nothing converted."""
    bound = "up to " if pay.low is None else "from " if pay.high is None else ""
    amounts = " - ".join(figure(end) for end in dict.fromkeys((pay.low, pay.high)) if end is not None)
    unit = "fixed" if pay.period is Period.FIXED else _CALLED[pay.period] if pay.period else ""
    return f"{bound}{pay.currency} {amounts} {unit}".replace("  ", " ").strip()


def called(period: Period) -> str:
    """`an hour`."""
    return _CALLED.get(period, "for all of it")


def figure(amount: float) -> str:
    """`104,000`, `37.50`."""
    whole = round(amount, 2)
    return f"{whole:,.0f}" if whole == int(whole) else f"{whole:,.2f}"


def _stated(line: str, *, has_hint: bool) -> Sum | None:
    """The first amount that is money; or the first bare number, where the line has nothing else it could count."""
    bare: Sum | None = None
    for found in sums(line, _BETWEEN):
        if not _is_pay(line, found):
            continue
        if found.is_money:
            return found
        if bare is None and not _COUNTED.match(line[found.end :]):
            bare = found
    if bare is None:
        return None
    is_alone = not any(c.isalpha() for c in line)
    return bare if has_hint or is_alone or _period(line, bare)[1] or code_in(line) else None


def _is_pay(line: str, found: Sum) -> bool:
    head, tail = line[: found.start], line[found.end :]
    return not (tail.startswith("%") or _NOT_PAY_BEFORE.search(head) or _NOT_PAY_AFTER.match(tail))


def _ends(line: str, found: Sum) -> tuple[float | None, float | None]:
    if not found.is_range:
        head = line[: found.start]
        if _UP_TO.search(head):
            return None, found.high
        passed = _BETWEEN.match(line, found.end)
        if _FROM.search(head) or _PLUS.match(line, found.end) or (passed and _PLUS.match(line, passed.end())):
            return found.low, None
    return found.low, found.high


def _currency(line: str, found: Sum, said_by_board: str) -> str:
    if found.currency and not found.is_bare_dollar:
        return found.currency
    return code_in(line) or said_by_board or found.currency


def _period(line: str, found: Sum) -> tuple[bool, Period | None]:
    """Whether a period is stated, and which; None: one that is none of ours (per word), or two."""
    is_beside, unit = _beside(line, found)
    if is_beside:
        return True, unit
    apart = {period for match in _ELSEWHERE.finditer(_WORKLOAD.sub(" ", line)) if (period := _apart(match))}
    return bool(apart), apart.pop() if len(apart) == 1 else None


def _beside(line: str, found: Sum) -> tuple[bool, Period | None]:
    """The same of what follows the amount."""
    beside = _BESIDE.match(line, found.end)
    if beside is not None:
        whole = re.sub("[./-]", "", beside["word"] + beside["more"]).lower()
        word = whole if whole in _PERIOD_OF else beside["word"].lower()
        if word in _PERIOD_OF and (beside["per"] or len(word) > 2 or word in _INITIALS):
            return True, _PERIOD_OF[word]
        if beside["per"]:
            return True, None
    return False, None


def _apart(match: re.Match[str]) -> Period | None:
    if match["each"]:
        return _PERIOD_OF.get(match["each"].lower())
    word = match["word"].lower()
    return _PERIOD_OF[word] if word in _APART else None
