"""A keyword that a text turns down is told, not hidden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.forms import forms_of
from scan.match import Fit, Matcher, NoFit, decide
from scan.negation import EXCERPT_MAX_CHARS, turned_down
from scan.reasons import Why
from scan.tokens import read
from tests.scan.match.people import NOW, PATIENT, a_job, looking_for


@pytest.mark.parametrize(
    ("keyword", "text", "told"),
    [
        ("Java", "Python developer, no Java needed.", "no java needed"),
        ("database", "We are not interested in database work", "not interested in database"),
        ("Java", "Java is not required", "java is not required"),
        ("Java", "Java experience isn’t required", "java experience isn't required"),
        ("Scala", "No Java, Kotlin or Scala please", "no java, kotlin or scala please"),
        ("Java", "no Java/Kotlin", "no java"),
        ("WordPress", "ohne WordPress", "ohne wordpress"),
        (".NET", "We don't use .NET anymore", "don't use .net"),
        ("JavaScript", "Java, not JavaScript", "not javascript"),
        ("C++", "without C++", "without c++"),
        ("Go", "No Go needed", "no go needed"),
        ("machine learning", "no prior experience in Machine-Learning", "no prior experience in machine learning"),
        ("Java", "We like Java. No Java EE", "no java"),
        ("Elementor", "No page builders like Elementor", "no page builders like elementor"),
        (
            "Wix",
            "without any site builder such as Squarespace or Wix",
            "without any site builder such as squarespace or wix",
        ),
        ("Wix", "This is not a Squarespace, Wix project", "is not a squarespace, wix project"),
        ("React", "No front-end or React please", "no front-end or react please"),
    ],
)
def test_is_turned_down(keyword, text, told) -> None:
    decision = decide(looking_for(keyword), a_job("Developer", text), now=NOW)
    assert isinstance(decision, Fit)
    assert decision.reason == f'{keyword} in the text, but it says "{told}"'


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("Java", "Not only Java but Kotlin"),
        ("Java", "Do you know Java? No! Java rules"),
        ("Python", "No nonsense, Python"),
        ("Java", "Java, not JavaScript"),
        ("IT", "We do not need it. IT experience"),
        ("Java", "No. Java"),
        ("Java", "notJava Java"),
        ("code", "a No-Code platform, low-code, non-code"),
        ("code", "a no code or low code platform"),
        ("Java", "a not-Java shop"),
        ("WordPress", "There is no place like WordPress"),
        ("Elementor", "No agencies. Tools like Elementor"),
        ("Python", "This is not a test, Python developers wanted"),
    ],
)
def test_is_not_turned_down(keyword, text) -> None:
    decision = decide(looking_for(keyword), a_job("Developer", text), now=NOW)
    assert isinstance(decision, Fit)
    assert decision.reason == f"{keyword} in the text"


def test_nothing_reaches_from_the_title_into_the_text() -> None:
    decision = decide(looking_for("Java"), a_job("We want no", "Java"), now=NOW)
    assert isinstance(decision, Fit)
    assert decision.reason == "Java in the text"


def test_at_most_three_are_told_and_with_the_pay() -> None:
    text = "no Java. no Scala. no Kotlin. no Groovy."
    user = looking_for("Java", "Scala", "Kotlin", "Groovy", min_hourly=10)
    decision = decide(user, a_job("Dev", text), now=NOW)
    assert isinstance(decision, Fit)
    assert decision.reason == (
        'Java, Scala, Kotlin, Groovy in the text, but it says "no java", "no scala", "no kotlin"; pay not stated'
    )


@pytest.mark.parametrize(
    ("exclude", "text", "told"),
    [
        ("agencies", "Python. No agencies please, individuals only", "no agencies please"),
        ("agency", "no agencies. We said: no agency", "no agency"),
        ("WordPress", "without WordPress", "without wordpress"),
        ("javascript", "Java, not JavaScript", "not javascript"),
        ("Go", "no Go needed", "no go needed"),
    ],
)
def test_an_exclusion_that_is_turned_down_wherever_it_stands_excludes_nothing_and_is_told(exclude, text, told) -> None:
    decision = decide(looking_for("developer", exclude=(exclude,)), a_job("Developer", text), now=NOW)
    assert isinstance(decision, Fit)
    assert decision.reason == f'developer in the title; it says "{told}", which you exclude'


@pytest.mark.parametrize(
    ("exclude", "text"),
    [
        ("agencies", "No agencies please. We are one of the agencies"),
        ("agencies", "We are an agency. No agencies"),
        ("sales", "No sales experience needed"),
        ("sales", "No prior knowledge of sales"),
        ("Go", "no go areas, Go"),
        ("php", "no php " * 20 + "php"),
        ("php", "Do not apply without PHP"),
        ("php", "If you do not know PHP, do not apply"),
        ("php", "Candidates without PHP will be rejected"),
    ],
)
def test_an_exclusion_that_is_meant_once_or_of_beginners_excludes(exclude, text) -> None:
    decision = decide(looking_for("developer", exclude=(exclude,)), a_job("Developer", text), now=NOW)
    assert isinstance(decision, NoFit)
    assert decision.why is Why.EXCLUDED


def test_people_with_equal_keywords_are_told_of_their_own_exclusions() -> None:
    people = [looking_for("developer", exclude=ex, uid=str(n)) for n, ex in enumerate([("agencies",), (), ("teams",)])]
    fits = Matcher.of(people).match(a_job("Developer", "no agencies, no teams"), now=NOW)
    assert [fit.reason.partition("; ")[2] for fit in fits] == [
        'it says "no agencies", which you exclude',
        "",
        'it says "no teams", which you exclude',
    ]


WORDS = st.lists(
    st.sampled_from(
        ["no", "not", "java", "scala", "or", "/", ",", " ", ".", "needed", "is", "the", "n't", "C++", "\ud800"]
    )
)


@PATIENT(max_examples=300)
@given(WORDS.map(" ".join), st.sampled_from(["java", "c++", "scala"]))
def test_an_excerpt_is_short_and_holds_nothing_but_the_texts_own_words(text, keyword) -> None:
    reading = read("", text)
    told = turned_down(reading, forms_of(keyword))
    assert len(told) <= EXCERPT_MAX_CHARS
    assert all(word in reading.written.replace("\0", "") for word in told.split())


@pytest.mark.parametrize("unit", ["no ", "no java, ", "java ", "not in the ", "or java/", "no java or "])
def test_a_long_text_of_one_unit_is_looked_at(unit) -> None:
    """The suite's own time limit is the bound."""
    turned_down(read("", unit * 50_000), forms_of("java"))
