"""Connections to one provider, each used by one letter at a time; the last one used is taken first.

The client's own pool looks at every connection it holds for every request, and asks the kernel about each idle one:
at 64 connections that costs more than all the rest of a letter. Here each connection is a pool of one.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

CONNECTIONS_MAX = 100  # more than letters are ever in flight
KEEPALIVE_S = 4.0  # a connection that was idle for longer may be dead without our knowing


class Connections:
    """`tls` is the trust in the provider's certificate, by default the system's. No proxy, redirect, retry, cookie."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls or httpx2.create_ssl_context(trust_env=False)
        self._room = asyncio.Semaphore(CONNECTIONS_MAX)
        self._idle: list[tuple[float, httpx2.AsyncHTTPTransport]] = []  # the one that waits longest first

    @asynccontextmanager
    async def one(self) -> AsyncIterator[httpx2.AsyncHTTPTransport]:
        """A connection of one's own. What breaks is closed by the client, so it can always be used again."""
        async with self._room:
            await self._close_old()
            connection = self._idle.pop()[1] if self._idle else self._made()
            try:
                yield connection
            finally:
                self._idle.append((time.monotonic(), connection))

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop()[1].aclose()

    async def _close_old(self) -> None:
        oldest_s = time.monotonic() - KEEPALIVE_S
        while self._idle and self._idle[0][0] < oldest_s:
            await self._idle.pop(0)[1].aclose()

    def _made(self) -> httpx2.AsyncHTTPTransport:
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEPALIVE_S)
        return httpx2.AsyncHTTPTransport(verify=self._tls, trust_env=False, retries=0, limits=limits)
