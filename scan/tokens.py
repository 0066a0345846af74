"""How a text and a keyword are read before they are compared: the same way.

Both become NFKC, without U+0307 and invisible characters, case-folded, with white space as one space and a
hyphen between two words as that space. Then every token gets a mark on each side, so that "is it a whole
token" is part of the comparison and costs nothing later:

    "Java/Kotlin, C++17"  ->  |java|/|kotlin|, |c++||17|      keyword "java" -> |java|    "c++" -> |c++|
    "ASP.NET MVC"         ->  |asp|.|net| |mvc|               keyword ".net" -> .|net|

A token is a run of letters and digits (a combining mark belongs to what it follows; the underscore belongs
to nothing), or one of two further kinds that are words of their own:

- a single letter with `+`, `++` or `#`: C++, C#, F#. Digits may be attached (C++17, C#7); with a letter
  attached (c#minor) it is neither C nor C#;
- single letters joined by `&`: R&D, Q&A, also written R & D. So "R&D" is not the language R.

Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) have no token edges: a keyword in them
is found anywhere, and a Latin word beside them is whole.

Everything here takes time linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import accumulate

from scan.accents import without_accents
from scan.capitals import is_name
from scan.skills import apart

SHORT_MAX_LETTERS = 2  # such a keyword needs a capital in the text: Go, C, IT, not "go to" or "use it"
MARKS_MAX_RUN = 30  # UAX #15, stream-safe text; longer runs make normalisation quadratic

EDGE = "\0"  # on each side of a token
FIELD = "\1"  # between title, text and skills: no phrase reaches over it
GLUED = "\2"  # after a sign with a letter attached, c#minor, and after the net of a host
BLANK = "\u00a6"  # where an address was
BEFORE_NET = frozenset(
    {"asp", "vb", "ado", "ml", "ef", "core", "mvc", "microsoft", "ms", "in", "and", "or", "with", "using"}
)

_WORDLESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = rf"[^\W_{_WORDLESS}]"

_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]")
_NO_LETTER = "(?:[^\\w\\s\x00-\x7f]|[\uff9e\uff9f])"  # those two are letters that become marks
_LONG_RUN = re.compile(rf"({_NO_LETTER}{{{MARKS_MAX_RUN}}}){_NO_LETTER}+")
# U+0307 is what case-folding leaves of a Turkish capital I; the others show nothing and come with HTML.
_DROPPED = re.compile(
    "[\u00ad\u0307\u034f\u180b-\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>\"',;()\[\]|]{1,2000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}", re.IGNORECASE
)
_SIGN = re.compile(r"\+\+?|#")
_HYPHEN = re.compile("[\u2010\u2011]")


class Place(IntEnum):
    """Where a keyword stands: the fields of what is read, best first."""

    TITLE = 0
    TEXT = 1
    FIRST_SKILLS = 2
    SKILLS = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """A job's title, text and skills, ready to be compared.

    `written` holds the fields in the order of Place with their token marks, each up to its end in `ends`. The
    capitals are the folded tokens that each field writes as names (see scan.capitals), short ones only.
    """

    written: str
    ends: tuple[int, ...]
    capitals: tuple[frozenset[str], ...]

    @property
    def line(self) -> str:
        """What keywords are looked for in: as written, character by character, with hyphens between words as spaces.

        Made when asked for: a page keeps the readings of thousands of jobs.
        """
        return _without_hyphens(self.written)

    def place(self, end: int) -> Place:
        """Of what ends there in the line."""
        return _PLACES[bisect_left(self.ends, end) % len(_PLACES)]


_PLACES = tuple(Place)


def read(title: str, text: str) -> Reading:
    """Read a job once, for any number of keywords. Takes any text, lone surrogates and controls included.

    A list of skills that ends the text is read as fields of its own. Where letters have accents, all fields follow
    once more without.
    """
    fields = [_pieces(_without_addresses(field)) for field in (title, *apart(text))]
    capitals = tuple(map(_capitals, fields))
    written = FIELD.join(map(_folded, fields))
    written = FIELD.join((written, *without_accents(written)))
    return Reading(written, _ends(written), capitals)


def _ends(written: str) -> tuple[int, ...]:
    return tuple(accumulate((len(field) + len(FIELD) for field in written.split(FIELD)), initial=-len(FIELD)))[1:]


def pattern_of(keyword: str) -> str:
    """What to look for in `Reading.line`; "" for a keyword without any letter or digit.

    Such a one is blank, or punctuation that stands in every job and would select everything.
    """
    pieces = _pieces(keyword)
    return _joined(pieces) if any(c.isalnum() for piece in pieces for c in piece) else ""


def short_word(pattern: str) -> str | None:
    """The folded word, if the pattern is one of one or two letters in a script that has capitals; else None.

    It is looked for among the capitals of a Reading, not in its line.
    """
    word = pattern.strip(EDGE)
    if pattern != f"{EDGE}{word}{EDGE}" or len(word) > SHORT_MAX_LETTERS or not word.isalpha():
        return None
    return word if word[0].upper() != word[0] else None


def _pieces(text: str) -> list[str]:
    """Separators at even places, tokens at odd ones, as written; the first and last are separators."""
    plain = _UNREADABLE.sub(" ", text)
    if not plain.isascii():
        plain = _DROPPED.sub("", unicodedata.normalize("NFKC", _LONG_RUN.sub(r"\1", plain)))
        plain = _HYPHEN.sub("-", unicodedata.normalize("NFKC", plain).replace("\u2019", "'"))
    plain = " ".join(plain.split())
    marked = not plain.isascii() and not _marks().isdisjoint(set(plain))
    pieces = _token(marked=marked).split(plain)
    if ".net" in plain:
        pieces = _with_hosts(pieces)
    return _with_signs(pieces) if any(sign in plain for sign in "+#&") else pieces


def _without_addresses(text: str) -> str:
    """Links and mail addresses say nothing of the work: a form at Google is no job for Google."""
    return _ADDRESS.sub(f" {BLANK} ", text) if "@" in text or "://" in text or "www." in text else text


def _with_hosts(pieces: list[str]) -> list[str]:
    """The `net` of bunny.net is no .NET, that of ASP.NET or "in.NET" is."""
    tokens = pieces[1::2]
    for at, separator in enumerate(pieces[2:-1:2], start=1):
        if separator == "." and tokens[at] == "net" and tokens[at - 1].casefold() not in BEFORE_NET:
            pieces[2 * at + 1] += GLUED
    return pieces


def _with_signs(pieces: list[str]) -> list[str]:
    """The same, with C++, C#7 and R&D as words of their own."""
    tokens, separators = pieces[1::2], pieces[2::2]
    bare = [len(t) == 1 and t.isalpha() and not _SIGN.match(s) for t, s in zip(tokens, separators, strict=True)]
    whole = pieces[:1]
    at = 0
    while at < len(tokens):
        last = at
        while bare[last] and last + 1 < len(tokens) and bare[last + 1] and separators[last].strip() == "&":
            last += 1
        token, separator = "&".join(tokens[at : last + 1]), separators[last]
        if at and not whole[-1] and token[0].isalpha():  # nothing between: a sign stands before it
            whole[-2] += GLUED
        sign = _SIGN.match(separator) if len(token) == 1 and token.isalpha() else None
        whole += (token + sign[0], separator[sign.end() :]) if sign else (token, separator)
        at = last + 1
    return whole


