"""Connections that wait for the next letter, few and not for long."""

from __future__ import annotations

import asyncio
import contextlib
import time

from aiosmtplib import SMTP, SMTPException

IDLE_MAX = 64  # as many as letters are sent at once
IDLE_MAX_S = 5.0  # servers close idle connections; a frozen process must not find a dead one later


class Idle:
    """The newest is taken first, so that the others grow old and are closed."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, SMTP]] = []  # oldest first
        self._sweep: asyncio.TimerHandle | None = None

    def take(self) -> SMTP | None:
        """A connection that was alive when last heard of, or None."""
        self._close_old()
        while self._kept:
            _, client = self._kept.pop()
            if client.is_connected:
                return client
        return None

    def keep(self, client: SMTP) -> None:
        """Only after an accepted letter: then the server expects the next one, and no RSET is needed."""
        if len(self._kept) >= IDLE_MAX or not client.is_connected:
            hang_up(client, politely=True)
            return
        self._kept.append((time.monotonic(), client))
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(IDLE_MAX_S, self._close_old)

    def close(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for _, client in self._kept:
            hang_up(client, politely=True)
        self._kept.clear()

    def _close_old(self) -> None:
        oldest = time.monotonic() - IDLE_MAX_S
        while self._kept and self._kept[0][0] <= oldest:
            hang_up(self._kept.pop(0)[1], politely=True)
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        if self._kept:
            self._sweep = asyncio.get_running_loop().call_later(IDLE_MAX_S, self._close_old)


def hang_up(client: SMTP, *, politely: bool) -> None:
    """Close without waiting; `politely` with a QUIT, whose answer changes nothing and is not awaited."""
    protocol = client.protocol
    transport = client.transport
    if politely and protocol is not None and protocol.is_connected:
        with contextlib.suppress(SMTPException):
            protocol.write(b"QUIT\r\n")
        client.close()
        return
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()
    client.close()
