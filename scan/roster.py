"""Everyone's searches as numbers: what matching 100,000 people keeps of them in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from ledger.records import Search, User
from scan.forms import forms_of
from scan.rules import Rules, asked, rules_of

UNUSABLE = -1


@dataclass(frozen=True, slots=True)
class Extra:
    """What a search asks beyond "any one keyword", as word numbers."""

    must: tuple[int, ...]
    only_must: tuple[int, ...]  # those that are not keywords as well
    any_needed: bool  # it has keywords, so one of them must be found
    exclude: tuple[int, ...]


class Roster:
    """Takes people one by one, as their pages are read, and keeps numbers only.

    A pattern is what is looked for; a term is all patterns of one keyword (see scan.forms), which count as one;
    a word is a term as somebody typed it, so that a reason can show a keyword to its owner. Patterns, terms,
    words, searches and people are numbered from 0 in order of arrival.
    """

    def __init__(self) -> None:
        self.patterns: dict[str, int] = {}
        self.terms_of: list[array[int]] = []  # by pattern
        self.typed: list[str] = []  # by word
        self.term: array[int] = array("I")  # by word
        self.words_of: list[array[int]] = []  # by term
        self.searches_of: list[array[int]] = []  # by word: the searches that want it
        self.uids: list[str] = []  # by person
        self.owner: array[int] = array("I")  # by search: the person
        self.names: list[str] = []  # by search
        self.rules: list[Rules] = []  # one for all who ask the same
        self.rule: array[int] = array("I")  # by search: its place in `rules`
        self.extra: dict[int, Extra] = {}  # by search; absent: none
        self._words: dict[str, int] = {}
        self._terms: dict[tuple[str, ...], int] = {}
        self._rule: dict[tuple[object, ...], int] = {}
        self._same_name: dict[str, str] = {}

    def add(self, user: User) -> None:
        """Searches without a usable word, and people without such a search, are left out: nothing fits them."""
        before = len(self.owner)
        for name, search in user.searches.items():
            self._add_search(name, search)
        if len(self.owner) > before:
            self.uids.append(user.uid)

    def _add_search(self, name: str, search: Search) -> None:
        number = len(self.owner)
        wanted = self._distinct(search.keywords)
        must = self._distinct(search.must) if search.must else {}
        if not wanted and not must:
            return
        only_must = tuple(word for term, word in must.items() if term not in wanted)
        for word in (*wanted.values(), *only_must):
            self.searches_of[word].append(number)
        exclude = self._distinct(search.exclude) if search.exclude else {}
        if must or exclude:
            self.extra[number] = Extra(tuple(must.values()), only_must, bool(wanted), tuple(exclude.values()))
        self.owner.append(len(self.uids))
        self.names.append(self._same_name.setdefault(name, name))
        self.rule.append(self._rule.setdefault(asked(search), len(self._rule)))
        if len(self._rule) > len(self.rules):
            self.rules.append(rules_of(search))

    def _distinct(self, typed: Iterable[str]) -> dict[int, int]:
        """{term: word}: of each usable term its first spelling."""
        found: dict[int, int] = {}
        for text in typed:
            word = self._words.get(text)
            if word is None:
                word = self._learn(text)
            if word != UNUSABLE:
                found.setdefault(self.term[word], word)
        return found

    def _learn(self, typed: str) -> int:
        forms = forms_of(typed)
        if not forms:
            self._words[typed] = UNUSABLE
            return UNUSABLE
        word = self._words[typed] = len(self.typed)
        term = self._terms.setdefault(tuple(sorted(forms)), len(self._terms))
        if term == len(self.words_of):
            self.words_of.append(array("I"))
            for form in forms:
                self._look_for(form, term)
        self.words_of[term].append(word)
        self.typed.append(typed)
        self.term.append(term)
        self.searches_of.append(array("I"))
        return word

    def _look_for(self, form: str, term: int) -> None:
        pattern = self.patterns.setdefault(form, len(self.patterns))
        if pattern == len(self.terms_of):
            self.terms_of.append(array("I"))
        self.terms_of[pattern].append(term)
