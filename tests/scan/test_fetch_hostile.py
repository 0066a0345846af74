"""Fetching from a board that misbehaves: every fetch ends, with a reason, and reaches nothing inside."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Sequence
from datetime import datetime

import pytest

from ledger.records import Health
from scan.exchange import Fetched
from scan.fetch import Fetcher
from scan.posting import Failed
from tests.boards import Board
from tests.scan.wire import connects, failed


async def test_a_dripping_body_ends_at_the_deadline(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"<rss>" * 1000, drip_s=0.02)
    failed(await fetcher.fetch(url, now=now, deadline_s=0.3), Health.SLOW)


async def test_an_answer_that_never_begins_ends_at_the_deadline(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"late", delay_s=60)
    failed(await fetcher.fetch(url, now=now, deadline_s=0.2), Health.SLOW)


async def test_an_endless_body_ends_at_the_cap(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"<rss>", endless=True)
    reason = failed(await fetcher.fetch(url, now=now, deadline_s=30), Health.MALFORMED)
    assert "larger than 5242880 bytes" in reason


async def test_a_small_body_that_unpacks_to_a_large_one_ends_at_the_cap(
    board: Board, fetcher: Fetcher, now: datetime
) -> None:
    bomb = gzip.compress(bytes(200_000_000), compresslevel=1)
    assert len(bomb) < 1_000_000
    url = board.serve("/f", bomb, headers={"Content-Encoding": "gzip"})
    assert "larger than" in failed(await fetcher.fetch(url, now=now, deadline_s=30), Health.MALFORMED)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", b"x"),
        ("gzip, gzip", b"x"),
        ("gzip", b"plain"),
        ("gzip", gzip.compress(b"x" * 999)[:20]),
        ("deflate", b"?"),
    ],
    ids=["unknown", "nested", "plain", "cut", "damaged"],  # a gzip holds the time
)
async def test_a_body_that_is_not_packed_as_it_says_is_malformed(
    encoding: str, body: bytes, board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.serve("/f", body, headers={"Content-Encoding": encoding})
    failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.MALFORMED)


async def test_a_body_cut_short_is_no_answer(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f?key=s3cret", b"<rss>" * 100, cut_bytes=50)
    said = failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.UNREACHABLE)
    assert said.startswith("what came is not HTTP, or not all of it: http://")


async def test_a_closed_port_is_unreachable(fetcher: Fetcher, now: datetime) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening
        port = held.getsockname()[1]
        said = failed(
            await fetcher.fetch(f"http://127.0.0.1:{port}/?key=s3cret", now=now, deadline_s=10), Health.UNREACHABLE
        )
    assert said == f"connection refused: http://127.0.0.1:{port}/"


async def test_loopback_is_not_fetched_unless_allowed(board: Board, now: datetime) -> None:
    url = board.serve("/f", b"inside")
    async with Fetcher(user_agent="t") as fetcher:
        with connects() as made:
            failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.REFUSED)
            failed(await fetcher.fetch(f"http://localhost:{board.port}/f", now=now, deadline_s=10), Health.REFUSED)
    assert made == []
    assert board.connections == 0


async def test_a_resolver_that_hangs_ends_at_the_deadline(now: datetime) -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with Fetcher(user_agent="t", resolver=resolver) as fetcher:
        failed(await fetcher.fetch("https://board.example/f", now=now, deadline_s=0.1), Health.SLOW)


async def test_the_proxy_of_the_environment_is_not_used(
    board: Board, monkeypatch: pytest.MonkeyPatch, now: datetime
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    url = board.serve("/f", b"direct")
    async with Fetcher(user_agent="t", allow_loopback=True) as fetcher:
        assert isinstance(await fetcher.fetch(url, now=now, deadline_s=10), Fetched)


async def test_the_next_address_is_tried_when_the_first_does_not_answer(board: Board, now: datetime) -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1", "127.0.0.2"]

    board.serve("/f", b"x")
    async with Fetcher(user_agent="t", allow_loopback=True, resolver=resolver) as fetcher:
        answer = await fetcher.fetch(f"http://board.example:{board.port}/f", now=now, deadline_s=10)
        assert isinstance(answer, Fetched)
    assert board.requests[0].headers["host"] == f"board.example:{board.port}"


async def test_cancelling_a_fetch_passes_through(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"late", delay_s=60)
    task = asyncio.create_task(fetcher.fetch(url, now=now, deadline_s=30))
    while not board.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://\xff\xfe/\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["nothing", "another protocol", "bad length", "bad chunk", "long header", "bad location"],
)
async def test_a_server_that_speaks_something_else_gives_a_reason(
    answer: bytes, fetcher: Fetcher, now: datetime
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/?key=s3cret"
        result = await fetcher.fetch(url, now=now, deadline_s=10)
    assert isinstance(result, Failed)
    assert "s3cret" not in result.reason
