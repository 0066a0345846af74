"""Everyone's searches as numbers: what matching 100,000 people keeps of them in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from ledger.records import Search, User
from scan.rules import Rules, asked, rules_of
from scan.tokens import pattern_of

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

    A pattern is what is looked for; a word is one spelling of it, so that a reason can show a keyword as its
    owner typed it. Patterns, words, searches and people are numbered from 0 in order of arrival.
    """

    def __init__(self) -> None:
        self.patterns: dict[str, int] = {}
        self.typed: list[str] = []  # by word
        self.pattern: array[int] = array("I")  # by word
        self.words_of: list[list[int]] = []  # by pattern
        self.searches_of: list[array[int]] = []  # by word: the searches that want it
        self.uids: list[str] = []  # by person
        self.owner: array[int] = array("I")  # by search: the person
        self.names: list[str] = []  # by search
        self.rules: list[Rules] = []  # one for all who ask the same
        self.rule: array[int] = array("I")  # by search: its place in `rules`
        self.extra: dict[int, Extra] = {}  # by search; absent: none
        self._words: dict[str, int] = {}
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
        only_must = tuple(word for pattern, word in must.items() if pattern not in wanted)
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
        """{pattern: word}: of each usable pattern its first spelling."""
        found: dict[int, int] = {}
        for text in typed:
            word = self._words.get(text)
            if word is None:
                word = self._learn(text)
            if word != UNUSABLE:
                found.setdefault(self.pattern[word], word)
        return found

    def _learn(self, typed: str) -> int:
        spelled = pattern_of(typed)
        if not spelled:
            self._words[typed] = UNUSABLE
            return UNUSABLE
        word = self._words[typed] = len(self.typed)
        pattern = self.patterns.setdefault(spelled, len(self.patterns))
        if pattern == len(self.words_of):
            self.words_of.append([])
        self.words_of[pattern].append(word)
        self.typed.append(typed)
        self.pattern.append(pattern)
        self.searches_of.append(array("I"))
        return word
