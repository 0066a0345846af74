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
import contextlib
import itertools
import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from aiosmtpd.smtp import SMTP as AiosmtpdSession

from tests.loop_server import HOST, LoopServer
from tests.smtp_session import OK, PHASES, Closed, Drop, Hang, Received, Say, Script, Session, Step

__all__ = ["HOST", "OK", "Drop", "ForeignSmtp", "Hang", "Received", "Say", "ScriptedSmtp", "refused_port"]

LINE_MAX_BYTES = 4 * 1024 * 1024


@dataclass
class _Counting(LoopServer):
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


class ScriptedSmtp(_Counting):
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

    async def listen(self) -> asyncio.Server:
        context = self.tls if self.implicit_tls else None
        return await asyncio.start_server(self._talk, self.host, 0, ssl=context, limit=LINE_MAX_BYTES, backlog=512)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        # A cancelled session is a stopped server: asyncio's own reader would report it as an error.
        with contextlib.suppress(ConnectionError, Closed, ssl.SSLError, asyncio.CancelledError):
            await Session(self, reader, writer).run()
        writer.transport.abort()


class ForeignSmtp(_Counting):
    """aiosmtpd: somebody else's reading of the protocol. Takes everything."""

    async def listen(self) -> asyncio.Server:
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
