"""Which jobs fit which people, and why, or why not.

The loop is inside out: not "for each person, is it in the text?" but one pass over the job, which finds the
keywords, which name the people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ledger.records import Job, Search, User
from scan.automaton import Automaton
from scan.forms import forms_of
from scan.gates import newest, refused
from scan.negation import only_turned_down, turned_down
from scan.pay_gate import pay_told
from scan.reasons import HOW_FAR, Refusal, Why, fit_reason, listed, plain_line, quoted
from scan.roster import Extra, Roster
from scan.tokens import Place, Reading, pattern_of, read

# For each distinct keyword, by the best place that has it. What the skill list alone has is a fit, behind all others.
SCORES = {Place.TITLE: 2, Place.TEXT: 1, Place.FIRST_SKILLS: 0, Place.SKILLS: 0}
NAMES = {Place.TITLE: "title", Place.TEXT: "text", Place.FIRST_SKILLS: "skill list", Place.SKILLS: "skill list"}


@dataclass(frozen=True, slots=True)
class Fit:
    """A job for a person. `reason` reads like "python, fastapi in the title; django in the text".

    It tells too where the text turns a keyword down, and, to whoever has a floor, what it pays.
    """

    uid: str
    job_id: str
    score: int
    reason: str
    search: str  # the name of the search that decided
    newest: datetime  # when the job is from: its own date, or when it was first seen


@dataclass(frozen=True, slots=True)
class NoFit:
    """Not a job for this person, by the search that came nearest. `detail` is for people."""

    uid: str
    job_id: str
    why: Why
    detail: str


class Matcher:
    """Everyone's searches, compact, against one job at a time.

    A search fits if any of its keywords is found and all of `must`, nothing of `exclude` but what the text itself
    turns down or its skill list has in the end, and no gate is shut; with `must` and no keywords, `must` is enough.
    Its score is that of SCORES for each distinct one of keywords and must that was found. A person's best search
    decides, of equals the first.
    """

    def __init__(self, roster: Roster) -> None:
        """Over the people added so far; the roster is not added to afterwards."""
        self._roster = roster
        self._automaton = Automaton(list(roster.patterns))

    @classmethod
    def of(cls, users: Iterable[User]) -> Matcher:
        """Takes the users once, one by one, and keeps none of them. To feed it page by page, fill a Roster."""
        roster = Roster()
        for user in users:
            roster.add(user)
        return cls(roster)

    def match(self, job: Job, *, now: datetime) -> list[Fit]:
        """The people whom the job fits, in the order in which they were added."""
        case = self._case(job, now)
        return [case.fit(person, *best) for person, best in case.best().items()]

    def explain(self, job: Job, *, now: datetime, reading: Reading | None = None) -> list[Fit | NoFit]:
        """A decision for everyone who has a usable keyword; the fits are those of `match`.

        `reading` is `read(job.title, job.text)`, by whoever asks about the same job again and again.
        """
        case = self._case(job, now, reading)
        best = case.best()
        nearest: dict[int, Refusal] = {}
        for search, person in enumerate(self._roster.owner):
            said = case.judge(search)
            known = nearest.get(person)
            if isinstance(said, Refusal) and (known is None or HOW_FAR[said.why] > HOW_FAR[known.why]):
                nearest[person] = said
        return [
            case.fit(person, *best[person])
            if person in best
            else NoFit(uid, job.id, nearest[person].why, nearest[person].detail)
            for person, uid in enumerate(self._roster.uids)
        ]

    def _case(self, job: Job, now: datetime, reading: Reading | None = None) -> _Case:
        known = reading or read(job.title, job.text)
        return _Case(self._roster, known, self._automaton.hits(known), job, now)


def decide(user: User, job: Job, *, now: datetime) -> Fit | NoFit:
    """One pair, as `Matcher.match` decides it, with the reason either way."""
    decisions = Matcher.of([user]).explain(job, now=now)
    return decisions[0] if decisions else NoFit(user.uid, job.id, Why.NO_KEYWORDS, _NO_KEYWORDS)


def rank(fits: Iterable[Fit]) -> list[Fit]:
    """Best first: by score, then the newer job, then the job's id."""
    by_id = sorted(fits, key=lambda fit: fit.job_id)
    return sorted(by_id, key=lambda fit: (fit.score, fit.newest), reverse=True)


def usable_keywords(search: Search) -> tuple[str, ...]:
    """The keywords, then the musts, that can be found at all: no blanks, no bare punctuation, none twice."""
    first: dict[str, str] = {}
    for typed in (*search.keywords, *search.must):
        if pattern := pattern_of(typed):
            first.setdefault(pattern, plain_line(typed))
    return tuple(first.values())


