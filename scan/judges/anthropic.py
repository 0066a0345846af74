"""The judge that asks Anthropic's Messages API, through their SDK.

The SDK takes seconds to import, so that happens at the first question and off the loop. It repeats nothing by
itself (`max_retries=0`): a repeat is decided where the claims are, and only where the first was provably not done.
"""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from scan.prompt import TOOL
from scan.verdict import End, Question, Reply, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

API_URL = "https://api.anthropic.com"
CONNECT_S = 5.0
CONNECTIONS_MAX = 64
REASON_MAX_CHARS = 160
RETRY_AFTER_MAX_S = 3600.0
# These models think whatever they are told, and a forced tool does not go with thinking.
ALWAYS_THINK = ("opus-5", "fable", "mythos")
THINKING_TOKENS = 4_000


class AnthropicJudge:
    """One client for the life of the app; made at the first question, inside the running loop."""

    def __init__(self, api_key: str, *, model: str, base_url: str | None = None) -> None:
        self.model = model
        self._api_key, self._base_url = api_key, base_url or API_URL
        self._opening: asyncio.Task[AsyncAnthropic] | None = None

    async def ask(self, question: Question, *, at_most_s: float) -> Reply:
        try:
            async with asyncio.timeout(at_most_s) as deadline:
                client = await self._opened()
                left_s = (deadline.when() or 0) - asyncio.get_running_loop().time()
                return await self._asked(client, question, at_most_s=max(0.0, left_s))
        except TimeoutError:
            is_open = self._opening is not None and self._opening.done()
            return Reply(End.UNCLEAR if is_open else End.BUSY, reason=f"no answer within {at_most_s:.0f} s")

    async def close(self) -> None:
        if self._opening is not None:
            opening, self._opening = self._opening, None
            await (await opening).close()

    async def _asked(self, client: AsyncAnthropic, question: Question, *, at_most_s: float) -> Reply:
        import anthropic  # imported by now

        try:
            message = await client.messages.create(**self._request(question), timeout=at_most_s)
        except anthropic.APIStatusError as error:
            return _refused(error.status_code, error.response.headers, str(error.type or ""))
        except anthropic.APITimeoutError:
            return Reply(End.UNCLEAR, reason=f"no answer within {at_most_s:.0f} s")
        except anthropic.APIConnectionError as error:
            return _unconnected(error)
        except (anthropic.AnthropicError, ValueError, TypeError, RecursionError) as error:
            return Reply(End.UNCLEAR, reason=f"the answer cannot be read ({type(error).__name__})")
        return _read(message)

    async def _opened(self) -> AsyncAnthropic:
        """The client; who gives up waiting for it leaves it to the next."""
        if self._opening is None:
            self._opening = asyncio.create_task(asyncio.to_thread(_open, self._api_key, self._base_url))
        return await asyncio.shield(self._opening)

    def _request(self, question: Question) -> dict[str, Any]:
        """What is the same for everybody comes first, then what is the same for a person: prefixes to be cached."""
        mark = {"type": "ephemeral"}
        thinks = any(name in self.model for name in ALWAYS_THINK)
        how: dict[str, Any] = {
            "tool_choice": {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True},
            "thinking": {"type": "disabled"},
        }
        if thinks:
            how = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
        return {
            "model": self.model,
            "max_tokens": question.answer_max_tokens + (THINKING_TOKENS if thinks else 0),
            "system": [{"type": "text", "text": question.system, "cache_control": mark}],
            "tools": [{"name": TOOL, "description": "Hand in the verdicts.", "input_schema": question.schema}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": question.profile, "cache_control": mark},
                        {"type": "text", "text": question.postings},
                    ],
                }
            ],
            **how,
        }


def _open(api_key: str, base_url: str) -> AsyncAnthropic:
    import anthropic
    import httpx2

    timeout = httpx2.Timeout(None, connect=CONNECT_S)  # the total is ours, call by call
    limits = httpx2.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX)
    http_client = anthropic.DefaultAsyncHttpxClient(timeout=timeout, limits=limits, follow_redirects=False)
    return anthropic.AsyncAnthropic(
        api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0, http_client=http_client,
        open_telemetry=False,
    )  # fmt: skip


def _read(message: Message) -> Reply:
    content, stop = getattr(message, "content", None), getattr(message, "stop_reason", None)
    usage = _usage(message)
    if not isinstance(content, list) or not isinstance(stop, str):  # a success by its status, and no message
        return Reply(End.UNCLEAR, usage=usage, reason="the answer is no message")
    blocks: list[object] = list(content)
    tools = [block for block in blocks if getattr(block, "type", "") == "tool_use"]
    said: object = getattr(tools[0], "input", None) if tools else None
    if said is None:
        said = "\n".join(str(getattr(block, "text", "")) for block in blocks if getattr(block, "type", "") == "text")
    match stop:
        case "max_tokens" | "model_context_window_exceeded":
            return Reply(End.CUT, said, usage, "the answer was cut")
        case "refusal":
            return Reply(End.DECLINED, None, usage, "the model declined to answer")
        case _:
            return Reply(End.ANSWERED, said, usage)


def _usage(message: Message) -> Usage:
    usage = getattr(message, "usage", None)

    def count(name: str) -> int:
        value = getattr(usage, name, 0)
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else 0

    return Usage(
        count("input_tokens"),
        count("output_tokens"),
        count("cache_creation_input_tokens"),
        count("cache_read_input_tokens"),
    )


def _refused(status: int, headers: Mapping[str, str], kind: str) -> Reply:
    """By status, as the API documents its errors; the message itself is not repeated, it may hold what was sent."""
    reason = f"HTTP {status}{' ' + kind if kind.isidentifier() else ''}"[:REASON_MAX_CHARS]
    if status in (429, 529):
        return Reply(End.BUSY, reason=reason, retry_after_s=_retry_after_s(headers))
    if status in (401, 402, 403, 404) or 300 <= status < 400:
        return Reply(End.REFUSED, reason=reason)
    if status in (400, 413, 422):  # perhaps of one posting's making: the others go on
        return Reply(End.DECLINED, reason=reason)
    return Reply(End.UNCLEAR, reason=reason, retry_after_s=_retry_after_s(headers))


def _unconnected(error: Exception) -> Reply:
    import httpx2

    if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return Reply(End.BUSY, reason="no connection")  # nothing was sent
    return Reply(End.UNCLEAR, reason="the connection was lost")


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """RFC 9110, 10.2.3: seconds or a date; never negative, at most RETRY_AFTER_MAX_S."""
    text = headers.get("retry-after", "")
    try:
        wait_s = float(text)
    except ValueError:
        date = email.utils.parsedate_tz(text)
        if date is None:
            return None
        wait_s = email.utils.mktime_tz(date) - time.time()
    return min(max(0.0, wait_s), RETRY_AFTER_MAX_S) if isfinite(wait_s) else None
