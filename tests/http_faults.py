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
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from tests.loop_server import HOST, LoopServer

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
class FaultyApi(LoopServer):
    """`steps`: one holds always, of several each holds once and then the last; or `by` decides for each letter."""

    steps: Step | Sequence[Step] = TAKEN
    by: Callable[[Posted], Step] | None = None
    tls: ssl.SSLContext | None = None
    received: list[Posted] = field(default_factory=list)
    taken: list[Posted] = field(default_factory=list)
    connections: int = 0
    closed: int = 0  # of the connections, those that have ended here

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

    async def listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._talk, HOST, 0, ssl=self.tls, limit=4 << 20, backlog=512)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self.closed += 1

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
                    await self.never.wait()
            case Close() as step:
                _hang_up(writer, reset=step.reset)
            case Hang():
                await self.never.wait()
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
