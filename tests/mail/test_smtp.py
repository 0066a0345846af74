"""Every row of the table of SMTP outcomes, against a server that counts the complete bodies it got."""

from __future__ import annotations

import asyncio
import dataclasses
import email
import email.policy
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ledger.lifecycle import Attempt, Outcome
from mail.transports.smtp import SmtpTransport
from tests.certificates import tls_pair
from tests.fault_table import RecordProperty, fault_row
from tests.mail.samples import letter
from tests.sinks import HOST, OK, Drop, ForeignSmtp, Hang, Say, ScriptedSmtp, refused_port

QUICK: dict[str, Any] = {"deadline_s": 1.5, "dot_deadline_s": 1.0}


@asynccontextmanager
async def transport(port: int, **options: Any) -> AsyncIterator[SmtpTransport]:
    one = SmtpTransport(HOST, port, **options)
    try:
        yield one
    finally:
        await one.close()


async def attempt(server: ScriptedSmtp, **options: Any) -> Attempt:
    async with transport(server.port, **options) as one:
        return await one.send(letter())


async def test_an_accepted_letter_arrives_once_and_unchanged() -> None:
    with ScriptedSmtp() as server:
        result = await attempt(server)
    assert result == Attempt(Outcome.ACCEPTED, receipt="2.0.0 ok: queued as Q1")
    (received,) = server.received
    assert (received.sender, received.recipients) == ("jobs@scout.example.com", ("ann@example.com",))
    message = email.message_from_bytes(received.data, policy=email.policy.default)
    assert message["To"] == "ann@example.com"
    assert message["Subject"] == letter().subject


async def test_a_foreign_server_takes_the_same_bytes() -> None:
    dotted = dataclasses.replace(letter(), text=".\n..\n.dot at the start\n")
    with ForeignSmtp() as server:
        async with transport(server.port) as one:
            assert (await one.send(dotted)).outcome is Outcome.ACCEPTED
    (received,) = server.received
    assert received.recipients == ("ann@example.com",)
    part = next(iter(email.message_from_bytes(received.data, policy=email.policy.default).iter_parts()))  # type: ignore[attr-defined]
    assert part.get_content().replace("\r\n", "\n") == ".\n..\n.dot at the start\n"


# phase, what the server answers, outcome, complete bodies it may have got
ANSWERS = [
    ("connect", "421 4.3.2 too busy", Outcome.DEFERRED, 0),
    ("connect", "554 5.3.2 no service here", Outcome.PAUSED, 0),
    ("ehlo", "421 4.3.2 later", Outcome.DEFERRED, 0),
    ("helo", "554 5.7.1 go away", Outcome.PAUSED, 0),
    ("mail", "451 4.3.0 later", Outcome.DEFERRED, 0),
    ("mail", "553 5.7.1 not your address", Outcome.PAUSED, 0),
    ("mail", "530 5.7.0 authentication required", Outcome.PAUSED, 0),
    ("mail", "299 what", Outcome.DEFERRED, 0),
    ("rcpt", "450 4.2.0 greylisted", Outcome.DEFERRED, 0),
    ("rcpt", "550 5.1.1 no such user", Outcome.REJECTED, 0),
    ("rcpt", "550 5.2.2 mailbox full", Outcome.REJECTED, 0),
    ("rcpt", "550 5.1.8 sender's domain not found", Outcome.PAUSED, 0),
    ("rcpt", "hello?", Outcome.DEFERRED, 0),
    ("data", "451 4.3.0 later", Outcome.DEFERRED, 0),
    ("data", "554 5.5.1 no valid recipients", Outcome.REJECTED, 0),
    ("data", "250 what", Outcome.DEFERRED, 0),
    ("body", "421 4.3.2 shutting down", Outcome.DEFERRED, 0),
    ("body", "552 5.3.4 too big", Outcome.REJECTED, 0),
    ("dot", "451 4.3.0 queue full", Outcome.DEFERRED, 1),
    ("dot", "421 4.3.2 shutting down", Outcome.DEFERRED, 1),
    ("dot", "554 5.7.1 looks like spam", Outcome.REJECTED, 1),
    ("dot", "252 perhaps", Outcome.UNCLEAR, 1),
    ("dot", "354 more", Outcome.UNCLEAR, 1),
    ("dot", "hello?", Outcome.UNCLEAR, 1),
    ("quit", "500 5.5.1 no", Outcome.ACCEPTED, 1),
]


