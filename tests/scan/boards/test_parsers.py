"""Parsers of boards of which no answer was recorded, on data of their documented shape; and what all of them owe."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from scan.posting import Posting
from scan.sources import (
    adzuna,
    arbeitnow,
    ats,
    freelancer,
    hackernews,
    himalayas,
    jobicy,
    remoteok,
    remotive,
    upwork,
    workingnomads,
)
from scan.sources.board import Page
from scan.sources.item import Unreadable

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PARSERS: list[Callable[..., Page | Unreadable]] = [
    adzuna.parse, arbeitnow.parse, ats.parse, freelancer.parse, hackernews.parse, hackernews.parse_comments,
    himalayas.parse, jobicy.parse, remoteok.parse, remotive.parse, upwork.parse, workingnomads.parse,
]  # fmt: skip
each_parser = pytest.mark.parametrize("parse", PARSERS, ids=lambda parse: f"{parse.__module__}.{parse.__name__}")


def page_of(parse: Callable[..., Page | Unreadable], document: Any, **more: str) -> Page:
    page = parse(json.dumps(document).encode(), now=NOW, **more)
    assert isinstance(page, Page)
    return page


def only(parse: Callable[..., Page | Unreadable], document: Any, **more: str) -> Posting:
    page = page_of(parse, document, **more)
    (posting,) = page.reading.postings
    assert page.reading.skipped == ()
    return posting


@each_parser
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "the body is empty"),
        (b"<!doctype html><title>Just a moment...</title>", "an HTML page, not JSON"),
        (b"<rss/>", "XML or HTML, not JSON"),
        (b"{", "not JSON that can be read"),
        (b"[" * 100_000, "not JSON that can be read"),
        (b'{"jobs": "soon"}', "JSON without a list of jobs"),
        (b"3", "JSON without a list of jobs"),
    ],
)
def test_what_is_no_answer_of_the_board_is_a_reason(
    parse: Callable[..., Page | Unreadable], body: bytes, says: str
) -> None:
    found = parse(body, now=NOW)
    assert isinstance(found, Unreadable)
    assert found.reason.startswith(says)


PROJECT = {
    "id": 39999999,
    "title": "Scrape &amp; clean",
    "seo_url": "python/scrape-clean-39999999",
    "preview_description": "Short",
    "description": "We need a script.\nIn Python.",
    "type": "hourly",
    "budget": {"minimum": 15.0, "maximum": 25.0},
    "currency": {"code": "EUR"},
    "jobs": [{"id": 13, "name": "Python"}],
    "submitdate": 1796000000,
    "language": "en",
}


def projects(*found: dict[str, Any]) -> dict[str, Any]:
    return {"status": "success", "result": {"projects": list(found), "total_count": len(found)}}


def test_a_freelancer_project_is_read_with_its_budget_and_skills() -> None:
    posting = only(freelancer.parse, projects(PROJECT))
    assert (posting.platform, posting.native_id, posting.title) == ("freelancer", "39999999", "Scrape & clean")
    assert posting.link == "https://www.freelancer.com/projects/python/scrape-clean-39999999"
    assert posting.text == "We need a script.\nIn Python.\nSkills: Python"
    assert (posting.pay_min, posting.pay_max, posting.currency, posting.period) == (15.0, 25.0, "EUR", "hour")
    assert (posting.tags, posting.language) == (("hourly", "Python"), "en")


def test_deleted_and_nonpublic_projects_are_no_listings_and_an_error_is_no_empty_list() -> None:
    page = page_of(freelancer.parse, projects(PROJECT | {"deleted": True}, PROJECT | {"nonpublic": True}))
    assert (page.reading.postings, page.reading.skipped) == ((), ())
    error = json.dumps({"status": "error", "message": "s3cret", "error_code": "X"}).encode()
    assert freelancer.parse(error, now=NOW) == Unreadable("the board answered with an error")


RESULT = {
    "id": "5123456789",
    "title": "<strong>Python</strong> Developer",
    "description": "A snippet…",
    "redirect_url": "https://www.adzuna.co.uk/jobs/land/ad/5123456789?se=abc&v=1",
    "company": {"display_name": "Acme"},
    "location": {"display_name": "London, UK"},
    "created": "2026-11-29T10:00:00Z",
    "salary_min": 60000,
    "salary_max": 70000.0,
    "salary_is_predicted": "0",
    "contract_type": "contract",
}


def test_adzunas_estimate_of_a_salary_is_not_taken_for_one() -> None:
    stated = only(adzuna.parse, {"results": [RESULT]}, country="gb")
    assert (stated.pay_min, stated.pay_max, stated.currency, stated.period) == (60e3, 70e3, "GBP", "year")
    assert (stated.contract, stated.company, stated.native_id) == ("contract", "Acme", "5123456789")
    for guess in ("1", 1, True):
        guessed = only(adzuna.parse, {"results": [RESULT | {"salary_is_predicted": guess}]}, country="gb")
        assert (guessed.pay_min, guessed.pay_max) == (None, None)


def test_a_workable_job_is_known_by_its_shortcode() -> None:
    job = {"title": "Dev", "shortcode": "AB12", "telecommuting": True, "published_on": "2026-11-20", "city": "Athens",
           "country": "Greece", "url": "https://apply.workable.com/j/AB12", "description": "<p>Hello</p>",
           "employment_type": "Contract"}  # fmt: skip
    posting = only(ats.parse, {"name": "Acme", "jobs": [job]}, system="workable", board="acme")
    assert (posting.platform, posting.native_id) == ("workable:acme", "AB12")
    assert (posting.place, posting.contract) == ("Athens, Greece, Remote", "Contract")


def test_a_posting_that_its_company_has_not_listed_is_no_listing() -> None:
    jobs = [{"id": "a", "title": "Dev", "isListed": False}, {"id": "b", "title": "Dev", "isListed": True}]
    assert only(ats.parse, {"jobs": jobs}, system="ashby", board="x").native_id == "b"


def test_greenhouse_pay_in_cents_is_pay_in_units() -> None:
    ranges = [{"min_cents": 5000000, "max_cents": 7500000, "currency_type": "USD", "title": "Annual Salary"}]
    job = {"id": 1, "title": "Dev", "absolute_url": "https://x.example/1", "pay_input_ranges": ranges}
    posting = only(ats.parse, {"jobs": [job]}, system="greenhouse", board="x")
    assert (posting.pay_min, posting.pay_max, posting.currency, posting.period) == (50e3, 75e3, "USD", "year")


def test_blog_pages_and_placeholder_pay_of_remote_ok_are_seen_through() -> None:
    text = "We are looking for somebody who builds things with us."
    job = {"id": "1", "position": "Dev", "company": "Acme", "description": text, "url": "https://remoteOK.com/1"}
    items = [
        {"legal": "terms"},
        job | {"salary_min": 10000, "salary_max": 750000},
        job | {"id": "2", "company": ""},
        job | {"id": "3", "position": "Menu"},
        job | {"id": "4", "description": "Read more"},
        job | {"id": "x"},
    ]
    page = page_of(remoteok.parse, items)
    (posting,) = page.reading.postings
    assert (posting.native_id, posting.pay_max) == ("1", None)
    assert [skipped.reason for skipped in page.reading.skipped] == [
        *["no job: a page without a company or a description"] * 3, "no id",
    ]  # fmt: skip


STORY = 42
COMMENT = {
    "objectID": "1",
    "parent_id": STORY,
    "story_id": STORY,
    "created_at": "2026-11-02T10:00:00Z",
    "author": "ann",
}


def test_in_the_freelancer_thread_those_who_look_for_work_are_no_jobs() -> None:
    words = [
        "SEEKING WORK | Remote | Python, Go. I have built many things over ten years, see my page.",
        "SEEKING FREELANCER | Acme | Remote<p>We need somebody for three months to build a thing in Python.",
        "Location: Berlin\nRemote: yes\nTechnologies: Python, Go and all that which one needs these days.",
    ]
    hits = [COMMENT | {"objectID": str(n), "comment_text": text} for n, text in enumerate(words)]
    posting = only(hackernews.parse_comments, {"hits": hits})
    assert (posting.native_id, posting.company, posting.place) == ("1", "Acme", "Remote")
    assert posting.title == "We need somebody for three months to build a thing in Python."
    assert posting.contract == "freelance"


def test_the_newest_thread_of_each_kind_is_asked_for_and_who_wants_to_be_hired_is_not() -> None:
    titles = [
        "Ask HN: Who wants to be hired? (November 2026)",
        "Ask HN: Freelancer? Seeking freelancer? (November 2026)",
        "Ask HN: Who is hiring? (November 2026)",
        "Ask HN: Who is hiring? (October 2026)",
    ]
    hits = [{"objectID": str(n), "title": title} for n, title in enumerate(titles)]
    page = page_of(hackernews.parse, {"hits": hits}, root="https://hn.example/s")
    assert [ask.url for ask in page.more] == [
        "https://hn.example/s?tags=comment%2Cstory_2&hitsPerPage=1000",
        "https://hn.example/s?tags=comment%2Cstory_1&hitsPerPage=1000",
    ]
    assert hackernews.parse(b'{"hits": []}', now=NOW) == Unreadable("no hiring thread among the stories")


@pytest.mark.parametrize(
    ("following", "url"),
    [
        ("https://www.arbeitnow.com/api/job-board-api?page=2", "https://a.example/api?page=2"),
        ("http://169.254.169.254/latest?page=2", "https://a.example/api?page=2"),  # only the query is taken over
        (None, None),
        ("https://[", None),
    ],
)
def test_a_next_page_is_asked_for_at_the_same_place_only(following: str | None, url: str | None) -> None:
    job = {"slug": "dev-1234", "title": "Dev", "company_name": "Acme"}
    page = page_of(arbeitnow.parse, {"data": [job], "links": {"next": following}}, root="https://a.example/api")
    assert [ask.url for ask in page.more] == ([url] if url else [])


def test_an_item_that_is_listed_twice_is_taken_once_and_odd_items_are_counted() -> None:
    jobs = [{"id": 1, "title": "Dev"}, {"id": 1, "title": "Dev"}, {"id": 2}, {"title": "x"}, None, 3, [], {"id": {}}]
    page = page_of(remotive.parse, {"jobs": jobs})
    assert [posting.native_id for posting in page.reading.postings] == ["1"]
    assert [skipped.reason for skipped in page.reading.skipped] == [
        "no title", "no id", "not an object", "not an object", "not an object", "no id",
    ]  # fmt: skip
