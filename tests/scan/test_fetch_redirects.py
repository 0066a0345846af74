"""Redirects: followed by hand, each one judged again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import httpx2
import pytest

from ledger.records import Health
from scan.exchange import Fetched
from scan.fetch import REDIRECTS_MAX, Fetcher
from tests.boards import Board
from tests.scan.wire import Recorder, connects, failed, public_fetcher


async def test_redirects_are_followed_to_the_end(board: Board, fetcher: Fetcher, now: datetime) -> None:
    board.serve("/end", b"here")
    for hop in range(REDIRECTS_MAX):
        board.redirect(
            f"/{hop}", f"/{hop + 1}" if hop < REDIRECTS_MAX - 1 else "/end", status=(301, 302, 303, 307, 308)[hop]
        )
    answer = await fetcher.fetch(board.url("/0"), now=now, deadline_s=10)
    assert isinstance(answer, Fetched)
    assert (answer.url, answer.body) == (board.url("/end"), b"here")


async def test_a_redirect_loop_ends_after_five_hops(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.redirect("/f", "/f?key=s3cret", status=307)
    assert "redirects" in failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.REFUSED)
    assert len(board.requests) == REDIRECTS_MAX + 1


async def test_a_secret_header_stays_with_its_origin(board: Board, fetcher: Fetcher, now: datetime) -> None:
    with Board() as other:
        other.serve("/f", b"x", etag='"1"')
        board.redirect("/f", other.url("/f"))
        await fetcher.fetch(
            f"http://me:pw@127.0.0.1:{board.port}/f", now=now, deadline_s=10, headers={"X-Token": "s3cret"}, etag='"1"'
        )
        assert {"x-token", "authorization", "if-none-match"} <= set(board.requests[0].headers)
        assert not {"x-token", "authorization"} & set(other.requests[0].headers)
        assert other.requests[0].headers["if-none-match"] == '"1"'


TARGETS = [
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:10.0.0.1]/",
    "gopher://internal.example/",
    "http://2130706433/",
    "http://10.0.0.1/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "ftp://127.0.0.1/",
    "http://[bad",
    "http://user:s3cret@192.168.0.1/?key=s3cret",
]


@pytest.mark.parametrize("target", TARGETS)
async def test_a_redirect_inside_is_refused_and_no_connection_is_opened(
    target: str, board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.redirect("/f", target)
    with connects() as made:
        failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.REFUSED)
    assert made == [("127.0.0.1", board.port)]


async def test_the_redirects_of_the_field_are_refused_without_a_connection(cases: Path, now: datetime) -> None:
    targets = [r["location"] for r in json.loads((cases / "B40_responses.json").read_text()) if "location" in r]
    assert len(targets) == 5
    for target in targets:
        wire = Recorder(httpx2.Response(302, headers={"Location": target}))
        async with public_fetcher(wire) as fetcher:
            with connects() as made:
                failed(await fetcher.fetch("http://board.example/f", now=now, deadline_s=10), Health.REFUSED)
        assert made == []
        assert len(wire.asked) == 1


async def test_a_name_that_rebinds_is_connected_to_by_the_address_that_was_judged(now: datetime) -> None:
    """The name points outside when it is judged and inside ever after; nobody asks a second time."""
    answers = [["93.184.215.14"], ["127.0.0.1"]]
    lookups: list[str] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        lookups.append(host)
        return answers.pop(0)

    wire = Recorder(httpx2.Response(200, stream=httpx2.ByteStream(b"outside")))
    async with Fetcher(user_agent="t", resolver=resolver, transport_factory=lambda: wire) as fetcher:
        first = await fetcher.fetch("https://rebind.example/f", now=now, deadline_s=10)
        second = await fetcher.fetch("https://rebind.example/f", now=now, deadline_s=10)
    assert isinstance(first, Fetched)
    failed(second, Health.REFUSED)
    assert lookups == ["rebind.example", "rebind.example"]
    assert wire.asked == [("93.184.215.14", "rebind.example", "rebind.example")]


async def test_a_redirect_to_a_name_that_has_moved_inside_is_refused(now: datetime) -> None:
    answers = [["93.184.215.14"], ["127.0.0.1"]]

    async def resolver(host: str, port: int) -> Sequence[str]:
        return answers.pop(0)

    wire = Recorder(
        httpx2.Response(302, headers={"Location": "/again"}), httpx2.Response(200, stream=httpx2.ByteStream(b"inside"))
    )
    async with Fetcher(user_agent="t", resolver=resolver, transport_factory=lambda: wire) as fetcher:
        failed(await fetcher.fetch("https://rebind.example/f", now=now, deadline_s=10), Health.REFUSED)
    assert len(wire.asked) == 1


async def test_https_is_never_left_for_http(now: datetime) -> None:
    wire = Recorder(httpx2.Response(301, headers={"Location": "http://board.example/f"}))
    async with public_fetcher(wire) as fetcher:
        assert "from https" in failed(
            await fetcher.fetch("https://board.example/f", now=now, deadline_s=10), Health.REFUSED
        )
    assert len(wire.asked) == 1


async def test_a_post_is_not_redirected(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.redirect("/f", "/g", status=307)
    failed(await fetcher.fetch(url, now=now, deadline_s=10, content=b"x"), Health.REFUSED)
    assert len(board.requests) == 1