@pytest.mark.parametrize(("phase", "text", "outcome", "bodies"), ANSWERS, ids=[f"{a[0]}-{a[1][:9]}" for a in ANSWERS])
async def test_an_answer_means_what_the_table_says(
    phase: str, text: str, outcome: Outcome, bodies: int, record_property: RecordProperty
) -> None:
    script = {phase: Say(text, close=text.startswith("421"))}
    if phase == "helo":
        script["ehlo"] = Say("502 5.5.1 not implemented")
    with ScriptedSmtp(script) as server:
        result = await attempt(server)
    assert result.outcome is outcome
    assert server.bodies == bodies
    record_property("fault_row", fault_row(f"smtp {phase}: {text}", result, server.bodies))
    if outcome not in (Outcome.ACCEPTED, Outcome.UNCLEAR) and text[0].isdigit():
        assert text.partition(" ")[0] in result.reason


BREAKS: list[tuple[str, Hang | Drop, Outcome, int]] = [
    (phase, step, Outcome.DEFERRED, 0)
    for phase in ("connect", "ehlo", "mail", "rcpt", "data")
    for step in (Hang(), Drop(), Drop(reset=True))
] + [
    ("body", Hang(), Outcome.UNCLEAR, 0),
    ("body", Drop(), Outcome.UNCLEAR, 0),
    ("body", Drop(reset=True), Outcome.UNCLEAR, 0),
    ("dot", Hang(), Outcome.UNCLEAR, 1),
    ("dot", Drop(), Outcome.UNCLEAR, 1),
    ("dot", Drop(reset=True), Outcome.UNCLEAR, 1),
    ("quit", Hang(), Outcome.ACCEPTED, 1),
    ("quit", Drop(), Outcome.ACCEPTED, 1),
    ("quit", Drop(reset=True), Outcome.ACCEPTED, 1),
]


@pytest.mark.parametrize(("phase", "step", "outcome", "bodies"), BREAKS, ids=[f"{b[0]}-{b[1]}" for b in BREAKS])
async def test_a_broken_connection_is_in_doubt_only_once_the_body_went_out(
    phase: str, step: Hang | Drop, outcome: Outcome, bodies: int, record_property: RecordProperty
) -> None:
    with ScriptedSmtp({phase: step}) as server:
        result = await attempt(server, **QUICK)
    assert result.outcome is outcome
    assert server.bodies == bodies
    assert server.connections == 1
    record_property("fault_row", fault_row(f"smtp {phase}: {step}", result, server.bodies))


async def test_nobody_listening_is_provably_not_taken() -> None:
    port = refused_port()
    async with transport(port) as one:
        result = await one.send(letter())
        check = await one.check(at_most_s=10)
    assert result.outcome is Outcome.DEFERRED
    assert result.reason == f"connect: connection refused ({HOST}:{port}); nothing was handed over"
    assert check.what == result.reason


async def test_a_host_without_an_address_is_named() -> None:
    one = SmtpTransport("nobody.invalid", 587)
    result = await one.send(letter())
    await one.close()
    assert result.outcome is Outcome.DEFERRED
    assert result.reason.startswith("connect: the host name ")
    assert result.reason.endswith(" (nobody.invalid:587); nothing was handed over")


async def test_an_answer_after_the_first_deadline_still_counts_after_the_final_dot() -> None:
    with ScriptedSmtp({"dot": Say(delay_s=2.0)}) as server:
        result = await attempt(server, deadline_s=1.5, dot_deadline_s=15.0)
    assert (result.outcome, server.bodies) == (Outcome.ACCEPTED, 1)


async def test_small_delays_that_add_up_still_end_at_the_deadline() -> None:
    slow = Say(delay_s=0.5)
    with ScriptedSmtp({"connect": slow, "ehlo": slow, "mail": slow, "rcpt": slow, "data": slow}) as server:
        result = await attempt(server, **QUICK)
    assert (result.outcome, server.bodies) == (Outcome.DEFERRED, 0)
    assert server.commands["data"] == 0


@pytest.mark.parametrize(
    ("phase", "text", "suppress"),
    [
        ("rcpt", "550 5.1.1 no such user", True),
        ("rcpt", "550-5.1.1 no such\r\n550 5.1.1 user", True),
        ("rcpt", "556 5.1.10 takes no mail", True),
        ("dot", "550 5.1.1 no such user", True),
        ("rcpt", "450 4.1.1 not yet", False),
        ("rcpt", "550 5.1.8 bad sender", False),
        ("rcpt", "550 5.7.1 relay access denied", False),
        ("rcpt", "550 no such user", False),
        ("mail", "550 5.1.1 no such user", False),
    ],
)
async def test_only_a_mailbox_that_does_not_exist_is_suppressed(phase: str, text: str, suppress: bool) -> None:
    with ScriptedSmtp({phase: Say(text)}) as server:
        assert (await attempt(server)).suppress is suppress


