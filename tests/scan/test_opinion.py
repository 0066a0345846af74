"""What a model said is checked before it counts: by name, within bounds, and harmless."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.opinion import CAVEAT_MAX_CHARS, REASON_MAX_CHARS, TAGS_MAX, Opinion, harmless, heard, quotes
from tests.shared import shared

GOOD = {"name": "a", "score": 82, "reason": "You write Python.", "caveat": None, "tags": ["python"]}
ABOUT = "I am a backend developer of fifteen years who wants to leave the city of Leipzig and never write PHP again."


def said(*answers: dict[str, Any]) -> dict[str, Any]:
    return {"verdicts": list(answers)}


def test_a_good_answer_is_taken_as_it_is() -> None:
    assert heard(said(GOOD), ["a"], about=ABOUT).opinions == {"a": Opinion(82, "You write Python.", "", ("python",))}


@pytest.mark.parametrize("shape", [str, lambda text: f"```json\n{text}\n```", lambda text: f"Here it is: {text} Bye."])
@pytest.mark.parametrize("value", [said(GOOD), [GOOD], GOOD, {"verdicts": json.dumps([GOOD])}])
def test_json_in_a_text_is_found_fenced_or_with_prose_around_it(shape: Any, value: Any) -> None:
    assert heard(shape(json.dumps(value)), ["a"], about="").opinions["a"].score == 82


@pytest.mark.parametrize(
    ("score", "read"), [(0, 0), (100, 100), ("85", 85), (" 85 ", 85), (82.0, 82), (82.6, 83), (1e2, 100)]
)
def test_a_score_may_be_written_in_several_ways(score: object, read: int) -> None:
    assert heard(said({**GOOD, "score": score}), ["a"], about="").opinions["a"].score == read


@pytest.mark.parametrize(
    "score", [850, 101, -1, "850", "high", "", None, True, math.nan, math.inf, -math.inf, [82], {}, "9" * 5000, 1e300]
)
def test_a_score_out_of_bounds_leaves_the_pair_undecided(score: object) -> None:
    result = heard(said({**GOOD, "score": score}), ["a"], about="")
    assert result.opinions == {}
    assert result.faults == {"a": "the answer's score cannot be used"}


@pytest.mark.parametrize("missing", ["score", "reason"])
def test_a_missing_field_leaves_the_pair_undecided(missing: str) -> None:
    answer = {key: value for key, value in GOOD.items() if key != missing}
    assert heard(said(answer), ["a"], about="").opinions == {}


@pytest.mark.parametrize(
    "nothing", [None, "", "no", [], {}, 3, said(), {"verdicts": None}, {"verdicts": "x"}, "[" * 9000]
)
def test_no_answer_leaves_every_pair_undecided(nothing: object) -> None:
    result = heard(nothing, ["a", "b"], about="")
    assert (result.opinions, set(result.faults)) == ({}, {"a", "b"})


def test_a_bad_answer_costs_only_its_own_pair() -> None:
    result = heard(said(GOOD, {**GOOD, "name": "b", "score": 850}), ["a", "b", "c"], about="")
    assert set(result.opinions) == {"a"}
    assert result.faults == {"b": "the answer's score cannot be used", "c": "the answer left it out"}


def test_names_that_nobody_asked_about_are_counted_and_dropped() -> None:
    result = heard(said(GOOD, {**GOOD, "name": "z"}, {**GOOD, "name": "1"}), ["a", "b"], about="")
    assert (set(result.opinions), result.strange) == ({"a"}, 2)


def test_two_answers_of_one_name_decide_nothing() -> None:
    result = heard(said(GOOD, {**GOOD, "score": 5}), ["a"], about="")
    assert result.faults == {"a": "the answer named it twice"}


def test_an_answer_without_a_name_counts_only_where_there_is_no_doubt() -> None:
    bare = {"score": 70, "reason": "ok"}
    assert heard(bare, ["a"], about="").opinions["a"].score == 70
    assert heard(bare, ["a", "b"], about="").opinions == {}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Apply at https://evil.example/x now", "Apply at now"),
        ("See www.evil.example", "See"),
        ("Go to evil.example/x", "Go to"),
        ("[click](https://evil.example) here", "click here"),
        ("javascript:alert(1) fits", "fits"),
        ("Write to boss@evil.example today", "Write to today"),
        ("<b>Bold</b> <img src=x onerror=y>work", "Bold work"),
        ("**Strong** `code` # head", "Strong code head"),
        ("&lt;script&gt; fits", "script fits"),
        ("two\nlines\tand\u202e a turn\u200b", "two lines and a turn"),
        ("Node.js and ASP.NET work", "Node.js and ASP.NET work"),
        ("C++ at 3.5 days a week", "C++ at 3.5 days a week"),
    ],
)
def test_reasons_lose_links_addresses_and_markup(text: str, left: str) -> None:
    assert harmless(text, 200) == left
    assert heard(said({**GOOD, "reason": text}), ["a"], about="").opinions["a"].reason == left


def test_a_reason_that_was_only_a_link_leaves_the_pair_undecided() -> None:
    assert heard(said({**GOOD, "reason": "https://evil.example/x"}), ["a"], about="").faults["a"] == (
        "the answer gave no reason"
    )


def test_long_texts_are_cut_at_a_word() -> None:
    opinion = heard(
        said({**GOOD, "reason": "word " * 500, "caveat": "x" * 900, "tags": list("abcdefgh")}), ["a"], about=""
    )
    assert len(opinion.opinions["a"].reason) <= REASON_MAX_CHARS
    assert opinion.opinions["a"].reason.endswith("word…")
    assert len(opinion.opinions["a"].caveat) <= CAVEAT_MAX_CHARS
    assert len(opinion.opinions["a"].tags) == TAGS_MAX


def test_the_persons_own_words_do_not_come_back() -> None:
    quote = "They say: a backend developer of fifteen years who WANTS to leave the city, so it fits."
    assert quotes(quote, ABOUT)
    assert heard(said({**GOOD, "reason": quote}), ["a"], about=ABOUT).faults["a"] == "the answer quoted the profile"
    assert heard(said({**GOOD, "caveat": quote}), ["a"], about=ABOUT).opinions["a"].caveat == ""
    assert not quotes("You want to leave the city and write no PHP.", ABOUT)


@pytest.mark.parametrize(
    ("number", "score"), list(enumerate([None, 82, 82, 85, None, None, None]))
)  # B92: cut, fenced, prefixed, a string, 850, NaN, empty
def test_the_answers_from_the_field_are_read_or_rejected(number: int, score: int | None) -> None:
    reply = json.loads(shared("cases/B92_replies.json").read_text())[number]
    opinion = heard(reply["text"], ["a"], about="").opinions.get("a")
    assert (opinion.score if opinion else None) == score


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["verdicts", "name", "score", "reason", "caveat", "tags", "x"]), inner, max_size=6
        )
    ),
    max_leaves=20,
)


@given(JSON | st.text(max_size=200))
def test_whatever_is_said_the_names_are_told_apart_and_nothing_raises(value: object) -> None:
    result = heard(value, ["a", "b"], about=ABOUT)
    assert set(result.opinions) | set(result.faults) == {"a", "b"}
    assert not set(result.opinions) & set(result.faults)
    for opinion in result.opinions.values():
        assert 0 <= opinion.score <= 100
        assert 0 < len(opinion.reason) <= REASON_MAX_CHARS
        assert opinion.reason.isprintable()
        assert not set("<>") & set(opinion.reason + opinion.caveat + "".join(opinion.tags))
