"""The other ways to write a keyword: found as well, and counted once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.forms import FORMS_MAX, forms_of
from scan.match import Fit, Matcher, decide
from scan.numbers import other_number
from tests.scan.match.people import NOW, a_job, looking_for


def found(keyword: str, text: str) -> bool:
    return isinstance(decide(looking_for(keyword), a_job("", text), now=NOW), Fit)


@pytest.mark.parametrize(
    "ways",
    [
        ("fullstack", "full stack", "Full-Stack"),
        ("fullstack developer", "full-stack developer"),
        ("powerbi", "Power BI"),
        ("front-end", "Frontend", "front end"),
        ("node.js", "NodeJS", "node js", "Node-JS"),
        ("senior react.js engineer", "senior ReactJS engineer", "Senior React JS Engineer"),
        ("d3.js", "d3js"),
        ("ux/ui", "UI/UX", "ui & ux", "UI and UX", "ux ui", "UX / UI"),
        ("ui/ux designer", "UX & UI designer"),
        ("html/css", "CSS/HTML", "html and css"),
        ("e-commerce", "ecommerce", "E Commerce"),
        ("dotnet", ".NET"),
        ("dotnet developer", ".NET developer"),
        ("golang", "Go"),
        ("golang engineer", "go engineer"),
        ("postgres", "PostgreSQL"),
        ("k8s", "Kubernetes"),
        ("python developer", "Python Developers"),
        ("agency", "agencies"),
        ("process", "processes"),
        ("analysis", "analyses"),
        ("api", "APIs"),
        ("dashboard", "Dashboards"),
    ],
)
def test_each_way_to_write_it_finds_each_other(ways):
    assert [(one, other) for one in ways for other in ways if not found(one, other)] == []


def test_two_that_go_together_are_found_in_a_list():
    assert found("ux/ui", "Figma, UI, UX")


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("java", "JavaScript, javascript.js"),
        ("javascript", "Java. Script"),
        ("full stack", "full, stack"),
        ("fullstack", "full of stacks"),
        ("node.js", "node, js"),
        ("node.js", "nodexjs"),
        ("node", "nodejs"),
        ("golang", "go to market"),
        ("ui/ux", "UX of UI"),
        ("c/c++", "C++/C sharp".lower()),
        ("r&d", "D&R"),
        ("machine learning", "machinelearning"),
        ("in design", "design in"),
        (".net", "net"),
        (".net", ".nets"),
        ("canva", "canvas"),
        ("windows", "window"),
        ("news", "new"),
        ("securities", "security"),
        ("customs", "custom"),
        ("theses", "these"),
        ("economics", "economic"),
        ("teams", "team"),
        ("business", "busines"),
        ("redis", "redi"),
        ("design", "designer"),
        ("developers needed", "developer needed"),
        ("report", "reporting, reported"),
    ],
)
def test_what_only_looks_alike_is_not_found(keyword, text):
    assert not found(keyword, text)


def test_a_keyword_with_many_forms_counts_once_and_is_named_as_typed():
    decision = decide(looking_for("full stack", "FullStack"), a_job("Full-Stack", "fullstack, full stack"), now=NOW)
    assert isinstance(decision, Fit)
    assert (decision.score, decision.reason) == (2, "full stack in the title")


def test_a_form_in_the_title_counts_though_the_text_has_another():
    users = [looking_for("nodejs", uid="a"), looking_for("node.js", uid="b")]
    fits = Matcher.of(users).match(a_job("Node JS", "nodejs and node.js"), now=NOW)
    assert [(fit.score, fit.reason) for fit in fits] == [(2, "nodejs in the title"), (2, "node.js in the title")]


def test_exclusions_and_musts_are_found_in_every_form():
    assert isinstance(decide(looking_for("python", must=("nodejs",)), a_job("Python", "Node.js"), now=NOW), Fit)
    assert not isinstance(
        decide(looking_for("python", exclude=("e-commerce",)), a_job("Python ecommerce"), now=NOW), Fit
    )


@pytest.mark.parametrize("keyword", ["a/b " * 25, "no js " * 16, "ui ux " * 16, "e mail " * 14, "\ud800", "(", ""])
def test_no_keyword_has_more_forms_than_are_looked_for(keyword):
    forms = forms_of(keyword)
    assert len(forms) <= FORMS_MAX
    assert len(set(forms)) == len(forms)
    assert all(forms)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("company", "companies"),
        ("cookie", "cookies"),
        ("day", "days"),
        ("box", "boxes"),
        ("database", "databases"),
        ("virus", "viruses"),
        ("course", "courses"),
        ("class", "classes"),
        ("photo", "photos"),
        ("bot", "bots"),
    ],
)
def test_a_word_and_its_plural_lead_to_each_other(one, many):
    assert (other_number(one), other_number(many)) == (many, one)


@given(st.text("abehilosuxyz", max_size=7))
def test_the_way_to_the_other_number_leads_back(word):
    other = other_number(word)
    assert other is None or other_number(other) == word


def test_exclusions_and_musts_are_found_in_both_numbers():
    assert isinstance(decide(looking_for("python", must=("dashboard",)), a_job("Python", "dashboards"), now=NOW), Fit)
    assert not isinstance(decide(looking_for("python", exclude=("agency",)), a_job("Python agencies"), now=NOW), Fit)
    both = decide(looking_for("report", "reports"), a_job("Reports, a report"), now=NOW)
    assert isinstance(both, Fit)
    assert both.score == 2
