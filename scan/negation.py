"""A keyword that a text only mentions to turn it down: "no Java needed", "not interested in database". Pure.

Such a job still fits, for nobody can tell what the reader makes of it; the reason says so in the text's own words.
An exclusion that is turned down wherever it stands excludes nothing: "no agencies" is said to whoever excludes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scan.tokens import EDGE, FIELD, GLUED, Place, Reading, short_word

MENTIONS_MAX = 20  # of one keyword that are looked at
WINDOW_CHARS = 160  # on each side, marks included
EXCERPT_MAX_CHARS = 80

_CUE = (
    r"no|not|non|without|never|neither|nor|except|excluding|avoid|instead of|rather than|other than"
    r"|(?:do|does|did|is|are|was|wo|ca|need)n't|cannot|kein(?:e[mnrs]?)?|ohne|nicht|sans|pas de|aucune?|sin|sem"
)
_FILLER = (
    "need|needs|needed|require|requires|want|use|using|know|knowing|looking|seeking|interested|hire|hiring|accept"
    "|accepting|consider|considering|any|a|an|the|in|for|of|to|with|on|prior|previous|knowledge|experience|expertise"
    "|background|skills|familiarity|work|working|do|have|be|more|longer"
)
_ITEM = r"[\w+#.-]{1,30}"
_WORD = r"[\w+#-]{1,30}"  # within a sentence
_LISTED = rf"(?:{_ITEM}, ){{0,3}}{_ITEM},? "
_BEFORE = re.compile(
    rf"(?<![\w'-])(?:(?:{_CUE})(?: (?:{_FILLER})){{0,5}} (?:{_LISTED}(?:or|nor) |{_ITEM}/)?"
    rf"|(?:no|without|avoid|ohne|sans|sem|sin)(?! (?:one|place|problem|issue)s? )(?: {_WORD}){{1,4}},? (?:like|such as)"
    rf" (?:{_LISTED}(?:or|and|nor) )?)\Z"
)
# "This is not a Wix, Webflow project": of a list without "or" the last is known by what follows it.
_NOT_A = re.compile(rf"(?<![\w'-])(?:is|it's|that's) not an? (?:{_ITEM}, ){{1,3}}\Z")
_OF_NOT_A = re.compile(r"(?: [\w-]{1,30})? (?:role|job|position|project|gig|task|website|site|app)s?(?![\w'])")
_COMPOUNDS = frozenset({"no code", "low code"})  # also written so
_TAIL = re.compile(
    r"(?: (?:experience|knowledge|skills?|background|expertise))?(?: (?:is|are))?"
    r"(?: (?:needed|required|necessary|wanted|please|allowed))?(?![\w'])"
)
_AFTER = re.compile(
    r"(?: (?:experience|knowledge|skills?|background|expertise))?(?: (?:is|are))?(?: not|n't)(?: (?:strictly|really))?"
    r" (?:needed|required|necessary|wanted|relevant|a must|a requirement)(?![\w'])"
)
# "No sales experience needed" is said of selling.
_BEGINNERS = re.compile(
    r"(?<!\w)(?:experience|knowledge|knowing|expertise|background|skills?|familiarity|prior|previous)(?!\w)"
)

# "Do not apply without PHP", "If you do not know PHP, do not apply": they want PHP.
_LACKING = re.compile(r"(?:without|unless|(?:not|n't) (?:know|knowing|have|use))(?!\w)")
_APPLY = re.compile(r"(?:not|n't) (?:apply|bid|send|contact)(?: [\w-]{1,30}){0,4}\Z")
_TURNED_AWAY = re.compile(
    r"(?: [\w-]{1,30}){0,2},? (?:(?:please )?(?:do not|don't)|(?:you )?will (?:not )?be|won't be|need not)(?!\w)"
)


def turned_down(reading: Reading, forms: Sequence[str]) -> str:
    """How a text turns a keyword down, as `no java needed`; empty if it does not.

    `forms` are its patterns. One mention is enough. Of a word of one or two letters only the sole mention counts:
    in the line, Go is go.
    """
    line = reading.line
    for pattern in forms:
        mentions = _mentions(line, pattern)
        if short_word(pattern) and len(mentions) > 1:
            continue
        for start in mentions:
            if said := _turned_down_at(reading.written, start, pattern):
                return said
    return ""


def only_turned_down(reading: Reading, forms: Sequence[str]) -> str:
    """The same, if each mention is turned down and none of them means that beginners are welcome; else empty.

    What stands further down in a skill list is no mention.
    """
    said = []
    line = reading.line[: reading.ends[Place.FIRST_SKILLS]]
    for pattern in forms:
        mentions = _mentions(line, pattern)
        if len(mentions) == MENTIONS_MAX or (short_word(pattern) and len(mentions) > 1):
            return ""
        if any(_is_wanted(reading.written, start, pattern) for start in mentions):
            return ""
        said += [_turned_down_at(reading.written, start, pattern) for start in mentions]
    return said[0] if said and all(said) and not any(map(_BEGINNERS.search, said)) else ""


def _is_wanted(written: str, start: int, pattern: str) -> bool:
    """Whether it is who lacks it that is turned away."""
    before, after = _around(written, start, pattern)
    lacking = [cue for cue in _LACKING.finditer(before) if before.count(" ", cue.end()) <= 2]
    return any(_APPLY.search(before[: cue.start()].rstrip()) or _TURNED_AWAY.match(after) for cue in lacking)


def _around(written: str, start: int, pattern: str) -> tuple[str, str]:
    end = start + len(pattern)
    before = _plain(written[max(0, start - WINDOW_CHARS) : start].rpartition(FIELD)[2])
    return before, _plain(written[end : end + WINDOW_CHARS].partition(FIELD)[0])


def _turned_down_at(written: str, start: int, pattern: str) -> str:
    """A cue that a hyphen joins to the word is none: no-code."""
    word = _plain(pattern)
    before, after = _around(written, start, pattern)
    if (cue := _BEFORE.search(before)) and cue[0] + word not in _COMPOUNDS:
        tail = _TAIL.match(after)
        return (cue[0] + word + (tail[0] if tail else ""))[-EXCERPT_MAX_CHARS:]
    if (cue := _NOT_A.search(before)) and (tail := _OF_NOT_A.match(after)):
        return (cue[0] + word + tail[0])[-EXCERPT_MAX_CHARS:]
    if tail := _AFTER.match(after):
        return (word + tail[0])[:EXCERPT_MAX_CHARS]
    return ""


def _plain(marked: str) -> str:
    """Without the marks of a Reading. It runs for each mention of each fit: `translate` takes twenty times as long."""
    return marked.replace(EDGE, "").replace(GLUED, "")


def _mentions(line: str, pattern: str) -> list[int]:
    found: list[int] = []
    at = line.find(pattern)
    while at >= 0 and len(found) < MENTIONS_MAX:
        found.append(at)
        at = line.find(pattern, at + 1)
    return found
