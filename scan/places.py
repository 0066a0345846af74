"""Where the worker may be: the words of a board to areas. Pure.

No area at all is "unknown", and so is whatever cannot be read without guessing: a town that we do not know beside one
that we do, a place with "or remote" beside it, a list of exceptions, the place of the client.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from scan.areas import WORLD, atlas, folded, is_area, spelled

TEXT_MAX_CHARS = 2000
NAME_MAX_WORDS = 9
CACHED_MAX = 4096  # distinct statements of place

# What comes after a comma in the United States. Where it is a country's code as well, its neighbours decide.
_STATES_WRITTEN = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC"
)
_STATES = frozenset(_STATES_WRITTEN.split())
_SHOUTED = {"US": "US", "UK": "GB", "EU": "EU", "UAE": "AE", "USA": "US"}  # anywhere in a text, in capitals

_WORLDWIDE = re.compile(r"\b(?:world\s?-?wide|global(?:ly)?|(?:in|around|all over) the world|international(?:ly)?"
                        r"|weltweit|(?:all|any) countr(?:y|ies)|any location|no restrictions?)\b")  # fmt: skip
_ANYWHERE = re.compile(r"\banywhere\b")
_EXCEPT = re.compile(r"\b(?:except|excluding|excludes?|excl|outside|not|non|without|other than|but|clients?)\b")
_CLOCK = re.compile(r"time\s?-?zones?\b|\b(?:utc|gmt|hours|overlap)\b")
_ZONE = r"(?:EST|EDT|ET|CST|CDT|MST|MDT|PST|PDT|PT|CET|CEST)"
_ZONES = rf"{_ZONE}(?:\s?(?:[/,&-]|or|to)\s?{_ZONE})*"
_HOUR_OF = re.compile(rf"[(\[]\s?{_ZONES}(?:\s[Tt]ime)?\s?[)\]]|\b{_ZONES}\s[Tt]ime\b")
_OR = re.compile(r"[/|;\n•]|\bor\b")
_REMOTE = re.compile(r"\bremot", re.IGNORECASE)
_PART = re.compile(r"[,()\[\]:\u2013\u2014-]+")
_WORD = re.compile(r"[^\W_]+")
_FILLING = (
    "remote remotely fully full 100 work working from home wfh location locations based only candidates freelancers "
    "located in the may apply must be office hybrid onsite on site first preferred job anywhere of and within any "
    "where region remoto telecommute distributed"
)
_FILLER = frozenset(_FILLING.split())


@lru_cache(maxsize=CACHED_MAX)
def read_places(text: str) -> tuple[str, ...]:
    """The areas that a statement of place names, each once, in its order; empty: unknown. Never raises."""
    if text.endswith("…"):  # cut: what is left of a list is not the list
        return ()
    small = folded(text[:TEXT_MAX_CHARS])
    if _WORLDWIDE.search(small) and not _EXCEPT.search(small):
        return (WORLD,)
    whole = atlas().by_name.get(spelled(small))
    if whole:
        return whole
    if _EXCEPT.search(small):
        return ()
    found: dict[str, None] = {}
    for one in _alternatives(text):
        areas = _of_one(one)
        if areas is None:
            continue
        if not areas:
            return ()
        found |= dict.fromkeys(areas)
    return tuple(found)


def areas_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The areas of a list of places, as a board gives it; empty if one of them is unknown."""
    found: dict[str, None] = {}
    for text in texts:
        areas = read_places(text)
        if not areas:
            return ()
        found |= dict.fromkeys(areas)
    return (WORLD,) if WORLD in found else tuple(found)


def remote_places(line: str) -> tuple[str, ...]:
    """The areas of a line of a firm's seats, if it names one for remote work: `Lyon, Remote - US`, `Peru (remote)`.

    Empty where remote work has no place, or none that we know: seats alone say nothing about the worker. Beside a
    place of remote work they count with it: who lives there may come to the office.
    """
    if _EXCEPT.search(folded(line[:TEXT_MAX_CHARS])):
        return ()
    found: dict[str, None] = {}
    for one in filter(_REMOTE.search, _alternatives(line)):
        areas = _of_one(one) if _is_placed(one.split(",")) else None
        if not areas:
            return ()
        found |= dict.fromkeys(areas)
    return (read_places(line) or tuple(found)) if found else ()


def _is_placed(parts: list[str]) -> bool:
    """Whether `remote` has its place: in its own part, as the only other, or as a country; `Lyon, Nice, Remote` not."""
    if any(_REMOTE.search(part) and _of_one(part) for part in parts):
        return True
    others = [part.strip(" -()[]") for part in parts if part.strip(" -()[]") and not _REMOTE.search(part)]
    return len(others) == 1 or any(map(is_area, others))


def _alternatives(text: str) -> list[str]:
    return _OR.split(_HOUR_OF.sub(" ", unicodedata.normalize("NFKC", text[:TEXT_MAX_CHARS])))


def _of_one(text: str) -> tuple[str, ...] | None:
    """The areas of one alternative; None if nothing stands there but white space."""
    if not text.strip():
        return None
    parts = [part for part in _PART.split(text) if not _CLOCK.search(folded(part))]
    found: dict[str, None] = {}
    unclear: list[tuple[str, ...]] = []
    is_after_place = False
    for part in parts:
        words = [word for word in _WORD.findall(part) if word.lower() not in _FILLER or _is_code(word)]
        if len(words) == 1 and (_is_code(words[0]) or len(text.strip()) <= 3):
            areas = _of_code(words[0].upper(), is_after_place=is_after_place)
            if len(areas) > 1:
                unclear.append(areas)
            else:
                found |= dict.fromkeys(areas)
        # A part of nothing but codes is one of a list, and no town: US, CA, MX.
        is_after_place |= bool(words) and not all(_is_code(word) and len(word) == 2 for word in words)
    found |= dict.fromkeys(_of_names(spelled(folded(" , ".join(parts))).split()))
    found |= dict.fromkeys(_SHOUTED[word] for part in parts for word in _WORD.findall(part) if word in _SHOUTED)
    if not found and not unclear and _ANYWHERE.search(folded(text)):
        return (WORLD,)
    known = frozenset(found)
    for areas in unclear:  # San Francisco, CA and Toronto, CA; both only where the neighbours tell nothing
        found |= dict.fromkeys(() if known.intersection(areas) else areas)
    return tuple(found)


def _is_code(word: str) -> bool:
    return word.upper() in _SHOUTED or (word.isupper() and len(word) <= 3)


def _of_code(code: str, *, is_after_place: bool) -> tuple[str, ...]:
    known = () if code == "EST" else atlas().by_code.get(code, ())  # a clock more often than Estonia
    return ("US", *known) if is_after_place and code in _STATES else known


def _of_names(words: list[str]) -> list[str]:
    """Every name in a row of words, the longest first: New Mexico is not Mexico."""
    found: list[str] = []
    by_name = atlas().by_name
    at = 0
    while at < len(words):
        for length in range(min(NAME_MAX_WORDS, len(words) - at), 0, -1):
            if areas := by_name.get(" ".join(words[at : at + length])):
                found += areas
                at += length
                break
        else:
            at += 1
    return found
