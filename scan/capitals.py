"""Whether a short word with a capital is a name: Go, but not of "Go to"; IT, but not It; C, but not of "Series C"."""

from __future__ import annotations

from collections.abc import Sequence

# Any sentence may begin with them, so that one capital says nothing.
BOTH_CAPITALS = frozenset((
    "it", "us", "be", "so", "no", "or", "in", "on", "at", "as", "do",
    "me", "my", "we", "he", "up", "am", "an", "is", "of", "to", "by", "if",
))  # fmt: skip
# A letter after or before these numbers or shapes something.
LETTER_AFTER = frozenset({"objective", "series", "type"})
LETTER_BEFORE = frozenset({"suite", "suites", "level", "corp"})
GO_BEFORE = frozenset({"to", "live", "ahead", "getter", "getters", "highlevel"})


def is_name(pieces: Sequence[str], at: int) -> bool:
    """Of a token with a capital first letter; separators stand at even places, tokens at odd ones."""
    word = pieces[at]
    folded = word.casefold().replace("\u0307", "")
    if folded in BOTH_CAPITALS:
        return word.isupper()
    if folded == "go":
        return not _goes_on(pieces, at)
    return len(word) != 1 or not _is_part(pieces, at)


def _goes_on(pieces: Sequence[str], at: int) -> bool:
    following = [token.casefold() for token in pieces[at + 2 : at + 6 : 2]]
    if pieces[at + 1] not in (" ", "-") or not following:
        return False
    return following[0] in GO_BEFORE or following == ["high", "level"]


def _is_part(pieces: Sequence[str], at: int) -> bool:
    before, after = pieces[at - 1], pieces[at + 1]
    previous = pieces[at - 2].casefold() if at > 1 else ""
    following = pieces[at + 2].casefold() if at + 2 < len(pieces) else ""
    if (before == "." and previous[-1:].isalpha()) or (after == "." and following[:1].isalpha()):
        return True
    return (before in (" ", "-") and previous in LETTER_AFTER) or (after in (" ", "-") and following in LETTER_BEFORE)
