"""Which of a feed's names is the job's own: the id rule, and the further names kept beside it.

auto         guid, if the document has it once; else the canonical link, likewise; else title + date
guid         the guid, else as auto goes on
link         the canonical link, else title + date
title+date   the title and the date as written
regex:...    the one group of a pattern, searched in the canonical link; without a match as auto
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

PATTERN_MAX_CHARS = 300
RULES = ("auto", "guid", "link", "title+date")


class BadRule(ValueError):
    """Not an id rule; the text says which there are."""


@dataclass(frozen=True, slots=True)
class IdRule:
    kind: str
    pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """What one entry is called. `link` is canonical; `title` as shown; `date_text` as written."""

    guid: str
    link: str
    title: str
    date_text: str


def parse_rule(text: str) -> IdRule:
    """Raises BadRule."""
    if text in RULES:
        return IdRule(text)
    kind, colon, pattern = text.partition(":")
    if kind != "regex" or not colon:
        raise BadRule(f"unknown id rule; one of {', '.join(RULES)}, regex:PATTERN")
    if len(pattern) > PATTERN_MAX_CHARS:
        raise BadRule(f"the pattern is longer than {PATTERN_MAX_CHARS} characters")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise BadRule(f"not a regular expression: {error}") from error
    if compiled.groups != 1:
        raise BadRule("the pattern needs exactly one group, the id")
    return IdRule("regex", compiled)


def native_ids(entries: Sequence[Names], rule: IdRule) -> list[str]:
    """The native id of each entry, never empty. Entries told apart by nothing get the same one."""
    guids = Counter(names.guid for names in entries)
    links = Counter(names.link for names in entries)
    return [_native_id(names, rule, guids, links) for names in entries]


def aliases_of(entries: Sequence[Names], rule: IdRule, ids: Sequence[str]) -> list[tuple[str, ...]]:
    """Further names of each entry: its guid, and its canonical link with its normalised title.

    A name that two entries of one document share says nothing and is left out of both. An id that a pattern
    found is the board's own, and needs none.
    """
    found = [_aliases(names, rule, id_) for names, id_ in zip(entries, ids, strict=True)]
    counts = Counter(alias for aliases in found for alias in aliases)
    return [tuple(alias for alias in aliases if counts[alias] == 1) for aliases in found]


def _native_id(names: Names, rule: IdRule, guids: Counter[str], links: Counter[str]) -> str:
    if rule.kind == "regex" and (id_ := _matched(names, rule)):
        return id_
    if rule.kind == "guid" and names.guid:
        return names.guid
    if rule.kind == "link" and names.link:
        return names.link
    if rule.kind in ("auto", "regex") and names.guid and guids[names.guid] == 1:
        return names.guid
    if rule.kind in ("auto", "regex", "guid") and names.link and links[names.link] == 1:
        return names.link
    return f"{names.title}\n{names.date_text}"


def _aliases(names: Names, rule: IdRule, id_: str) -> tuple[str, ...]:
    if rule.kind == "regex" and _matched(names, rule) == id_:
        return ()
    aliases = []
    if names.guid:
        aliases.append(f"guid\n{names.guid}")
    if names.link and names.title:
        aliases.append(f"link\n{names.link}\n{' '.join(names.title.casefold().split())}")
    return tuple(aliases)


def _matched(names: Names, rule: IdRule) -> str:
    found = rule.pattern.search(names.link) if rule.pattern is not None else None
    return (found[1] or "") if found else ""
