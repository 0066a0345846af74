"""Which addresses are public, and which URLs may be fetched at all. Nothing here opens a connection."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import httpx2
import pytest

from scan.addresses import RefusedTarget, Unresolved, is_loopback_url, is_public, judged_addresses

PUBLIC = ["8.8.8.8", "93.184.215.14", "1.1.1.1", "2606:4700::6810:84e5", "2a00:1450:4001:81b::200e"]
INSIDE = [
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_may_be_fetched_from(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", INSIDE)
def test_an_address_that_is_not_public_is_refused(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


async def _judge(url: str, answers: Sequence[str] = (), *, allow_loopback: bool = False) -> tuple[str, ...]:
    async def resolver(host: str, port: int) -> Sequence[str]:
        assert not host.replace(".", "").isdigit(), "an address is never looked up"
        return answers

    return await judged_addresses(httpx2.URL(url), resolver=resolver, allow_loopback=allow_loopback)


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://[::ffff:10.0.0.1]/",
        "http://[fe80::1%25eth0]/",
        "http://1.2.3.4.5/",
    ],
)
async def test_an_odd_spelling_of_an_address_is_refused_whatever_is_allowed(url: str) -> None:
    with pytest.raises((RefusedTarget, httpx2.InvalidURL)):
        await _judge(url, ["8.8.8.8"], allow_loopback=False)
    with pytest.raises((RefusedTarget, httpx2.InvalidURL)):
        await _judge(url, ["8.8.8.8"], allow_loopback=True)


async def test_one_inside_answer_condemns_the_name() -> None:
    with pytest.raises(RefusedTarget, match="not public"):
        await _judge("http://board.example/", ["93.184.215.14", "10.0.0.1"])


async def test_loopback_allowed_lets_in_loopback_and_no_other_inside_address() -> None:
    assert await _judge("http://localhost:8080/", ["::1", "127.0.0.1"], allow_loopback=True) == ("127.0.0.1", "::1")
    for answers in (["10.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "10.0.0.1"], ["127.0.0.1", "8.8.8.8"]):
        with pytest.raises(RefusedTarget):
            await _judge("http://board.example/", answers, allow_loopback=True)


async def test_loopback_is_refused_unless_allowed() -> None:
    for url, answers in (("http://localhost/", ["127.0.0.1"]), ("http://127.0.0.1/", []), ("http://[::1]/", [])):
        with pytest.raises(RefusedTarget, match="not public"):
            await _judge(url, answers)


async def test_of_a_public_host_only_ports_80_and_443_are_fetched() -> None:
    assert await _judge("https://board.example/", ["93.184.215.14"]) == ("93.184.215.14",)
    assert await _judge("http://board.example:443/", ["93.184.215.14"]) == ("93.184.215.14",)
    for allow_loopback in (False, True):
        with pytest.raises(RefusedTarget, match="port 8080"):
            await _judge("http://board.example:8080/", ["93.184.215.14"], allow_loopback=allow_loopback)


async def test_a_name_without_an_address_is_unresolved_and_not_refused() -> None:
    with pytest.raises(Unresolved):
        await _judge("http://board.example/", [])


@pytest.mark.parametrize(
    ("url", "is_loopback"),
    [
        ("http://127.0.0.1:8000/feed", True),
        ("http://[::1]/feed", True),
        ("http://localhost:1/", True),
        ("file:///tmp/feed.xml", True),
        ("https://board.example/feed", False),
        ("http://10.0.0.1/", False),
        ("http://0x7f.1/", False),
        ("", False),
    ],
)
def test_a_configured_url_plainly_names_this_machine_or_does_not(url: str, is_loopback: bool) -> None:
    assert is_loopback_url(url) is is_loopback
