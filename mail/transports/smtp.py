"""Letters by SMTP: one attempt, command by command, so that it is known how far it came.

The client library raises the same exceptions before and after a letter was handed over, so `send` keeps
the phase itself: DATA and its body are two steps here, and only the second leaves anything in doubt.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from aiosmtplib import SMTP, SMTPException, SMTPHeloError, SMTPResponseException, SMTPServerDisconnected

from ledger.lifecycle import Attempt, Outcome
from mail.envelope import Unsendable, as_bytes, needs_smtputf8, not_sent, recipient, sender
from mail.letter import Letter
from mail.transports.causes import place
from mail.transports.port import Check
from mail.transports.smtp_phases import Phase, answered, broken, receipt
from mail.transports.smtp_pool import Idle, hang_up

DEADLINE_S = 30.0  # from the first packet until the final dot is written
DOT_DEADLINE_S = 60.0  # for the answer to it; giving up sooner makes duplicates (RFC 5321 4.5.3.2.6)
REUSED_ANSWER_S = 5.0  # for a kept connection to show that it is alive

Tls = Literal["none", "starttls", "implicit"]

_MENDS = MappingProxyType(  # for people, by how far a connection came
    {
        Phase.CONNECT: "are host and port of SCOUT_MAIL right, and smtps:// only where TLS comes first (port 465)?",
        Phase.HELLO: "is that a mail server, and may this machine use it?",
        Phase.STARTTLS: "use port 587 or smtps://, and the host name that its certificate has",
        Phase.AUTH: "are user and password of SCOUT_MAIL right?",
    }
)


@dataclass(slots=True)
class _Course:
    """How far one attempt has come."""

    phase: Phase = Phase.CONNECT
    client: SMTP | None = None


@dataclass(frozen=True, slots=True)
class _Wire:
    sender: str
    recipient: str
    data: bytes


class SmtpTransport:
    """One mail server. `deadline_s` and `dot_deadline_s` bound an attempt before and after the final dot.

    Credentials go out only over TLS: with a user name and `tls="none"` every attempt is PAUSED. With
    "starttls" and "implicit" the server's certificate must be valid by `tls_context` (default: the system's).
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        username: str | None = None,
        password: str | None = None,
        tls: Tls = "none",
        tls_context: ssl.SSLContext | None = None,
        local_hostname: str = "[127.0.0.1]",
        deadline_s: float = DEADLINE_S,
        dot_deadline_s: float = DOT_DEADLINE_S,
    ) -> None:
        self._host = host
        self._port = port
        self._where = place(host, port)
        self._username = username
        self._password = password or ""
        self._tls: Tls = tls
        self._tls_context = tls_context
        self._local_hostname = local_hostname
        self._before_dot_s = deadline_s
        self._dot_deadline_s = dot_deadline_s
        self._idle = Idle()

    @property
    def name(self) -> str:
        return "smtp"

    def longest_s(self, at_most_s: float) -> float:
        return min(self._before_dot_s, at_most_s) + min(self._dot_deadline_s, at_most_s)

    @property
    def smtputf8(self) -> bool:
        return False

    async def send(self, letter: Letter, *, at_most_s: float = math.inf) -> Attempt:
        """See mail/transports/smtp_phases.py for the outcome of every answer and exception."""
        try:
            wire = _Wire(sender(letter), recipient(letter), as_bytes(letter))
        except Unsendable as error:
            return not_sent(error)
        if needs_smtputf8(wire.recipient) or needs_smtputf8(wire.sender):
            return Attempt(Outcome.REJECTED, "a non-ASCII local part cannot be sent to: SMTPUTF8 is not supported")
        if self._username is not None and self._tls == "none":
            return Attempt(Outcome.PAUSED, "a user name is configured but no TLS: credentials never go in clear text")
        course = _Course()
        try:
            return await self._attempt(wire, course, at_most_s=at_most_s)
        except (SMTPException, OSError, ValueError) as error:  # TimeoutError is an OSError
            return broken(course.phase, error, wire.recipient, where=self._where)
        finally:
            if course.client is not None:
                hang_up(course.client, politely=course.phase not in (Phase.DATA, Phase.DOT))

    async def check(self, *, at_most_s: float) -> Check:
        """Connect, encrypt and sign in as for a letter, then hang up; nothing is sent."""
        if self._username is not None and self._tls == "none":
            return Check(False, "a user name is configured but no TLS", "write smtps://, or smtp:// for STARTTLS")
        course = _Course()
        try:
            async with asyncio.timeout(min(self._before_dot_s, at_most_s)):
                await self._open(course)
        except (SMTPException, OSError, ValueError) as error:
            reason = broken(course.phase, error, "", where=self._where).reason
            return Check(False, reason, _MENDS[course.phase])
        finally:
            if course.client is not None:
                hang_up(course.client, politely=True)
        return Check(True, "signed in" if self._username is not None else "it answers; no user is configured")

    async def close(self) -> None:
        self._idle.close()
        await asyncio.sleep(0)  # a closed connection gives its socket back in the loop's next round

    async def _attempt(self, wire: _Wire, course: _Course, *, at_most_s: float) -> Attempt:
        before_dot_s = min(self._before_dot_s, at_most_s)
        async with asyncio.timeout(before_dot_s):
            client = await self._asked_for_data(wire, course, reused_s=min(REUSED_ANSWER_S, before_dot_s / 3))
        async with asyncio.timeout(min(self._dot_deadline_s, at_most_s)):
            code, text = await _hand_over(client, wire.data, course)
        if code != 250:
            return answered(course.phase, code, text, wire.recipient)
        course.client = None
        self._idle.keep(client)
        return Attempt(Outcome.ACCEPTED, receipt=receipt(text, wire.recipient))

    async def _asked_for_data(self, wire: _Wire, course: _Course, *, reused_s: float) -> SMTP:
        """A connection on which the server waits for the body.

        A kept connection that turns out dead is replaced once: no body has gone out on it.
        """
        client = self._idle.take()
        if client is not None:
            course.client = client
            try:
                async with asyncio.timeout(reused_s):
                    await _envelope(client, wire, course)
                return client
            except (SMTPException, OSError) as error:
                if _is_about_the_letter(error, course.phase):
                    raise
            hang_up(client, politely=False)
        client = await self._open(course)
        await _envelope(client, wire, course)
        return client

    async def _open(self, course: _Course) -> SMTP:
        course.phase = Phase.CONNECT
        if self._tls != "none" and self._tls_context is None:
            self._tls_context = await asyncio.to_thread(ssl.create_default_context)
        client = course.client = SMTP(
            hostname=self._host,
            port=self._port,
            local_hostname=self._local_hostname,
            timeout=None,  # one deadline for all, held by `send`
            use_tls=self._tls == "implicit",
            start_tls=False,  # by hand, below
            tls_context=self._tls_context,
        )
        await client.connect()
        await self._say_hello(client, course)
        if self._tls == "starttls":
            course.phase = Phase.STARTTLS
            await client.starttls()  # raises, and never goes on in clear text, if it is not offered
            await self._say_hello(client, course)
        if self._username is not None:
            course.phase = Phase.AUTH
            await self._sign_in(client, self._username)
        return client

    async def _sign_in(self, client: SMTP, username: str) -> None:
        """Once, with one method: a wrong password tried three ways can lock an account."""
        offered = client.server_auth_methods
        if "plain" in offered:
            await client.auth_plain(username, self._password)
        elif "login" in offered:
            await client.auth_login(username, self._password)
        elif "cram-md5" in offered:
            await client.auth_crammd5(username, self._password)
        else:
            raise SMTPException("AUTH is not offered")

    async def _say_hello(self, client: SMTP, course: _Course) -> None:
        course.phase = Phase.HELLO
        try:
            await client.ehlo()
        except SMTPHeloError as error:
            if error.code // 100 != 5 or not client.is_connected:
                raise
            await client.helo()


