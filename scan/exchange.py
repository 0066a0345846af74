"""One hop of a fetch: the headers that go out, and what the answer means."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import httpx2

from ledger.records import Health
from scan.addresses import RefusedTarget
from scan.headers import max_age_s, retry_after_s, validator
from scan.links import shown
from scan.posting import Failed, NotModified
from scan.unpack import Unpacker

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAYS = {401: "wants a login", 403: "refuses us", 404: "is not there", 410: "is gone", 429: "asks us to wait"}


class OtherVersion(Exception):
    """A 304 for a version that is not the one we hold: it says nothing about ours."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A whole body with status 200, unpacked. `url` is where it came from after redirects, without userinfo."""

    url: str
    body: bytes
    content_type: str
    body_hash: str  # 64 hex of its SHA-256
    etag: str | None = None
    last_modified: str | None = None
    max_age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked. `headers` go to every hop, `secrets` to the first origin only; `conditional`: a 304 would
    be an answer."""

    method: str
    headers: Mapping[str, str]
    secrets: Mapping[str, str]
    content: bytes | None
    conditional: bool
    now: datetime
    body_max_bytes: int


def origin(url: httpx2.URL) -> tuple[str, bytes, int | None]:
    return url.scheme, url.raw_host, url.port


def request_headers(url: httpx2.URL, ask: Ask, *, secrets: bool) -> dict[str, str]:
    headers = {"Host": url.netloc.decode("ascii"), "Accept-Encoding": "gzip, deflate", **ask.headers}
    if not secrets:
        return headers
    if url.userinfo:
        token = base64.b64encode(f"{url.username}:{url.password}".encode()).decode("ascii")
        headers["Authorization"] = f"Basic {token}"
    return headers | dict(ask.secrets)


def next_hop(url: httpx2.URL, location: str, ask: Ask) -> httpx2.URL:
    target = url.join(location)
    if ask.content is not None:
        raise RefusedTarget(f"a POST was redirected to {shown(str(target))}")
    if url.scheme == "https" and target.scheme == "http":
        raise RefusedTarget(f"redirected from https to {shown(str(target))}")
    return target


async def answer_of(url: httpx2.URL, response: httpx2.Response, ask: Ask) -> Fetched | NotModified | Failed:
    status, headers = response.status_code, response.headers
    if status == 304 and ask.conditional:
        if not _is_same(headers.get("etag"), ask.headers.get("If-None-Match")):
            raise OtherVersion
        return NotModified(wait_s=max_age_s(headers.get("cache-control", "")))
    if status != 200:
        says = _SAYS.get(status, "did not answer with a document")
        wait_s = retry_after_s(headers.get("retry-after", ""), ask.now) if status in (429, 503) else None
        return Failed(Health.REFUSED, f"{shown(str(url))} {says} (HTTP {status})", retry_after_s=wait_s)
    unpacker = Unpacker(headers.get("content-encoding", ""), max_bytes=ask.body_max_bytes)
    async for part in response.aiter_raw():
        unpacker.feed(part)
    body = unpacker.body()
    return Fetched(
        str(url.copy_with(userinfo=b"", fragment=None)),
        body,
        headers.get("content-type", ""),
        hashlib.sha256(body).hexdigest(),
        etag=validator(headers.get("etag")),
        last_modified=validator(headers.get("last-modified")),
        max_age_s=max_age_s(headers.get("cache-control", "")),
    )


def unconditional(ask: Ask) -> Ask:
    headers = {name: value for name, value in ask.headers.items() if not name.startswith("If-")}
    return replace(ask, headers=headers, conditional=False)


def _is_same(theirs: str | None, ours: str | None) -> bool:
    """Weakly, as RFC 9110 (13.1.2) compares for If-None-Match; a 304 without a tag speaks of the one we sent."""
    if not theirs or not ours:
        return True
    return theirs.strip().removeprefix("W/") == ours.strip().removeprefix("W/")
