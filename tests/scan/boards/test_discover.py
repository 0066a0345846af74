"""What is behind a URL: boards and careers pages by their address, feeds and pages that link one by their bytes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ledger.records import Health
from scan.posting import Failed
from scan.sources.discover import Found, Remembering, discover, name_for
from tests.boards import Board
from tests.scan.boards.made import NOW

ITEMS = "".join(f"<item><title>Job {n}</title><link>/jobs/{n}</link><guid>{n}</guid></item>" for n in range(3))
RSS = f"<rss version='2.0'><channel>{ITEMS}</channel></rss>"


@pytest.fixture
async def fetcher() -> AsyncIterator[Remembering]:
    async with Remembering(user_agent="Scout tests", allow_loopback=True) as fetcher:
        yield fetcher


async def found(url: str, fetcher: Remembering) -> Found:
    answer = await discover(url, fetcher, now=NOW, deadline_s=10)
    assert isinstance(answer, Found), answer
    return answer


@pytest.mark.parametrize(
    ("url", "entry"),
    [
        ("https://boards.greenhouse.io/gitlab", {"kind": "ats", "board": "greenhouse:gitlab"}),
        ("https://job-boards.greenhouse.io/gitlab/jobs/8503792002", {"kind": "ats", "board": "greenhouse:gitlab"}),
        ("https://boards.greenhouse.io/embed/job_board?for=acme", {"kind": "ats", "board": "greenhouse:acme"}),
        ("https://boards-api.greenhouse.io/v1/boards/acme/jobs", {"kind": "ats", "board": "greenhouse:acme"}),
        ("https://jobs.lever.co/acme/123?lever-source=x", {"kind": "ats", "board": "lever:acme"}),
        ("https://jobs.eu.lever.co/acme", {"kind": "ats", "board": "lever-eu:acme"}),
        ("https://jobs.ashbyhq.com/Acme%20Inc", None),
        ("https://jobs.ashbyhq.com/acme", {"kind": "ats", "board": "ashby:acme"}),
        ("https://apply.workable.com/acme/", {"kind": "ats", "board": "workable:acme"}),
        ("https://weworkremotely.com/categories/remote-programming-jobs.rss",
         {"kind": "weworkremotely", "url": "https://weworkremotely.com/categories/remote-programming-jobs.rss"}),
        ("https://www.remoteok.com/remote-python-jobs", {"kind": "remoteok"}),
        ("https://himalayas.app/jobs/rss", {"kind": "himalayas"}),
        ("https://news.ycombinator.com/item?id=48747976", {"kind": "hackernews"}),
    ],
)  # fmt: skip
async def test_a_known_board_is_known_by_its_address_and_nothing_is_asked(
    url: str, entry: dict[str, Any] | None, fetcher: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(*_: Any, **__: Any) -> Failed:
        return Failed(Health.REFUSED, "asked")

    monkeypatch.setattr(fetcher, "fetch", refuses)
    answer = await discover(url, fetcher, now=NOW, deadline_s=10)
    if entry is None:
        assert answer == Failed(Health.REFUSED, "asked")
    else:
        assert isinstance(answer, Found)
        assert answer.entry == entry


async def test_a_feed_is_a_feed_and_the_rule_for_its_ids_is_told(board: Board, fetcher: Remembering) -> None:
    url = board.serve("/jobs.rss", RSS)
    answer = await found(url, fetcher)
    assert answer == Found(
        {"kind": "feed", "url": url}, "a feed", "auto: the guid, of which each of the 3 items has its own"
    )
    board.serve("/links.rss", RSS.replace("<guid>1</guid>", "<guid>0</guid>"))
    assert (await found(board.url("/links.rss"), fetcher)).ids.startswith("auto: the link, of which each of the 3")
    board.serve("/neither.rss", re.sub(r"<guid>.</guid>", "", RSS).replace("/jobs/1", "/jobs/0"))
    assert "else title and date" in (await found(board.url("/neither.rss"), fetcher)).ids


async def test_a_json_feed_is_a_feed(board: Board, fetcher: Remembering) -> None:
    body = '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": 1, "title": "Dev"}]}'
    url = board.serve("/feed.json", body, content_type="application/feed+json")
    assert (await found(url, fetcher)).entry == {"kind": "feed", "url": url}


@pytest.mark.parametrize(
    "markup",
    [
        '<head><link rel="alternate" type="application/rss+xml" href="/jobs.rss"></head>',
        "<head><LINK HREF=jobs.rss TYPE='application/rss+xml' REL=alternate></head>",
        '<body><a href="/about">About</a> <a class="x" href="/jobs.rss?a=1&amp;b=2">RSS</a></body>',
    ],
)
async def test_a_page_that_links_a_feed_leads_to_it(markup: str, board: Board, fetcher: Remembering) -> None:
    url = board.serve("/careers", f"<!doctype html><html>{markup}</html>", content_type="text/html")
    board.serve("/jobs.rss", RSS)
    answer = await found(url, fetcher)
    assert answer.entry["url"].startswith(board.url("/jobs.rss"))
    assert answer.how == f"linked from {url}: a feed"


async def test_a_page_that_embeds_a_known_board_leads_to_it(board: Board, fetcher: Remembering) -> None:
    script = '<script src="https://boards.greenhouse.io/embed/job_board/js?for=acme"></script>'
    url = board.serve("/careers", f"<html><body>{script}</body></html>", content_type="text/html")
    answer = await found(url, fetcher)
    assert answer.entry == {"kind": "ats", "board": "greenhouse:acme"}


async def test_what_is_nothing_to_read_says_what_it_is(board: Board, fetcher: Remembering) -> None:
    async def said(path: str, body: str, content_type: str = "text/html") -> str:
        answer = await discover(board.serve(path, body, content_type=content_type), fetcher, now=NOW, deadline_s=10)
        assert isinstance(answer, str)
        return answer

    assert await said("/page", "<html><body>Hello</body></html>") == "an HTML page, not a feed, and it links none"
    assert await said("/data", '{"jobs": []}', "application/json") == "JSON, but no JSON Feed"
    assert await said("/words", "Hello", "text/plain") == "not a feed"
    missing = await discover(board.url("/missing?key=s3cret"), fetcher, now=NOW, deadline_s=10)
    assert missing == Failed(Health.REFUSED, f"{board.url('/missing')} is not there (HTTP 404)")


async def test_a_page_cannot_lead_inside_or_on_and_on(board: Board) -> None:
    links = "".join(f'<a href="{board.url(f"/{n}/feed")}">x</a>' for n in range(50))
    url = board.serve(
        "/page", f'<html><a href="http://169.254.169.254/feed">x</a>{links}</html>', content_type="text/html"
    )
    async with Remembering(user_agent="t", allow_loopback=True) as fetcher:
        assert isinstance(await discover(url, fetcher, now=NOW, deadline_s=10), str)
    assert len(board.requests) == 3  # the page, and the links that fit into its four looks but for the refused one


async def test_the_same_thing_is_asked_for_once(board: Board, fetcher: Remembering) -> None:
    url = board.serve("/jobs.rss", RSS)
    await found(url, fetcher)
    await fetcher.fetch(url, now=NOW, deadline_s=10)
    assert len(board.requests) == 1


def test_a_name_is_made_of_the_board_or_the_host_and_is_free() -> None:
    feed = {"kind": "feed", "url": "https://www.Example.com/jobs.rss"}
    assert name_for(feed, []) == "example.com"
    assert name_for(feed, ["example.com", "example.com-2"]) == "example.com-3"
    assert name_for({"kind": "ats", "board": "lever:Acme_Inc"}, []) == "acme-inc"
    assert name_for({"kind": "remoteok"}, ["remoteok"]) == "remoteok-2"
