"""What in a search can never bring a job: words that rule themselves out, and sources that are no longer there."""

from __future__ import annotations

from collections.abc import Iterable

from ledger.records import Search
from scan.forms import TWO_WORDS, forms_of
from scan.posting import Source
from scan.reasons import plain_line
from scan.rules import folded_name
from scan.tokens import EDGE, short_word


def ruled_out(search: Search) -> list[str]:
    """A line for each keyword that no job can have without having what is excluded."""
    said = []
    for keyword in dict.fromkeys((*search.keywords, *search.must)):
        by = next((word for word in search.exclude if _always_has(keyword, word)), None)
        if by is not None:
            said.append(
                f"{plain_line(keyword)!r} never fits: whatever has it has {plain_line(by)!r}, which is excluded"
            )
    return said


def not_configured(search: Search, sources: Iterable[Source]) -> list[str]:
    """The names among the search's sources that no configured one goes by, as typed."""
    known = {
        folded_name(name)
        for source in sources
        for name in (source.name, source.platform, source.platform.partition(":")[0])
    }
    return [name for name in search.sources if folded_name(name) not in known]


def _always_has(keyword: str, word: str) -> bool:
    """In whichever spelling: each form of the keyword holds one of the word's."""
    insides = forms_of(word)
    if any(map(short_word, insides)):  # found by its capital, which a phrase need not have
        return forms_of(keyword) == insides
    forms = [form for at, form in enumerate(forms_of(keyword)) if not at or _is_usual(form, keyword)]
    return bool(forms and insides) and all(any(inside in form for inside in insides) for form in forms)


def _is_usual(form: str, keyword: str) -> bool:
    """Two words in one are, where people write them so: fullstack, but not seniorpython."""
    words = form.replace(EDGE, "").split(" ")
    return len(words) >= len(keyword.split()) or not TWO_WORDS.keys().isdisjoint(words)
