"""One polite, bounded, safe request, and the only way from here to another machine.

Safe: http(s) only, to public addresses only, the first URL and every redirect alike, by the address that was
judged. Bounded: one deadline over all of it, caps on bytes, unpacked bytes and redirects. Polite: one request,
an honest name, the validators sent back as they came.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Callable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Self

import httpx2

from ledger.records import Health
from scan.addresses import RefusedTarget, Resolver, Unresolved, judged_addresses, system_resolver
from scan.aside import AsideBusy
from scan.exchange import (
    REDIRECTS,
    Ask,
    Fetched,
    OtherVersion,
    answer_of,
    next_hop,
    origin,
    request_headers,
    unconditional,
)
from scan.files import read_file
from scan.headers import validator
from scan.links import shown
from scan.posting import Failed, NotModified
from scan.unpack import BadEncoding, TooLarge

BODY_MAX_BYTES = 5 * 1024 * 1024  # on the wire and unpacked; the largest real feed seen has 0.9 MB
REDIRECTS_MAX = 5
CONNECT_S = 5.0
CONNECTIONS_MAX = 64
ACCEPT = (
    "application/rss+xml, application/atom+xml, application/feed+json, application/json, application/xml, */*;q=0.5"
)

Fetch = Fetched | NotModified | Failed


def new_transport() -> httpx2.AsyncBaseTransport:
    # A bare transport and no client: no cookies, no proxy from the environment, no redirects of its own.
    # No connection is kept: they are keyed by address, and two names may share one behind TLS.
    limits = httpx2.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=0)
    return httpx2.AsyncHTTPTransport(verify=True, trust_env=False, limits=limits)


class Fetcher:
    """Open it inside the app's lifespan (`async with`); it serves any number of fetches at a time."""

    def __init__(
        self,
        *,
        user_agent: str,
        allow_loopback: bool = False,
        resolver: Resolver = system_resolver,
        transport_factory: Callable[[], httpx2.AsyncBaseTransport] = new_transport,
    ) -> None:
        self.allow_loopback = allow_loopback
        self._user_agent = user_agent
        self._resolver = resolver
        self._transport_factory = transport_factory
        self._transport: httpx2.AsyncBaseTransport | None = None

    async def __aenter__(self) -> Self:
        self._transport = self._transport_factory()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._transport is not None:
            await self._transport.aclose()
            self._transport = None

    async def fetch(
        self,
        url: str,
        *,
        now: datetime,
        deadline_s: float,
        etag: str | None = None,
        last_modified: str | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        body_max_bytes: int = BODY_MAX_BYTES,
    ) -> Fetch:
        """Ask once; with `content` by POST. Never raises for what the other side does.

        `headers` may hold a secret: they and the URL's userinfo go to the URL's own origin only. `now` is
        what a Retry-After with a date is counted from. Validators are sent as they were stored, to every hop:
        they came from where the redirects ended. A 304 for another version is asked once more, without them.
        """
        own = {"If-None-Match": validator(etag), "If-Modified-Since": validator(last_modified)}
        conditions = {name: value for name, value in own.items() if value}
        ask = Ask(
            "GET" if content is None else "POST",
            {"Accept": ACCEPT, "User-Agent": self._user_agent, **conditions},
            headers or {},
            content,
            bool(conditions),
            now,
            body_max_bytes,
        )
        try:
            async with asyncio.timeout(deadline_s):
                if url.startswith("file:"):
                    return await self._read(url, deadline_s=deadline_s, body_max_bytes=body_max_bytes)
                try:
                    return await self._follow(httpx2.URL(url), ask)
                except OtherVersion:
                    return await self._follow(httpx2.URL(url), unconditional(ask))
        except (TimeoutError, httpx2.TimeoutException):
            return Failed(Health.SLOW, f"no complete answer within {deadline_s:g} s: {shown(url)}")
        except httpx2.InvalidURL:
            return Failed(Health.REFUSED, f"not a URL that can be fetched: {shown(url)}")
        except RefusedTarget as error:
            return Failed(Health.REFUSED, str(error))
        except (Unresolved, AsideBusy) as error:
            return Failed(Health.UNREACHABLE, f"{error}: {shown(url)}")
        except TooLarge:
            return Failed(Health.MALFORMED, f"the body is larger than {body_max_bytes} bytes: {shown(url)}")
        except BadEncoding as error:
            return Failed(Health.MALFORMED, f"{error}: {shown(url)}")
        except (httpx2.TransportError, OSError) as error:
            return Failed(Health.UNREACHABLE, f"{_what_ended(error)}: {shown(url)}")

    async def _follow(self, url: httpx2.URL, ask: Ask) -> Fetch:
        first = url
        for _ in range(REDIRECTS_MAX + 1):
            response = await self._send(url, ask, secrets=origin(url) == origin(first))
            try:
                if response.status_code not in REDIRECTS or "location" not in response.headers:
                    return await answer_of(url, response, ask)
                url = next_hop(url, response.headers["location"], ask)
            finally:
                await response.aclose()
        return Failed(Health.REFUSED, f"more than {REDIRECTS_MAX} redirects: {shown(str(first))}")

    async def _send(self, url: httpx2.URL, ask: Ask, *, secrets: bool) -> httpx2.Response:
        if self._transport is None:
            raise RuntimeError("the fetcher is not open")
        if url.scheme not in ("http", "https"):
            raise RefusedTarget(f"only http and https are fetched: {shown(str(url))}")
        try:
            addresses = await judged_addresses(url, resolver=self._resolver, allow_loopback=self.allow_loopback)
        except RefusedTarget as error:
            raise RefusedTarget(f"{error}: {shown(str(url))}") from error
        headers = request_headers(url, ask, secrets=secrets)
        for position, address in enumerate(addresses, start=1):
            request = httpx2.Request(
                ask.method,
                url.copy_with(host=address, userinfo=b"", fragment=None),
                headers=headers,
                content=ask.content,
                extensions={
                    "timeout": {"connect": CONNECT_S, "read": None, "write": None, "pool": None},
                    "sni_hostname": url.raw_host.decode("ascii"),  # the certificate is checked against the name
                },
            )
            try:
                return await self._transport.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if position == len(addresses):
                    raise
        raise Unresolved("the host name has no address")

    async def _read(self, url: str, *, deadline_s: float, body_max_bytes: int) -> Fetch:
        if not self.allow_loopback:
            raise RefusedTarget("file: is read only when loopback is allowed")
        path = httpx2.URL(url).path
        try:
            body = await read_file(path, deadline_s=deadline_s, max_bytes=body_max_bytes)
        except OSError as error:
            return Failed(Health.UNREACHABLE, f"the file cannot be read ({type(error).__name__}): {shown(url)}")
        return Fetched(url, body, "", hashlib.sha256(body).hexdigest())


def _what_ended(error: Exception) -> str:
    """In our words: an exception's text may quote the request."""
    cause: BaseException | None = error
    while cause is not None:
        match cause:
            case ssl.SSLCertVerificationError():
                return "the certificate is not trusted"
            case ssl.SSLError():
                return "no TLS connection"
            case ConnectionRefusedError():
                return "connection refused"
        cause = cause.__cause__ or cause.__context__
    match error:
        case httpx2.ConnectError():
            return "no connection"
        case httpx2.ProtocolError():
            return "what came is not HTTP, or not all of it"
    return "the connection was lost"
