"""One and many: the plural of an English word by rule, and back. Exact forms, no stems."""

from __future__ import annotations

import re

WORD_MIN_LETTERS = 3  # of the singular

# What the other number would be is another word, or another product.
OTHER_WORD = frozenset((
    "canva", "canvas", "excel", "excels", "express", "new", "news", "notion", "notions", "number", "numbers", "page",
    "pages", "panda", "pandas", "rail", "rails", "sale", "sales", "sketch", "sketches", "team", "teams", "window",
    "windows", "word", "words", "security", "securities", "future", "futures", "custom", "customs", "essential",
    "essentials", "communication", "communications", "good", "goods", "short", "shorts", "work", "works", "base",
    "bases", "note", "notes", "stock", "stocks", "option", "options", "arm", "arms", "humanity", "humanities",
))  # fmt: skip
_COUNTED = frozenset({"clinics", "comics", "infographics", "metrics", "mosaics", "topics"})
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)\Z")
_IS = re.compile(r"(?:api|emoji|gui|kpi|taxi)s\Z")  # others that end so are no plurals: redis, status
_IE = re.compile(r"(?:calor|cook|hood|mov|rook|select|zomb)ies\Z")


def other_number(word: str) -> str | None:
    """`agencies` of `agency`, `agency` of `agencies`; None where there is none to look for."""
    if not re.fullmatch("[a-z]+", word) or word in OTHER_WORD:
        return None
    other = _singular(word) or _plural(word)
    if min(len(word), len(other)) < WORD_MIN_LETTERS:
        return None
    return other if (_singular(other) or _plural(other)) == word else None


def _plural(word: str) -> str:
    if word.endswith(("lysis", "thesis")):
        return f"{word[:-2]}es"
    if re.search("[^aeiou]y\\Z", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if _SIBILANT.search(word) else f"{word}s"


def _singular(word: str) -> str:
    """Empty for what does not look like a plural: business, status, redis."""
    if not word.endswith("s") or word.endswith(("ss", "us")) or (word.endswith("is") and not _IS.search(word)):
        return ""
    if word.endswith("ics") and word not in _COUNTED:
        return ""  # a field: economics, electronics
    if word.endswith(("lyses", "theses")):
        return f"{word[:-2]}is"
    if word.endswith("ies"):
        return word[:-1] if _IE.search(word) else f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")) or re.search(r"[^ao]uses\Z", word):
        return word[:-2]
    return word[:-1]
