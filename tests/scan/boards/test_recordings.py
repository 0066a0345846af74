"""Recorded answers of every board through its parser: what is read, counted on the files."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scan.posting import Posting
from scan.sources import (
    arbeitnow,
    ats,
    hackernews,
    himalayas,
    jobicy,
    remoteok,
    remotive,
    workingnomads,
)
from scan.sources.board import Page
from scan.sources.item import Unreadable

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
Parse = Callable[..., Page | Unreadable]


def read(parse: Parse, file: Path, **more: str) -> tuple[Posting, ...]:
    page = parse(file.read_bytes(), now=NOW, **more)
    assert isinstance(page, Page)
    assert page.reading.skipped == ()
    for posting in page.reading.postings:
        assert posting.title
        assert posting.link.startswith("https://")
        assert "<" not in posting.title + posting.company + posting.place
        assert "&amp;" not in posting.title + posting.company + posting.place + "".join(posting.tags)
    return page.reading.postings


@pytest.mark.parametrize(
    ("parse", "name", "count", "id_rule"),
    [
        (remoteok.parse, "remoteok_2026-07.json", 4, str.isdigit),
        (remotive.parse, "remotive_2026-07.json", 4, str.isdigit),
        (remotive.parse, "remotive_2026-08.json", 5, str.isdigit),
        (himalayas.parse, "himalayas_2026-07.json", 4, lambda id_: id_.startswith("companies/") and "/jobs/" in id_),
        (himalayas.parse, "himalayas_60of500_2026-08-03.json", 60, lambda id_: id_.startswith("companies/")),
        (jobicy.parse, "jobicy_2026-07.json", 4, str.isdigit),
        (arbeitnow.parse, "arbeitnow_2026-08.json", 5, lambda id_: id_.rpartition("-")[2].isdigit()),
        (workingnomads.parse, "workingnomads_2026-07.json", 4, str.isdigit),
        (hackernews.parse_comments, "hackernews_whoishiring_2026-07.json", 6, str.isdigit),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_item_is_a_posting_under_the_boards_own_id(
    parse: Parse, name: str, count: int, id_rule: Callable[[str], bool], recordings: Path
) -> None:
    postings = read(parse, recordings / "boards" / name)
    assert len(postings) == count == len({posting.native_id for posting in postings})
    assert all(id_rule(posting.native_id) for posting in postings)
    assert all(posting.published_at and NOW - posting.published_at < timedelta(days=150) for posting in postings)


def test_remote_ok_skips_its_terms_and_takes_zero_pay_as_unknown(recordings: Path) -> None:
    first, second, *_ = read(remoteok.parse, recordings / "boards/remoteok_2026-07.json")
    assert (first.native_id, first.company) == ("1134698", "OpsArmy Careers")
    assert (first.pay_min, first.pay_max) == (None, None)
    assert second.place == "Orlando"


def test_remotives_zoneless_dates_are_utc_and_its_pay_is_as_stated(recordings: Path) -> None:
    found = read(remotive.parse, recordings / "boards/remotive_2026-08.json")
    assert [posting.pay for posting in found] == ["", "$18 - $22/hr", "$45,000 - $50,000", "$14/hr", ""]
    assert found[0].published_at == datetime(2026, 7, 28, 14, 23, 5, tzinfo=UTC)
    assert found[1].contract == "freelance"
    assert found[1].countries == ("USA",)
    assert found[0].countries == ("Americas", "Europe", "Asia", "Africa", "Oceania")


def test_himalayas_pay_has_its_period_and_currency_or_is_unknown(recordings: Path) -> None:
    found = read(himalayas.parse, recordings / "boards/himalayas_60of500_2026-08-03.json")
    paid = [(p.pay_min, p.pay_max, p.currency, p.period) for p in found if p.pay_max]
    assert (37.0, 37.0, "USD", "hourly") in paid
    assert {period for *_, period in paid} <= {"annual", "monthly", "hourly"}
    assert all(p.countries for p in found if p.place)
    assert {p.contract for p in found} >= {"Contractor", "Part Time"}


def test_himalayas_api_and_feed_know_a_job_by_the_same_id(recordings: Path) -> None:
    document = json.loads((recordings / "boards/himalayas_2026-07.json").read_text())
    found = read(himalayas.parse, recordings / "boards/himalayas_2026-07.json")
    assert [f"https://himalayas.app/{posting.native_id}" for posting in found] == [j["guid"] for j in document["jobs"]]


def test_jobicys_escaped_names_are_plain_and_its_lower_bound_is_kept(recordings: Path) -> None:
    found = {posting.native_id: posting for posting in read(jobicy.parse, recordings / "boards/jobicy_2026-07.json")}
    assert found["145885"].tags == ("Full-Time", "Data Science & Analytics", "Director")
    assert found["146002"].countries == ("EMEA", "LATAM", "Canada", "USA")
    assert (found["146002"].pay_min, found["146002"].pay_max) == (151000.0, None)
    assert (found["146002"].currency, found["146002"].period) == ("USD", "yearly")


def test_arbeitnow_is_read_alike_whether_its_html_is_escaped_once_more_or_not(recordings: Path) -> None:
    found = read(arbeitnow.parse, recordings / "boards/arbeitnow_2026-08.json")
    assert found[0].text.startswith("At kausable, we build causal")
    assert found[3].text.startswith("Senior Product Owner (d/f/m)\nHamburg, Berlin, Hybrid")
    assert found[0].aliases == ("number\nkausable gmbh\n60723",)


def test_working_nomads_jobs_have_the_number_of_their_link(recordings: Path) -> None:
    found = read(workingnomads.parse, recordings / "boards/workingnomads_2026-07.json")
    assert [posting.native_id for posting in found] == ["1719512", "1719508", "1713292", "1712616"]
    assert found[0].published_at == datetime(2026, 7, 10, 13, 24, 39, tzinfo=UTC)


def test_hacker_news_replies_are_no_jobs_and_authors_are_not_read(recordings: Path) -> None:
    file = recordings / "boards/hackernews_whoishiring_2026-07.json"
    found = read(hackernews.parse_comments, file)
    assert [posting.company for posting in found] == [
        "Qase", "Wave", "Zeitlabs", "Trinsic", "ResortPass", "This Dot Labs",
    ]  # fmt: skip
    assert [posting.contract for posting in found[1:]] == [
        "Permanent (Full-time)", "Full time or Full time contract", "Full-time", "Full-time", "",
    ]  # fmt: skip
    assert [found[1].title, found[4].title] == ["On-Premises SRE", "Senior Software Engineer, Frontend"]
    assert found[4].place == "New York, NY, Onsite"
    assert found[1].pay == "Salary up to $185,500 + equity"
    assert found[4].pay == "$160k–$180k ($210k for senior band) + Equity"
    assert found[2].place == "Remote (UTC+3)"
    assert found[5].title.startswith("Engineering Leads")
    authors = {hit["author"] for hit in json.loads(file.read_text())["hits"]}
    assert not any(author in repr(found) for author in authors)


@pytest.mark.parametrize(
    ("name", "first_id"),
    [
        ("greenhouse:gitlab", "8503792002"),
        ("lever:matchgroup", "3414ba28-35f7-45d3-8e13-35c883959635"),
        ("ashby:linear", "d3bc1ced-3ce4-4086-a050-555055dbb1ff"),
    ],
)
def test_a_companys_board_is_read_under_its_systems_ids(name: str, first_id: str, recordings: Path) -> None:
    system, board = name.split(":")
    found = read(ats.parse, recordings / f"ats/{system}_{board}_2026-07.json", system=system, board=board)
    assert len(found) == 2
    assert found[0].native_id == first_id
    assert {posting.platform for posting in found} == {name}
    assert all(len(posting.text) > 1000 and "<" not in posting.text for posting in found)


def test_levers_pay_and_millisecond_dates_are_read(recordings: Path) -> None:
    found = read(ats.parse, recordings / "ats/lever_matchgroup_2026-07.json", system="lever", board="matchgroup")
    assert (found[0].pay_min, found[0].pay_max, found[0].currency, found[0].period) == (150e3, 180e3, "USD", "year")
    assert found[0].published_at is not None
    assert found[0].published_at.date().isoformat() == "2026-05-19"
    assert "Responsibilities" in found[0].text


def test_a_date_of_years_ago_on_a_live_posting_is_kept_as_the_board_says(recordings: Path) -> None:
    found = read(ats.parse, recordings / "ats/ashby_linear_2026-07.json", system="ashby", board="linear")
    assert [posting.published_at.year for posting in found if posting.published_at] == [2021, 2021]
