"""What is said of searches that can never match: true in every spelling that the matcher knows."""

from __future__ import annotations

import pytest

from app.hopeless import ruled_out
from ledger.records import Search


@pytest.mark.parametrize(
    ("keyword", "exclude", "is_ruled_out"),
    [
        ("python", "python", True),
        ("senior python developer", "python", True),
        ("app", "apps", True),
        ("full stack", "stack", False),  # fullstack has no stack
        ("java script", "java", False),
        ("it support", "it", False),
        ("javascript", "java", False),
    ],
)
def test_a_keyword_is_ruled_out_only_if_each_of_its_spellings_is(
    keyword: str, exclude: str, is_ruled_out: bool
) -> None:
    assert bool(ruled_out(Search(keywords=(keyword,), exclude=(exclude,)))) is is_ruled_out
