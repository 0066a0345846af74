"""Boards with an API, over real sockets: pages, validators, credentials, trouble."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ledger import ids
from ledger.records import Health, SourceState
from scan.posting import NotModified
from tests.boards import Board, Reply
from tests.scan.boards.made import failure, items, made, polled


def job(number: int) -> dict[str, Any]:
    return {"title": f"Job {number}", "guid": f"https://himalayas.app/companies/a/jobs/{number}", "companyName": "A"}


def pages(board: Board, *numbers: range) -> str:
    """Himalayas pages of these jobs, newest first, each with the cursor of the next."""
    for place, page in enumerate(numbers):
        more = {"nextCursor": f"c&{place + 1}"} if place + 1 < len(numbers) else {}
        query = f"limit=20&cursor=c%26{place}" if place else "limit=20"
        board.serve(f"/jobs/api?{query}", json.dumps({"jobs": [job(n) for n in page], **more}))
    return board.url("/jobs/api")


async def test_the_first_poll_reads_the_pages_and_the_second_stops_at_what_it_knows(
    board: Board, tmp_path: Path
) -> None:
    url = pages(board, range(60, 40, -1), range(40, 20, -1), range(20, 0, -1))
    async with made(tmp_path, kind="himalayas", url=url) as source:
        first = await items(source)
        assert [posting.title for posting in first.postings] == [f"Job {n}" for n in range(60, 0, -1)]
        assert len(board.requests) == 3
        seen = tuple(ids.source_hash(posting.native_id) for posting in first.postings)
        pages(board, range(63, 43, -1), range(43, 23, -1))
        second = await items(source, SourceState("x", None, seen=seen))
        assert [posting.title for posting in second.postings] == [f"Job {n}" for n in range(63, 43, -1)]
        assert len(board.requests) == 4


async def test_more_new_jobs_than_pages_are_told_after_the_first_poll_only(board: Board, tmp_path: Path) -> None:
    url = pages(board, *(range(200 - 20 * n, 180 - 20 * n, -1) for n in range(7)))
    async with made(tmp_path, kind="himalayas", url=url) as source:
        first = await items(source)
        assert (len(first.postings), first.skipped) == (100, ())
        later = await items(source, SourceState("x", None, seen=("0" * 16,)))
        assert [skipped.reason for skipped in later.skipped] == [
            "more new items than the pages that are read in one poll"
        ]


async def test_a_page_that_fails_fails_the_poll_so_that_nothing_is_passed_over(board: Board, tmp_path: Path) -> None:
    url = pages(board, range(60, 40, -1), range(40, 20, -1))
    board.serve("/jobs/api?limit=20&cursor=c%261", "<html>Just a moment...</html>")
    async with made(tmp_path, kind="himalayas", url=url) as source:
        failed = await failure(source)
        assert failed.health is Health.MALFORMED
        assert failed.reason == f"an HTML page, not JSON: {url}"


async def test_a_board_of_one_answer_is_asked_conditionally_and_equal_bytes_are_not_modified(
    board: Board, tmp_path: Path
) -> None:
    body = json.dumps({"jobs": [{"id": 1, "title": "Dev"}]}).encode()
    url = board.replies("/api", Reply(body, etag='"1"'), Reply(b"", 304), Reply(body, etag='"2"'))
    async with made(tmp_path, kind="remotive", url=url) as source:
        first = await items(source)
        state = SourceState("x", None, etag=first.etag, body_hash=first.body_hash)
        assert isinstance(await polled(source, state), NotModified)
        assert isinstance(await polled(source, state), NotModified)
        assert [seen.headers.get("if-none-match") for seen in board.requests] == [None, '"1"', '"1"']


async def test_both_threads_of_hacker_news_are_read_and_the_same_comments_are_not_modified(
    board: Board, tmp_path: Path
) -> None:
    stories = [{"objectID": "7", "title": "Ask HN: Freelancer? Seeking freelancer? (November 2026)"},
               {"objectID": "5", "title": "Ask HN: Who is hiring? (November 2026)"}]  # fmt: skip
    board.serve("/s?tags=story%2Cauthor_whoishiring&hitsPerPage=12", json.dumps({"hits": stories}))
    for story in (5, 7):
        text = f"Acme {story} | Developer | Remote<p>We are looking for somebody who builds things with us."
        hit = {"objectID": f"{story}1", "parent_id": story, "story_id": story, "comment_text": text, "author": "s3cret"}
        board.serve(f"/s?tags=comment%2Cstory_{story}&hitsPerPage=1000", json.dumps({"hits": [hit]}))
    async with made(tmp_path, kind="hackernews", url=board.url("/s")) as source:
        found = await items(source)
        assert [posting.company for posting in found.postings] == ["Acme 5", "Acme 7"]
        assert "s3cret" not in repr(found)
        assert len(board.requests) == 3
        assert isinstance(await polled(source, SourceState("x", None, body_hash=found.body_hash)), NotModified)


async def test_a_lever_board_is_read_until_a_page_is_not_full(board: Board, tmp_path: Path) -> None:
    for skip, count in ((0, 100), (100, 30)):
        jobs = [{"id": f"{skip + n}", "text": "Dev", "hostedUrl": "https://jobs.lever.co/x"} for n in range(count)]
        board.serve(f"/v0/postings/acme?mode=json&limit=100&skip={skip}", json.dumps(jobs))
    async with made(tmp_path, kind="ats", board="lever:acme", url=board.url("/")) as source:
        assert source.platform == "lever:acme"
        assert len((await items(source)).postings) == 130
        assert len(board.requests) == 2


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ({"board": "greenhouse:acme"}, "/v1/boards/acme/jobs?content=true&pay_transparency=true"),
        ({"board": "ashby:acme"}, "/posting-api/job-board/acme?includeCompensation=true"),
        ({"board": "workable:acme"}, "/api/v1/widget/accounts/acme?details=true"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_each_system_is_asked_at_its_own_place(
    entry: dict[str, str], path: str, board: Board, tmp_path: Path
) -> None:
    board.serve(path, json.dumps({"jobs": [{"id": 1, "shortcode": "1", "title": "Dev"}]}))
    async with made(tmp_path, kind="ats", url=board.url(), **entry) as source:
        assert len((await items(source)).postings) == 1
        assert [seen.path for seen in board.requests] == [path]


async def test_a_company_that_has_no_such_board_is_refused_with_the_reason(board: Board, tmp_path: Path) -> None:
    async with made(tmp_path, kind="ats", board="greenhouse:nobody", url=board.url()) as source:
        failed = await failure(source)
        assert failed.health is Health.REFUSED
        assert failed.reason.endswith("/v1/boards/nobody/jobs is not there (HTTP 404)")


async def test_adzunas_key_goes_to_adzuna_and_into_no_reason(board: Board, tmp_path: Path) -> None:
    entry = {"kind": "adzuna", "app_id": "s3cret1", "app_key": "s3cret2", "country": "gb", "query": "python & go"}
    async with made(tmp_path, url=board.url("/v1/api/jobs"), **entry) as source:
        failed = await failure(source)
        assert failed.reason == f"{board.url('/v1/api/jobs/gb/search/1')} is not there (HTTP 404)"
        (seen,) = board.requests
        query = parse_qs(urlsplit(seen.path).query)
        assert (query["app_id"], query["app_key"], query["what"]) == (["s3cret1"], ["s3cret2"], ["python & go"])
        assert "s3cret" not in repr(source.__dict__.get("_first")) + source.name + source.attribution


async def test_freelancers_token_is_a_header_and_optional(board: Board, tmp_path: Path) -> None:
    body = json.dumps({"status": "success", "result": {"projects": [{"id": 1, "title": "Dev"}]}})
    url = board.serve("/active/", body)
    for more, sent in (({}, None), ({"token": "s3cret"}, "s3cret")):
        async with made(tmp_path, kind="freelancer", url=url, **more) as source:
            assert len((await items(source)).postings) == 1
            assert board.requests[-1].headers.get("freelancer-oauth-v1") == sent
            query = parse_qs(urlsplit(board.requests[-1].path).query)
            assert (query["full_description"], query["job_details"]) == (["true"], ["true"])


async def test_a_board_that_asks_to_wait_or_hangs_is_a_failure_of_that_kind(board: Board, tmp_path: Path) -> None:
    url = board.serve("/api", b"", status=429, headers={"Retry-After": "120"})
    async with made(tmp_path, kind="jobicy", url=url) as source:
        failed = await failure(source)
        assert (failed.health, failed.retry_after_s) == (Health.REFUSED, 120.0)
        board.serve("/api", b"{}" * 500, drip_s=0.01)
        assert (await failure(source, deadline_s=0.3)).health is Health.SLOW


async def test_a_public_board_is_never_asked_more_often_than_it_wants(tmp_path: Path) -> None:
    floors = {"remotive": 21600, "jobicy": 3600, "himalayas": 1800, "freelancer": 900, "hackernews": 1800}
    for kind, floor_s in floors.items():
        async with made(tmp_path, kind=kind, min_interval_s=1) as source:
            assert source.min_interval_s == floor_s
        async with made(tmp_path, kind=kind, min_interval_s=1, url="http://127.0.0.1:1/") as source:
            assert source.min_interval_s == 1
