"""Fetching from a board that misbehaves: every fetch ends, with a reason, and reaches nothing inside."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import httpx2
import pytest

from ledger.records import Health
from scan.exchange import Fetched
from scan.fetch import REDIRECTS_MAX, Fetch, Fetcher
from scan.posting import Failed
from tests.boards import Board

_connects: list[object] = []
_is_watching = False


def _audit(event: str, args: tuple[object, ...]) -> None:
    if _is_watching and event == "socket.connect":
        _connects.append(args[1])


sys.addaudithook(_audit)  # the interpreter itself reports every connect, whichever library makes it


@contextlib.contextmanager
def connects() -> Iterator[list[object]]:
    """The addresses that this process connects to, as the interpreter reports them."""
    global _is_watching
    _connects.clear()
    _is_watching = True
    try:
        yield _connects
    finally:
        _is_watching = False


class Recorder(httpx2.AsyncBaseTransport):
    """Stands where the wire would be: answers from a list, and notes which address was asked under which name."""

    def __init__(self, *replies: httpx2.Response) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self._replies = list(replies)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        sni = str(request.extensions["sni_hostname"])
        self.asked.append((request.url.host, request.headers["host"], sni))
        return self._replies.pop(0)


def _failed(answer: Fetch, health: Health) -> str:
    assert isinstance(answer, Failed)
    assert answer.health is health
    assert "s3cret" not in answer.reason
    return answer.reason


async def test_a_dripping_body_ends_at_the_deadline(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"<rss>" * 1000, drip_s=0.02)
    _failed(await fetcher.fetch(url, now=now, deadline_s=0.3), Health.SLOW)


async def test_an_answer_that_never_begins_ends_at_the_deadline(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"late", delay_s=60)
    _failed(await fetcher.fetch(url, now=now, deadline_s=0.2), Health.SLOW)


async def test_an_endless_body_ends_at_the_cap(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f", b"<rss>", endless=True)
    reason = _failed(await fetcher.fetch(url, now=now, deadline_s=30), Health.MALFORMED)
    assert "larger than 5242880 bytes" in reason


async def test_a_small_body_that_unpacks_to_a_large_one_ends_at_the_cap(
    board: Board, fetcher: Fetcher, now: datetime
) -> None:
    bomb = gzip.compress(bytes(200_000_000), compresslevel=1)
    assert len(bomb) < 1_000_000
    url = board.serve("/f", bomb, headers={"Content-Encoding": "gzip"})
    assert "larger than" in _failed(await fetcher.fetch(url, now=now, deadline_s=30), Health.MALFORMED)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("br", b"x"),
        ("gzip, gzip", b"x"),
        ("gzip", b"plain"),
        ("gzip", gzip.compress(b"x" * 999)[:20]),
        ("deflate", b"?"),
    ],
)
async def test_a_body_that_is_not_packed_as_it_says_is_malformed(
    encoding: str, body: bytes, board: Board, fetcher: Fetcher, now: datetime
) -> None:
    url = board.serve("/f", body, headers={"Content-Encoding": encoding})
    _failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.MALFORMED)


async def test_a_body_cut_short_is_no_answer(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.serve("/f?key=s3cret", b"<rss>" * 100, cut_bytes=50)
    _failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.UNREACHABLE)


async def test_a_closed_port_is_unreachable(fetcher: Fetcher, now: datetime) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, not listening
        url = f"http://127.0.0.1:{held.getsockname()[1]}/?key=s3cret"
        _failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.UNREACHABLE)


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
    assert "redirects" in _failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.REFUSED)
    assert len(board.requests) == REDIRECTS_MAX + 1


async def test_a_secret_header_stays_with_its_origin(board: Board, fetcher: Fetcher, now: datetime) -> None:
    with Board() as other:
        other.serve("/f", b"x", etag='"1"')
        board.redirect("/f", other.url("/f"))
        await fetcher.fetch(
            f"http://me:pw@127.0.0.1:{board.port}/f", now=now, deadline_s=10, headers={"X-Token": "s3cret"}, etag='"1"'
        )
        assert {"x-token", "authorization", "if-none-match"} <= set(board.requests[0].headers)
        assert not {"x-token", "authorization", "if-none-match"} & set(other.requests[0].headers)


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
        _failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.REFUSED)
    assert made == [("127.0.0.1", board.port)]


async def test_the_redirects_of_the_field_are_refused_without_a_connection(cases: Path, now: datetime) -> None:
    targets = [r["location"] for r in json.loads((cases / "B40_responses.json").read_text()) if "location" in r]
    assert len(targets) == 5
    for target in targets:
        wire = Recorder(httpx2.Response(302, headers={"Location": target}))
        async with _public_fetcher(wire) as fetcher:
            with connects() as made:
                _failed(await fetcher.fetch("http://board.example/f", now=now, deadline_s=10), Health.REFUSED)
        assert made == []
        assert len(wire.asked) == 1


async def test_loopback_is_not_fetched_unless_allowed(board: Board, now: datetime) -> None:
    url = board.serve("/f", b"inside")
    async with Fetcher(user_agent="t") as fetcher:
        with connects() as made:
            _failed(await fetcher.fetch(url, now=now, deadline_s=10), Health.REFUSED)
            _failed(await fetcher.fetch(f"http://localhost:{board.port}/f", now=now, deadline_s=10), Health.REFUSED)
    assert made == []
    assert board.connections == 0


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
    _failed(second, Health.REFUSED)
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
        _failed(await fetcher.fetch("https://rebind.example/f", now=now, deadline_s=10), Health.REFUSED)
    assert len(wire.asked) == 1


async def test_https_is_never_left_for_http(now: datetime) -> None:
    wire = Recorder(httpx2.Response(301, headers={"Location": "http://board.example/f"}))
    async with _public_fetcher(wire) as fetcher:
        assert "from https" in _failed(
            await fetcher.fetch("https://board.example/f", now=now, deadline_s=10), Health.REFUSED
        )
    assert len(wire.asked) == 1


async def test_a_post_is_not_redirected(board: Board, fetcher: Fetcher, now: datetime) -> None:
    url = board.redirect("/f", "/g", status=307)
    _failed(await fetcher.fetch(url, now=now, deadline_s=10, content=b"x"), Health.REFUSED)
    assert len(board.requests) == 1


async def test_a_resolver_that_hangs_ends_at_the_deadline(now: datetime) -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with Fetcher(user_agent="t", resolver=resolver) as fetcher:
        _failed(await fetcher.fetch("https://board.example/f", now=now, deadline_s=0.1), Health.SLOW)


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


@contextlib.asynccontextmanager
async def _public_fetcher(wire: Recorder) -> AsyncIterator[Fetcher]:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["93.184.215.14"]

    async with Fetcher(user_agent="t", resolver=resolver, transport_factory=lambda: wire) as fetcher:
        yield fetcher
