"""SendGrid's events: only signed ones count, a stop is never weakened, and a letter that it has is settled."""

from __future__ import annotations

import base64
import itertools
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from app import webhooks
from app.webhooks import is_signed
from ledger import addresses, ids, users
from ledger.lifecycle import Attempt, DigestState, Outcome, State
from ledger.records import Mode, Stop
from ledger.store import Unreachable
from mail.letter import Letter
from tests.faults import Go
from tests.shared import shared
from tests.world import World, item

PRIVATE = ec.generate_private_key(ec.SECP256R1())
KEY = base64.b64encode(
    PRIVATE.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
).decode()
NEWS = "Python developer"

# The vector that SendGrid publishes with its libraries.
THEIR_KEY = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eN"
    "Ec6wEA3F+g=="
)
THEIR_SIGNATURE = "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM="
THEIR_BODY = (
    b'[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",'
    b'"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",'
    b'"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0",'
    b'"smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n'
)


@pytest.fixture
async def hooked(tmp_path: Path) -> AsyncIterator[World]:
    async with World(tmp_path, SCOUT_SENDGRID_WEBHOOK_KEY=KEY) as made:
        yield made


def signature_of(body: bytes, timestamp: str = "1796000000") -> dict[str, str]:
    signed = PRIVATE.sign(timestamp.encode() + body, ec.ECDSA(hashes.SHA256()))
    return {webhooks.SIGNATURE: base64.b64encode(signed).decode(), webhooks.TIMESTAMP: timestamp}


async def post(world: World, events: Any, *, headers: dict[str, str] | None = None) -> httpx2.Response:
    """Signed as SendGrid does, unless other headers are given."""
    body = events if isinstance(events, bytes) else json.dumps(events).encode() + b"\r\n"
    transport = httpx2.ASGITransport(app=world.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://scout.test") as client:
        told = signature_of(body) if headers is None else headers
        return await client.post("/webhooks/sendgrid", content=body, headers=told)


def event(kind: str, address: str = "ann@example.com", **more: Any) -> dict[str, Any]:
    return {"email": address, "event": kind, "timestamp": 1796000000, "sg_event_id": "x", "sg_message_id": "m7", **more}


async def stop_of(world: World, address: str) -> Stop | None:
    found = await users.read(world.store, ids.uid_of(address))
    assert found is not None
    return found.record.stopped


def test_the_vector_that_sendgrid_publishes_is_accepted_and_any_other_byte_refused() -> None:
    assert is_signed(THEIR_BODY, signature=THEIR_SIGNATURE, timestamp="1600112502", key=THEIR_KEY)
    assert not is_signed(THEIR_BODY.strip(), signature=THEIR_SIGNATURE, timestamp="1600112502", key=THEIR_KEY)
    assert not is_signed(THEIR_BODY, signature=THEIR_SIGNATURE, timestamp="1600112503", key=THEIR_KEY)
    assert not is_signed(THEIR_BODY, signature=THEIR_SIGNATURE, timestamp="1600112502", key=KEY)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {webhooks.SIGNATURE: "", webhooks.TIMESTAMP: ""},
        {webhooks.SIGNATURE: "not base64!", webhooks.TIMESTAMP: "1"},
        {webhooks.SIGNATURE: "AAAA", webhooks.TIMESTAMP: "1"},
        signature_of(b"another body"),
        {**signature_of(b"[]"), webhooks.TIMESTAMP: "2"},
    ],
)
async def test_a_wrong_signature_is_refused_and_changes_nothing(headers: dict[str, str], hooked: World) -> None:
    await hooked.user("ann@example.com")
    answer = await post(hooked, [event("bounce")], headers=headers)
    assert answer.status_code == 401
    assert await stop_of(hooked, "ann@example.com") is None


async def test_without_a_key_no_event_is_trusted(world: World) -> None:
    await world.user("ann@example.com")
    answer = await post(world, [event("bounce")])
    assert answer.status_code == 503
    assert "SCOUT_SENDGRID_WEBHOOK_KEY" in answer.text
    assert await stop_of(world, "ann@example.com") is None


