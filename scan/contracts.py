"""Kinds of work: what boards call them, and what we do. Pure.

Two things under one name: the hours (full-time, part-time) and the standing (freelance, temporary, internship). The one
field of a board often tells one of them, and the title the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class Contract(StrEnum):
    FREELANCE = "freelance"  # also: contractor, project
    PART_TIME = "part-time"
    FULL_TIME = "full-time"
    TEMPORARY = "temporary"
    INTERNSHIP = "internship"


TEXT_MAX_CHARS = 200
NAME_MAX_WORDS = 3

_NAMES = {
    Contract.FREELANCE: "freelance|freelancer|freelancing|contract|contractor|contracting|independent contractor"
    "|b2b|1099|c2c|corp to corp|fixed price|freiberuflich|freiberufler|autónomo|indépendant",
    Contract.PART_TIME: "part time|parttime|teilzeit|temps partiel|tiempo parcial|meio período",
    Contract.FULL_TIME: "full time|fulltime|permanent|vollzeit|festanstellung|cdi|temps plein|tiempo completo"
    "|tempo integral",
    Contract.TEMPORARY: "temporary|temp|fixed term|fixed term contract|seasonal|befristet|cdd",
    Contract.INTERNSHIP: "internship|intern|praktikum|trainee|traineeship|apprenticeship|werkstudent|working student",
}
_OF_UNSTATED_STANDING = frozenset((Contract.PART_TIME,))  # full-time is employment, unless it says otherwise
_STANDINGS_OF_HOURS = frozenset((Contract.FREELANCE, Contract.TEMPORARY))  # that come part-time without a word of it
# In a title a kind is its own part (`Editor (Contract)`), but for what is known by itself or ends a part.
_KNOWN_IN_TITLES = (
    "freelance|freiberuflich|part time|parttime|teilzeit|full time|fulltime|vollzeit|praktikum|werkstudent"
)
_ENDING_TITLES = (
    "freelancer|freiberufler|contractor|independent contractor|intern|internship|trainee|traineeship|apprenticeship"
    "|working student"
)
_STRANGE_TO_TITLES = "b2b|1099|c2c|corp to corp|contracting"  # there it is sales to firms, and the like
_IN_TITLES = frozenset(_KNOWN_IN_TITLES.split("|"))
_ENDING = frozenset(_ENDING_TITLES.split("|"))
_NEVER_IN_TITLES = frozenset(_STRANGE_TO_TITLES.split("|"))
_CONTRACT_OF = {name: contract for contract, names in _NAMES.items() for name in names.split("|")}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TITLE_PART = re.compile(r"[()\[\]|,:;/•·\u2013\u2014]|\s-\s|-(?=contractor\b)", re.IGNORECASE)
_MONTHS = re.compile(r"\b[0-9]{1,2}\+?[\s-]?months?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_JOINING = frozenset(("and", "or", "job", "position", "role", "work"))


def read_contracts(text: str) -> tuple[Contract, ...]:
    """What a board's own field says, such as `Contractor`, `full_time`, `FullTime, Contract`; empty: unknown."""
    return tuple(dict.fromkeys(contract for _, contract in _read(text) if contract))


def contracts_among(tags: Iterable[str]) -> tuple[Contract, ...]:
    """The tags that say nothing but a kind of work: `Contract` does, `Contract Law` is a field of law."""
    found: dict[Contract, None] = {}
    for tag in tags:
        read = [contract for _, contract in _read(tag)]
        if None not in read:
            found |= dict.fromkeys(contract for contract in read if contract)
    return tuple(found)


def contracts_in_title(title: str) -> tuple[Contract, ...]:
    """The kinds that a title names: `Editor (Part-Time Contract)`. `Contract Manager` is a profession."""
    found: dict[Contract, None] = {}
    for part in _TITLE_PART.split(title[:TEXT_MAX_CHARS]):
        read = _read(_MONTHS.sub(" ", part))
        is_whole = all(contract for _, contract in read)
        for place, (name, contract) in enumerate(read, start=1):
            is_last = place == len(read)
            is_meant = (
                name in _IN_TITLES or (is_last and name in _ENDING) or (is_whole and name not in _NEVER_IN_TITLES)
            )
            if contract and is_meant:
                found[contract] = None
    return tuple(found)


def leaves_open(stated: Iterable[str], asked: Iterable[str]) -> bool:
    """Whether a job that says no more than its hours may still be of a kind that is asked for."""
    return _OF_UNSTATED_STANDING.issuperset(stated) and not _STANDINGS_OF_HOURS.isdisjoint(asked)


def contract_named(typed: str) -> Contract | None:
    """The one kind that somebody calls so."""
    read = _read(typed)
    return read[0][1] if len(read) == 1 else None


def _read(text: str) -> list[tuple[str, Contract | None]]:
    """In reading order, each name as we know it; None for a word that is no part of one."""
    words = [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text[:TEXT_MAX_CHARS]))]
    words = [word for word in words if word not in _JOINING]
    found: list[tuple[str, Contract | None]] = []
    at = 0
    while at < len(words):
        for length in range(min(NAME_MAX_WORDS, len(words) - at), 0, -1):
            name = " ".join(words[at : at + length])
            if contract := _CONTRACT_OF.get(name):
                found.append((name, contract))
                at += length
                break
        else:
            found.append((words[at], None))
            at += 1
    return found
