"""We Work Remotely writes where the firm sits, and often where its people may be, at the start of each text."""

from __future__ import annotations

from pathlib import Path

import pytest

from scan.facts import with_facts
from scan.posting import Posting
from scan.sources.weworkremotely import finished
from tests.boards import Board
from tests.scan.boards.made import items, made
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


async def test_a_polled_feed_has_its_places_and_no_heads(board: Board, tmp_path: Path) -> None:
    url = board.serve(
        "/remote-jobs.rss",
        "<rss version='2.0'><channel><item><title>Firm: Developer</title><region>Anywhere in the World</region>"
        "<link>https://weworkremotely.com/remote-jobs/firm-developer</link><description>"
        "&lt;p&gt;&lt;b&gt;Headquarters:&lt;/b&gt; Remote - Peru&lt;br/&gt;&lt;b&gt;URL:&lt;/b&gt; https://firm.example"
        "&lt;/p&gt;&lt;p&gt;We build things.&lt;/p&gt;</description></item></channel></rss>",
        content_type="application/rss+xml",
    )
    async with made(tmp_path, kind="weworkremotely", url=url) as source:
        (posting,) = (await items(source)).postings
    assert (posting.company, posting.place, posting.countries) == ("Firm", "Remote - Peru", ("PE",))
    assert posting.text == "We build things."
