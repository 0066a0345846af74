"""Kinds of work: what boards call them, and what we do. Pure."""

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
_CONTRACT_OF = {name: contract for contract, names in _NAMES.items() for name in names.split("|")}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_JOINING = frozenset(("and", "or", "job", "position", "role", "work"))


def read_contracts(text: str) -> tuple[Contract, ...]:
    """What a board's own field says, such as `Contractor`, `full_time`, `FullTime, Contract`; empty: unknown."""
    return tuple(dict.fromkeys(contract for contract in _read(text) if contract))


def contracts_among(tags: Iterable[str]) -> tuple[Contract, ...]:
    """The tags that say nothing but a kind of work: `Contract` does, `Contract Law` is a field of law."""
    found: dict[Contract, None] = {}
    for tag in tags:
        read = _read(tag)
        if None not in read:
            found |= dict.fromkeys(contract for contract in read if contract)
    return tuple(found)


def contract_named(typed: str) -> Contract | None:
    """The one kind that somebody calls so."""
    read = _read(typed)
    return read[0] if len(read) == 1 else None


def _read(text: str) -> list[Contract | None]:
    """In reading order; None for each word that is no part of a kind's name."""
    words = [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text[:TEXT_MAX_CHARS]))]
    words = [word for word in words if word not in _JOINING]
    found: list[Contract | None] = []
    at = 0
    while at < len(words):
        for length in range(min(NAME_MAX_WORDS, len(words) - at), 0, -1):
            if contract := _CONTRACT_OF.get(" ".join(words[at : at + length])):
                found.append(contract)
                at += length
                break
        else:
            found.append(None)
            at += 1
    return found
