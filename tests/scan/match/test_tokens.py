"""What counts as the same word."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scan.match import Fit, decide
from scan.tokens import MARKS_MAX_RUN, Place, pattern_of, read, short_word
from tests.scan.match.people import NOW, PATIENT, a_job, looking_for


def found(keyword: str, text: str) -> bool:
    return isinstance(decide(looking_for(keyword), a_job("", text), now=NOW), Fit)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("machine learning", "Machine-Learning engineer"),
        ("machine-learning", "machine\n\t learning"),
        ("machine learning", "(machine\u2011learning)"),
        ("e-mail", "E mail"),
        ("c++", "C++/Qt"),
        ("c++", "Objective-C++"),
        ("c++17", "C++17, C++20"),
        ("c#", "C#+SQL"),
        ("sql", "C#+SQL"),
        ("notepad++", "Notepad++"),
        (".net", "ASP.NET"),
        ("asp.net", "ASP.NET"),
        ("asp", "ASP.NET"),
        ("java", "java_developer"),
        ("r&d", "R & D Engineer"),
        ("r", "R & Python"),
        ("c", "C, C++ or C#"),
        ("go", "GO/Rust"),
        ("Go", "Go"),
        ("ai", "AI-first"),
        ("5g", "5g networks"),
        ("c++", "we write c++"),
        ("driver's licence", "driver’s licence"),
        ("python", "Py\u00adthon"),
        ("istanbul", "i\u0307stanbul"),
        ("İstanbul", "ISTANBUL"),
        ("it", "İT"),
        ("café", "CAFE\u0301"),
        ("ǰulia", "J\u030cULIA"),
        ("fi", "ﬁ FI"),
        ("ｐｙｔｈｏｎ", "python"),
        ("東京", "東京都のPython開発者"),
        ("python", "東京都のPython開発者"),
        ("हिन्दी", "हिन्दी अनुवाद"),
        ("שלום", "שלום עולם"),
        ("של", "של עולם"),
        ("a.b(c", "a.b(c)"),
    ],
)
def test_is_found(keyword, text):
    assert found(keyword, text)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("machine learning", "machine learninger"),
        ("machine learning", "xmachine learning"),
        ("machine learning", "machine, learning"),
        ("machine learning", "machine - learning"),
        ("embedded c", "Embedded C++"),
        ("c+", "C++"),
        ("c", "C+"),
        ("c", "c#minor"),
        ("c", "C#minor"),
        ("c#", "C#minor"),
        ("c++", "C++builder"),
        ("r", "R&D"),
        ("r", "R & D"),
        ("d", "R&D"),
        ("go", "going Go-Kart".lower()),
        ("it", "use it"),
        ("of", "Director of"),
        ("q", "Q\u0301"),
        ("e", "E\u0301"),
        ("a.b", "a+b axb"),
        ("[a-z]", "q"),
        ("java 8", "Java 80"),
        ("हि", "हिन्दी"),
    ],
)
def test_is_not_found(keyword, text):
    assert not found(keyword, text)


def test_no_phrase_reaches_from_the_title_into_the_text():
    job = a_job("Senior machine", "learning materials")
    assert not isinstance(decide(looking_for("machine learning"), job, now=NOW), Fit)


def test_positions_survive_folds_that_change_the_length():
    job = a_job("İİİ ßßß ﬃ ΐ", "ŉ Straße, İstanbul java")
    decision = decide(looking_for("java", "sss", "straße", "ffi"), job, now=NOW)
    assert isinstance(decision, Fit)
    assert decision.reason == "ffi in the title; straße, java in the text"


@PATIENT(max_examples=200)
@given(st.text())
@example("R&")
@example("c++c")
@example("\ud800")
def test_any_usable_keyword_is_found_in_itself(keyword):
    pattern = pattern_of(keyword)
    reading = read(keyword, keyword)
    if pattern and not short_word(pattern):
        assert pattern in reading.line[: reading.ends[Place.TITLE]]
        assert pattern in reading.line[reading.ends[Place.TITLE] :]


@PATIENT(max_examples=200)
@given(st.text(alphabet="aQ\u0307\u0300\u0315\u0344\uff9e\u200bé", max_size=60))
def test_no_run_of_marks_is_longer_than_normalisation_can_bear(text):
    reading = read("", text * 40)
    for run in "".join(c if not c.isalnum() and c > "\x7f" else " " for c in reading.line).split():
        assert len(run) <= 2 * MARKS_MAX_RUN  # one mark may stand for two


@pytest.mark.parametrize(
    "unit",
    [
        "\u0315\u0300",
        "a\uff9e\u0315",
        "\u200b\u0315\u0300",
        "R&",
        "R & ",
        "c++",
        "c+c",
        "a-",
        "İ",
        "(",
        "& ",
        "e\u0301",
    ],
)
def test_a_long_text_of_one_unit_is_read(unit):
    """Each of these took minutes where reading was quadratic; the suite's own time limit is the bound."""
    text = unit * 100_000
    reading = read(text, text)
    assert len(reading.line) <= 3 + 8 * len(text)
