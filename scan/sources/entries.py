"""Raw entries to postings: text, links, dates, names. Pure; one bad entry is counted and stops nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ledger import joiners
from scan.dates import parse_date
from scan.links import absolute, canonical
from scan.posting import ITEMS_MAX, Posting, Skipped
from scan.sources.identity import IdRule, Names, aliases_of, native_ids
from scan.sources.jsonfeed import RawEntry
from scan.text import one_line, plain, squeezed, title, title_of_html

SHORT_MAX_CHARS = 120  # company, place, pay
TAG_MAX_CHARS = 60
TAGS_MAX = 30
WHAT_MAX_CHARS = 80
STAND_IN_MAX_CHARS = 100
SAME_ID = "its id is that of another item: give the feed another id_rule"


class BadForm(ValueError):
    """Not a form of titles; the text says how to write one."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`title_form` says what a board's titles hold, such as `{company}: {title}` or `{title} - Upwork`."""

    platform: str
    id_rule: IdRule
    title_form: str | None = None

    def __post_init__(self) -> None:
        title_pattern(self.title_form)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one answer lists; together these are all of its items."""

    postings: tuple[Posting, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    names: Names
    posting: Posting  # without its id


def read_entries(entries: Sequence[RawEntry], rules: Rules, *, base: str, now: datetime) -> Reading:
    """Postings in the document's order, each with a title and a native id, no id twice: the first one wins.

    What is no job we can use is in `skipped` with a reason; so is what has another's id, and what is beyond ITEMS_MAX.
    `base` is the URL that the document came from.
    """
    drafts: dict[Names, _Draft] = {}
    skipped: list[Skipped] = []
    for position, entry in enumerate(entries, start=1):
        what = one_line(entry.title, max_chars=WHAT_MAX_CHARS) or f"item {position}"
        if position > ITEMS_MAX:
            skipped.append(Skipped(what, f"more than {ITEMS_MAX} items in one answer"))
            continue
        draft = _draft(entry, rules, base=base, now=now)
        if isinstance(draft, str):
            skipped.append(Skipped(what, draft))
        else:  # copies go before ids are given: a copy must not make its original ambiguous
            drafts.setdefault(draft.names, draft)
    named = _named(list(drafts.values()), rules.id_rule)
    return Reading(named.postings, (*skipped, *named.skipped))


def title_pattern(form: str | None) -> re.Pattern[str] | None:
    """Raises BadForm. `{title}` once, `{company}` at most once, the rest as it stands."""
    if not form:
        return None
    if form.count("{title}") != 1 or form.count("{company}") > 1:
        raise BadForm("a title form holds {title} once and {company} at most once")
    pattern = re.escape(form).replace(r"\{title\}", r"(?P<title>.+)").replace(r"\{company\}", r"(?P<company>.+?)")
    return re.compile(pattern.replace(r"\ ", r"\s+"), re.DOTALL)


def _named(drafts: list[_Draft], rule: IdRule) -> Reading:
    """What bears the id of an item before it is no job of its own: a copy of that one, or hidden by the rule."""
    names = [draft.names for draft in drafts]
    ids = native_ids(names, rule)
    aliases = aliases_of(names, rule, ids)
    first: dict[str, _Draft] = {}
    postings: list[Posting] = []
    skipped: list[Skipped] = []
    for draft, id_, others in zip(drafts, ids, aliases, strict=True):
        owner = first.setdefault(id_, draft)
        if owner is draft:
            postings.append(replace(draft.posting, native_id=id_, aliases=others))
        elif (owner.names.title, owner.names.link) != (draft.names.title, draft.names.link):
            skipped.append(Skipped(one_line(draft.names.title, max_chars=WHAT_MAX_CHARS), SAME_ID))
    return Reading(tuple(postings), tuple(skipped))


def _draft(entry: RawEntry, rules: Rules, *, base: str, now: datetime) -> _Draft | str:
    """The entry, or why it is none we can use."""
    text = plain(entry.markup) if entry.is_html else squeezed(entry.markup)
    whole_title = title_of_html(entry.title) if entry.title_is_html else title(entry.title)
    if not whole_title:
        whole_title = one_line(text.partition("\n")[0], max_chars=STAND_IN_MAX_CHARS)
    if not whole_title:
        return "neither title nor text"
    company, role = _split(whole_title, rules.title_form)
    link = absolute(entry.link, base)
    dates = (parse_date(value, now) for value in entry.dates)
    posting = Posting(
        platform=rules.platform,
        native_id="",
        title=role,
        link=link,
        text=text,
        company=title(entry.company)[:SHORT_MAX_CHARS] or company,
        place=title(entry.place, max_chars=SHORT_MAX_CHARS),
        pay=title(entry.pay, max_chars=SHORT_MAX_CHARS),
        tags=tuple(tag for raw in entry.tags[:TAGS_MAX] if (tag := one_line(title(raw), max_chars=TAG_MAX_CHARS))),
        published_at=next((date for date in dates if date is not None), None),
    )
    guid = " ".join(entry.guid.split())
    names = Names(
        guid, canonical(link) if link else "", joiners.without(whole_title), " ".join(entry.date_text.split())
    )
    return _Draft(names, posting)


def _split(whole: str, form: str | None) -> tuple[str, str]:
    """(company, role); a title that does not have the form stays whole."""
    pattern = title_pattern(form)
    found = pattern.fullmatch(whole) if pattern is not None else None
    if found is None:
        return "", whole
    company = found["company"] if "company" in found.groupdict() else ""
    return company.strip()[:SHORT_MAX_CHARS], found["title"].strip() or whole
