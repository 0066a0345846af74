"""Resend: what we say to it, held to its own specification, and what its answers mean (table 2d).

It recognises a letter by its key, so an attempt of which nobody can tell may be repeated as it was.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from ledger.lifecycle import Outcome
from mail.envelope import message_id
from mail.transports.http import Answer
from mail.transports.resend import outcome_of, request_of
from tests.http_faults import TAKEN_BY_RESEND, Close, FaultyApi, Hang
from tests.http_faults import Answer as Says
from tests.mail.providers.conftest import KEY, Made
from tests.mail.samples import letter
from tests.shared import shared
from tests.sinks import refused_port

ACCEPTED, REJECTED, DEFERRED, PAUSED, UNCLEAR = Outcome
HTML = "<html>"


def error(name: str) -> str:
    return json.dumps({"statusCode": 400, "name": name, "message": "in words"})


@pytest.fixture(scope="module")
def specification() -> Any:
    spec = json.loads(shared("specs/resend.json").read_text())
    schema = spec["components"]["schemas"]["SendEmailRequest"]
    return jsonschema.Draft202012Validator({**schema, "components": spec["components"]})


@pytest.mark.parametrize("title", ["Developer", "Dev\r\nBcc: v@example.com\x00<script>", "x" * 5000])
def test_every_letter_is_a_request_that_the_specification_allows(title: str, specification: Any) -> None:
    request = request_of(letter(title=title))
    assert [found.message for found in specification.iter_errors(request)] == []
    assert request["to"] == ["ann@example.com"]
    assert request["from"] == '"Scout" <jobs@scout.example.com>'
    assert request["headers"]["Message-ID"] == message_id(letter())
    assert request["headers"]["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert request["tags"] == [{"name": "delivery_id", "value": letter().outside_id}]


async def test_the_same_letter_goes_under_the_same_key_with_equal_bytes(resend: Made) -> None:
    with FaultyApi([Close(), TAKEN_BY_RESEND]) as api:
        transport = resend(api.url)
        first, second = await transport.send(letter()), await transport.send(letter())
    assert (first.outcome, first.repeatable) == (UNCLEAR, True)
    assert (second.outcome, second.receipt) == (ACCEPTED, "r7")
    assert len(api.copies) == 1
    assert {posted.headers["idempotency-key"] for posted in api.received} == {letter().outside_id}
    assert {posted.headers["authorization"] for posted in api.received} == {f"Bearer {KEY}"}
    assert {posted.path for posted in api.received} == {"/emails"}


@pytest.mark.parametrize(
    ("status", "body", "outcome", "repeatable"),
    [
        (200, '{"id": "r7"}', ACCEPTED, False),
        (200, "", ACCEPTED, False),
        (201, '{"id": "r7"}', UNCLEAR, False),
        (302, "", PAUSED, False),
        *[(status, error("validation_error"), REJECTED, False) for status in (400, 405, 422)],
        *[(status, error("invalid_api_key"), PAUSED, False) for status in (401, 403, 404)],
        *[(status, HTML, PAUSED, False) for status in (400, 401, 403, 404, 413, 422)],
        (422, error("invalid_from_address"), PAUSED, False),
        (408, HTML, UNCLEAR, True),
        (409, error("invalid_idempotent_request"), UNCLEAR, False),
        (409, error("concurrent_idempotent_requests"), UNCLEAR, True),
        (409, error("resource_locked"), UNCLEAR, True),
        (409, HTML, UNCLEAR, False),
        (429, error("rate_limit_exceeded"), DEFERRED, False),
        (429, error("daily_quota_exceeded"), PAUSED, False),
        (429, error("monthly_quota_exceeded"), PAUSED, False),
        (429, HTML, DEFERRED, False),
        (451, error("security_error"), UNCLEAR, False),
        *[(status, body, UNCLEAR, True) for status in (500, 502, 503, 504) for body in (error("x"), HTML, "")],
        (400, '{"name": 1}', PAUSED, False),
        (400, "[]", PAUSED, False),
    ],
)
def test_every_status_has_its_outcome_and_says_whether_it_may_be_repeated(
    status: int, body: str, outcome: Outcome, repeatable: bool
) -> None:
    attempt = outcome_of(Answer(status, {}, body.encode()), lambda said: f"{status}: {said}")
    assert (attempt.outcome, attempt.repeatable) == (outcome, repeatable)
    assert attempt.reason.startswith(f"{status}: ") or outcome is ACCEPTED


async def test_a_429_tells_how_long_to_wait(resend: Made) -> None:
    with FaultyApi(Says(429, error("rate_limit_exceeded"), headers=(("Retry-After", "2"),))) as api:
        attempt = await resend(api.url).send(letter())
    assert (attempt.outcome, attempt.retry_after_s) == (DEFERRED, 2)


async def test_a_letter_that_never_left_is_deferred_and_nothing_needs_repeating(resend: Made) -> None:
    attempt = await resend(f"http://127.0.0.1:{refused_port()}").send(letter())
    assert (attempt.outcome, attempt.repeatable) == (DEFERRED, False)


async def test_an_attempt_itself_never_repeats(resend: Made) -> None:
    with FaultyApi(Hang()) as api:
        attempt = await resend(api.url, deadline_s=1.5).send(letter())
        assert (attempt.outcome, attempt.repeatable, api.bodies) == (UNCLEAR, True, 1)
