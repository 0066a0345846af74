"""Why a job fits a person, or why not: in words that the person can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

REASON_MAX_KEYWORDS = 10  # named in each half of a reason; the rest is counted
TURNED_DOWN_MAX = 3
KEYWORD_MAX_SHOWN = 60  # characters of one keyword


class Why(StrEnum):
    """Why a job does not fit. In the order in which it is asked: a later one got further.

    What is unknown stands against a job only in a strict search.
    """

    NO_KEYWORDS = "no_keywords"
    NO_KEYWORD_FOUND = "no_keyword_found"
    MISSING_MUST = "missing_must"
    EXCLUDED = "excluded"
    PAY_UNKNOWN = "pay_unknown"
    PAY_TOO_LOW = "pay_too_low"
    OTHER_SOURCE = "other_source"
    COUNTRY_UNKNOWN = "country_unknown"
    OTHER_COUNTRY = "other_country"
    CONTRACT_UNKNOWN = "contract_unknown"
    OTHER_CONTRACT = "other_contract"
    CLIENT_UNKNOWN = "client_unknown"
    CLIENT_TOO_LOW = "client_too_low"
    LANGUAGE_UNKNOWN = "language_unknown"
    OTHER_LANGUAGE = "other_language"
    TOO_OLD = "too_old"


HOW_FAR = {why: place for place, why in enumerate(Why)}


@dataclass(frozen=True, slots=True)
class Refusal:
    """One search says no. `detail` is for people."""

    why: Why
    detail: str


def fit_reason(
    found: Sequence[tuple[Sequence[str], str]],
    *,
    turned_down: Sequence[str] = (),
    spared: Sequence[str] = (),
    pay: str = "",
) -> str:
    """`python, fastapi in the title; java in the text, but it says "no java needed"; pays USD 50 an hour`.

    `found` is keywords, each once and as its owner typed it, and the place of each lot. `spared` is how the text
    turns down what is excluded.
    """
    told = "; ".join(f"{listed(words)} in the {place}" for words, place in found if words)
    if turned_down:
        told += f", but it says {listed([quoted(words) for words in turned_down[:TURNED_DOWN_MAX]])}"
    if spared:
        told += f"; it says {listed([quoted(words) for words in spared[:TURNED_DOWN_MAX]])}, which you exclude"
    return f"{told}; {pay}" if pay else told


def quoted(words: str) -> str:
    """In the text's own words."""
    return f'"{one_line(words)}"'


def listed(words: Sequence[str]) -> str:
    """`python, django and 12 more`."""
    shown = ", ".join(one_line(word) for word in words[:REASON_MAX_KEYWORDS])
    left = len(words) - REASON_MAX_KEYWORDS
    return f"{shown} and {left} more" if left > 0 else shown


def one_line(word: str) -> str:
    """A keyword for a reason or a message: on one line, cut at KEYWORD_MAX_SHOWN."""
    line = plain_line(word)
    return line if len(line) <= KEYWORD_MAX_SHOWN else line[: KEYWORD_MAX_SHOWN - 1] + "…"


def plain_line(typed: str) -> str:
    """One line of visible characters: white space and controls are one space, what shows nothing is dropped."""
    return " ".join("".join(c if c.isprintable() else _unseen(c) for c in typed).split())


def _unseen(c: str) -> str:
    return " " if c.isspace() or ord(c) < 0x20 else ""
