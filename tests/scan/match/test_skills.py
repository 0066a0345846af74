"""What only the skill list of a marketplace has."""

from __future__ import annotations

import pytest

from scan.match import Fit, NoFit, decide
from scan.reasons import Why
from scan.skills import apart
from scan.sources.fields import with_skills
from tests.scan.match.people import NOW, a_job, looking_for

TEXT = with_skills("We need a scraper in Python.", ["Python", "Go", "Scrapy", "Java", "C"])


def test_it_is_a_fit_that_says_so_and_comes_behind_one_in_the_text() -> None:
    decision = decide(looking_for("python", "scrapy", "java", "go", "c"), a_job("Scraper", TEXT), now=NOW)
    assert isinstance(decision, Fit)
    assert decision.score == 1
    assert decision.reason == "python in the text; scrapy, java, go, c in the skill list"
    listed = decide(looking_for("java"), a_job("Scraper", TEXT), now=NOW)
    assert isinstance(listed, Fit)
    assert (listed.score, listed.reason) == (0, "java in the skill list")


def test_a_must_is_found_there() -> None:
    assert isinstance(decide(looking_for("python", must=("java",)), a_job("Scraper", TEXT), now=NOW), Fit)


@pytest.mark.parametrize(("excluded", "place"), [("scrapy", "skill list"), ("scraper", "title"), ("python", "text")])
def test_an_exclusion_looks_at_the_first_three(excluded: str, place: str) -> None:
    decision = decide(looking_for("we", "need", exclude=(excluded,)), a_job("Scraper", TEXT), now=NOW)
    assert isinstance(decision, NoFit)
    assert decision.why is Why.EXCLUDED
    assert decision.detail == f"it has {excluded} in the {place}, which is excluded"


@pytest.mark.parametrize("excluded", ["java", "c"])
def test_an_exclusion_further_down_in_the_list_refuses_nothing(excluded: str) -> None:
    decision = decide(looking_for("python", exclude=(excluded,)), a_job("Scraper", TEXT), now=NOW)
    assert isinstance(decision, Fit)
    assert decision.reason == "python in the text"


def test_an_exclusion_that_the_text_turns_down_is_not_brought_back_by_the_end_of_the_list() -> None:
    text = with_skills("A scraper, no Java", ["Python", "Go", "Scrapy", "Java"])
    assert isinstance(decide(looking_for("scraper", exclude=("java",)), a_job("Scraper", text), now=NOW), Fit)
    text = with_skills("A scraper, no Java", ["Python", "Java", "Scrapy"])
    assert isinstance(decide(looking_for("scraper", exclude=("java",)), a_job("Scraper", text), now=NOW), NoFit)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (TEXT, ("We need a scraper in Python.", "Python, Go, Scrapy", "Java, C")),
        ("Skills: Python", ("", "Python", "")),
        ("Help.\nSkills: a, b\nWrite soon", ("Help.\nSkills: a, b\nWrite soon", "", "")),
        ("Skills: a\nHelp.\nSkills: b", ("Skills: a\nHelp.", "b", "")),
        ("My skills: none", ("My skills: none", "", "")),
        ("", ("", "", "")),
    ],
)
def test_the_list_is_the_last_line(text: str, parts: tuple[str, str, str]) -> None:
    assert apart(text) == parts