async def _envelope(client: SMTP, wire: _Wire, course: _Course) -> None:
    """MAIL, RCPT and DATA, each awaited; raises SMTPResponseException for another answer than the wanted one."""
    for phase, command, wanted in (
        (Phase.MAIL, f"MAIL FROM:<{wire.sender}>", (250,)),
        (Phase.RCPT, f"RCPT TO:<{wire.recipient}>", (250, 251)),
        (Phase.DATA, "DATA", (354,)),
    ):
        course.phase = phase
        code, text = await client.execute_command(command.encode("ascii"))
        if code not in wanted:
            raise SMTPResponseException(code, text)


async def _hand_over(client: SMTP, data: bytes, course: _Course) -> tuple[int, str]:
    """Write the body and its final dot; returns the answer. From here on an exception leaves doubt."""
    protocol = client.protocol
    if protocol is None or not protocol.is_connected:
        raise SMTPServerDisconnected("Connection lost")
    course.phase = Phase.DOT
    stuffed = data.replace(b"\r\n.", b"\r\n..")
    protocol.write(stuffed + b".\r\n")
    return await protocol.read_response()


def _is_about_the_letter(error: Exception, phase: Phase) -> bool:
    """Whether the answer would be the same on a fresh connection; 421 and a refused MAIL may be its age."""
    return isinstance(error, SMTPResponseException) and error.code != 421 and phase in (Phase.RCPT, Phase.DATA)
