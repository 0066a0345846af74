"""One SMTP conversation of `ScriptedSmtp`, and the words of its script."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Say:
    """Answer this (CRLF is added; "" is the usual answer), after a while, and perhaps close then."""

    text: str = ""
    delay_s: float = 0.0
    close: bool = False


@dataclass(frozen=True)
class Hang:
    """Never answer."""


@dataclass(frozen=True)
class Drop:
    """Close the connection without an answer; with `reset`, by RST."""

    reset: bool = False


OK = Say()
Step = Say | Hang | Drop

# "body": after 354, when the first bytes of the body are there. "dot": the whole body is there.
PHASES = ("connect", "ehlo", "helo", "starttls", "auth", "mail", "rcpt", "data", "body", "dot", "quit")
Script = Mapping[str, Step | Sequence[Step]]


@dataclass(frozen=True)
class Received:
    """One complete body, and the envelope it came in."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes  # CRLF, unstuffed


class Server(Protocol):
    """What a conversation asks of the server that it belongs to."""

    tls: ssl.SSLContext | None
    implicit_tls: bool
    login: tuple[str, str] | None
    never: asyncio.Event
    received: list[Received]
    accepted: int
    commands: Counter[str]

    def step(self, phase: str) -> Step: ...

    @property
    def bodies(self) -> int: ...


class Closed(Exception):
    """The script closed the connection."""


class Session:
    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.sender = ""
        self.recipients: list[str] = []
        self.secure = server.implicit_tls

    async def run(self) -> None:
        await self.answer("connect", "220 sink ESMTP")
        while line := await self.reader.readline():
            verb = line.split(b" ")[0].strip().upper().decode("latin-1").partition(":")[0]
            handler: Callable[[bytes], Any] = getattr(self, f"on_{verb.lower()}", self.on_other)
            await handler(line)

    async def answer(self, phase: str, usual: str) -> str:
        """Do what the script says; returns what was answered."""
        match self.server.step(phase):
            case Hang():
                await self.server.never.wait()
            case Drop(reset=reset):
                self.drop(reset=reset)
            case Say(text=text, delay_s=delay_s, close=close):
                if delay_s:
                    await asyncio.sleep(delay_s)
                if phase == "body" and not text:
                    return ""
                self.writer.write((text or usual).encode() + b"\r\n")
                await self.writer.drain()
                if close:
                    raise Closed
                return text or usual
        raise AssertionError("unreachable")

    def drop(self, *, reset: bool) -> None:
        if reset:
            sock = self.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Closed

    async def on_ehlo(self, _line: bytes) -> None:
        rows = ["sink", "8BITMIME", "ENHANCEDSTATUSCODES"]
        if self.server.tls is not None and not self.secure:
            rows.append("STARTTLS")
        if self.server.login is not None and (self.secure or self.server.tls is None):
            rows.append("AUTH PLAIN")
        usual = "\r\n".join(f"250{' ' if i == len(rows) - 1 else '-'}{row}" for i, row in enumerate(rows))
        await self.answer("ehlo", usual)

    async def on_helo(self, _line: bytes) -> None:
        await self.answer("helo", "250 sink")

    async def on_starttls(self, _line: bytes) -> None:
        if (await self.answer("starttls", "220 2.0.0 go")).startswith("220") and self.server.tls is not None:
            await self.writer.start_tls(self.server.tls)
            self.secure = True

    async def on_auth(self, line: bytes) -> None:
        given = base64.b64decode(line.split()[2]).decode().split("\0")[1:]
        right = self.server.login is not None and given == list(self.server.login)
        await self.answer("auth", "235 2.7.0 welcome" if right else "535 5.7.8 bad credentials")

    async def on_mail(self, line: bytes) -> None:
        said = await self.answer("mail", "250 2.1.0 ok")
        self.sender, self.recipients = (_path(line), []) if said.startswith("2") else ("", [])

    async def on_rcpt(self, line: bytes) -> None:
        if (await self.answer("rcpt", "250 2.1.5 ok")).startswith("2"):
            self.recipients.append(_path(line))

    async def on_data(self, _line: bytes) -> None:
        if not (await self.answer("data", "354 go ahead")).startswith("354"):
            return
        first = await self.reader.readline()
        if await self.answer("body", ""):
            return
        rows = [first]
        while rows[-1] != b".\r\n":
            if not rows[-1]:
                return  # the client went away in the middle
            rows.append(await self.reader.readline())
        data = b"".join(row[1:] if row.startswith(b".") else row for row in rows[:-1])
        self.server.received.append(Received(self.sender, tuple(self.recipients), data))
        said = await self.answer("dot", f"250 2.0.0 ok: queued as Q{self.server.bodies}")
        self.server.accepted += said.startswith("250")

    async def on_quit(self, _line: bytes) -> None:
        await self.answer("quit", "221 2.0.0 bye")
        raise Closed

    async def on_rset(self, _line: bytes) -> None:
        self.server.commands["rset"] += 1
        self.writer.write(b"250 2.0.0 ok\r\n")

    async def on_noop(self, _line: bytes) -> None:
        self.server.commands["noop"] += 1
        self.writer.write(b"250 2.0.0 ok\r\n")

    async def on_other(self, _line: bytes) -> None:
        self.server.commands["unknown"] += 1
        self.writer.write(b"500 5.5.1 what?\r\n")


def _path(line: bytes) -> str:
    return line.partition(b"<")[2].rpartition(b">")[0].decode("utf-8", "replace")
