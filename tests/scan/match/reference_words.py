"""Reading once more, slow and plain: characters in a loop, token lists side by side, no automaton, no regex.

It knows the tables of scan.tokens, scan.forms and scan.capitals, and nothing of their code.
Where it and the matcher differ, one of them breaks the stated rules.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from itertools import pairwise

from scan.capitals import BOTH_CAPITALS, GO_BEFORE, LETTER_AFTER, LETTER_BEFORE
from scan.forms import BETWEEN, CLOSED_MAX_LETTERS, NAMES, TWO_WORDS
from scan.numbers import other_number
from scan.tokens import BEFORE_NET

DROPPED = "\u00ad\u0307\u200b\u200d\u2060\ufeff"
WORDLESS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF))


@dataclass(frozen=True)
class Token:
    folded: str
    capital: bool = field(compare=False)  # of the text, not of the keyword
    glued: bool = False


@dataclass(frozen=True)
class Text:
    """gaps[i] stands before tokens[i]; the last gap stands after the last token."""

    gaps: tuple[str, ...]
    tokens: tuple[Token, ...]


def read(text: str) -> Text:
    kept = "".join(c for c in unicodedata.normalize("NFKC", text) if c not in DROPPED)
    kept = unicodedata.normalize("NFKC", kept).replace("\u2010", "-").replace("\u2011", "-")
    gaps, words = _signs(*_split(" ".join(kept.split())))
    inner = [" " if gap == "-" and 0 < i < len(gaps) - 1 else fold(gap) for i, gap in enumerate(gaps)]
    return Text(tuple(inner), tuple(words))


def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text.casefold().replace("\u0307", ""))


def stands_in(keyword: str, text: str) -> bool:
    t = read(text)
    return any(
        _stands_in(form, way) for form in readings(keyword) for way in (t, *([] if _needs_capital(form) else ways(t)))
    )


def readings(keyword: str) -> set[Text]:
    """All ways to write it, as they are compared."""
    k = read(keyword)
    if any(token.glued for token in k.tokens):
        return {k}
    if _needs_capital(k):
        return {k, *(read(form) for form in forms(keyword) if form in dict(NAMES))}
    plain = [] if written(keyword).isascii() else ways(k)
    return {k, *plain, *(read(form) for way in (k, *plain) for form in forms(as_text(way)))}


def ways(text: Text) -> list[Text]:
    """Without accents, and with ae, oe and ue."""
    return [_mapped(text, spelled) for spelled in ({}, {"ä": "ae", "ö": "oe", "ü": "ue"})]


def _mapped(text: Text, spelled: dict[str, str]) -> Text:
    def plain(c: str) -> str:
        base = unicodedata.normalize("NFD", c)[0]
        return spelled.get(c) or (
            {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"}.get(c, base if base < "\x80" else c)
        )

    def all_of(part: str) -> str:
        return "".join(map(plain, part))

    tokens = tuple(Token(all_of(token.folded), token.capital, token.glued) for token in text.tokens)
    return Text(tuple(map(all_of, text.gaps)), tokens)


def forms(keyword: str) -> set[str]:
    """The keyword, and the other ways to write it: word by word, by the rules of docs/matching.md."""
    text = written(keyword)
    if not text.isascii():
        return {keyword}
    words = text.split(" ")
    found = {keyword}

    def put(start: int, end: int, *others: str) -> None:
        found.update(" ".join([*words[:start], other, *words[end:]]) for other in others)

    for i, word in enumerate(words):
        name = word.removesuffix("js").removesuffix(".")
        if word.endswith("js") and _may_be_of_js(name):
            put(i, i + 1, f"{name}.js", f"{name}js", f"{name} js")
        elif word in TWO_WORDS:
            put(i, i + 1, TWO_WORDS[word])
        elif other := dict(NAMES).get(word) or {b: a for a, b in NAMES}.get(word):
            put(i, i + 1, other)
    for i, (one, next_) in enumerate(pairwise(words)):
        if next_ == "js" and _may_be_of_js(one):
            put(i, i + 2, f"{one}.js", f"{one}js")
        elif (one + next_).isalpha() and len(one + next_) <= CLOSED_MAX_LETTERS:
            put(i, i + 2, one + next_)
    pairs: list[tuple[int, int, list[str]]] = []
    for start, end in sorted((a, b) for a in range(len(words)) for b in range(a + 1, a + 4)):
        piece = " ".join(words[start:end]).replace(" and ", "/").replace("&", "/").replace(" / ", "/")
        piece = piece.replace("/ ", "/").replace(" /", "/")
        piece = "/".join(words[start:end]) if set(words[start:end]) <= {"ui", "ux"} else piece
        sides = piece.split("/")
        if len(sides) == 2 and all(s.isalpha() and 2 <= len(s) <= 12 for s in sides):
            pairs.append((start, end, sides))
    for start, end, sides in pairs[-1:]:
        put(start, end, *(by.join(both) for both in (sides, sides[::-1]) for by in BETWEEN))
    return found | {other for form in {*found, text} if (other := _in_the_other_number(form))}


def _in_the_other_number(text: str) -> str:
    start = len(text)
    while start and text[start - 1].isalpha():
        start -= 1
    named = text[start:] in {name for both in NAMES for name in both}
    other = other_number(text[start:]) if not named and (start == 0 or text[start - 1] in " /&-") else None
    return text[:start] + other if other else ""


def written(keyword: str) -> str:
    """As it is compared, without hyphens."""
    return as_text(read(keyword))


def as_text(k: Text) -> str:
    return "".join(gap + token.folded for gap, token in zip(k.gaps, k.tokens, strict=False)) + k.gaps[-1]


def _may_be_of_js(word: str) -> bool:
    return 2 <= len(word) <= 12 and word.isalnum() and word[0].isalpha()


def _stands_in(k: Text, t: Text) -> bool:
    if not k.tokens:
        return bool(k.gaps[0]) and any(c.isalnum() for c in k.gaps[0]) and any(k.gaps[0] in gap for gap in t.gaps)
    n = len(k.tokens)
    return any(_stands_at(k, t, at) for at in range(len(t.tokens) - n + 1))


def usable(keyword: str) -> bool:
    text = read(keyword)
    return bool(text.tokens) or any(c.isalnum() for c in text.gaps[0])


def _stands_at(k: Text, t: Text, at: int) -> bool:
    n = len(k.tokens)
    for mine, theirs in zip(k.tokens, t.tokens[at : at + n], strict=True):
        if mine != theirs:
            return False
    if k.gaps[1:n] != t.gaps[at + 1 : at + n]:
        return False
    if not t.gaps[at].endswith(k.gaps[0]) or not t.gaps[at + n].startswith(k.gaps[n]):
        return False
    return t.tokens[at].capital or not _needs_capital(k)


def _needs_capital(k: Text) -> bool:
    word = k.tokens[0].folded if k.tokens else ""
    if k.gaps != ("", "") or len(word) > 2 or not word.isalpha():
        return False
    return word[0].upper() != word[0]


def _split(text: str) -> tuple[list[str], list[str]]:
    gaps: list[str] = [""]
    words: list[str] = []
    in_word = False
    for c in text:
        if _is_word(c) or (in_word and unicodedata.category(c)[0] == "M"):
            if in_word:
                words[-1] += c
            else:
                words.append(c)
                gaps.append("")
            in_word = True
        else:
            gaps[-1] += c
            in_word = False
    return gaps, words


def _is_word(c: str) -> bool:
    return c.isalnum() and not any(low <= ord(c) <= high for low, high in WORDLESS)


def _signs(gaps: list[str], words: list[str]) -> tuple[list[str], list[Token]]:
    """C++, C# and R&D are one token each."""
    out_gaps = [gaps[0]]
    tokens: list[Token] = []
    i = 0
    while i < len(words):
        word, gap = words[i], gaps[i + 1]
        if _single(word) and gap[:1] in ("+", "#"):
            sign = "++" if gap.startswith("++") else gap[0]
            gap = gap[len(sign) :]
            glued = not gap and i + 1 < len(words) and words[i + 1][0].isalpha()
            tokens.append(Token(fold(word + sign), _is_name(gaps, words, i), glued))
        else:
            capital = _is_name(gaps, words, i)
            while gap.strip() == "&" and all(_bare(gaps, words, j) for j in (i, i + 1)):
                i += 1
                word, gap = f"{word}&{words[i]}", gaps[i + 1]
            is_host = i > 0 and gaps[i] == "." and word == "net" and words[i - 1].lower() not in BEFORE_NET
            tokens.append(Token(fold(word), capital, is_host))
        out_gaps.append(gap)
        i += 1
    return out_gaps, tokens


def _is_name(gaps: list[str], words: list[str], i: int) -> bool:
    """A capital first letter, and for a short word nothing around it that takes it for something else."""
    word = fold(words[i])
    before, after = gaps[i], gaps[i + 1]
    previous = words[i - 1].lower() if i else "-"
    following = [w.lower() for w in words[i + 1 : i + 3]]
    if not words[i][0].isupper():
        return False
    if word in BOTH_CAPITALS:
        return words[i] == words[i].upper()
    if word == "go" and after in {" ", "-"} and following:
        return not (following[0] in GO_BEFORE or following == ["high", "level"])
    if len(words[i]) == 1:
        dotted = (before == "." and previous[-1].isalpha()) or (
            after == "." and bool(following) and following[0][0].isalpha()
        )
        named = before in {" ", "-"} and previous in LETTER_AFTER
        return not (dotted or named or (after in {" ", "-"} and bool(set(following[:1]) & LETTER_BEFORE)))
    return True


def _bare(gaps: list[str], words: list[str], i: int) -> bool:
    """A single letter that no sign follows."""
    return i < len(words) and _single(words[i]) and gaps[i + 1][:1] not in ("+", "#")


def _single(word: str) -> bool:
    return len(word) == 1 and word.isalpha()