class _Case:
    """One job against all searches: what was found, and what is decided once for many people."""

    def __init__(self, roster: Roster, reading: Reading, hits: Mapping[int, Place], job: Job, now: datetime) -> None:
        self.found: dict[int, list[int]] = {}  # search -> its words in the job, in reading order
        self._roster = roster
        self._reading = reading
        self._hits: dict[int, Place] = {}  # term -> the best place that has it
        self._job = job
        self._now = now
        self._newest = newest(job)
        self._gates: dict[int, Refusal | None] = {}
        self._reasons: dict[tuple[int, tuple[int, ...], tuple[int, ...]], str] = {}
        self._denials: dict[tuple[Callable[[Reading, Sequence[str]], str], int], str] = {}
        for pattern, place in hits.items():
            for term in roster.terms_of[pattern]:
                self._hits[term] = min(self._hits.get(term, place), place)
        for term in self._hits:
            for word in roster.words_of[term]:
                for search in roster.searches_of[word]:
                    self.found.setdefault(search, []).append(word)

    def best(self) -> dict[int, tuple[int, int]]:
        """{person: (search, score)} of those whom the job fits."""
        best: dict[int, tuple[int, int]] = {}
        for search in sorted(self.found):
            score = self.judge(search)
            if isinstance(score, Refusal):
                continue
            person = self._roster.owner[search]
            if person not in best or score > best[person][1]:
                best[person] = (search, score)
        return best

    def judge(self, search: int) -> int | Refusal:
        """The score of a search that fits, or the first thing that is against it."""
        found = self.found.get(search)
        extra = self._roster.extra.get(search)
        if extra and (refusal := self._against(extra, found or ())):
            return refusal
        if not found:
            return _NOTHING_FOUND
        rule = self._roster.rule[search]
        if rule not in self._gates:
            self._gates[rule] = refused(self._roster.rules[rule], self._job, self._now)
        return self._gates[rule] or sum(SCORES[self._place(word)] for word in found)

    def fit(self, person: int, search: int, score: int) -> Fit:
        extra = self._roster.extra.get(search)
        spared = tuple(filter(self._is_said, extra.exclude)) if extra else ()
        key = self._roster.rule[search], tuple(self.found[search]), spared
        reason = self._reasons.get(key)
        if reason is None:
            reason = self._reasons[key] = self._reason(*key)
        roster = self._roster
        return Fit(roster.uids[person], self._job.id, score, reason, roster.names[search], self._newest)

    def _reason(self, rule: int, words: Sequence[int], spared: Sequence[int]) -> str:
        found: dict[str, list[str]] = {name: [] for name in NAMES.values()}
        for word in words:
            found[NAMES[self._place(word)]].append(self._roster.typed[word])
        denied = [said for word in words if (said := self._how_turned_down(word))]
        pay = pay_told(self._roster.rules[rule], self._job)
        lots = [(typed, name) for name, typed in found.items()]
        return fit_reason(lots, turned_down=denied, spared=[self._spared(word) for word in spared], pay=pay)

    def _how_turned_down(self, word: int) -> str:
        return self._told(turned_down, word)

    def _spared(self, word: int) -> str:
        """How an exclusion is turned down wherever it stands, so that it excludes nothing; else empty."""
        return self._told(only_turned_down, word)

    def _told(self, how: Callable[[Reading, Sequence[str]], str], word: int) -> str:
        key = how, self._roster.term[word]
        if key not in self._denials:
            self._denials[key] = how(self._reading, forms_of(self._roster.typed[word]))
        return self._denials[key]

    def _against(self, extra: Extra, found: Sequence[int]) -> Refusal | None:
        if extra.any_needed and len(found) == sum(map(self._is_hit, extra.only_must)):
            return _NOTHING_FOUND
        typed = self._roster.typed
        if missing := [typed[word] for word in extra.must if not self._is_hit(word)]:
            return Refusal(Why.MISSING_MUST, f"it lacks {listed(missing)}")
        for word in extra.exclude:
            if self._is_said(word) and not self._spared(word):
                place = NAMES[self._place(word)]
                how = f" ({quoted(said)})" if (said := self._how_turned_down(word)) else ""
                return Refusal(Why.EXCLUDED, f"it has {listed([typed[word]])} in the {place}{how}, which is excluded")
        return None

    def _is_hit(self, word: int) -> bool:
        return self._roster.term[word] in self._hits

    def _is_said(self, word: int) -> bool:
        """By whoever wrote the ad, not by the form that filled in the end of the skill list."""
        return self._hits.get(self._roster.term[word], Place.SKILLS) < Place.SKILLS

    def _place(self, word: int) -> Place:
        return self._hits[self._roster.term[word]]


_NO_KEYWORDS = "no search has a keyword to look for"
_NOTHING_FOUND = Refusal(Why.NO_KEYWORD_FOUND, "none of the keywords is in the title or the text")
