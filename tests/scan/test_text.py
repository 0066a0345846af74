"""HTML to text, and titles."""

from __future__ import annotations

import pytest

from scan.text import HTML_MAX_BYTES, TEXT_MAX_CHARS, TITLE_MAX_CHARS, one_line, plain, squeezed, title, title_of_html


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One</p><p>Two</p>tail", "One\nTwo\ntail"),
        ("C<b>++</b> and<br/>Rust", "C++ and\nRust"),
        ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
        ("<p>Build  an&nbsp;API\n in\u200b Python.</p>\n", "Build an API in Python."),
        ("a<script>alert('x')</script><style>p{}</style>b", "ab"),
        ("a<script>never closed", "a"),
        ("<!-- hidden -->seen", "seen"),
        ("&lt;p&gt;escaped once more&lt;/p&gt;&lt;p&gt;two&lt;/p&gt;", "escaped once more\ntwo"),
        ("&amp;lt;p&amp;gt;twice&amp;lt;/p&amp;gt;", "twice"),
        ("R&amp;amp;D <b>lab</b>", "R&D lab"),
        ("no markup, 1 < 2 & 3 > 2", "no markup, 1 < 2 & 3 > 2"),
        ("two\nlines", "two\nlines"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("\u202eabc\u2066\x00\x1b", "abc"),
        ("", ""),
    ],
)
def test_html_becomes_text(markup: str, text: str) -> None:
    assert plain(markup) == text


def test_white_space_zero_width_and_nbsp_make_no_difference() -> None:
    assert plain("<p>Build an API in Python.</p>") == plain("<p>Build  an&nbsp;API in&#x200B; Python.</p>\n\n")


def test_a_description_is_cut_before_it_is_parsed() -> None:
    assert "tail" not in plain("<i>x</i>" + " " * HTML_MAX_BYTES + "tail")
    assert len(plain("word " * 100_000)) <= TEXT_MAX_CHARS


@pytest.mark.parametrize(
    "bomb", ["<div>", "<a x=", "<!--", "<b>", "<table><tr><td>", "<p", "&lt;", "<svg><title>", "&amp;lt;p&amp;gt;"]
)
def test_of_a_megabyte_of_nesting_only_the_first_64_kilobytes_are_parsed(bomb: str) -> None:
    whole = bomb * (1024 * 1024 // len(bomb))
    assert plain(whole) == plain(whole[:HTML_MAX_BYTES])


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Senior C++ &amp; Rust dev &lt;remote&gt;", "Senior C++ & Rust dev <remote>"),
        ("Don&#x27;t miss: Java lead", "Don't miss: Java lead"),
        ("AT&T & co", "AT&T & co"),
        ("about &amp;amp; once", "about &amp; once"),
        ("Senior Dev\r\nBcc: victim@example.com", "Senior Dev Bcc: victim@example.com"),
        ("Multi\nline\ttitle", "Multi line title"),
        ("👩\u200d💻 برنامه&zwnj;نویس a\u200db", "👩\u200d💻 برنامه\u200cنویس ab"),
        ("a\u2028b\u0085c\u0000d\u202ee\u200bf\ufeffg\U000e0041", "a b cdefg"),
        ("Django\x18 developer", "Django developer"),
        ("x" * 3000, "x" * (TITLE_MAX_CHARS - 1) + "…"),
        ("x" * TITLE_MAX_CHARS, "x" * TITLE_MAX_CHARS),
        ("  ", ""),
    ],
)
def test_a_title_is_one_clean_line(raw: str, shown: str) -> None:
    assert title(raw) == shown


def test_a_title_declared_as_html_loses_its_tags() -> None:
    assert title_of_html("<b>Go</b> developer &amp; lead") == "Go developer & lead"


def test_plain_text_keeps_its_lines_and_what_looks_like_markup() -> None:
    assert squeezed("a  <b>\r\n\r\n c &amp; d ") == "a <b>\nc &amp; d"


def test_a_line_is_cut_at_the_length_that_was_asked_for() -> None:
    assert one_line("abcdef", max_chars=4) == "abc…"
