"""All keywords of all people, looked for in one pass over a job."""

from __future__ import annotations

from collections.abc import Sequence

from ahocorasick_rs import AhoCorasick, MatchKind

from scan.tokens import Place, Reading, short_word


class Automaton:
    """Finds which of many patterns (see scan.tokens.pattern_of) stand in a job.

    Time is linear in the job's length, times the nesting of patterns that end at one place.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        """A pattern is known by its place in the list. They are distinct and not empty."""
        self._short = {word: i for i, pattern in enumerate(patterns) if (word := short_word(pattern))}
        short = set(self._short.values())
        self._place = [i for i in range(len(patterns)) if i not in short]
        long = (patterns[i] for i in self._place)
        self._long = AhoCorasick(long, matchkind=MatchKind.Standard, store_patterns=False)

    def hits(self, reading: Reading) -> dict[int, Place]:
        """The patterns found, and the best place that has them. In reading order, short words last."""
        found: dict[int, Place] = {}
        for long, _, end in self._long.find_matches_as_indexes(reading.line, overlapping=True):
            pattern, place = self._place[long], reading.place(end)
            if found.get(pattern, Place.SKILLS) >= place:
                found[pattern] = place
        for place, words in zip(Place, reading.capitals, strict=True):
            for word in sorted(self._short.keys() & words):
                found.setdefault(self._short[word], place)
        return found
