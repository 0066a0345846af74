"""A keyword of one or two letters is found where the text writes a name."""

from __future__ import annotations

import pytest

from scan.match import Fit, decide
from tests.scan.match.people import NOW, a_job, looking_for


def found(keyword: str, title: str = "", text: str = "") -> bool:
    return isinstance(decide(looking_for(keyword), a_job(title, text), now=NOW), Fit)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("it", "IT support"),
        ("US", "Remote, US only"),
        ("go", "Go Developer"),
        ("go", "written in Go. To apply, write"),
        ("go", "Go, to be exact"),
        ("Go", "Go"),
        ("c", "Embedded C."),
        ("c", "C.\nEmbedded"),
        ("c", "C, C++"),
        ("c", "C-Programmierer"),
        ("r", "R or Python"),
        ("ai", "Ai artist"),
        ("qa", "QA/Tester"),
        ("x", "Series X, X"),
    ],
)
def test_is_found(keyword, text):
    assert found(keyword, title=text)
    assert found(keyword, text=text)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("IT", "It is a small team. It\u2019s remote"),
        ("us", "Join Us, About us"),
        ("be", "Be on time"),
        ("no", "No calls"),
        ("go", "Go to market"),
        ("go", "Go-to-Market"),
        ("go", "Go High Level and Go-High-Level"),
        ("go", "Go live, Go Ahead"),
        ("c", "8 U.S.C. 1157"),
        ("c", "Washington, D.C., and"),
        ("d", "a Ph.D. in"),
        ("c", "C-suite, C level, C-Level"),
        ("c", "Series C, Objective-C, Objective C, USB Type-C"),
        ("s", "an S-Corp"),
    ],
)
def test_is_not_found(keyword, text):
    assert not found(keyword, title=text)
    assert not found(keyword, text=text)


def test_one_mention_as_a_name_is_enough():
    assert found("it", text="It is an IT company. It pays")
    assert found("c", text="Objective-C and C")
