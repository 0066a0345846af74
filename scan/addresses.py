"""Which addresses a fetch may connect to: the part that keeps a feed's URL from reaching inside.

A host is resolved once, every answer is judged, and the connection goes to an address that was judged.
One bad answer condemns the host: a name that points both outside and inside is not a job board.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence

import httpx2

from scan.aside import aside

PUBLIC_PORTS = frozenset({80, 443})
RESOLVE_S = 5.0
ADDRESSES_MAX = 3  # tried one after the other when the first does not accept a connection

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

# `is_global` alone lets these through: multicast, relays and translators that carry another address
# inside, documentation, and one cloud's metadata service that lives on a public address.
_REFUSED_V4 = tuple(map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/3", "168.63.129.16/32")))
_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    map(
        ipaddress.IPv6Network,
        ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
)
_HOST_NAME = re.compile(r"[A-Za-z0-9_.-]{1,253}\Z")
_NUMERIC_LABEL = re.compile(r"(?:[0-9]+|0[xX][0-9a-fA-F]*)\Z")


class RefusedTarget(Exception):
    """We will not connect there. The text is for people and holds no query string."""


class Unresolved(Exception):
    """The name has no address, or nobody answered."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Every A and AAAA answer as text. Raises Unresolved."""

    def ask() -> list[str]:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        return [str(sockaddr[0]) for *_, sockaddr in answers]

    try:
        # Not the loop's own executor: a resolver that hangs would keep the process from ending.
        return await aside(ask, deadline_s=RESOLVE_S)
    except (OSError, UnicodeError) as error:
        raise Unresolved("the host name has no address") from error


async def judged_addresses(url: httpx2.URL, *, resolver: Resolver, allow_loopback: bool) -> tuple[str, ...]:
    """Addresses that `url` may be fetched from, IPv4 first, at most ADDRESSES_MAX.

    With `allow_loopback` loopback addresses count as good, on any port; no other inside address does.
    Raises RefusedTarget or Unresolved.
    """
    host, port = url.raw_host.decode("ascii"), url.port or _default_port(url.scheme)
    literal = _literal(host)
    answers = [literal] if literal else [_parsed(text) for text in await _resolve(host, port, resolver)]
    if not answers:
        raise Unresolved("the host name has no address")
    loopback = allow_loopback and all(address.is_loopback for address in answers)
    if not loopback:
        if not all(is_public(address) for address in answers):
            raise RefusedTarget("the address is not public")
        if port not in PUBLIC_PORTS:
            raise RefusedTarget(f"port {port} is not allowed, only 80 and 443")
    # IPv4 first: many hosts that run containers have no IPv6 route, and find out only by waiting.
    ordered = sorted(dict.fromkeys(answers), key=lambda address: address.version)
    return tuple(str(address) for address in ordered[:ADDRESSES_MAX])


def is_public(address: Address) -> bool:
    """Whether the whole internet would reach the same machine there, and no other address hides inside."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in net for net in _REFUSED_V4)
    if address.scope_id or address.ipv4_mapped or address not in _UNICAST_V6:
        return False
    return address.is_global and not any(address in net for net in _REFUSED_V6)


def is_loopback_url(url: str) -> bool:
    """Whether a configured URL plainly names this machine: `file:`, `localhost` or a loopback literal."""
    try:
        parsed = httpx2.URL(url)
        if parsed.scheme == "file":
            return True
        literal = _literal(parsed.raw_host.decode("ascii"))
    except (httpx2.InvalidURL, RefusedTarget):
        return False
    return parsed.host == "localhost" if literal is None else literal.is_loopback


async def _resolve(host: str, port: int, resolver: Resolver) -> Sequence[str]:
    try:
        async with asyncio.timeout(RESOLVE_S):
            return await resolver(host, port)
    except TimeoutError as error:
        raise Unresolved("the host name was not resolved in time") from error


def _literal(host: str) -> Address | None:
    """The host as an address, or None for a name. Raises RefusedTarget for odd spellings of addresses.

    `2130706433`, `0x7f.1` and `0177.0.0.1` are addresses to the system's resolver and names to others;
    what two parsers read differently is not fetched (WHATWG URL: a host whose last label is a number).
    """
    if not host:
        raise RefusedTarget("the URL has no host")
    if ":" in host:
        return _parsed(host)
    if _NUMERIC_LABEL.match(host.rstrip(".").rpartition(".")[2]):
        return _parsed(host)
    if not _HOST_NAME.match(host):
        raise RefusedTarget("not a host name")
    return None


def _parsed(text: str) -> Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError as error:
        raise RefusedTarget("the host is an odd spelling of an address") from error


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80
