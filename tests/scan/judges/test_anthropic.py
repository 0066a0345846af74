"""The real SDK against a server on loopback: each way a call can go is one end, and one call is one request."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from ledger.records import Job, JobState, Search, User
from scan.judges.anthropic import AnthropicJudge
from scan.prompt import SYSTEM, TOOL, question
from scan.verdict import End, Question, Usage
from tests.messages_api import MessagesApi, Play

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
KEY = "sk-ant-not-a-real-key"
ANN = User(
    "uid-of-ann", "ann@example.com", token="t", searches={"default": Search(("python",))}, about="I like snakes."
)


def job(title: str, text: str = "We use Python.") -> Job:
    return Job(f"j1{title}", "board", "board", title, "https://x.example", text, NOW, JobState.OPEN, f"j1{title}")


ASKED = question(ANN, [("a1", job("One")), ("b2", job("Two"))])


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        yield api


@pytest.fixture
async def judge(api: MessagesApi) -> AsyncIterator[AnthropicJudge]:
    judge = AnthropicJudge(KEY, model="claude-haiku-5-5", base_url=api.url)
    yield judge
    await judge.close()


async def test_an_answer_is_the_tools_input_and_its_tokens_are_counted_in_four_kinds(
    api: MessagesApi, judge: AnthropicJudge
) -> None:
    first = await judge.ask(ASKED, at_most_s=20)
    again = await judge.ask(ASKED, at_most_s=20)
    assert first.end is End.ANSWERED
    assert isinstance(first.said, dict)
    assert [verdict["name"] for verdict in first.said["verdicts"]] == ["a1", "b2"]
    assert first.usage.cache_write_tokens > 500
    assert first.usage.cache_read_tokens == 0
    assert (again.usage.cache_write_tokens, again.usage.cache_read_tokens) == (0, first.usage.cache_write_tokens)
    assert again.usage.all_input_tokens == first.usage.all_input_tokens
    assert len(api.calls) == 2


async def test_a_request_names_the_tool_and_marks_both_prefixes_for_the_cache(
    api: MessagesApi, judge: AnthropicJudge
) -> None:
    await judge.ask(ASKED, at_most_s=20)
    (call,) = api.calls
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.body["model"] == "claude-haiku-5-5"
    assert call.body["tool_choice"]["name"] == call.body["tools"][0]["name"] == TOOL
    assert call.body["system"] == [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]
    profile, postings = call.body["messages"][0]["content"]
    assert "I like snakes." in profile["text"]
    assert profile["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in postings
    assert call.body.get("stream", False) is False
    assert not {"temperature", "top_p", "top_k"} & set(call.body)
    assert "ann@example.com" not in str(call.body)
    assert "uid-of-ann" not in str(call.body)


async def test_a_model_that_always_thinks_is_not_forced_to_its_tool(api: MessagesApi) -> None:
    judge = AnthropicJudge(KEY, model="claude-opus-5-5", base_url=api.url)
    await judge.ask(ASKED, at_most_s=20)
    await judge.close()
    assert api.calls[0].body["tool_choice"]["type"] == "auto"
    assert "thinking" not in api.calls[0].body


@pytest.mark.parametrize(
    ("play", "end", "reason"),
    [
        (Play(429, {"retry-after": "7"}, kind="rate_limit_error"), End.BUSY, "HTTP 429 rate_limit_error"),
        (Play(529, kind="overloaded_error"), End.BUSY, "HTTP 529 overloaded_error"),
        (Play(500, kind="api_error"), End.UNCLEAR, "HTTP 500 api_error"),
        (Play(503), End.UNCLEAR, "HTTP 503 error"),
        (Play(504, kind="timeout_error"), End.UNCLEAR, "HTTP 504 timeout_error"),
        (Play(400, kind="invalid_request_error"), End.DECLINED, "HTTP 400 invalid_request_error"),
        (Play(413, kind="request_too_large"), End.DECLINED, "HTTP 413 request_too_large"),
        (Play(401, kind="authentication_error"), End.REFUSED, "HTTP 401 authentication_error"),
        (Play(403, kind="permission_error"), End.REFUSED, "HTTP 403 permission_error"),
        (Play(404, kind="not_found_error"), End.REFUSED, "HTTP 404 not_found_error"),
        (Play(302, {"location": "http://127.0.0.1:1/"}), End.REFUSED, "HTTP 302 error"),
        (Play(529, raw=b"<html>busy</html>"), End.BUSY, "HTTP 529"),
        (Play(stop_reason="max_tokens", said={"verdicts": []}), End.CUT, "the answer was cut"),
        (Play(stop_reason="refusal", text=""), End.DECLINED, "the model declined to answer"),
        (Play(drop="unanswered"), End.UNCLEAR, "the connection was lost"),
        (Play(drop="halfway"), End.UNCLEAR, "the connection was lost"),
    ],
)
async def test_each_fault_has_its_end_and_costs_one_request(
    api: MessagesApi, judge: AnthropicJudge, play: Play, end: End, reason: str
) -> None:
    api.plays = [play]
    reply = await judge.ask(ASKED, at_most_s=20)
    assert (reply.end, reply.reason) == (end, reason)
    assert len(api.calls) == 1
    assert KEY not in f"{reply}"
    assert "secret" not in reply.reason


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [("7", 7.0), ("0", 0.0), ("-3", 0.0), ("2.5", 2.5), ("1e9", 3600.0), ("nan", None), ("soon", None),
     ("Mon, 30 Nov 2020 08:00:00 GMT", 0.0)],
)  # fmt: skip
async def test_the_wait_that_the_provider_asks_for_is_read_and_bounded(
    api: MessagesApi, judge: AnthropicJudge, text: str, wait_s: float | None
) -> None:
    api.plays = [Play(429, {"retry-after": text})]
    assert (await judge.ask(ASKED, at_most_s=20)).retry_after_s == wait_s


async def test_a_slow_answer_ends_at_its_deadline_as_unclear(api: MessagesApi, judge: AnthropicJudge) -> None:
    await judge.ask(ASKED, at_most_s=20)  # the SDK is imported by now
    api.plays = [Play(delay_s=30)]
    reply = await judge.ask(ASKED, at_most_s=0.2)
    assert (reply.end, reply.usage) == (End.UNCLEAR, Usage())
    assert len(api.calls) == 2


async def test_a_refused_connection_was_provably_not_asked() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused
        judge = AnthropicJudge(KEY, model="m", base_url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        assert (await judge.ask(ASKED, at_most_s=20)).end is End.BUSY
        await judge.close()


@pytest.mark.parametrize(
    "raw",
    [b"", b"null", b"[]", b"{}", b"not json", b'{"content": 3, "stop_reason": "tool_use", "usage": null}',
     b'{"type":"message","content":[{"type":"tool_use","name":"x","input":"y"}],"usage":{"input_tokens":-1}}'],
)  # fmt: skip
async def test_a_body_that_is_no_message_never_raises_and_says_nothing(
    api: MessagesApi, judge: AnthropicJudge, raw: bytes
) -> None:
    api.plays = [Play(raw=raw)]
    reply = await judge.ask(ASKED, at_most_s=20)
    assert (reply.end, reply.said, reply.usage) == (End.UNCLEAR, None, Usage())


async def test_many_questions_at_once_share_one_client_and_are_one_request_each(
    api: MessagesApi, judge: AnthropicJudge
) -> None:
    api.delay_s = 0.1
    replies = await asyncio.gather(*(judge.ask(ASKED, at_most_s=60) for _ in range(30)))
    assert {reply.end for reply in replies} == {End.ANSWERED}
    assert len(api.calls) == 30
    assert api.most_at_once > 10


async def test_environment_variables_of_the_sdk_change_neither_key_nor_address(
    api: MessagesApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ANTHROPIC_API_KEY", "other"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")):
        monkeypatch.setenv(name, value)
    judge = AnthropicJudge(KEY, model="m", base_url=api.url)
    assert (await judge.ask(ASKED, at_most_s=20)).end is End.ANSWERED
    await judge.close()
    assert api.calls[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_question_has_room_for_an_answer_about_each_posting() -> None:
    one, two = question(ANN, [("a", job("One"))]), ASKED
    assert isinstance(one, Question)
    assert two.answer_max_tokens - one.answer_max_tokens >= 150
    assert two.input_bytes > one.input_bytes
