"""A mail provider's HTTP server that misbehaves on demand, on raw sockets of 127.0.0.1 in a thread of its own.

    with FaultyApi() as api: ...                                takes every letter: 202
    with FaultyApi(Answer(401, ERRORS)) ...                     answers that, always
    with FaultyApi(by=lambda letter: ...) ...                   decides by the letter

It counts `bodies`: complete request bodies received, whatever was answered. That is what may have reached a person;
`taken` is what it said it took.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Self

HOST = "127.0.0.1"
START_MAX_S = 10.0
JSON = "application/json"
ERRORS = json.dumps({"errors": [{"message": "no", "field": None, "help": None}]})


@dataclass(frozen=True)
class Answer:
    """A whole answer, `after_s` after the body came."""

    status: int
    body: str = ""
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    after_s: float = 0.0


@dataclass(frozen=True)
class Raw:
    """These bytes and no more; then the connection is closed, or held open."""

    data: bytes
    hold: bool = False


@dataclass(frozen=True)
class Close:
    """Close without an answer; `reset` by RST; `early` before the request is read."""

    reset: bool = False
    early: bool = False


@dataclass(frozen=True)
class Hang:
    """Read the letter and never answer."""


Step = Answer | Raw | Close | Hang
TAKEN = Answer(202, headers=(("X-Message-Id", "m7"),))
TAKEN_BY_RESEND = Answer(200, '{"id": "r7"}')


@dataclass(frozen=True)
class Posted:
    """One complete request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.body)
        return value

    @property
    def to(self) -> str:
        """The recipient, as SendGrid or Resend is told."""
        if "personalizations" in self.json:
            address: str = self.json["personalizations"][0]["to"][0]["email"]
            return address
        return str(self.json["to"][0])


@dataclass
class FaultyApi:
    """`steps`: one holds always, of several each holds once and then the last; or `by` decides for each letter."""

    steps: Step | Sequence[Step] = TAKEN
    by: Callable[[Posted], Step] | None = None
    tls: ssl.SSLContext | None = None
    received: list[Posted] = field(default_factory=list)
    taken: list[Posted] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self.rescript(self.steps)

    def rescript(self, steps: Step | Sequence[Step]) -> None:
        """Behave like this from now on."""
        self._script = [steps] if isinstance(steps, Step) else list(steps)

    @property
    def bodies(self) -> int:
        return len(self.received)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{HOST}:{self.port}"

    @property
    def copies(self) -> Counter[bytes]:
        """How often each body came."""
        return Counter(posted.body for posted in self.received)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="faulty api", daemon=True)
        self._thread.start()
        if not started.wait(START_MAX_S):
            raise RuntimeError("the faulty server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_MAX_S)

    def _run(self, started: threading.Event) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._talk, HOST, 0, ssl=self.tls, limit=4 << 20, backlog=512)
        self.port: int = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await asyncio.sleep(0)  # closed sockets are given back in the loop's next round

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(
                ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError
            ):
                now = self._script[0]
                if isinstance(now, Close) and now.early:
                    _hang_up(writer, reset=now.reset)
                while not writer.is_closing() and await self._one(reader, writer):
                    pass
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and what becomes of it; whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        posted = Posted(head[0].split(" ")[1], headers, body)
        self.received.append(posted)
        match self._next(posted):
            case Answer() as step:
                await asyncio.sleep(step.after_s)
                if 200 <= step.status < 300:
                    self.taken.append(posted)
                writer.write(_bytes(step))
                await writer.drain()
                return True
            case Raw() as step:
                writer.write(step.data)
                await writer.drain()
                if step.hold:
                    await self._stop.wait()
            case Close() as step:
                _hang_up(writer, reset=step.reset)
            case Hang():
                await self._stop.wait()
        return False

    def _next(self, posted: Posted) -> Step:
        if self.by is not None:
            return self.by(posted)
        return self._script[0] if len(self._script) == 1 else self._script.pop(0)


def _bytes(answer: Answer) -> bytes:
    body = answer.body.encode()
    head = [
        f"HTTP/1.1 {answer.status} Status",
        *([] if any(name == "Date" for name, _ in answer.headers) else [f"Date: {formatdate(usegmt=True)}"]),
        f"Content-Type: {answer.content_type}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in answer.headers),
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


def _hang_up(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    if reset:
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    else:
        writer.close()