def _joined(pieces: list[str]) -> str:
    return _without_hyphens(_folded(pieces))


def _folded(pieces: list[str]) -> str:
    line = EDGE.join(pieces).casefold()
    return line if line.isascii() else unicodedata.normalize("NFKC", line.replace("\u0307", ""))


def _without_hyphens(line: str) -> str:
    """Those between two words; the length stays."""
    return line.replace(f"{EDGE}-{EDGE}", f"{EDGE} {EDGE}")


def _capitals(pieces: list[str]) -> frozenset[str]:
    # Folding makes one character of two at most, so a longer token never becomes a short one.
    tokens = enumerate(pieces[1::2])
    short = [n for n, p in tokens if len(p) <= 2 * SHORT_MAX_LETTERS and p[0].isupper()]
    return frozenset(_joined([pieces[2 * n + 1]]) for n in short if is_name(pieces, 2 * n + 1))


@cache
def _token(*, marked: bool) -> re.Pattern[str]:
    # Asking at each letter whether a mark follows costs three times as much, and few texts have any.
    marks = f"(?:[{''.join(sorted(_marks()))}]++{_WORD}*+)*+" if marked else ""
    return re.compile(f"({_WORD}++{marks})")


@cache
def _marks() -> frozenset[str]:
    """All combining marks. Those beyond U+1F000 are variation selectors, which are dropped before."""
    return frozenset(c for c in map(chr, range(0x300, 0x1F000)) if unicodedata.category(c).startswith("M"))
