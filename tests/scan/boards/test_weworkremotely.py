"""We Work Remotely writes where the firm sits, and often where its people may be, at the start of each text."""

from __future__ import annotations

import pytest

from scan.facts import with_facts
from scan.posting import Posting
from scan.sources.weworkremotely import finished
from tests.scan.match.people import a_job


def read(text: str, *, place: str = "Anywhere in the World") -> Posting:
    return finished(Posting("weworkremotely", "1", "Developer", "", text, company="Firm", place=place))


@pytest.mark.parametrize(
    ("line", "place", "countries"),
    [
        ("Remote - USA", "Remote - USA", ("US",)),
        ("-REMOTE, USA-", "REMOTE, USA", ("US",)),
        ("Germany (remote)", "Germany (remote)", ("DE",)),
        ("Boston, Austin, or Remote (US/Canada)", "Boston, Austin, or Remote (US/Canada)", ("US", "CA")),
        ("Ulm; Remote - Germany", "Ulm; Remote - Germany", ("DE",)),
        ("Berlin, Germany", "Anywhere in the World", ("WORLD",)),
        ("Remote", "Anywhere in the World", ("WORLD",)),
        ("Remote, anywhere", "Anywhere in the World", ("WORLD",)),
        ("Austin, TX or Remote", "Anywhere in the World", ("WORLD",)),
        ("Remote (not in France)", "Anywhere in the World", ("WORLD",)),
        ("", "Anywhere in the World", ("WORLD",)),
    ],
)
def test_anywhere_gives_way_to_a_place_of_remote_work_and_never_to_a_seat(line, place, countries) -> None:
    posting = read(f"Headquarters: {line}".strip() + "\nURL: https://firm.example\nWe build things.")
    assert (posting.place, posting.text) == (place, "We build things.")
    assert with_facts(a_job(place=posting.place), posting).countries == countries


def test_a_narrower_word_of_the_board_stays() -> None:
    assert read("Headquarters: Remote - USA\nWe build things.", place="Brazil").place == "Brazil"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Headquarters: Ulm\nWe build things.", "We build things."),
        ("Headquarters:\nURL: https://firm.example", ""),
        ("Headquarters: Ulm", ""),
        ("About us\nHeadquarters: Ulm\nWe build", "About us\nHeadquarters: Ulm\nWe build"),
        ("Headquarters are in Ulm\nWe build", "Headquarters are in Ulm\nWe build"),
    ],
)
def test_the_boards_head_is_cut_off_the_text_and_nothing_else(text, left) -> None:
    assert read(text).text == left
