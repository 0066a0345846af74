"""Fetching from a board that behaves: what is sent, what comes back."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib
from datetime import datetime
from pathlib import Path

import pytest

from ledger.records import Health
from scan.exchange import Fetched
from scan.fetch import Fetcher
from scan.posting import Failed, NotModified
from tests.boards import Board, Reply

BODY = b"<rss version='2.0'><channel/></rss>"


async def test_a_body_comes_back_with_its_validators_and_hash(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve(
        "/f", BODY, etag='W/"1"', last_modified="Mon, 23 Nov 2026 10:00:00 GMT", headers={"Cache-Control": "max-age=90"}
    )
    assert await fetcher.fetch(url, now=now, deadline_s=10) == Fetched(
        url=url,
        body=BODY,
        content_type="application/rss+xml",
        body_hash=hashlib.sha256(BODY).hexdigest(),
        etag='W/"1"',
        last_modified="Mon, 23 Nov 2026 10:00:00 GMT",
        max_age_s=90.0,
    )


async def test_the_request_names_us_and_the_host_and_carries_no_cookie(
    board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.serve("/f", BODY, headers={"Set-Cookie": "a=b"})
    for _ in range(2):
        await fetcher.fetch(url, now=now, deadline_s=10)
    for seen in board.requests:
        assert seen.headers["host"] == f"127.0.0.1:{board.port}"
        assert seen.headers["user-agent"] == "Scout tests"
        assert "cookie" not in seen.headers
    assert len(board.requests) == 2


async def test_validators_are_sent_back_as_stored_and_304_is_not_modified(
    board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.serve("/f", BODY, etag='W/"1"', headers={"Cache-Control": "max-age=60"})
    assert await fetcher.fetch(url, now=now, deadline_s=10, etag='W/"1"') == NotModified(wait_s=60.0)
    modified = "Mon, 23 Nov 2026 10:00:00 GMT"
    url = board.serve("/g", BODY, last_modified=modified)
    assert isinstance(await fetcher.fetch(url, now=now, deadline_s=10, last_modified=modified), NotModified)
    assert board.requests[0].headers["if-none-match"] == 'W/"1"'
    assert board.requests[1].headers["if-modified-since"] == modified


async def test_a_304_for_another_version_is_asked_again_without_validators(
    board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.replies("/f", Reply(b"", 304, etag='"2"'), Reply(b"<rss/>", etag='"2"'))
    answer = await fetcher.fetch(url, now=now, deadline_s=10, etag='"1"', last_modified="Mon")
    assert isinstance(answer, Fetched)
    assert (answer.body, answer.etag) == (b"<rss/>", '"2"')
    first, second = board.requests
    assert (first.headers["if-none-match"], first.headers["if-modified-since"]) == ('"1"', "Mon")
    assert not {"if-none-match", "if-modified-since"} & second.headers.keys()


async def test_a_304_with_the_weak_form_of_the_tag_is_not_modified(
    board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.replies("/f", Reply(b"", 304, etag='W/"1"'))
    assert isinstance(await fetcher.fetch(url, now=now, deadline_s=10, etag='"1"'), NotModified)


async def test_a_304_that_nobody_asked_for_is_a_failure(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"", status=304)
    answer = await fetcher.fetch(url, now=now, deadline_s=10)
    assert isinstance(answer, Failed)
    assert answer.health is Health.REFUSED


@pytest.mark.parametrize("stored", ["ünï", "a\r\nX: y", "x" * 5000, "\x00"])
async def test_a_validator_that_cannot_be_sent_is_left_out(
    stored: str, board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.serve("/f", BODY)
    assert isinstance(await fetcher.fetch(url, now=now, deadline_s=10, etag=stored), Fetched)
    assert "if-none-match" not in board.requests[0].headers


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(BODY)),
        ("x-gzip", gzip.compress(BODY[:9]) + gzip.compress(BODY[9:])),
        ("gzip", gzip.compress(BODY) + b"\x00\x00"),
        ("deflate", zlib.compress(BODY)),
        ("deflate", zlib.compress(BODY, wbits=-15)),
        ("identity", BODY),
    ],
    ids=["gzip", "two members", "padded", "zlib", "bare deflate", "identity"],  # a gzip holds the time
)
async def test_a_packed_body_is_unpacked(
    encoding: str, packed: bytes, board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.serve("/f", packed, headers={"Content-Encoding": encoding})
    answer = await fetcher.fetch(url, now=now, deadline_s=10)
    assert isinstance(answer, Fetched)
    assert answer.body == BODY


@pytest.mark.parametrize(
    ("status", "headers", "retry_after_s"),
    [
        (429, {"Retry-After": "120"}, 120.0),
        (429, {"Retry-After": "Mon, 30 Nov 2026 12:10:00 GMT"}, 600.0),
        (503, {"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        (503, {"Retry-After": "99999999999999999999"}, 7 * 24 * 3600.0),
        (429, {"Retry-After": "soon"}, None),
        (429, {}, None),
        (401, {}, None),
        (403, {"Retry-After": "120"}, None),
        (404, {}, None),
        (410, {}, None),
        (500, {}, None),
        (204, {}, None),
    ],
)
async def test_a_refusal_says_why_and_how_long(
    status: int,
    headers: dict[str, str],
    retry_after_s: float | None,
    board: Board,
    fetcher: Fetcher,
    now: datetime,
) -> None:
    board.replies("/f", Reply(b"", status, headers=tuple(headers.items())))
    answer = await fetcher.fetch(board.url("/f?key=s3cret"), now=now, deadline_s=10)
    assert isinstance(answer, Failed)
    assert (answer.health, answer.retry_after_s) == (Health.REFUSED, retry_after_s)
    assert f"HTTP {status}" in answer.reason
    assert "s3cret" not in answer.reason


async def test_a_user_name_in_the_url_is_sent_as_a_header_and_shown_nowhere(
    board: Board, fetcher: Fetcher, now: datetime
) -> None:
    board.serve("/f", BODY)
    answer = await fetcher.fetch(f"http://me:p%40ss@127.0.0.1:{board.port}/f", now=now, deadline_s=10)
    assert isinstance(answer, Fetched)
    assert answer.url == board.url("/f")
    assert board.requests[0].headers["authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()


async def test_content_is_posted(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/q", b"{}", content_type="application/json")
    headers = {"Content-Type": "application/json"}
    assert isinstance(await fetcher.fetch(url, now=now, deadline_s=10, content=b'{"a":1}', headers=headers), Fetched)
    assert (board.requests[0].method, board.requests[0].body) == ("POST", b'{"a":1}')


async def test_a_file_is_read_when_loopback_is_allowed_and_only_then(tmp_path: Path, now: datetime) -> None:
    place = tmp_path / "a feed.xml"
    place.write_bytes(BODY)
    async with Fetcher(user_agent="t", allow_loopback=True) as fetcher:
        answer = await fetcher.fetch(place.as_uri(), now=now, deadline_s=10)
        assert isinstance(answer, Fetched)
        assert answer.body == BODY
        missing = await fetcher.fetch((tmp_path / "none").as_uri(), now=now, deadline_s=10)
        folder = await fetcher.fetch(tmp_path.as_uri(), now=now, deadline_s=10)
        large = await fetcher.fetch(place.as_uri(), now=now, deadline_s=10, body_max_bytes=10)
    assert [answer.health for answer in (missing, folder, large) if isinstance(answer, Failed)] == [
        Health.UNREACHABLE,
        Health.UNREACHABLE,
        Health.MALFORMED,
    ]
    async with Fetcher(user_agent="t") as fetcher:
        refused = await fetcher.fetch(place.as_uri(), now=now, deadline_s=10)
    assert isinstance(refused, Failed)
    assert refused.health is Health.REFUSED


async def test_a_fetcher_opens_again_on_another_loop(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", BODY)
    other = Fetcher(user_agent="t", allow_loopback=True)
    for _ in range(2):
        async with other:
            assert isinstance(await other.fetch(url, now=now, deadline_s=10), Fetched)
