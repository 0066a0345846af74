"""One attempt at an HTTP mail provider, shared by all of them: what left, what came back, nothing hidden.

The client's `trace` says whether a request byte went out: before that, whatever happens, nothing was taken. The
status is read before the body, so an answer that breaks off behind its status line is still an answer.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from ledger.lifecycle import Attempt, Outcome
from mail.transports.causes import causes, place, what_ended
from mail.transports.connections import Connections

DEADLINE_S = 15.0  # of one attempt, all in all
CONNECT_S = 5.0  # for TCP, and again for TLS; at most a third of the deadline
BODY_S = 3.0  # for the rest of an answer whose status is known: it changes no outcome
BODY_MAX_BYTES = 64 * 1024
RETRY_AFTER_MAX_S = 3600.0

# Left in the chain by the handshake's machinery, whatever ended it.
_CUT_OFF = (
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
    ssl.SSLWantReadError,
    ssl.SSLWantWriteError,
    ssl.SSLSyscallError,
)
_REQUEST_BEGAN = "http11.send_request_headers.started"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer whose status was read. `body` is as much of it as came; empty if it could not be read."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes = b""

    def json(self) -> dict[str, Any] | None:
        """The body as a JSON object, or None: it may come from any box on the way."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


@dataclass(slots=True)
class _Course:
    """How far one attempt has come."""

    began: bool = False  # a request byte may have left
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)

    async def trace(self, event: str, _info: object) -> None:
        if event == _REQUEST_BEGAN:
            self.began = True


class Poster:
    """Posts JSON to one URL with one set of headers, as often as asked, once each time.

    Raises ValueError for a URL or a header that cannot be used.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], *, deadline_s: float = DEADLINE_S, tls: ssl.SSLContext | None = None
    ) -> None:
        self._url = _web_address(url)
        given = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "scout", **headers}
        if not all(value.isascii() and value.isprintable() for value in given.values()):
            raise ValueError("a header that is not one line of ASCII")
        self._headers = httpx2.Headers(given)
        self._deadline_s = deadline_s
        self._connections = Connections(tls=tls)

    def longest_s(self, at_most_s: float) -> float:
        return min(self._deadline_s, at_most_s)

    async def post(self, content: bytes, headers: Mapping[str, str], *, at_most_s: float) -> Answer | Attempt:
        """The provider's answer, or the outcome where no status came. Only cancellation is raised."""
        return await self._ask("POST", self._url, content, headers, at_most_s=at_most_s)

    async def get(self, url: str, *, at_most_s: float) -> Answer | Attempt:
        """Ask for something of the same provider; sends nothing. Raises ValueError for a bad URL."""
        return await self._ask("GET", _web_address(url), None, {}, at_most_s=at_most_s)

    async def close(self) -> None:
        await self._connections.close()

    async def _ask(
        self, method: str, url: httpx2.URL, content: bytes | None, headers: Mapping[str, str], *, at_most_s: float
    ) -> Answer | Attempt:
        course = _Course()
        try:
            deadline_s = self.longest_s(at_most_s)
            async with asyncio.timeout(deadline_s):
                request = httpx2.Request(method, url, headers=self._headers, content=content)
                request.headers.update(headers)
                request.extensions = {
                    "trace": course.trace,
                    # One deadline over all; the client's own for connecting: only that one closes a half-open socket.
                    "timeout": {"connect": min(CONNECT_S, deadline_s / 3), "read": None, "write": None, "pool": None},
                }
                async with self._connections.one() as connection:
                    await _exchange(connection, request, course)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:  # TimeoutError is an OSError
            if course.status is None:
                return without_status(error, began=course.began, where=place(url.host, url.port))
        assert course.status is not None
        return Answer(course.status, course.headers, bytes(course.body))


async def _exchange(connection: httpx2.AsyncHTTPTransport, request: httpx2.Request, course: _Course) -> None:
    response = await connection.handle_async_request(request)
    course.status = response.status_code
    course.headers = dict(response.headers)
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in response.aiter_raw():
                course.body += chunk[: BODY_MAX_BYTES - len(course.body)]
                if len(course.body) >= BODY_MAX_BYTES:
                    break
    finally:
        await response.aclose()


def _web_address(url: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise ValueError("not a URL") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("not an http(s) URL")
    return parsed


def without_status(error: Exception, *, began: bool, where: str) -> Attempt:
    """The outcome of an attempt that ended before a status line was read. `began`: a byte may have left.

    `where` is the host and port that was asked.
    """
    what = type(error).__name__  # in our words: an exception's text may hold the other side's, or the key
    if isinstance(error, httpx2.LocalProtocolError):  # raised before its first byte, though the event says begun
        return Attempt(Outcome.REJECTED, f"the request could not be made ({what})")
    if began:
        reason = "no answer in time" if _is_timeout(error) else "the connection was lost"
        return Attempt(Outcome.UNCLEAR, f"{reason} after the request went out ({what})")
    if _is_about_trust(error):
        return Attempt(Outcome.PAUSED, f"no trustworthy TLS with the mail provider ({where})")
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL | ValueError):
        return Attempt(Outcome.REJECTED, f"the request could not be made ({what})")
    reason = "no connection in time" if _is_timeout(error) else what_ended(error)
    return Attempt(Outcome.DEFERRED, f"{reason} ({where}); nothing was handed over")


def retry_after_s(headers: Mapping[str, str], *, now_s: Callable[[], float] = time.time) -> float | None:
    """How long the provider asks to wait: `Retry-After`, else `X-RateLimit-Reset` (Unix time); at most an hour.

    A time is counted from the answer's own Date where it has one: the two clocks may differ.
    """
    asked = headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return min(float(asked), RETRY_AFTER_MAX_S)
    until_s = date_s(asked)
    reset = headers.get("x-ratelimit-reset", "").strip()
    if until_s is None and reset.isascii() and reset.isdigit():
        until_s = float(reset)
    if until_s is None:
        return None
    from_s = date_s(headers.get("date", ""))
    return min(max(0.0, until_s - (now_s() if from_s is None else from_s)), RETRY_AFTER_MAX_S)


def date_s(text: str) -> float | None:
    """An HTTP date as Unix time; None for anything else."""
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def _is_timeout(error: Exception) -> bool:
    return isinstance(error, httpx2.TimeoutException | TimeoutError)


def _is_about_trust(error: BaseException) -> bool:
    """A certificate or a protocol that is wrong, not a handshake that was slow or cut off."""
    return any(isinstance(e, ssl.SSLError) and not isinstance(e, _CUT_OFF) for e in causes(error))
