"""Pay where a board has no field for it: in the title, or in the one sentence of a text that states it. Pure.

Texts are full of amounts that nobody is paid. What is not plainly pay, with its period, stays unknown.
"""

from __future__ import annotations

import re

from scan.money import line_of
from scan.pay import Pay, Period, pays_in, yearly

TEXT_MAX_CHARS = 20_000
SENTENCES_MAX = 50  # that speak of pay

_MONEY = re.compile(r"[$€£₹]\s?[0-9]|\b(?:USD|EUR|GBP|CAD|AUD|CHF|PLN|INR)\b|[0-9]\s?€")
_SENTENCE = re.compile(r"\n|(?<=[.!?;])\s+(?=[A-Z\"'(•*-])")
_SALARY = re.compile(r"\b(?:salar(?:y|ies)|compensation|base\spay|pay\srange|gehalt|salaire|salario)\b", re.IGNORECASE)
_PAY = re.compile(r"\b(?:pays?|paid|paying|rates?|wages?|vergütung|stundensatz)\b", re.IGNORECASE)
_NOT_PAY = re.compile(
    r"\b(?:budget\w*|fund(?:s|ed|ing)?|rais(?:e|ed|ing)|revenues?|arr|mrr|valu(?:ed|ation)|prizes?|awards?|grants?|rewards?"
    r"|customers?|clients?|subscri\w+|users?|members?|sales|turnover|spend\w*|sav(?:e|es|ed|ings?)|cost\w*|fees?|prices?"
    r"|worth|invest\w*|donat\w+|tuition|allowances?|reimburs\w+|stipends?|credits?|loans?|transactions?|payments?"
    r"|ads?|interest|stores?|shops?|brands?|saas|clicks?|limits?|charges?|reach(?:es|ed|ing)?|grow(?:s|n|ing)?|scal(?:e|es|ing))\b",
    re.IGNORECASE,
)
# A title's rate ends its part: what follows "$50k/month" is whose money that is.
_TITLE_PART = re.compile(r"\s[-\u2013\u2014|]\s|[,;:()\[\]|]")
_ENDS_IN_PERIOD = re.compile(
    r"(?:h(?:ou)?rs?|hourly|h|days?|daily|weeks?|weekly|wk|months?|monthly|mo|years?|yearly|annum|annually|yr|pa|stunde|std)"
    r"\.?\W*\Z",
    re.IGNORECASE,
)
# What people are paid: anything else is a slip of the reader, a price or a firm's money.
_SENSIBLE = {
    Period.HOUR: (1, 1000),
    Period.DAY: (10, 5000),
    Period.WEEK: (50, 20_000),
    Period.MONTH: (100, 60_000),
    Period.YEAR: (3000, 1_000_000),
}


def pay_in_text(title: str, text: str) -> Pay | None:
    """The title's rate, else that of the text if all of its sentences on pay state the same."""
    for part in _TITLE_PART.split(title):
        if _ENDS_IN_PERIOD.search(part) and (found := _rate(part, is_beside=True)):
            return found
    stated: set[Pay | None] = set()
    for sentence in _sentences(text[:TEXT_MAX_CHARS]):
        found = _rate(sentence, is_beside=not _SALARY.search(sentence))
        stated.add(found)
    return stated.pop() if len(stated) == 1 else None


def _sentences(text: str) -> list[str]:
    """Those that speak of pay and of an amount."""
    if not _MONEY.search(text):
        return []
    spoken = [one for one in _SENTENCE.split(text) if _MONEY.search(one) and (_SALARY.search(one) or _PAY.search(one))]
    return spoken[:SENTENCES_MAX]


def _rate(sentence: str, *, is_beside: bool) -> Pay | None:
    """From the lowest to the highest of its rates. A sentence that speaks of other money has none.

    `is_beside`: the period must stand beside its amount. Where a salary is named it may stand apart, and a year need
    not be named.
    """
    line = line_of(sentence)
    if not _MONEY.search(line) or _NOT_PAY.search(line):
        return None
    rates = [
        pay
        for pay in pays_in(line, is_beside=is_beside)
        if pay.currency and _is_sensible(pay if is_beside else yearly(pay, line))
    ]
    same = [pay for pay in rates if (pay.currency, pay.period) == (rates[0].currency, rates[0].period)]
    if not same:
        return None
    lows, highs = [pay.low for pay in same], [pay.high for pay in same]
    return Pay(
        None if None in lows else min(low for low in lows if low),
        None if None in highs else max(high for high in highs if high),
        same[0].currency,
        same[0].period,
    )


def _is_sensible(pay: Pay) -> bool:
    bounds = _SENSIBLE.get(pay.period) if pay.period else None
    ends = [end for end in (pay.low, pay.high) if end is not None]
    return bounds is not None and all(bounds[0] <= end <= bounds[1] for end in ends)
