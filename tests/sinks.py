"""Mail servers for tests, each on 127.0.0.1, a free port, and a thread with an event loop of its own.

    with ScriptedSmtp() as server: ...                                takes everything
    with ScriptedSmtp({"rcpt": Say("550 5.1.1 no such user")}) ...    answers that, always
    with ScriptedSmtp({"dot": [Hang(), OK]}) ...                      hangs once, then behaves
    with ForeignSmtp() as server: ...                                 aiosmtpd, which we did not write

All count `bodies`: complete message bodies received, each ended by its dot, whatever was answered to it.
`bodies` is what may have reached a person; `accepted` is what the server said it took.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import ipaddress
import itertools
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from aiosmtpd.smtp import SMTP as AiosmtpdSession
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HOST = "127.0.0.1"
START_MAX_S = 10.0
LINE_MAX_BYTES = 4 * 1024 * 1024


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


@dataclass
class _Loop:
    """A thread with a loop; servers are started in it and stopped with it."""

    host: str = HOST
    port: int = 0
    received: list[Received] = field(default_factory=list)
    accepted: int = 0
    commands: Counter[str] = field(default_factory=Counter)
    connections: int = 0

    @property
    def bodies(self) -> int:
        return len(self.received)

    @property
    def recipients(self) -> list[str]:
        """Of every complete body, in the order of arrival."""
        return [address for one in self.received for address in one.recipients]

    @property
    def url(self) -> str:
        """As `SCOUT_MAIL` wants it."""
        return f"smtp://{self.host}:{self.port}"

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="mail sink", daemon=True)
        self._thread.start()
        if not started.wait(START_MAX_S):
            raise RuntimeError("the mail sink did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_MAX_S)

    def _run(self, started: threading.Event) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        server = await self._listen()
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)

    async def _listen(self) -> asyncio.Server:
        raise NotImplementedError


class ScriptedSmtp(_Loop):
    """A raw-socket server that does what the script says in a phase (see PHASES), and is well-behaved elsewhere.

    A step holds always; of a list each step holds once, in order over all connections, then the usual answer.
    `tls` offers STARTTLS (or, with `implicit_tls`, speaks TLS from the start); `login` = (user, password) offers
    AUTH PLAIN once TLS is on.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        implicit_tls: bool = False,
        login: tuple[str, str] | None = None,
    ) -> None:
        super().__init__()
        unknown = set(script or {}) - set(PHASES)
        if unknown:
            raise ValueError(f"no such phase: {sorted(unknown)}")
        self.tls, self.implicit_tls, self.login = tls, implicit_tls, login
        self.rescript(script or {})

    def rescript(self, script: Script) -> None:
        """Behave like this from now on."""
        self._steps: dict[str, Iterator[Step]] = {
            phase: itertools.repeat(step)
            if isinstance(step, Say | Hang | Drop)
            else itertools.chain(step, itertools.repeat(OK))
            for phase, step in script.items()
        }

    def step(self, phase: str) -> Step:
        self.commands[phase] += 1
        return next(self._steps[phase]) if phase in self._steps else OK

    async def _listen(self) -> asyncio.Server:
        context = self.tls if self.implicit_tls else None
        return await asyncio.start_server(self._talk, self.host, 0, ssl=context, limit=LINE_MAX_BYTES, backlog=512)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        # A cancelled session is a stopped server: asyncio's own reader would report it as an error.
        with contextlib.suppress(ConnectionError, _Closed, ssl.SSLError, asyncio.CancelledError):
            await _Session(self, reader, writer).run()
        writer.transport.abort()


class _Closed(Exception):
    """The script closed the connection."""


class _Session:
    def __init__(self, server: ScriptedSmtp, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
                await asyncio.Event().wait()
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
                    raise _Closed
                return text or usual
        raise AssertionError("unreachable")

    def drop(self, *, reset: bool) -> None:
        if reset:
            sock = self.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise _Closed

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
        raise _Closed

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


class ForeignSmtp(_Loop):
    """aiosmtpd: somebody else's reading of the protocol. Takes everything."""

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: AiosmtpdSession(self, hostname="sink", loop=loop), self.host, 0)

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:
        self.received.append(Received(envelope.mail_from, tuple(envelope.rcpt_tos), envelope.content))
        self.accepted += 1
        return f"250 2.0.0 ok: queued as Q{self.bodies}"


def refused_port() -> int:
    """A port on 127.0.0.1 where nobody listens."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        port: int = sock.getsockname()[1]
        return port


def tls_pair(folder: Path, *, name: str = HOST) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """(server's, client's) contexts: a fresh certificate for the name, and trust in it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        alternative = x509.DNSName(name)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / f"{name}.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem)
    client = ssl.create_default_context(cadata=certificate.public_bytes(serialization.Encoding.PEM).decode())
    return server, client
