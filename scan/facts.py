"""What a posting says, in terms that a search can ask for: pay, places, kind of work, language. Pure.

A board's own fields count before what is read out of its texts; what neither says stays unknown.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ledger.records import Job
from scan.areas import WORLD
from scan.contracts import Contract, contracts_among, contracts_in_title, read_contracts
from scan.fingerprint import BESIDE
from scan.language import language_named, language_of
from scan.pay import Pay, Period, parse_pay, pay_of, said
from scan.pay_in_text import pay_in_text
from scan.places import areas_of, read_places
from scan.posting import Posting

TRAILER_MAX_CHARS = 5000  # the end of a text, where marketplaces put what they know of a job
AREAS_MAX = 300

# Lines that marketplaces for freelancers end their texts with, and the period that each stands for.
_TRAILER = re.compile(r"^(Hourly Range|Budget)\s?:\s?(.{1,60})$", re.MULTILINE)
_TRAILED = {"Hourly Range": Period.HOUR, "Budget": Period.FIXED}


def with_facts(job: Job, posting: Posting) -> Job:
    """The job with what its posting says. Never raises."""
    contracts = read_contracts(posting.contract) or contracts_among(posting.tags)
    pay_text, pay = _pay(posting)
    if pay is None and not pay_text:
        pay_text, pay = _told(posting)
    if not contracts and pay is not None and pay.period is Period.FIXED:
        contracts = (Contract.FREELANCE,)
    contracts = tuple(dict.fromkeys((*contracts, *contracts_in_title(posting.title))))
    countries = areas_of(posting.countries) or read_places(posting.place)
    return replace(
        job,
        pay=pay_text,
        pay_min=pay.low if pay else None,
        pay_max=pay.high if pay else None,
        currency=pay.currency if pay else "",
        period=pay.period or "" if pay else "",
        countries=(WORLD,) if WORLD in countries else countries[:AREAS_MAX],
        contracts=contracts,
        language=language_named(posting.language)
        or language_of(f"{posting.title}\n{posting.text.partition(BESIDE)[0]}"),
        client=posting.client,
    )


def _pay(posting: Posting) -> tuple[str, Pay | None]:
    """For people, and read. Numbers that a board gives count before its words, and stand for them if there are none."""
    pay = pay_of(posting.pay_min, posting.pay_max, currency=posting.currency, period=posting.period)
    if pay is None:
        return posting.pay, parse_pay(posting.pay, currency=posting.currency, period=posting.period)
    return posting.pay or said(pay), pay


def _told(posting: Posting) -> tuple[str, Pay | None]:
    """In the texts of a posting whose board has no word on pay."""
    pay_text, pay = _trailed(posting.text)
    if pay is None and (pay := pay_in_text(posting.title, posting.text)):
        pay_text = said(pay)
    return pay_text, pay


def _trailed(text: str) -> tuple[str, Pay | None]:
    """The last such line: one further up is the client's own."""
    lines = list(_TRAILER.finditer(text[-TRAILER_MAX_CHARS:]))
    if not lines:
        return "", None
    found = lines[-1]
    pay = parse_pay(found[2], period=_TRAILED[found[1]])
    return (found[0], pay) if pay is not None and pay.currency else ("", None)
