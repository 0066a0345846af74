"""The same ad again: which differences make another ad, and which do not."""

from __future__ import annotations

import pytest

from scan.fingerprint import BESIDE, TEXT_MIN_CHARS, TITLE_FREE_MIN_CHARS, fingerprint, reposted

LONG = "We build boats and look for a person who likes wood, water and early mornings. " * 6
SHORT = LONG[: (TEXT_MIN_CHARS + TITLE_FREE_MIN_CHARS) // 2]
AD = {"company": "Acme Boats", "title": "Boat Builder - Remote", "text": LONG}
UNNAMED = {"platform": "upwork", "client": "client in Peru", "title": "Boat builder", "text": LONG}


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "Boat Builder (Remote)"},
        {"title": "boat builder, remote!"},
        {"company": "ACME Boats."},
        {"text": LONG.replace(",", " –")},
        {"text": LONG.replace(" ", "\n")},
        {"text": LONG + "An end that is not the same."},
    ],
)
def test_signs_case_and_white_space_make_no_other_ad(changed) -> None:
    assert fingerprint(**AD | changed) == fingerprint(**AD)


@pytest.mark.parametrize(
    "changed",
    [{"title": "Boat Painter - Remote"}, {"company": "Acme"}, {"text": f"Not: {LONG}"}],
)
def test_another_word_makes_another_ad(changed) -> None:
    assert fingerprint(**AD | changed) != fingerprint(**AD)


def test_languages_that_differ_by_a_sign_are_two() -> None:
    titles = ("C++ developer", "C# developer", "C developer")
    assert len({fingerprint(**AD | {"title": title}) for title in titles}) == 3


@pytest.mark.parametrize(
    ("changed", "is_same"),
    [
        ({"title": "Somebody for boats"}, True),
        ({"text": LONG + BESIDE + "wood"}, True),
        ({"text": LONG.replace(",", ";")}, True),
        ({"text": LONG + "And a dog."}, False),
        ({"client": "client in Chile"}, False),
        ({"client": ""}, False),
        ({"platform": "freelancer"}, False),
        ({"text": SHORT}, False),
    ],
)
def test_where_no_company_is_named_it_is_the_whole_text_of_one_client(changed, is_same) -> None:
    assert (reposted(**UNNAMED | changed) == reposted(**UNNAMED)) is is_same


def test_a_short_text_of_an_unnamed_client_needs_its_title() -> None:
    short = UNNAMED | {"text": SHORT}
    assert reposted(**short) == reposted(**short | {"title": "Boat builder!"})
    assert reposted(**short) != reposted(**short | {"title": "Somebody for boats"})


def test_what_is_too_short_or_may_be_two_firms_has_no_print() -> None:
    assert fingerprint(**AD | {"text": LONG[:TEXT_MIN_CHARS]}) is None
    assert fingerprint(**AD | {"company": " "}) is None
    assert fingerprint(**AD | {"text": "!" * 1000}) is None
    assert reposted(**UNNAMED | {"platform": "feed:x"}) is None
    assert reposted(**UNNAMED | {"platform": "mailbox:x"}) is None
