"""A server on loopback that speaks as much of Anthropic's Messages API as a judge needs, and counts what it is asked.

    async with MessagesApi() as api:
        api.scores["Python developer"] = 82
        judge = AnthropicJudge("key", model="claude-haiku-5-5", base_url=api.url)

`api.plays` are faults for the next calls, in order; then it answers well. A token is four bytes here.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

POSTING = re.compile(r'<posting name="(\w+)">\n(.*?)\n</posting>', re.DOTALL)
TITLE = re.compile(r"^title: (.*)$", re.MULTILINE)
CACHED_MIN_TOKENS = 512


@dataclass(frozen=True)
class Posting:
    name: str
    title: str
    text: str


@dataclass(frozen=True)
class Call:
    """One request as it came."""

    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def profile(self) -> str:
        return str(self.body["messages"][0]["content"][0]["text"])

    @property
    def postings(self) -> tuple[Posting, ...]:
        text = self.body["messages"][0]["content"][1]["text"]
        found = ((name, inner) for name, inner in POSTING.findall(text))
        return tuple(Posting(name, title[1] if (title := TITLE.search(inner)) else "", inner) for name, inner in found)


@dataclass(frozen=True)
class Play:
    """How one call goes. `said` is the tool's input (or `text` a text block); `raw` replaces the whole body."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    said: Any = None
    text: str | None = None
    stop_reason: str | None = None
    raw: bytes | None = None
    delay_s: float = 0.0
    drop: str = ""  # "unread": before reading; "unanswered": after; "halfway": in the middle of the answer
    kind: str = "error"


class MessagesApi:
    def __init__(self, *, delay_s: float = 0.0) -> None:
        self.delay_s = delay_s
        self.calls: list[Call] = []
        self.scores: dict[str, int] = {}  # by title; else 75
        self.reasons: dict[str, str] = {}
        self.plays: list[Play] = []
        self.always: Play | None = None
        self.judged: Callable[[Posting], dict[str, Any]] | None = None  # instead of scores and reasons
        self.tokens = Counter[str]()
        self.most_at_once = 0
        self._at_once = 0
        self._cached: set[str] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0, limit=1 << 24)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        await asyncio.sleep(0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def pairs(self) -> Counter[tuple[str, str]]:
        """(profile, title) -> how many calls carried it."""
        return Counter((call.profile, posting.title) for call in self.calls for posting in call.postings)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) != b"":
                lines = head.decode("latin-1").split("\r\n")
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                call = Call(headers, json.loads(body))
                assert lines[0].startswith("POST /v1/messages "), lines[0]
                if not await self._answer(call, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, call: Call, writer: asyncio.StreamWriter) -> bool:
        play = self.plays.pop(0) if self.plays else self.always or Play()
        self.calls.append(call)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(play.delay_s or self.delay_s)
            if play.drop == "unanswered":
                return False
            data = self._bytes(call, play)
            writer.write(data[: len(data) // 2] if play.drop == "halfway" else data)
            await writer.drain()
            return play.drop == ""
        finally:
            self._at_once -= 1

    def _bytes(self, call: Call, play: Play) -> bytes:
        if play.raw is not None:
            body = play.raw
        elif play.status != 200:
            error = {"type": "error", "error": {"type": play.kind, "message": "a message with a secret in it"}}
            body = json.dumps(error).encode()
        else:
            body = json.dumps(self._message(call, play)).encode()
        head = {"content-type": "application/json", "request-id": "req_1", **play.headers, "content-length": len(body)}
        lines = [f"HTTP/1.1 {play.status} x", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        return "\r\n".join(lines).encode() + body

    def _message(self, call: Call, play: Play) -> dict[str, Any]:
        if play.text is not None:
            content: list[dict[str, Any]] = [{"type": "text", "text": play.text}]
        else:
            said = play.said if play.said is not None else {"verdicts": self._verdicts(call.postings)}
            content = [{"type": "tool_use", "id": "toolu_1", "name": "give_verdicts", "input": said}]
        usage = self._usage(call, content)
        self.tokens.update(usage)
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": call.body["model"],
            "content": content,
            "stop_reason": play.stop_reason or ("end_turn" if play.text is not None else "tool_use"),
            "stop_sequence": None,
            "usage": usage,
        }

    def _verdicts(self, postings: Sequence[Posting]) -> list[dict[str, Any]]:
        if self.judged is not None:
            return [{"name": posting.name, **self.judged(posting)} for posting in postings]
        return [
            {
                "name": p.name,
                "score": self.scores.get(p.title, 75),
                "reason": self.reasons.get(p.title, f"You look for what {p.title} is."),
                "caveat": None,
                "tags": ["python"],
            }
            for p in postings
        ]

    def _usage(self, call: Call, content: object) -> dict[str, int]:
        """Prefixes with a mark are written to the cache once, and read from it afterwards."""
        system = json.dumps([call.body["tools"], call.body["system"]])
        marked = [system, system + call.profile]
        rest = len(call.body["messages"][0]["content"][1]["text"]) // 4
        longest = max((len(m) // 4 for m in marked if m in self._cached), default=0)
        whole = len(marked[-1]) // 4
        self._cached.update(m for m in marked if len(m) // 4 >= CACHED_MIN_TOKENS)
        return {
            "input_tokens": rest,
            "output_tokens": len(json.dumps(content)) // 4,
            "cache_creation_input_tokens": whole - longest,
            "cache_read_input_tokens": longest,
        }