@pytest.mark.parametrize(
    ("told", "stop"),
    [
        (event("bounce"), Stop.BOUNCED),
        (event("bounce", type="bounce"), Stop.BOUNCED),
        (event("bounce", type="blocked"), None),  # a refusal of us, for now
        (event("dropped"), Stop.BOUNCED),
        (event("dropped", reason="Bounced Address"), Stop.BOUNCED),
        (event("dropped", reason="Invalid"), Stop.BOUNCED),
        (event("dropped", reason="Unsubscribed Address"), Stop.UNSUBSCRIBED),
        (event("dropped", reason="Spam Reporting Address"), Stop.COMPLAINED),
        (event("dropped", reason="Recipient List over Package Quota"), None),
        (event("dropped", reason="Spam Content (if Spam Checker app enabled)"), None),
        (event("spamreport"), Stop.COMPLAINED),
        (event("unsubscribe"), Stop.UNSUBSCRIBED),
        (event("group_unsubscribe"), Stop.UNSUBSCRIBED),
        (event("deferred"), None),
        (event("delivered"), None),
        (event("open"), None),
        (event("click"), None),
        (event("a kind of tomorrow"), None),
    ],
    ids=lambda told: f"{told['event']} {told.get('type', told.get('reason', ''))}" if isinstance(told, dict) else "",
)
async def test_each_kind_of_event_stops_whom_it_should(told: dict[str, Any], stop: Stop | None, hooked: World) -> None:
    await hooked.user("ann@example.com")
    await hooked.user("bob@example.com")
    answer = await post(hooked, [told])
    assert answer.status_code == 200
    assert answer.json()["stopped"] == (1 if stop else 0)
    assert await stop_of(hooked, "ann@example.com") is stop
    assert await stop_of(hooked, "bob@example.com") is None


async def test_bounces_that_come_three_times_and_out_of_order_with_broken_ones_come_to_one_bounce(
    tmp_path: Path,
) -> None:
    """B78, in every order of a sample of orders."""
    events = json.loads(shared("cases/B78_events.json").read_text())
    orders = random.Random(78).sample(list(itertools.permutations(events)), 12)
    async with World(tmp_path, SCOUT_SENDGRID_WEBHOOK_KEY=KEY) as world:
        for number, order in enumerate([tuple(events), *orders]):
            address = f"user{number}@example.com"
            await world.user(address)
            own = [e | {"email": address} if isinstance(e, dict) and "email" in e else e for e in order]
            answer = await post(world, own)
            assert answer.status_code == 200
            assert answer.json() == {"status": "ok", "events": 7, "stopped": 1, "settled": 0, "skipped": 2}
            assert await stop_of(world, address) is Stop.BOUNCED
            before = await world.dump()
            assert (await post(world, own)).json()["stopped"] == 0
            assert await world.dump() == before


async def test_a_stop_holds_from_that_moment_for_alerts_and_digests(hooked: World) -> None:
    await hooked.begin()
    for address, mode in (("ann@example.com", Mode.INSTANT), ("bob@example.com", Mode.DAILY)):
        await hooked.user(address, "python", mode=mode)
    await hooked.user("cat@example.com", "python")
    hooked.after(minutes=15)
    hooked.feed(item("Gardener"), item(NEWS))
    await post(hooked, [event("spamreport", "ANN@Example.com"), event("unsubscribe", "bob@example.com")])
    await hooked.cron()
    hooked.after(hours=2)
    await hooked.cron()
    assert hooked.sent() == {("cat@example.com", NEWS): 1}


@pytest.mark.parametrize(
    "body",
    [b"", b"[", b"null", b"{}", b'"text"', b"\xff\xfe", b"[" * 100_000, b"[1, null, [], {}, {\"event\": 1}]",
     b'[{"event": "bounce"}, {"event": "bounce", "email": "not-an-address"}, {"event": "bounce", "email": 7}]',
     b'[{"event": "bounce", "email": "\\ud800@example.com"}]',
     b'[{"event": "delivered", "email": "a@example.com", "delivery_id": {"$gt": ""}}]'],
)  # fmt: skip
async def test_whatever_is_signed_and_cannot_be_read_is_skipped_with_200_so_that_the_sender_stops(
    body: bytes, hooked: World
) -> None:
    await hooked.user("ann@example.com")
    before = await hooked.dump()
    answer = await post(hooked, body)
    assert answer.status_code == 200
    assert await hooked.dump() == before


async def test_a_body_that_is_too_large_is_refused(hooked: World) -> None:
    body = b"[" + b" " * webhooks.BODY_MAX_BYTES + b"]"
    assert (await post(hooked, body)).status_code == 413


async def test_a_store_that_does_not_answer_has_the_sender_come_again(hooked: World) -> None:
    await hooked.user("ann@example.com")

    async def down(operation: str, collection: str) -> None:
        raise Unreachable("nobody answered")

    parts = hooked.app.state.parts
    hooked.spy(down)
    assert (await post(hooked, [event("bounce")])).status_code == 503
    hooked.app.state.parts = parts
    assert (await post(hooked, [event("bounce")])).status_code == 200
    assert await stop_of(hooked, "ann@example.com") is Stop.BOUNCED


async def unclear(_letter: Letter, _go: Go) -> Attempt:
    return Attempt(Outcome.UNCLEAR, "no answer in time")


