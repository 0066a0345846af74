"""The line of keywords that a person types, to a list and back: `python, fastapi, "machine learning"`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scan.reasons import one_line, plain_line
from scan.tokens import pattern_of

KEYWORDS_MAX = 200  # in one list
KEYWORD_MAX_CHARS = 100
TYPED_MAX_CHARS = 2 * KEYWORDS_MAX * KEYWORD_MAX_CHARS  # of the whole field, before it is read

_QUOTES = str.maketrans("“”„«»", '"""""')  # what a telephone makes of "
_ITEM = re.compile(r'[^\S\n]*+(?:"(?P<quoted>(?:[^"\n]|"")*+)"[^\S\n]*+(?=[,\n]|\Z)|(?P<plain>[^,\n]*+))(?:[,\n]|\Z)')
_BULLET = re.compile(r"[-*•\u2013]\s+")


class BadKeywords(ValueError):
    """What was typed cannot be kept. The message is one line, for the person, and names the keyword."""


def parse_keywords(typed: str) -> tuple[str, ...]:
    """The keywords in a field. Raises BadKeywords.

    Commas and new lines separate. Double quotes around a keyword keep its commas; a quote inside is doubled.
    Trims, makes white space one space, drops a bullet before a keyword, blanks, and what repeats an earlier
    keyword for the matcher (other case, hyphen for space).
    """
    if len(typed) > TYPED_MAX_CHARS:
        raise BadKeywords(f"too much text for {KEYWORDS_MAX} keywords; it starts with {one_line(typed)!r}")
    kept: dict[str, str] = {}
    for item in _items(typed):
        keyword = plain_line(item)
        if not keyword:
            continue
        if len(keyword) > KEYWORD_MAX_CHARS:
            raise BadKeywords(f"a keyword has at most {KEYWORD_MAX_CHARS} characters: {one_line(keyword)}")
        kept.setdefault(pattern_of(keyword) or keyword, keyword)
        if len(kept) > KEYWORDS_MAX:
            raise BadKeywords(f"at most {KEYWORDS_MAX} keywords; one too many from here: {one_line(keyword)}")
    return tuple(kept.values())


def join_keywords(keywords: Iterable[str]) -> str:
    """One line that `parse_keywords` reads as these keywords, for a form that shows what is kept."""
    return ", ".join(_quoted(keyword) for keyword in keywords)


def _items(typed: str) -> list[str]:
    text = "\n".join(typed.translate(_QUOTES).splitlines())
    items: list[str] = []
    at = 0
    while at < len(text):
        found = _ITEM.match(text, at)
        assert found, "the plain branch takes anything"
        quoted, plain = found["quoted"], found["plain"]
        if quoted is None and plain.startswith('"'):
            raise BadKeywords(f"the quotes do not enclose the whole keyword: {one_line(plain)}")
        items.append(_BULLET.sub("", plain, count=1) if quoted is None else quoted.replace('""', '"'))
        at = found.end()
    return items


def _quoted(keyword: str) -> str:
    plain = plain_line(keyword)
    needs = "," in plain or plain.startswith('"') or _BULLET.match(plain)
    return '"' + plain.replace('"', '""') + '"' if needs else plain
