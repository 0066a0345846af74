"""What a model said, checked before anything believes it. Pure.

An answer is matched to its posting by name. What is out of bounds leaves only its own pair undecided; text is
made harmless: one line, no link, no address, no markup, no stretch of the person's own words.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from scan.text import one_line

REASON_MAX_CHARS = 240
CAVEAT_MAX_CHARS = 160
TAGS_MAX = 5
TAG_MAX_CHARS = 30
SAID_MAX_CHARS = 200_000  # of an answer as text; the rest is not read
QUOTED_MAX_WORDS = 8  # of the profile in a row
STARTS_MAX = 50  # places in a text at which an answer is looked for

_LINK = re.compile(r"\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)|\b(?:[a-z][a-z0-9+.-]{1,20}:|www\.)\S+", re.IGNORECASE)
_BARE_HOST = re.compile(r"\b(?:[a-z0-9-]{1,63}\.)+(?:[a-z]{2,12})(?:/\S*|\b)", re.IGNORECASE)
_MAIL = re.compile(r"\S+@\S+")
_TAG = re.compile(r"<[^<>]{0,300}>|[<>`*_#|{}\\]|&(?:#\w{1,8}|\w{2,10});")
_KNOWN_DOTTED = re.compile(
    r"(?:node|vue|next|nuxt|express|three|d3|react|angular|ember|nest|socket|asp|vb|ado|ml|web)\.(?:js|net|io|ts)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Opinion:
    """One checked answer."""

    score: int
    reason: str
    caveat: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heard:
    """By the posting's name: what was said of it, or why that cannot be used. `strange` names nobody asked about."""

    opinions: Mapping[str, Opinion]
    faults: Mapping[str, str]
    strange: int


def heard(said: object, names: Sequence[str], *, about: str) -> Heard:
    """Read an answer about these postings. Never raises; what is missing or wrong stays undecided."""
    answers = list(_answers(said))
    if len(names) == 1 and len(answers) == 1 and "name" not in answers[0]:
        answers = [{**answers[0], "name": names[0]}]  # of a single posting there is no doubt
    told = Counter(str(answer.get("name")) for answer in answers)
    opinions: dict[str, Opinion] = {}
    faults = dict.fromkeys(names, "the answer left it out")
    for answer in answers:
        name = str(answer.get("name"))
        if name not in faults or name in opinions:
            continue
        if told[name] > 1:
            faults[name] = "the answer named it twice"
            continue
        checked = _checked(answer, about)
        if isinstance(checked, Opinion):
            opinions[name] = checked
            del faults[name]
        else:
            faults[name] = checked
    return Heard(opinions, faults, sum(count for name, count in told.items() if name not in names))


def harmless(text: str, max_chars: int) -> str:
    """One line of words: links, addresses and markup are gone, and it is cut at a word."""
    line = one_line(text[: max_chars * 20], max_chars=max_chars * 4)
    line = _TAG.sub(" ", _MAIL.sub(" ", _LINK.sub(lambda m: m[1] or " ", line)))
    line = _BARE_HOST.sub(lambda m: m[0] if _KNOWN_DOTTED.fullmatch(m[0]) else " ", line)
    line = " ".join(line.split()).strip(" -:;,")
    if len(line) <= max_chars:
        return line
    cut = line[: max_chars - 1]
    return (cut[: cut.rfind(" ")] if cut.rfind(" ") > max_chars // 2 else cut).rstrip(" ,;:") + "…"


def quotes(text: str, about: str) -> bool:
    """Whether QUOTED_MAX_WORDS words of `about` stand in the text in a row."""
    said, own = _words(text), _words(about)
    runs = {tuple(own[i : i + QUOTED_MAX_WORDS]) for i in range(len(own) - QUOTED_MAX_WORDS + 1)}
    return any(tuple(said[i : i + QUOTED_MAX_WORDS]) in runs for i in range(len(said) - QUOTED_MAX_WORDS + 1))


def _whole(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("no number")
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:10])
    if isinstance(value, float):
        return round(value) if isfinite(value) else -1
    return value


def _texts(value: object) -> object:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    score: Annotated[int, BeforeValidator(_whole), Field(ge=0, le=100)]
    reason: str
    caveat: str | None = None
    tags: Annotated[list[str], BeforeValidator(_texts)] = []


def _checked(answer: Mapping[str, Any], about: str) -> Opinion | str:
    try:
        read = _Answer.model_validate(answer)
    except ValidationError as error:
        fields = ", ".join(dict.fromkeys(str(e["loc"][0]) for e in error.errors() if e["loc"]))
        return f"the answer's {fields or 'form'} cannot be used"
    reason = harmless(read.reason, REASON_MAX_CHARS)
    if not reason:
        return "the answer gave no reason"
    if quotes(reason, about):
        return "the answer quoted the profile"
    caveat = harmless(read.caveat or "", CAVEAT_MAX_CHARS)
    if caveat.lower().strip(".") in ("none", "null", "n/a", "-") or quotes(caveat, about):
        caveat = ""
    tags = (harmless(tag, TAG_MAX_CHARS) for tag in read.tags)
    return Opinion(read.score, reason, caveat, tuple(dict.fromkeys(filter(None, tags)))[:TAGS_MAX])


def _answers(said: object) -> Iterator[dict[str, Any]]:
    """The verdicts in an answer of whatever shape: a tool's input, a list, or text with JSON in it."""
    match said:
        case str():
            yield from _answers(_json_in(said[:SAID_MAX_CHARS]))
        case {"verdicts": str() as inner}:
            yield from _answers(inner)
        case {"verdicts": inner}:
            yield from _answers(inner)
        case dict() if "score" in said:
            yield said
        case list():
            for item in said:
                if isinstance(item, dict):
                    yield item
        case _:
            return


def _json_in(text: str) -> object:
    """The first JSON object or list in a text: fenced, or with prose around it."""
    decoder = json.JSONDecoder()
    for start in list(re.finditer(r"[\[{]", text))[:STARTS_MAX]:
        try:
            found, _ = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict | list):
            return found
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
