"""Tables of faults that were reported about systems like this one."""

from __future__ import annotations

import pytest

from ledger.records import Search
from scan.match import Fit, NoFit, decide, usable_keywords
from scan.reasons import Why
from tests.scan.match.people import NOW, a_job, a_user, looking_for, table

# Where the table leaves the answer open: token-exact, and short words where they are names.
RULED = {
    ("go", "go to market strategy"): False,
    ("c", "vitamin C tablets"): True,  # a word C with a capital: no table of senses is kept
    ("r", "R&D lead"): False,  # R&D is a word of its own
    ("it", "make use of it"): False,
}


@pytest.mark.parametrize("place", ["title", "text"])
@pytest.mark.parametrize("name", ["B114", "B115", "B119", "B124"])
def test_each_row_of_the_tables_is_decided_as_it_says(name, place):
    wrong = []
    for row in table(name):
        if "text" not in row:
            continue
        excluded = row.get("exclude", [])
        excluded = (excluded,) if isinstance(excluded, str) else tuple(excluded)
        keywords = tuple(row.get("keywords", [row.get("keyword", "role")]))
        expected = row["match"] if "match" in row else not row["excluded"]
        if isinstance(expected, str):
            expected = RULED[keywords[0], row["text"]]
        decision = decide(looking_for(*keywords, exclude=excluded), a_job(**{place: row["text"]}), now=NOW)
        if isinstance(decision, Fit) is not expected:
            wrong.append((row, decision))
    assert wrong == []


def test_blank_keywords_never_match_and_say_so():
    for row in table("B117"):
        keywords, exclude = tuple(row["keywords"] or ()), tuple(row.get("exclude", ()))
        decision = decide(looking_for(*keywords, exclude=exclude), a_job("", row.get("text", "Any job")), now=NOW)
        if row["match"] != "no exception":
            assert isinstance(decision, Fit) is row["match"], row
        if not any(k.strip(" (.*") for k in keywords):
            assert isinstance(decision, NoFit)
            assert decision.why is Why.NO_KEYWORDS


@pytest.mark.parametrize("blank", ["", "  ", "\n", "\u200b", "(", ".*", "-", "…", "\ud800", "\u0307"])
def test_a_keyword_without_a_letter_or_digit_finds_nothing_and_excludes_nothing(blank):
    job = a_job(f"a {blank} (b) - .* …", blank)
    decision = decide(looking_for(blank), job, now=NOW)
    assert isinstance(decision, NoFit)
    assert decision.why is Why.NO_KEYWORDS
    assert isinstance(decide(looking_for("a", "b", "Job (b)", "b)", exclude=(blank,)), a_job("B)"), now=NOW), Fit)
    assert usable_keywords(Search(keywords=(blank,), must=(blank,))) == ()


def test_a_person_without_any_search_is_told_that_there_is_no_keyword():
    decision = decide(a_user(), a_job("Python"), now=NOW)
    assert isinstance(decision, NoFit)
    assert decision.why is Why.NO_KEYWORDS


def test_usable_keywords_are_the_distinct_ones_as_typed():
    search = Search(keywords=("Python", " ", "machine  learning", "python", "Machine-Learning"), must=("C++", "PYTHON"))
    assert usable_keywords(search) == ("Python", "machine learning", "C++")