async def news_that_nobody_can_tell_about(world: World, mode: Mode) -> str:
    """The outside id of Ann's letter."""
    await world.begin()
    await world.user("ann@example.com", "python", mode=mode)
    world.intercept(unclear)
    world.after(minutes=15)
    world.feed(item("Gardener"), item(NEWS))
    await world.cron()
    if mode is Mode.INSTANT:
        outside = (await world.rows())[NEWS].outside
        assert outside
        return outside
    world.after(hours=1)
    assert (await world.cron())["mail"]["unclear"] == 1
    (digest,) = await world.digests()
    return digest.outside


@pytest.mark.parametrize("kind", ["processed", "delivered", "deferred", "bounce"])
async def test_an_event_that_proves_that_the_provider_has_an_unclear_alert_settles_it(kind: str, hooked: World) -> None:
    outside = await news_that_nobody_can_tell_about(hooked, Mode.INSTANT)
    assert (await hooked.rows())[NEWS].state is State.UNCLEAR
    answers = [await post(hooked, [event(kind, delivery_id=outside)] * 2) for _ in range(2)]
    assert [answer.json()["settled"] for answer in answers] == [1, 0]
    row = (await hooked.rows())[NEWS]
    assert (row.state, row.receipt) == (State.SENT, "m7")


@pytest.mark.parametrize("kind", ["dropped", "open", "unsubscribe"])
async def test_other_events_settle_nothing(kind: str, hooked: World) -> None:
    outside = await news_that_nobody_can_tell_about(hooked, Mode.INSTANT)
    await post(hooked, [event(kind, delivery_id=outside), event("processed", delivery_id="f" * 32), event("processed")])
    assert (await hooked.rows())[NEWS].state is State.UNCLEAR


async def test_an_unclear_digest_that_the_provider_has_is_flipped_and_not_sent_again(hooked: World) -> None:
    outside = await news_that_nobody_can_tell_about(hooked, Mode.DAILY)
    sent_again = hooked.app.state.parts.transport
    begun = sent_again.begun
    answers = [await post(hooked, [event("processed", delivery_id=outside)]) for _ in range(2)]
    assert [answer.json()["settled"] for answer in answers] == [1, 0]
    (digest,) = await hooked.digests()
    assert (digest.state, (await hooked.rows())[NEWS].state) == (DigestState.SENT, State.SENT)
    for _ in range(4):
        hooked.after(hours=6)
        await hooked.cron()
    assert sent_again.begun == begun


async def test_an_event_that_overtakes_the_answer_leaves_one_letter_and_one_settled_row(hooked: World) -> None:
    """The row is still CLAIMED when the event comes; the answer then says the same, or that nobody can tell."""
    await hooked.begin()
    await hooked.user("ann@example.com", "python")
    await hooked.user("bob@example.com", "python")

    async def overtaken(letter: Letter, go: Go) -> Attempt:
        answer = await post(hooked, [event("processed", letter.to, delivery_id=letter.outside_id)])
        assert answer.json()["settled"] == 1
        attempt = await go()
        return attempt if letter.to.startswith("ann") else Attempt(Outcome.UNCLEAR, "no answer in time")

    hooked.intercept(overtaken)
    hooked.after(minutes=15)
    hooked.feed(item("Gardener"), item(NEWS))
    await hooked.cron()
    states = [(await hooked.rows(address))[NEWS].state for address in ("ann@example.com", "bob@example.com")]
    assert states == [State.SENT, State.SENT]
    hooked.after(hours=1)
    await hooked.cron()
    assert set(hooked.sent().values()) == {1}


async def test_an_event_about_an_address_that_somebody_left_behind_stops_nobody(hooked: World) -> None:
    await hooked.begin()
    uid = await hooked.user("ann@example.com", "python")
    hooked.after(minutes=15)
    hooked.feed(item("Gardener"), item(NEWS))
    await hooked.cron()
    outside = (await hooked.rows())[NEWS].outside
    assert await addresses.move(hooked.store, uid, "ann@elsewhere.example", now=hooked.now)
    await post(hooked, [event("bounce", "ann@example.com", delivery_id=outside)])
    found = await users.read(hooked.store, uid)
    assert found is not None
    assert found.record.active
    await post(hooked, [event("bounce", "Ann@Elsewhere.example")])
    found = await users.read(hooked.store, uid)
    assert found is not None
    assert found.record.stopped is Stop.BOUNCED


async def test_no_address_comes_into_the_log_or_the_stops_reason(
    hooked: World, capfd: pytest.CaptureFixture[str]
) -> None:
    await hooked.user("ann@example.com")
    await post(hooked, [event("bounce", status="5.1.1", reason="550 no ann@example.com here")])
    found = await users.read(hooked.store, ids.uid_of("ann@example.com"))
    assert found is not None
    assert found.record.stop_detail == "bounce 5.1.1"
    assert "ann@" not in "".join(capfd.readouterr())
