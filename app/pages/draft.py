"""A search as it stands in its form: what was typed, what of it is understood, and what is wrong with it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from app.pages import fields
from app.pages.form import Form, told_wrong
from app.profile import BadProfile
from app.typed import keywords_of
from ledger.documents import encode
from ledger.records import Search, User
from scan.keywords import BadKeywords, join_keywords, parse_keywords
from scan.match import usable_keywords
from scan.reasons import plain_line

SEARCHES_MAX = 20
NAME_MAX_CHARS = 60
LISTS = {"keywords": "Keywords", "must": "All of these", "exclude": "None of these"}
_RESERVED = re.compile(r"__.*__")  # Firestore keeps such names for itself
FIRST_NAME = "My search"
NAME_TAKEN = "Another search of yours has this name."


@dataclass(slots=True)
class Draft:
    """A search as it stands in the form: typed, understood as far as possible, with what is wrong with it."""

    was: str  # its name as kept, empty for a new one
    mark: str  # of the kept search that the form was made from
    name: str
    lists: dict[str, str]
    gates: list[fields.Shown]
    search: Search
    errors: dict[str, str] = field(default_factory=dict)

    def chips(self, key: str) -> tuple[str, ...]:
        """The words of a list one by one, as far as it is understood."""
        return () if key in self.errors else getattr(self.search, key)

    @property
    def asks_more(self) -> bool:
        """Whether it has a condition besides its words, or a mistake in one: then they are shown at once."""
        return any(gate.error for gate in self.gates) or fields.asks(self.search)

    @property
    def not_counted(self) -> dict[str, str]:
        """The conditions that are not understood, by their labels, with what is wrong: nothing is asked by them."""
        listed = {label: self.errors[key] for key, label in LISTS.items() if key in self.errors}
        return listed | {shown.gate.label: shown.error for shown in self.gates if shown.error}

    @property
    def is_good(self) -> bool:
        return not self.errors and not any(gate.error for gate in self.gates)


def kept_draft(user: User, was: str, sources: list[str]) -> Draft:
    """The search of that name as it is kept; a new one for no name."""
    kept = user.searches.get(was)
    search = kept or Search()
    lists = {key: join_keywords(getattr(search, key)) for key in LISTS}
    return Draft(was, mark_of(kept), was or _free_name(user), lists, fields.shown(search, sources), search)


def typed_draft(form: Form, user: User, sources: list[str]) -> Draft:
    was = form.text("was")
    kept = user.searches.get(was, Search())
    errors: dict[str, str] = {}
    values: dict[str, Any] = {}
    for key, label in LISTS.items():
        try:
            values[key] = keywords_of(form.text(key), label) or ()
        except BadProfile as error:
            errors[key] = told_wrong(str(error).removeprefix(f"{label}: "))
            values[key] = ()
    gates, gate_values = fields.typed(form, kept, sources)
    search = replace(kept, **values, **gate_values)
    lists = {key: form.text(key) for key in LISTS}
    return Draft(was, form.text("mark"), plain_line(form.text("name")), lists, gates, search, errors)


def check_whole(draft: Draft, user: User) -> None:
    """What only matters once it is saved."""
    if not draft.name or len(draft.name) > NAME_MAX_CHARS or _RESERVED.fullmatch(draft.name):
        draft.errors["name"] = f"Give it a name of at most {NAME_MAX_CHARS} characters."
    elif draft.name != draft.was and draft.name in user.searches:
        draft.errors["name"] = NAME_TAKEN
    if "keywords" not in draft.errors and "must" not in draft.errors and not usable_keywords(draft.search):
        draft.errors["keywords"] = "Without a keyword no job ever fits. Add one, such as python."
    if draft.was not in user.searches and len(user.searches) >= SEARCHES_MAX:
        draft.errors["name"] = f"You have {SEARCHES_MAX} searches, and that is the most. Remove one first."


def differing(kept: Search, shown: Search) -> dict[str, str]:
    """What of a kept search is not as shown, by its labels."""
    lists = {label: (getattr(kept, key), getattr(shown, key)) for key, label in LISTS.items()}
    gates = {gate: (getattr(kept, gate.field), getattr(shown, gate.field)) for gate in fields.GATES}
    return {label: join_keywords(now) or "none" for label, (now, seen) in lists.items() if now != seen} | {
        gate.label: fields.told(gate, now) for gate, (now, seen) in gates.items() if now != seen
    }


def without_word(form: Form, chip: str) -> Form:
    """The form after a click on a chip, `keywords:python`: without that word."""
    key, _, word = chip.partition(":")
    with contextlib.suppress(BadKeywords):
        if key in LISTS:
            left = join_keywords(kept for kept in parse_keywords(form.text(key)) if kept != word)
            return Form(form.fields | {key: [left]})
    return form


def mark_of(search: Search | None) -> str:
    """What a form was made from, so that a change by another tab is seen, and one by a run is none."""
    if search is None:
        return "new"
    told = json.dumps(encode(search), sort_keys=True, default=str)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _free_name(user: User) -> str:
    names = [FIRST_NAME, *(f"{FIRST_NAME} {number}" for number in range(2, SEARCHES_MAX + 2))]
    return next(name for name in names if name not in user.searches)
