"""The two invisible characters that spell: kept in what is stored and shown, left out of what is compared.

U+200C and U+200D part or join letters in Arabic and Indic scripts, and make one emoji of several. Beside Latin, Greek
and Cyrillic letters they show nothing, so there they could only hide something.
"""

from __future__ import annotations

import unicodedata

JOINERS = "\u200c\u200d"
SHAPED_FROM = "\u0600"  # Arabic; below it no script is shaped by them


def shapes(text: str, at: int) -> bool:
    """Whether a joiner stands there, between two letters or emoji that it can shape."""
    if text[at] not in JOINERS or not 0 < at < len(text) - 1:
        return False
    before, after = text[at - 1], text[at + 1]
    return before >= SHAPED_FROM <= after and _is_letter_or_emoji(before) and _is_letter_or_emoji(after)


def only_shaping(text: str) -> str:
    """The text without joiners that shape nothing."""
    if text.isascii():
        return text
    return "".join(c for at, c in enumerate(text) if c not in JOINERS or shapes(text, at))


def without(text: str) -> str:
    """For comparing: who writes them and who does not mean the same word."""
    return text if text.isascii() else text.translate(_NONE)


_NONE = dict.fromkeys(map(ord, JOINERS))


def _is_letter_or_emoji(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category in ("So", "Sk")  # Sk: the tones of skin