@pytest.mark.parametrize(
    "text",
    [
        "550 5.1.1 <ann@example.com>: unknown",
        "550 5.1.1 ann@example.com unknown",
        "550 5.1.1 mailbox ann unknown",
        "550 5.1.1 see https://x.example/?rcpt=ANN%40example.com",
        "550 5.1.1 bounce+ann=example.com@relay.example",
        "550 5.1.1 a\u202enn@example.com",
        "250 2.0.0 queued for ann@example.com",
    ],
)
async def test_what_a_server_echoes_of_the_address_is_not_repeated(text: str) -> None:
    with ScriptedSmtp({"rcpt" if text[0] == "5" else "dot": Say(text)}) as server:
        result = await attempt(server)
    told = f"{result.reason} {result.receipt}".lower()
    assert "example.com" not in told
    assert "ann" not in told.replace("channel", "")


async def test_the_rest_of_what_the_server_says_reaches_the_operator_on_one_line() -> None:
    with ScriptedSmtp({"rcpt": Say("554-5.7.1 blocked, see\r\n554 5.7.1 https://list.example/why")}) as server:
        result = await attempt(server)
    assert result.reason == "rcpt: the mail server answered 554 5.7.1, blocked, see 5.7.1 https://list.example/why"


@pytest.mark.parametrize("phase", ["mail", "dot"])
async def test_cancellation_passes_through_and_sends_nothing_again(phase: str) -> None:
    with ScriptedSmtp({phase: Hang()}) as server:
        async with transport(server.port) as one:
            sending = asyncio.create_task(one.send(letter()))
            await _until(lambda: server.commands[phase] == 1)
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
        assert server.bodies == (phase == "dot")
        assert server.connections == 1


async def test_a_non_ascii_local_part_is_refused_before_any_connection() -> None:
    with ScriptedSmtp() as server:
        async with transport(server.port) as one:
            assert not one.smtputf8
            result = await one.send(letter("jörg@example.com"))
    assert result.outcome is Outcome.REJECTED
    assert "SMTPUTF8" in result.reason
    assert server.connections == 0


async def test_an_international_domain_goes_out_as_its_ascii_form() -> None:
    with ScriptedSmtp() as server:
        async with transport(server.port) as one:
            assert (await one.send(letter("ann@bücher.example"))).outcome is Outcome.ACCEPTED
    assert server.recipients == ["ann@xn--bcher-kva.example"]


async def test_letters_after_one_another_share_a_connection_without_extra_commands() -> None:
    with ScriptedSmtp() as server:
        async with transport(server.port) as one:
            for number in range(5):
                assert (await one.send(letter(number=number))).outcome is Outcome.ACCEPTED
        await _until(lambda: server.commands["quit"] == 1)
    assert (server.connections, server.bodies) == (1, 5)
    assert server.commands["ehlo"] == 1
    assert server.commands["rset"] == server.commands["noop"] == 0


REUSED: list[tuple[str, Any]] = [
    ("mail", [OK, Drop()]),
    ("mail", [OK, Drop(reset=True)]),
    ("mail", [OK, Hang()]),
    ("mail", [OK, Say("421 4.4.2 idle too long", close=True)]),
    ("mail", [OK, Say("450 4.7.1 too many letters in one session")]),
    ("rcpt", [OK, Drop()]),
    ("data", [OK, Drop()]),
    ("dot", [Say("250 2.0.0 ok", close=True)]),
]


@pytest.mark.parametrize(("phase", "steps"), REUSED, ids=[f"{p}-{s[-1]}" for p, s in REUSED])
async def test_a_kept_connection_that_is_dead_is_replaced_within_the_attempt(phase: str, steps: Any) -> None:
    with ScriptedSmtp({phase: steps}) as server:
        async with transport(server.port, deadline_s=1.5) as one:
            assert (await one.send(letter(number=1))).outcome is Outcome.ACCEPTED
            assert (await one.send(letter(number=2))).outcome is Outcome.ACCEPTED
    assert (server.connections, server.bodies) == (2, 2)
    assert len({received.data for received in server.received}) == 2


async def test_on_a_kept_connection_too_the_body_goes_out_once_at_most() -> None:
    with ScriptedSmtp({"dot": [OK, Drop(), OK]}) as server:
        async with transport(server.port) as one:
            assert (await one.send(letter(number=1))).outcome is Outcome.ACCEPTED
            assert (await one.send(letter(number=2))).outcome is Outcome.UNCLEAR
    assert (server.connections, server.bodies) == (1, 2)


async def test_a_refused_recipient_on_a_kept_connection_is_an_answer() -> None:
    with ScriptedSmtp({"rcpt": [OK, Say("550 5.1.1 no such user"), OK]}) as server:
        async with transport(server.port) as one:
            outcomes = [(await one.send(letter(number=n))).outcome for n in range(3)]
    assert outcomes == [Outcome.ACCEPTED, Outcome.REJECTED, Outcome.ACCEPTED]
    assert (server.connections, server.bodies) == (2, 2)


