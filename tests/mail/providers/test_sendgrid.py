"""SendGrid: what we say to it, held to its own specification, and what its answers mean (tables 2b, 1)."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import jsonschema
import listunsub
import pytest

from ledger.lifecycle import Outcome
from mail.envelope import message_id
from mail.letter import Letter
from mail.render import render_alert, render_digest
from mail.transports.http import Answer, retry_after_s
from mail.transports.sendgrid import outcome_of, request_of
from tests.http_faults import ERRORS, FaultyApi, Posted
from tests.http_faults import Answer as Says
from tests.mail.providers.conftest import KEY, Made
from tests.mail.samples import NOW, SITE, letter, row, user
from tests.shared import shared

ACCEPTED, REJECTED, DEFERRED, PAUSED, UNCLEAR = Outcome
HTML = "<html><h1>413 Request Entity Too Large</h1></html>"
NEVER_TO_BE_SET = {"x-sg-id", "x-sg-eid", "received", "dkim-signature", "content-type", "content-transfer-encoding",
                   "to", "from", "subject", "reply-to", "cc", "bcc"}  # fmt: skip


def told(said: str) -> str:
    return said


@pytest.fixture(scope="module")
def specification() -> Any:
    spec = json.loads(shared("specs/tsg_mail_v3.json").read_text())
    schema = spec["components"]["requestBodies"]["PostMailSend"]["content"]["application/json"]["schema"]
    return jsonschema.Draft202012Validator({**schema, "components": spec["components"]})


LETTERS: dict[str, Letter] = {
    "alert": letter(),
    "alert of twenty": render_alert(
        user(), [row(n) for n in range(20)], outside_id="a" * 32, at=NOW, site=SITE
    ),
    "digest": render_digest(
        user(), [row()], more=3, period="2026-11-30", outside_id="b" * 32, at=NOW, site=SITE
    ),
    "hostile": letter(title="Dev\r\nBcc: victim@example.com\x00\u2028<script>" + "x" * 5000, company="\u202egnp.exe"),
    "umlauts": letter("ann@b\u00fccher.example", title="Entwickler \u2013 K\u00f6ln"),
}  # fmt: skip


@pytest.mark.parametrize("name", LETTERS)
def test_every_letter_is_a_request_that_the_specification_allows(name: str, specification: Any) -> None:
    request = request_of(LETTERS[name])
    assert [error.message for error in specification.iter_errors(request)] == []
    assert not {header.lower() for header in request["headers"]} & NEVER_TO_BE_SET
    assert all(value.isascii() and value.isprintable() for value in request["headers"].values())


@pytest.mark.parametrize("name", LETTERS)
def test_a_request_has_one_recipient_and_the_letters_id_outside(name: str) -> None:
    """B76, B68: nobody sees another address, whatever a title says."""
    (personalization,) = request_of(LETTERS[name])["personalizations"]
    assert len(personalization["to"]) == 1
    assert set(personalization) == {"to", "custom_args"}
    assert personalization["custom_args"] == {"delivery_id": LETTERS[name].outside_id}


def test_the_text_comes_before_the_html_and_all_tracking_is_off() -> None:
    request = request_of(letter())
    assert [part["type"] for part in request["content"]] == ["text/plain", "text/html"]
    assert request["tracking_settings"] == {
        "click_tracking": {"enable": False, "enable_text": False},
        "open_tracking": {"enable": False},
        "subscription_tracking": {"enable": False},
        "ganalytics": {"enable": False},
    }
    assert "asm" not in request


def test_the_headers_are_those_of_every_transport_and_the_link_to_unsubscribe_is_whole() -> None:
    headers = request_of(letter())["headers"]
    assert headers["Message-ID"] == message_id(letter())
    assert headers["Date"] == "Mon, 30 Nov 2026 08:00:00 +0000"
    assert headers["List-Unsubscribe"] == "<https://scout.example.com/unsubscribe/t0ken-of-ann>"
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert headers["Auto-Submitted"] == "auto-generated"
    assert listunsub.parse(headers["List-Unsubscribe"], strict=True) == [
        "https://scout.example.com/unsubscribe/t0ken-of-ann"
    ]
    assert listunsub.is_one_click(headers["List-Unsubscribe-Post"])


def test_a_letter_rendered_twice_makes_equal_bytes() -> None:
    assert json.dumps(request_of(letter())) == json.dumps(request_of(letter()))


def test_the_sender_has_its_name_and_the_recipient_none() -> None:
    request = request_of(letter("b@b\u00fccher.example"))
    assert request["from"] == {"name": "Scout", "email": "jobs@scout.example.com"}
    assert request["personalizations"][0]["to"] == [{"email": "b@xn--bcher-kva.example"}]


async def test_what_arrives_is_the_packages_json_with_our_key_once(sendgrid: Made) -> None:
    with FaultyApi() as api:
        attempt = await sendgrid(api.url).send(letter())
    (posted,) = api.received
    assert posted.json == request_of(letter())
    assert posted.headers["authorization"] == f"Bearer {KEY}"
    assert posted.headers["accept"] == "application/json"  # without it SendGrid answers 406
    assert posted.headers["content-type"] == "application/json"
    assert attempt.receipt == "m7"


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (202, "", ACCEPTED),
        (200, "", PAUSED),  # sandbox: checked, not sent
        (201, "", UNCLEAR),
        (204, "", UNCLEAR),
        (301, "", PAUSED),
        (302, ERRORS, PAUSED),
        (304, "", PAUSED),
        *[(status, ERRORS, REJECTED) for status in (400, 404, 405, 406, 413, 415)],
        *[(status, HTML, PAUSED) for status in (400, 401, 403, 404, 405, 406, 413, 415, 451, 418)],
        *[(status, ERRORS, PAUSED) for status in (401, 403, 451)],
        (408, ERRORS, UNCLEAR),
        (408, HTML, UNCLEAR),
        (409, ERRORS, UNCLEAR),  # not documented: nobody can tell
        (422, ERRORS, UNCLEAR),
        (429, ERRORS, DEFERRED),
        (429, HTML, DEFERRED),
        (400, '{"message": "no errors here"}', PAUSED),
        (400, '{"errors": []}', PAUSED),
        (400, '{"errors": "text"}', PAUSED),
        (400, '[{"errors": 1}]', PAUSED),
        (400, "{" * 100_000, PAUSED),
        *[(status, body, UNCLEAR) for status in (500, 501, 502, 503, 504, 520, 599) for body in (ERRORS, HTML, "")],
    ],
)
def test_every_status_has_its_outcome_and_a_reason(status: int, body: str, outcome: Outcome) -> None:
    """B75: an error page instead of JSON is read without a crash, and its status is kept."""
    attempt = outcome_of(Answer(status, {}, body.encode()), lambda said: f"{status}: {said}")
    assert attempt.outcome is outcome
    assert not attempt.repeatable
    assert attempt.reason.startswith(f"{status}: ") or outcome is ACCEPTED


def test_a_used_up_plan_pauses_by_either_of_its_statuses() -> None:
    """B73."""
    body = json.dumps({"errors": [{"message": "Maximum credits exceeded"}]}).encode()
    assert {outcome_of(Answer(status, {}, body), told).outcome for status in (401, 403, 429)} == {PAUSED}


def test_a_sender_that_is_refused_pauses_since_no_other_letter_would_fare_better() -> None:
    errors = [{"message": "Does not contain a valid address.", "field": "from.email"}]
    assert outcome_of(Answer(400, {}, json.dumps({"errors": errors}).encode()), told).outcome is PAUSED


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "99999"}, 3600),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": formatdate(1100, usegmt=True)}, 100),
        ({"x-ratelimit-reset": "1030"}, 30),
        ({"x-ratelimit-reset": "900"}, 0),
        ({"x-ratelimit-reset": "never"}, None),
        ({"x-ratelimit-reset": "9" * 30}, 3600),
        ({"x-ratelimit-reset": "1030", "retry-after": "7"}, 7),
        ({"x-ratelimit-reset": "1030", "date": formatdate(1025, usegmt=True)}, 5),  # by the server's own clock
        ({"x-ratelimit-reset": "1030", "date": "nonsense"}, 30),
    ],
)
def test_the_time_to_come_back_is_read_from_either_header_and_bounded(
    headers: dict[str, str], wait_s: float | None
) -> None:
    assert retry_after_s(headers, now_s=lambda: 1000.0) == wait_s


async def test_a_429_tells_how_long_to_wait(sendgrid: Made) -> None:
    reset = str(int(time.time()) + 30)
    with FaultyApi(Says(429, ERRORS, headers=(("X-RateLimit-Reset", reset),))) as api:
        attempt = await sendgrid(api.url).send(letter())
    assert attempt.outcome is DEFERRED
    assert attempt.retry_after_s is not None
    assert 25 <= attempt.retry_after_s <= 31


async def test_the_last_letter_that_the_rate_limit_allows_says_how_long_to_wait(sendgrid: Made) -> None:
    limits = (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", str(int(time.time()) + 30)))
    with FaultyApi([Says(202, headers=limits), Says(202)]) as api:
        transport = sendgrid(api.url)
        first, second = await transport.send(letter()), await transport.send(letter(number=1))
    assert first.outcome is second.outcome is ACCEPTED
    assert first.retry_after_s is not None
    assert second.retry_after_s is None


async def test_an_address_that_cannot_be_written_to_is_rejected_and_nothing_leaves(sendgrid: Made) -> None:
    with FaultyApi() as api:
        transport = sendgrid(api.url)
        for address in ("not-an-address", "\u00fcmlaut@example.com", "a@exa mple.com"):
            assert (await transport.send(replace(letter(), to=address))).outcome is REJECTED
        assert api.connections == 0


async def test_many_letters_at_once_each_hold_their_own(sendgrid: Made) -> None:
    """B88."""

    people = {f"p{n}@example.com": f"Job {n} of its own" for n in range(60)}
    with FaultyApi(by=lambda _: Says(202, after_s=0.01)) as api:
        transport = sendgrid(api.url)
        sends = (
            transport.send(letter(address, number=n, title=title)) for n, (address, title) in enumerate(people.items())
        )
        attempts = await asyncio.gather(*sends)
    assert {attempt.outcome for attempt in attempts} == {ACCEPTED}
    assert {posted.to: subject(posted) for posted in api.received} == {
        address: f"1 job fits: {title}" for address, title in people.items()
    }
    assert api.bodies == len(people)


def subject(posted: Posted) -> str:
    return str(posted.json["subject"])
