"""The other ways to write one keyword: `full stack` is `fullstack`, `node.js` is `nodejs`, `ui/ux` is `UX & UI`.

Exact forms and no more: nothing is guessed from letters that are alike, and `java` never becomes `javascript`.
All forms of a keyword are one word to the matcher, which counts it once and names it as it was typed.
"""

from __future__ import annotations

import re
from itertools import pairwise

from scan.accents import without_accents
from scan.numbers import other_number
from scan.tokens import EDGE, GLUED, pattern_of, short_word

FORMS_MAX = 48
CLOSED_MAX_LETTERS = 12  # of two words in one: beyond, nobody writes them so

# Written in two words as often as in one. The other way round needs no list.
TWO_WORDS = {
    pair.replace(" ", ""): pair
    for pair in (
        "full stack", "front end", "back end", "power bi", "e commerce", "woo commerce", "chat gpt", "open ai",
        "no code", "low code", "web flow", "word press", "web site", "data base", "dev ops", "java script",
        "type script", "graph ql", "mongo db", "fast api", "quick books", "you tube", "copy writing", "copy writer",
        "voice over", "real time", "open source", "part time", "full time", "audio book", "e book", "e mail",
        "e learning", "on page", "life cycle", "white paper",
    )
}  # fmt: skip
# Other names. A short one is looked for as short words are: golang finds Go, and no "go".
NAMES = (("dotnet", ".net"), ("golang", "go"), ("postgres", "postgresql"), ("k8s", "kubernetes"))
BETWEEN = ("/", " / ", " & ", "&", " and ", " ", ", ")  # two that go together: UX/UI

_NAMED = dict((*NAMES, *(pair[::-1] for pair in NAMES)))
_JS = re.compile(r"([a-z][a-z0-9]{1,11})\.?js")
_LAST = re.compile(r"(?<![^ /&])[a-z]+\Z")
_PAIR = re.compile(r"(.* )?([a-z]{2,12})(?: ?[/&] ?| and )([a-z]{2,12})( .*)?|(.* )?(ui|ux) (ui|ux)( .*)?")


def forms_of(keyword: str) -> tuple[str, ...]:
    """The patterns of a keyword, its own first; none for one that is not usable. Two keywords with the same
    patterns are one to the matcher."""
    own = pattern_of(keyword)
    if not own:
        return ()
    if GLUED in own or short_word(own):
        name = pattern_of(_NAMED.get(own.strip(EDGE), ""))
        return (own, name) if name else (own,)
    if not own.isascii():
        ways = without_accents(own)
        more = (form for way in ways if way.isascii() for form in _ways(way))
        return tuple(dict.fromkeys((own, *ways, *more)))[:FORMS_MAX]
    return _ways(own)[:FORMS_MAX]


def _ways(own: str) -> tuple[str, ...]:
    written = own.replace(EDGE, "")
    texts = [written, *_swapped(written), *_respelled(written.split(" "))]
    texts += [other for text in texts if (other := _other_number(text))]
    return tuple(dict.fromkeys((own, *filter(None, map(pattern_of, texts)))))


def _other_number(text: str) -> str:
    """Of the last word."""
    last = _LAST.search(text)
    other = other_number(last[0]) if last and last[0] not in _NAMED else None
    return text[: last.start()] + other if last and other else ""


def _swapped(text: str) -> list[str]:
    found = _PAIR.fullmatch(text)
    if found is None:
        return []
    before, one, other, after = (part or "" for part in (found.groups()[4:] if found[6] else found.groups()[:4]))
    return [f"{before}{a}{by}{b}{after}" for a, b in ((one, other), (other, one)) for by in BETWEEN]


def _respelled(words: list[str]) -> list[str]:
    found = []
    for at, word in enumerate(words):
        if js := _JS.fullmatch(word):
            others = [f"{js[1]}.js", f"{js[1]}js", f"{js[1]} js"]
        else:
            others = [other for other in (TWO_WORDS.get(word), _NAMED.get(word)) if other]
        found += [" ".join((*words[:at], other, *words[at + 1 :])) for other in others]
    for at, (one, next_) in enumerate(pairwise(words)):
        others = [one + next_] if len(one + next_) <= CLOSED_MAX_LETTERS and (one + next_).isalpha() else []
        if next_ == "js" and _JS.fullmatch(one + next_):
            others = [f"{one}.js", f"{one}js"]
        found += [" ".join((*words[:at], other, *words[at + 2 :])) for other in others]
    return found
