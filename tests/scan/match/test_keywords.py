"""The field of keywords that a person types into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.keywords import KEYWORD_MAX_CHARS, KEYWORDS_MAX, TYPED_MAX_CHARS, BadKeywords, join_keywords, parse_keywords
from tests.scan.match.people import PATIENT


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ('python, fastapi, "machine learning"', ("python", "fastapi", "machine learning")),
        ("python\nfastapi\r\n\r\n go ", ("python", "fastapi", "go")),
        ('"a, b", c', ("a, b", "c")),
        ("“machine learning”, „a, b“", ("machine learning", "a, b")),
        (",, ,\n , python,", ("python",)),
        ("Python, python, PYTHON", ("Python",)),
        ("machine learning, Machine-Learning", ("machine learning",)),
        ("machine \t learning", ("machine learning",)),
        ("- python\n• go\n* rust", ("python", "go", "rust")),
        ('24" monitor', ('24" monitor',)),
        ('"say ""hi"", you"', ('say "hi", you',)),
        ("c++, c#, .net, node.js, (, .*", ("c++", "c#", ".net", "node.js", "(", ".*")),
        ("Py\u00adthon\x00, na\xa0me", ("Python", "na me")),
        ("", ()),
        ('""', ()),
    ],
)
def test_what_is_typed_becomes_a_list(typed, kept):
    assert parse_keywords(typed) == kept


@pytest.mark.parametrize("typed", ['"machine learning', 'go, "a, b', '"a" b, c', '"a\nb"'])
def test_quotes_that_enclose_no_whole_keyword_are_refused_by_name(typed):
    with pytest.raises(BadKeywords, match='quotes do not enclose the whole keyword: "') as told:
        parse_keywords(typed)
    assert "\n" not in str(told.value)


def test_the_limits_are_kept_at_their_edge_and_refused_beyond():
    longest = "x" * KEYWORD_MAX_CHARS
    assert parse_keywords(longest) == (longest,)
    with pytest.raises(BadKeywords, match=r"at most 100 characters: xxxx"):
        parse_keywords(longest + "x")
    most = [f"word{n}" for n in range(KEYWORDS_MAX)]
    assert len(parse_keywords(",".join(most))) == KEYWORDS_MAX
    assert len(parse_keywords(",".join(most + most))) == KEYWORDS_MAX
    with pytest.raises(BadKeywords, match=r"at most 200 keywords; .* last-straw"):
        parse_keywords(",".join([*most, "last-straw"]))
    with pytest.raises(BadKeywords, match="too much text"):
        parse_keywords("x," * TYPED_MAX_CHARS)


@PATIENT(max_examples=200)
@given(st.text(max_size=80))
def test_what_is_kept_reads_back_the_same(typed):
    kept, told = _parsed(typed)
    assert parse_keywords(join_keywords(kept)) == kept
    assert all(k and k == k.strip() and k.isprintable() for k in kept)
    assert len(told.splitlines()) <= 1


def _parsed(typed):
    try:
        return parse_keywords(typed), ""
    except BadKeywords as refused:
        return (), str(refused)
