"""What leaves this process, as the interpreter reports it; and a stand-in for the wire to public addresses."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Iterator, Sequence

import httpx2

from ledger.records import Health
from scan.fetch import Fetch, Fetcher
from scan.posting import Failed

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


def failed(answer: Fetch, health: Health) -> str:
    assert isinstance(answer, Failed)
    assert answer.health is health
    assert "s3cret" not in answer.reason
    return answer.reason


@contextlib.asynccontextmanager
async def public_fetcher(wire: Recorder) -> AsyncIterator[Fetcher]:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["93.184.215.14"]

    async with Fetcher(user_agent="t", resolver=resolver, transport_factory=lambda: wire) as fetcher:
        yield fetcher
