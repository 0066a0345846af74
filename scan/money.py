"""Amounts of money in a line of text: their size, their currency, the two ends of a range. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

LINE_MAX_CHARS = 300  # of a statement of pay; what lies beyond is not looked at
AMOUNT_MAX = 1e10
CARRY_MAX = 1000  # `$110k - 140` is 140k, `$1k - 1500` is 1500
CARRY_MAX_RATIO = 20  # `$10 - 100k` is 10k to 100k, `$1 - 100k` is not 1k to 100k

# A sign that several currencies share names none. The bare dollar is the US one unless a code says otherwise.
_SIGNS = {
    "US$": "USD", "CA$": "CAD", "C$": "CAD", "AU$": "AUD", "A$": "AUD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "MX$": "MXN", "NT$": "TWD", "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₴": "UAH",
    "₩": "KRW", "₪": "ILS", "₺": "TRY", "₫": "VND", "₱": "PHP", "₦": "NGN", "฿": "THB", "zł": "PLN", "Kč": "CZK",
    "Ft": "HUF", "¥": "", "kr.": "", "kr": "", "Rs.": "", "Rs": "",
}  # fmt: skip
_NAMES = {"euro": "EUR", "euros": "EUR", "dollars": "USD", "pounds": "GBP"}
_LISTED_CODES = (
    "USD EUR GBP CAD AUD NZD CHF JPY CNY INR SGD HKD SEK NOK DKK ISK PLN CZK HUF RON BGN UAH RUB ILS AED SAR QAR "
    "KWD EGP ZAR NGN KES GHS BRL MXN ARS CLP UYU CRC KRW TWD THB VND PHP IDR MYR PKR BDT LKR KZT GEL RSD TND"
)
_CODES = tuple(_LISTED_CODES.split())
_SHOUTED = ("TRY", "MAD", "PEN", "COP", "BOB")  # in small letters they are words
CURRENCIES = frozenset((*_CODES, *_SHOUTED))

_FACTORS = {"k": 1e3, "tsd": 1e3, "thousand": 1e3, "lakh": 1e5, "lac": 1e5, "lpa": 1e5, "m": 1e6, "mm": 1e6,
            "mio": 1e6, "million": 1e6}  # fmt: skip

_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-") | {"\u2019": "'"})
_LISTED = re.compile(r"'\s?,\s?'(?=[^'])")  # a range as a list prints it: ['$20.00', '$40.00']

_CODE = rf"(?<![A-Za-z])(?:(?i:{'|'.join(_CODES)})|{'|'.join(_SHOUTED)})(?![A-Za-z])"
_GLUED_CODE = rf"(?<![A-Za-z])(?:{'|'.join(_CODES)})"
_SIGN = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
_AMOUNT = re.compile(
    rf"""
    (?<![0-9.,]) (?! 40[13]\s?\(?[kKbB]\b )              # a 401(k) is a plan
    (?: (?P<before> {_CODE}\s?(?:{_SIGN}) | (?<![A-Za-z])(?:{_SIGN}) | {_CODE} | {_GLUED_CODE} )
        \s{{0,2}} (?P<minus>-)? | (?<![A-Za-z]) )
    (?P<number> [0-9]{{1,3}} (?P<by>[,.\ ']) [0-9]{{3}} (?:(?P=by)[0-9]{{3}})* (?![0-9]) (?:[.,][0-9]{{1,2}}(?![0-9]))?
              | [0-9]{{1,2}} (?:,[0-9]{{2}})+ ,[0-9]{{3}} (?![0-9])
              | [0-9]{{1,12}} (?:[.,][0-9]{{1,2}})? (?![0-9]) )
    (?: \s? (?P<factor> (?i:k|tsd|thousand|lakhs?|lacs?|lpa|mm?|mio|million) ) \.? (?![A-Za-z]) )?
    (?: \s? (?P<after> {_CODE} | (?:{_SIGN})(?![0-9A-Za-z]) | (?i:{"|".join(_NAMES)})(?![A-Za-z]) ) )?
    """,
    re.VERBOSE,
)
_ANY_CODE = re.compile(_CODE)
_TO = re.compile(r"\s{0,2}(?:-|~|\b(?:to|bis|until|a|à)\b)\s{0,2}")
_AND = re.compile(r"\s{0,2}\b(?:and|und|et|y)\b\s{0,2}")
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\W{0,2}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sum:
    """One amount, or two with a range between them, and where they stand in the line."""

    low: float
    high: float
    currency: str  # ISO 4217; empty: none is named, or its sign is shared
    is_bare_dollar: bool
    is_money: bool  # it has a sign, a code or a factor; a bare number may count anything
    is_range: bool
    start: int
    end: int


def line_of(text: str) -> str:
    """The text as `sums` reads it: one line, plain dashes, ordinary digits and spaces."""
    line = unicodedata.normalize("NFKC", text[:LINE_MAX_CHARS])[: 2 * LINE_MAX_CHARS].translate(_DASHES)
    line = " ".join(line.split())
    if line.startswith("["):
        line = _LISTED.sub(" - ", line).replace("'", "")
    return line


def sums(line: str, between: re.Pattern[str]) -> list[Sum]:
    """The amounts of a line in their order. `between` may stand before the dash: `$50/hr - $60/hr`.

    A negative amount ends the list: whatever it is, it is not pay, and nothing after it is read with confidence.
    """
    found: list[Sum] = []
    at = 0
    while first := _AMOUNT.search(line, at):
        if _is_negative(line, first):
            break
        second = _second(line, first, between)
        at = (second or first).end()
        if one := _sum(first, second):
            found.append(one)
    return found


def code_in(line: str) -> str:
    """The one currency code that stands in a line; empty if there is none, or more than one."""
    codes = {found.group().upper() for found in _ANY_CODE.finditer(line)}
    return codes.pop() if len(codes) == 1 else ""


def currency_named(name: str) -> str:
    """The ISO code of what a board calls a currency: `usd`, `€`; empty: not known."""
    known = name.strip()
    code = _SIGNS.get(known) or _NAMES.get(known.lower()) or known.upper()
    return code if code in CURRENCIES else ""


def _is_negative(line: str, found: re.Match[str]) -> bool:
    start = found.start()
    if found["minus"]:
        return True
    return line[start - 1 : start] == "-" and not line[: start - 1].rstrip()[-1:].isalnum()


def _second(line: str, first: re.Match[str], between: re.Pattern[str]) -> re.Match[str] | None:
    passed = between.match(line, first.end())
    for end in (first.end(), passed.end() if passed else None):
        if end is None:
            continue
        dash = _TO.match(line, end)
        if dash is None and _BETWEEN.search(line[: first.start()]):
            dash = _AND.match(line, end)
        second = _AMOUNT.match(line, dash.end()) if dash else None
        if second and not second["minus"]:
            return second
    return None


def _sum(first: re.Match[str], second: re.Match[str] | None) -> Sum | None:
    ends = (first, second) if second else (first,)
    values = [_plain(end) for end in ends]
    factors = [_FACTORS.get((end["factor"] or "").lower().rstrip("s"), 0.0) for end in ends]
    low, high = _multiplied(values, factors)
    if high > AMOUNT_MAX:
        return None
    signs = [sign for end in ends for sign in (end["before"], end["after"]) if sign]
    codes = [code for sign in signs if (code := code_in(sign) or _NAMES.get(sign.lower(), ""))]
    named = codes or [_SIGNS.get(sign, "") for sign in signs]
    start, end = first.start(), ends[-1].end()
    currency = named[0] if len(set(named)) == 1 else ""
    is_bare = not codes and set(signs) == {"$"}
    return Sum(low, high, currency, is_bare, bool(signs) or any(factors), second is not None, start, end)


def _multiplied(values: list[float], factors: list[float]) -> tuple[float, float]:
    """A factor that is written once reaches over to the other end, where that makes a sensible range."""
    low, high = values[0] * (factors[0] or 1), values[-1] * (factors[-1] or 1)
    if len(values) == 2 and bool(factors[0]) != bool(factors[1]):
        factor = max(factors)
        carried = values[0] * factor, values[1] * factor
        bare = values[0] if factors[1] else values[1]
        if bare < CARRY_MAX and carried[0] <= carried[1] <= carried[0] * CARRY_MAX_RATIO:
            low, high = carried
    return min(low, high), max(low, high)


def _plain(found: re.Match[str]) -> float:
    number, by = found["number"], found["by"]
    if by == "." and (found["factor"] or number.startswith("0")) and number.count(".") == 1 and "," not in number:
        return float(number)  # 1.500k, 0.125: three decimals, no thousands
    cents = re.search(r"[.,][0-9]{1,2}\Z", number)
    whole = re.sub("[^0-9]", "", number[: cents.start()] if cents else number)
    return float(f"{whole}.{cents.group()[1:]}" if cents else whole)