async def test_a_server_that_has_gone_is_deferred_even_with_a_kept_connection() -> None:
    with ScriptedSmtp() as server:
        one = SmtpTransport(HOST, server.port)
        assert (await one.send(letter(number=1))).outcome is Outcome.ACCEPTED
    assert (await one.send(letter(number=2))).outcome is Outcome.DEFERRED
    await one.close()
    assert server.bodies == 1


async def test_many_at_once_each_arrive_once_and_at_their_own_address() -> None:
    people = [f"user{n}@example.com" for n in range(200)]
    gate = asyncio.Semaphore(64)

    async def send(one: SmtpTransport, number: int) -> Outcome:
        async with gate:
            return (await one.send(letter(people[number], number=number))).outcome

    with ScriptedSmtp() as server:
        async with transport(server.port) as one:
            outcomes = await asyncio.gather(*(send(one, n) for n in range(len(people))))
    assert set(outcomes) == {Outcome.ACCEPTED}
    assert sorted(server.recipients) == sorted(people)
    assert server.connections <= 64
    for received in server.received:
        assert email.message_from_bytes(received.data)["To"] == received.recipients[0]


async def test_the_deadline_covers_both_waits() -> None:
    async with transport(1, deadline_s=7.0, dot_deadline_s=11.0) as one:
        assert one.longest_s(60.0) == 18.0
        assert one.longest_s(5.0) == 10.0
        assert one.name == "smtp"


LOGIN = ("mailer", "s3cret-pass")


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
async def test_credentials_go_out_over_tls(tmp_path: Path, tls: str) -> None:
    server_side, client_side = tls_pair(tmp_path)
    with ScriptedSmtp(tls=server_side, implicit_tls=tls == "implicit", login=LOGIN) as server:
        result = await attempt(server, username=LOGIN[0], password=LOGIN[1], tls=tls, tls_context=client_side)
    assert (result.outcome, server.bodies) == (Outcome.ACCEPTED, 1)
    assert server.commands["auth"] == 1


async def test_credentials_never_go_out_in_clear_text() -> None:
    with ScriptedSmtp(login=LOGIN) as server:
        none = await attempt(server, username=LOGIN[0], password=LOGIN[1])
        not_offered = await attempt(server, username=LOGIN[0], password=LOGIN[1], tls="starttls")
        refused = ScriptedSmtp()
    assert none.outcome is not_offered.outcome is Outcome.PAUSED
    assert (server.commands["auth"], server.bodies) == (0, 0)
    assert refused.bodies == 0


TLS_FAULTS: list[tuple[Callable[[], dict[str, Any]], Outcome]] = [
    (lambda: {"starttls": Say("454 4.7.0 not now")}, Outcome.DEFERRED),
    (lambda: {"starttls": Say("501 5.5.4 never")}, Outcome.PAUSED),
    (lambda: {"starttls": Drop()}, Outcome.DEFERRED),
    (lambda: {"starttls": Hang()}, Outcome.DEFERRED),
    (lambda: {"auth": Say("454 4.7.0 not now, mailer s3cret-pass")}, Outcome.DEFERRED),
    (lambda: {"auth": Say("535 5.7.8 wrong: mailer s3cret-pass")}, Outcome.PAUSED),
    (lambda: {"auth": Drop()}, Outcome.DEFERRED),
]


@pytest.mark.parametrize(("script", "outcome"), TLS_FAULTS, ids=[str(make()) for make, _ in TLS_FAULTS])
async def test_trouble_with_tls_or_the_account_hands_nothing_over(
    tmp_path: Path, script: Callable[[], dict[str, Any]], outcome: Outcome
) -> None:
    server_side, client_side = tls_pair(tmp_path)
    with ScriptedSmtp(script(), tls=server_side, login=LOGIN) as server:
        result = await attempt(
            server, username=LOGIN[0], password=LOGIN[1], tls="starttls", tls_context=client_side, **QUICK
        )
    assert (result.outcome, server.bodies) == (outcome, 0)
    assert server.commands["auth"] <= 1
    assert LOGIN[1] not in result.reason
    assert LOGIN[0] not in result.reason.replace("mail server", "")


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
@pytest.mark.parametrize("name", ["127.0.0.2", "untrusted"])
async def test_a_certificate_that_is_not_valid_pauses_before_any_secret(tmp_path: Path, tls: str, name: str) -> None:
    server_side, client_side = tls_pair(tmp_path, name="127.0.0.2" if name == "127.0.0.2" else HOST)
    trust = client_side if name == "127.0.0.2" else None
    with ScriptedSmtp(tls=server_side, implicit_tls=tls == "implicit", login=LOGIN) as server:
        result = await attempt(server, username=LOGIN[0], password=LOGIN[1], tls=tls, tls_context=trust)
    assert result.outcome is Outcome.PAUSED
    assert (server.commands["auth"], server.bodies) == (0, 0)


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.005)
