"""Who gets which job, with which score and reason."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import pytest

from ledger.records import Search
from scan.match import Fit, Matcher, NoFit, decide, rank
from scan.reasons import REASON_MAX_KEYWORDS, Why
from tests.scan.match.people import NOW, a_job, a_user, looking_for


def fit(user, job) -> Fit:
    decision = decide(user, job, now=NOW)
    assert isinstance(decision, Fit), decision
    return decision


def refusal(user, job) -> tuple[Why, str]:
    decision = decide(user, job, now=NOW)
    assert isinstance(decision, NoFit), decision
    return decision.why, decision.detail


def test_a_keyword_counts_two_in_the_title_and_one_in_the_text_only():
    user = looking_for("Python", "fastapi", "django", "rust")
    found = fit(user, a_job("FastAPI and Python, Python", "python, Django, django"))
    assert found.score == 5
    assert found.reason == "fastapi, Python in the title; django in the text"
    assert found.search == "default"


def test_two_spellings_of_one_keyword_count_once():
    assert fit(looking_for("Go", "go", "GO", must=("gO",)), a_job("Go")).score == 2


def test_must_words_count_and_are_all_needed():
    user = looking_for("python", "go", must=("remote", "python"))
    assert fit(user, a_job("Python", "remote")).score == 3
    assert refusal(user, a_job("Python and Go")) == (Why.MISSING_MUST, "it lacks remote")
    assert refusal(user, a_job("remote"))[0] is Why.NO_KEYWORD_FOUND
    assert refusal(looking_for("go", must=("remote",)), a_job("remote"))[0] is Why.NO_KEYWORD_FOUND
    assert fit(looking_for(must=("remote", "python")), a_job("Python remote")).score == 4
    assert refusal(looking_for(must=("remote", "python")), a_job("Python")) == (Why.MISSING_MUST, "it lacks remote")


def test_an_exclusion_wins_and_is_named():
    user = looking_for("python", must=("python",), exclude=("", "WordPress"))
    assert refusal(user, a_job("Python", "WordPress; no wordpress")) == (
        Why.EXCLUDED,
        'it has WordPress in the text ("no wordpress"), which is excluded',
    )
    assert refusal(user, a_job("Python and WordPress")) == (
        Why.EXCLUDED,
        "it has WordPress in the title, which is excluded",
    )
    assert fit(user, a_job("Python", "no wordpressers"))


@pytest.mark.parametrize(
    ("sources", "fits"),
    [
        ((), True),
        (("", " "), True),
        (("Greenhouse",), True),
        (("greenhouse:gitlab",), True),
        (("my-board ",), True),
        (("upwork", "greenhouse"), True),
        (("gitlab",), False),
        (("upwork",), False),
    ],
)
def test_a_source_is_named_by_its_name_its_board_or_the_kind_of_board(sources, fits):
    job = a_job("Python", platform="greenhouse:gitlab", source="my-board")
    assert isinstance(decide(looking_for("python", sources=sources), job, now=NOW), Fit) is fits
    if not fits:
        assert refusal(looking_for("python", sources=sources), job)[0] is Why.OTHER_SOURCE


def test_age_is_that_of_the_board_or_else_since_first_seen_and_the_limit_is_inside():
    user = looking_for("python", max_age_h=24)
    assert fit(user, a_job("Python", age_h=24))
    assert refusal(user, a_job("Python", age_h=25)) == (Why.TOO_OLD, "first seen 25 h ago, the limit is 24 h")
    old = a_job("Python", age_h=1, published_at=NOW - timedelta(hours=30))
    assert refusal(user, old) == (Why.TOO_OLD, "published 30 h ago, the limit is 24 h")
    assert fit(user, a_job("Python", age_h=30, published_at=NOW + timedelta(hours=2)))
    assert fit(looking_for("python", max_age_h=10**15), old)


def test_the_best_search_decides_and_of_equals_the_first():
    user = a_user(
        "u",
        narrow=Search(keywords=("python",)),
        wide=Search(keywords=("python", "go")),
        again=Search(keywords=("go", "python")),
        closed=Search(keywords=("python", "go", "rust"), exclude=("rust",)),
    )
    assert fit(user, a_job("Python, Go, Rust")).search == "wide"
    assert fit(user, a_job("Python")).search == "narrow"


def test_the_search_that_came_nearest_says_why_not():
    user = a_user(
        "u",
        a=Search(),
        b=Search(keywords=("cobol",)),
        c=Search(keywords=("python",), max_age_h=2),
        d=Search(keywords=("python",), exclude=("remote",)),
    )
    assert refusal(user, a_job("Python", "remote", age_h=5))[0] is Why.TOO_OLD
    assert refusal(user, a_job("Fortran"))[0] is Why.NO_KEYWORD_FOUND


def test_a_job_is_as_new_as_the_board_says_or_else_as_first_seen():
    dated = a_job("Python", published_at=NOW - timedelta(days=2))
    assert fit(looking_for("python"), dated).newest == dated.published_at
    undated = a_job("Python")
    assert fit(looking_for("python"), undated).newest == undated.first_seen


def test_the_rank_is_by_score_then_newer_then_id():
    one = fit(looking_for("python"), a_job("Python"))
    better = replace(one, score=3, newest=NOW - timedelta(days=9))
    newer = replace(one, newest=NOW)
    twin = replace(one, job_id=one.job_id[:-1] + "0")
    assert rank([one, newer, twin, better]) == [better, newer, twin, one]
    assert rank(iter(())) == []


def test_a_reason_names_a_few_keywords_and_counts_the_rest():
    words = [f"word{n}" for n in range(REASON_MAX_KEYWORDS + 3)]
    assert fit(looking_for(*words), a_job(" ".join(words))).reason.endswith(", word9 and 3 more in the title")


def test_a_person_with_ten_thousand_keywords_is_matched_on_each():
    words = [f"term{n}" for n in range(10_000)]
    matcher = Matcher.of([looking_for(*words), looking_for("term7", exclude=tuple(words[8:]), uid="v")])
    for n in (0, 7, 9_999):
        found = matcher.match(a_job(f"Term{n}"), now=NOW)
        assert [f.uid for f in found] == (["u", "v"] if n == 7 else ["u"])
    (everything,) = matcher.match(a_job("", " ".join(words)), now=NOW)
    assert (everything.uid, everything.score) == ("u", 10_000)


def test_two_hundred_people_with_equal_keywords_all_get_the_job_in_order():
    users = [looking_for("python", "C++", uid=f"u{n:03}") for n in range(200)]
    found = Matcher.of(iter(users)).match(a_job("C++ and Python"), now=NOW)
    assert [f.uid for f in found] == [u.uid for u in users]
    assert {(f.score, f.reason) for f in found} == {(4, "C++, python in the title")}


def test_everybody_sees_a_keyword_as_they_typed_it():
    users = [looking_for(word, uid=word) for word in ("PostgreSQL", "postgresql", "POSTGRESQL")]
    found = Matcher.of(users).match(a_job("PostgreSQL"), now=NOW)
    assert [f.reason for f in found] == [f"{u.uid} in the title" for u in users]


def test_keywords_inside_and_across_each_other_are_all_found():
    words = (
        "machine",
        "learning",
        "machine learning",
        "learning engineer",
        "machine learning engineer",
        ".net",
        "asp.net",
    )
    assert fit(looking_for(*words), a_job("Machine Learning Engineer, ASP.NET")).score == 2 * len(words)


def test_nobody_is_matched_by_a_matcher_of_nobody():
    assert Matcher.of([]).match(a_job("Python", "Python"), now=NOW) == []
    assert Matcher.of([a_user(), looking_for("", "-")]).match(a_job("- a", "-"), now=NOW) == []


def test_a_job_without_words_fits_nobody():
    assert Matcher.of([looking_for("python", "go")]).match(a_job(), now=NOW) == []


def test_no_address_is_kept_or_told():
    user = looking_for("python")
    decision = fit(user, a_job("Python"))
    assert user.address not in "".join(str(getattr(decision, f.name)) for f in fields(decision))
