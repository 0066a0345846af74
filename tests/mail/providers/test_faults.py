"""What becomes of a letter whose request or answer is cut, at any place: table 2a, against real sockets.

The server counts the complete letters that reached it; no attempt may reach it twice.
"""

from __future__ import annotations

import asyncio
import logging
import math
import ssl
from pathlib import Path

import httpx2
import pytest

from ledger.lifecycle import Attempt, Outcome
from mail.transports import connections
from mail.transports.api import Api, ApiTransport
from mail.transports.http import without_status
from mail.transports.sendgrid import SENDGRID
from tests.certificates import tls_pair
from tests.fault_table import RecordProperty, fault_row
from tests.http_faults import ERRORS, TAKEN, Answer, Close, FaultyApi, Hang, Raw, Step
from tests.mail.providers.conftest import KEY, Made
from tests.mail.samples import letter
from tests.sinks import ScriptedSmtp, refused_port

ACCEPTED, REJECTED, DEFERRED, PAUSED, UNCLEAR = Outcome

# Fault -> (what the server does, the outcome, complete letters that reached it).
MATRIX: dict[str, tuple[Step, Outcome, int]] = {
    "202": (TAKEN, ACCEPTED, 1),
    "202, late": (Answer(202, after_s=0.15), ACCEPTED, 1),
    "202, later than the deadline": (Answer(202, after_s=30), UNCLEAR, 1),
    "202 and half of its body": (Raw(b"HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\nhalf"), ACCEPTED, 1),
    "202 and a body that never ends": (Raw(b"HTTP/1.1 202 A\r\nContent-Length: 9\r\n\r\nx", hold=True), ACCEPTED, 1),
    "202 and a body that is not the gzip it says": (
        Raw(b"HTTP/1.1 202 Accepted\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"), ACCEPTED, 1),
    "202 in broken chunks": (Raw(b"HTTP/1.1 202 A\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), ACCEPTED, 1),
    "401 and half of its body": (Raw(b"HTTP/1.1 401 No\r\nContent-Length: 99\r\n\r\n{"), PAUSED, 1),
    "closed at once": (Close(early=True), UNCLEAR, 0),
    "closed after the letter": (Close(), UNCLEAR, 1),
    "reset after the letter": (Close(reset=True), UNCLEAR, 1),
    "no answer": (Hang(), UNCLEAR, 1),
    "half a status line, then closed": (Raw(b"HTTP/1.1 20"), UNCLEAR, 1),
    "half a status line, then silence": (Raw(b"HTTP/1.1 20", hold=True), UNCLEAR, 1),
    "half of the headers": (Raw(b"HTTP/1.1 202 Accepted\r\nX-Mess"), UNCLEAR, 1),
    "garbage": (Raw(b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n"), UNCLEAR, 1),
    "only 100 Continue": (Raw(b"HTTP/1.1 100 Continue\r\n\r\n"), UNCLEAR, 1),
    "101 another protocol": (Raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), UNCLEAR, 1),
    "302 to somewhere else": (Answer(302, headers=(("Location", "/v3/elsewhere"),)), PAUSED, 1),
    "307 to the same place": (Answer(307, headers=(("Location", "/v3/mail/send"),)), PAUSED, 1),
    "401": (Answer(401, ERRORS), PAUSED, 1),
    "429": (Answer(429, ERRORS), DEFERRED, 1),
    "500": (Answer(500, ERRORS), UNCLEAR, 1),
    "502 from a box before it": (Answer(502, "<html>", "text/html"), UNCLEAR, 1),
    "503 with a time to come back": (Answer(503, "", headers=(("Retry-After", "0"),)), UNCLEAR, 1),
    "504 from a box before it": (Answer(504, "<html>", "text/html"), UNCLEAR, 1),
}  # fmt: skip


@pytest.mark.parametrize("fault", MATRIX)
async def test_no_fault_makes_one_attempt_reach_the_server_twice(
    fault: str, sendgrid: Made, record_property: RecordProperty
) -> None:
    step, outcome, bodies = MATRIX[fault]
    with FaultyApi(step) as api:
        attempt = await sendgrid(api.url, deadline_s=1.5).send(letter())
        assert attempt.outcome is outcome, attempt
        assert api.bodies == bodies
        assert api.connections == 1
        assert {posted.path for posted in api.received} <= {"/v3/mail/send"}
    record_property("fault_row", fault_row(f"http {fault}", attempt, api.bodies))
    assert "ann" not in attempt.reason
    assert KEY not in attempt.reason


async def test_a_connection_reset_at_once_is_deferred_or_unclear_by_whether_the_request_had_begun(
    sendgrid: Made,
) -> None:
    with FaultyApi(Close(early=True, reset=True)) as api:
        attempt = await sendgrid(api.url).send(letter())
        assert attempt.outcome in (DEFERRED, UNCLEAR)
        assert (api.bodies, api.connections) == (0, 1)


async def test_a_refused_connection_is_deferred(sendgrid: Made) -> None:
    port = refused_port()
    attempt = await sendgrid(f"http://127.0.0.1:{port}").send(letter())
    assert attempt.outcome is DEFERRED
    assert attempt.reason == f"connection refused (127.0.0.1:{port}); nothing was handed over"


async def test_a_host_name_that_does_not_resolve_is_deferred(sendgrid: Made) -> None:
    attempt = await sendgrid("http://nobody.invalid").send(letter())
    assert attempt.outcome is DEFERRED
    assert attempt.reason.startswith("the host name ")
    assert "(nobody.invalid)" in attempt.reason


async def test_a_connection_that_does_not_come_in_time_is_deferred(
    sendgrid: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)
    assert (await sendgrid("http://127.0.0.1:1", deadline_s=0.1).send(letter())).outcome is DEFERRED


async def test_a_certificate_that_nobody_vouches_for_pauses_and_no_letter_leaves(
    sendgrid: Made, tmp_path: Path
) -> None:
    ours, trusting = tls_pair(tmp_path)
    with FaultyApi(tls=ours) as api:
        attempt = await sendgrid(api.url).send(letter())
        assert (attempt.outcome, api.bodies) == (PAUSED, 0)
        assert (await sendgrid(api.url, tls=trusting).send(letter())).outcome is ACCEPTED
        assert api.bodies == 1


async def test_a_server_that_speaks_no_tls_pauses(sendgrid: Made) -> None:
    with ScriptedSmtp() as plain:
        attempt = await sendgrid(f"https://127.0.0.1:{plain.port}").send(letter())
        assert (attempt.outcome, plain.bodies) == (PAUSED, 0)


async def test_a_handshake_that_never_ends_is_deferred(sendgrid: Made) -> None:
    with FaultyApi() as api:
        attempt = await sendgrid(api.url.replace("http:", "https:"), deadline_s=0.3).send(letter())
        assert (attempt.outcome, api.bodies) == (DEFERRED, 0)


async def test_letters_that_wait_for_a_free_connection_are_deferred(
    sendgrid: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 1)
    with FaultyApi(Hang()) as api:
        transport = sendgrid(api.url)
        holds_it = asyncio.create_task(transport.send(letter()))
        while not api.bodies:
            await asyncio.sleep(0.01)
        attempts = await asyncio.gather(*(transport.send(letter(number=n), at_most_s=0.3) for n in (1, 2)))
        assert [a.outcome for a in attempts] == [DEFERRED, DEFERRED]
        assert api.bodies == 1
        holds_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holds_it


async def test_cancelling_passes_through_and_the_letter_reached_the_server_at_most_once(sendgrid: Made) -> None:
    with FaultyApi(Hang()) as api:
        task = asyncio.create_task(sendgrid(api.url).send(letter()))
        while not api.bodies:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert api.bodies == 1


async def test_a_kept_connection_that_the_server_closed_is_replaced_before_a_letter_goes(sendgrid: Made) -> None:
    with FaultyApi([Raw(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"), TAKEN]) as api:
        transport = sendgrid(api.url)
        assert (await transport.send(letter())).outcome is ACCEPTED
        while not api.closed:  # then its FIN is here, too: loopback
            await asyncio.sleep(0.01)
        assert (await transport.send(letter(number=1))).outcome is ACCEPTED
        assert (api.bodies, api.connections) == (2, 2)


async def test_connections_are_kept_for_the_next_letter(sendgrid: Made) -> None:
    with FaultyApi() as api:
        transport = sendgrid(api.url)
        for number in range(5):
            assert (await transport.send(letter(number=number))).outcome is ACCEPTED
        assert (api.bodies, api.connections) == (5, 1)


async def test_a_proxy_in_the_environment_is_not_used(sendgrid: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{refused_port()}")
    with FaultyApi() as api:
        assert (await sendgrid(api.url).send(letter())).outcome is ACCEPTED


async def test_the_caller_may_shorten_the_deadline_and_not_lengthen_it(sendgrid: Made) -> None:
    transport = sendgrid("http://127.0.0.1:1")
    assert transport.longest_s(math.inf) == 15
    assert transport.longest_s(6) == 6
    with FaultyApi(Hang()) as api:
        assert (await sendgrid(api.url).send(letter(), at_most_s=1.5)).outcome is UNCLEAR


async def test_a_letter_that_cannot_be_written_as_json_is_rejected_and_nothing_leaves() -> None:
    def surrogate(_letter: object) -> dict[str, str]:
        return {"subject": "\ud800"}

    with FaultyApi() as api:
        broken = Api("sendgrid", api.url, "/v3/mail/send", surrogate, SENDGRID.outcome_of)
        transport = ApiTransport(broken, KEY)
        assert (await transport.send(letter())).outcome is REJECTED
        await transport.close()
        assert api.connections == 0


@pytest.mark.parametrize("url", ["ftp://api.example.com", "api.example.com", "http://", "http://[::1"])
def test_an_address_that_is_no_web_address_is_refused_when_the_transport_is_made(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        ApiTransport(SENDGRID, KEY, url=url)


@pytest.mark.parametrize("key", ["two\nlines", "caf\u00e9", "tab\tinside"])
def test_a_key_that_no_header_can_carry_is_refused_when_the_transport_is_made(key: str) -> None:
    with pytest.raises(ValueError, match="header") as refused:
        ApiTransport(SENDGRID, key)
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    ("error", "began", "outcome"),
    [
        (httpx2.UnsupportedProtocol("x"), False, REJECTED),
        (httpx2.InvalidURL("x"), False, REJECTED),
        (httpx2.LocalProtocolError("x"), True, REJECTED),
        (UnicodeEncodeError("ascii", "\u00e9", 0, 1, "x"), False, REJECTED),
        (httpx2.ConnectError("x"), False, DEFERRED),
        (httpx2.ConnectTimeout("x"), False, DEFERRED),
        (httpx2.PoolTimeout("x"), False, DEFERRED),
        (httpx2.ProxyError("x"), False, DEFERRED),
        (OSError("x"), False, DEFERRED),
        (TimeoutError(), False, DEFERRED),
        (ssl.SSLCertVerificationError("x"), False, PAUSED),
        (ssl.SSLEOFError("x"), False, DEFERRED),
        (httpx2.WriteTimeout("x"), True, UNCLEAR),
        (httpx2.WriteError("x"), True, UNCLEAR),
        (httpx2.ReadTimeout("x"), True, UNCLEAR),
        (httpx2.ReadError("x"), True, UNCLEAR),
        (httpx2.RemoteProtocolError("x"), True, UNCLEAR),
        (httpx2.CloseError("x"), True, UNCLEAR),
        (TimeoutError(), True, UNCLEAR),
        (OSError("x"), True, UNCLEAR),
        (ValueError("x"), True, UNCLEAR),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_every_exception_has_its_outcome_by_whether_the_request_had_begun(
    error: Exception, began: bool, outcome: Outcome
) -> None:
    assert without_status(error, began=began, where="api.example.com").outcome is outcome


async def test_neither_key_nor_address_comes_into_a_log_or_a_reason(
    sendgrid: Made, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    said = f'{{"errors": [{{"message": "Bad key {KEY} for ann@example.com, Ann said", "field": null}}]}}'
    attempts: list[Attempt] = []
    for step in (Answer(401, said), Close(), Answer(500, said)):
        with FaultyApi(step) as api:
            attempts.append(await sendgrid(api.url).send(letter()))
    said_by_us = "".join(attempt.reason for attempt in attempts) + caplog.text
    assert "Bad key (key) for (address)" in said_by_us
    assert KEY not in said_by_us
    assert "ann" not in said_by_us.lower()
