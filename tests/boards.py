"""A job board on loopback for tests: a real HTTP server that behaves, or misbehaves, as told.

    with Board() as board:
        board.serve("/feed.xml", body, etag='"1"')
        board.url("/feed.xml"), board.requests, board.connections

It runs in a thread of its own, so that it serves whichever loop a test uses, and other processes too.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tests.loop_server import end

HEAD_MAX_BYTES = 64 * 1024
ENDLESS_PART = b"<!-- " + b"x" * 16_000 + b" -->"


@dataclass(frozen=True)
class Reply:
    """One answer. `drip_s`: seconds between single bytes; `endless`: the body never ends; `delay_s`: before
    the first byte; `cut_bytes`: hang up after that many of the body, though more was announced."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/rss+xml"
    etag: str | None = None
    last_modified: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    drip_s: float = 0.0
    endless: bool = False
    cut_bytes: int | None = None


@dataclass(frozen=True)
class Seen:
    """A request that came in; header names in lower case."""

    method: str
    path: str  # with its query
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Board:
    """`requests` and `connections` are what arrived so far. Unknown paths answer 404."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Seen] = []
        self.connections = 0
        self.port = 0
        self._tls = tls
        self._replies: dict[str, deque[Reply]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name="board")
        self._ready = threading.Event()
        self._stop = asyncio.Event()

    def serve(
        self,
        path: str,
        body: bytes | str,
        *,
        content_type: str = "application/rss+xml",
        status: int = 200,
        etag: str | None = None,
        last_modified: str | None = None,
        headers: dict[str, str] | None = None,
        delay_s: float = 0.0,
        drip_s: float = 0.0,
        endless: bool = False,
        cut_bytes: int | None = None,
    ) -> str:
        """Answer like this from now on; returns the URL. With validators a matching request gets a 304."""
        data = body.encode() if isinstance(body, str) else body
        more = tuple((headers or {}).items())
        reply = Reply(data, status, content_type, etag, last_modified, more, delay_s, drip_s, endless, cut_bytes)
        return self.replies(path, reply)

    def replies(self, path: str, *replies: Reply) -> str:
        """Answer with these in turn, the last one for good; returns the URL."""
        self._replies[path] = deque(replies)
        return self.url(path)

    def redirect(self, path: str, to: str, *, status: int = 302) -> str:
        return self.replies(path, Reply(status=status, headers=(("Location", to),)))

    def url(self, path: str = "/") -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}{path}"

    def count(self, path: str) -> int:
        """Requests for this path so far, whatever their query."""
        return sum(1 for seen in list(self.requests) if seen.path.partition("?")[0] == path)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self._tls, limit=HEAD_MAX_BYTES)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        await end(server)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                seen = await _read(reader)
                self.requests.append(seen)
                async for part in _parts(self._reply(seen), head_only=seen.method == "HEAD"):
                    writer.write(part)
                    await writer.drain()
        except asyncio.CancelledError:
            return  # the board closes; a stream's task that ends cancelled would be reported as an error
        finally:
            writer.close()

    def _reply(self, seen: Seen) -> Reply:
        queue = self._replies.get(seen.path) or self._replies.get(seen.path.partition("?")[0])
        if not queue:
            return Reply(b"nothing here", 404, "text/plain")
        reply = queue.popleft() if len(queue) > 1 else queue[0]
        if reply.status == 200 and _is_unchanged(reply, seen):
            return Reply(b"", 304, reply.content_type, reply.etag, reply.last_modified, reply.headers)
        return reply


def _is_unchanged(reply: Reply, seen: Seen) -> bool:
    """RFC 9110: If-None-Match decides; If-Modified-Since only where it is absent."""
    if "if-none-match" in seen.headers:
        return reply.etag is not None and seen.headers["if-none-match"] == reply.etag
    return reply.last_modified is not None and seen.headers.get("if-modified-since") == reply.last_modified


async def _read(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.split("\r\n")
    method, path, _ = line.split(" ", 2)
    pairs = (item.partition(":") for item in fields if item)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Seen(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


async def _parts(reply: Reply, *, head_only: bool) -> AsyncIterator[bytes]:
    await asyncio.sleep(reply.delay_s)
    lines = [f"HTTP/1.1 {reply.status} Told", "Connection: close", f"Content-Type: {reply.content_type}"]
    if reply.etag is not None:
        lines.append(f"ETag: {reply.etag}")
    if reply.last_modified is not None:
        lines.append(f"Last-Modified: {reply.last_modified}")
    if not reply.endless:
        lines.append(f"Content-Length: {len(reply.body)}")
    lines += [f"{name}: {value}" for name, value in reply.headers]
    yield ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    if head_only:
        return
    if reply.drip_s:
        for byte in reply.body:
            yield bytes([byte])
            await asyncio.sleep(reply.drip_s)
        return
    yield reply.body[: reply.cut_bytes]
    while reply.endless:
        yield ENDLESS_PART
        await asyncio.sleep(0)
