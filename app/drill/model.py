"""A model for drills, on loopback: as much of Anthropic's Messages API as a judge needs, its faults, and a count."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from app.drill.loopback import Loopback
from scan.prompt import TOOL

WHO = re.compile(r"\b(u\d{4})\b")
POSTING = re.compile(r'<posting name="(\w+)">\ntitle: .*?drill (\d+)')
SLOW_S = 3.0
MOODS = ("well", "well", "overloaded", "slow", "drop", "prose", "empty", "refusal")


@dataclass
class Model(Loopback):
    """`answered`: (who, job) -> whole good answers that carried the pair; each of them was paid."""

    moods: tuple[str, ...] = ()  # drawn by the seed for each call; empty: it always answers well
    seed: int = 0
    calls: int = 0
    answered: Counter[tuple[str, int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._lock = threading.Lock()

    def answer(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        asked = json.loads(body)
        profile, postings = (part["text"] for part in asked["messages"][0]["content"][:2])
        who = WHO.findall(profile)
        named = [(name, int(job)) for name, job in POSTING.findall(postings)]
        with self._lock:
            self.calls += 1
            mood = self._rng.choice(self.moods) if self.moods else "well"
            if mood in ("well", "slow"):  # paid for, whoever hears of it
                self.answered.update((f"{who[0]}@drill.example", job) for _, job in named)
        if mood == "drop":
            request.close_connection = True
            return
        if mood == "slow":
            time.sleep(SLOW_S)
        status, reply = _reply(mood, named, model=str(asked["model"]))
        data = json.dumps(reply).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)


def _reply(mood: str, named: list[tuple[str, int]], *, model: str) -> tuple[int, dict[str, Any]]:
    if mood == "overloaded":
        return 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    verdicts = [
        {"name": name, "score": 60 + job % 40, "reason": f"Number {job} fits you.", "caveat": None, "tags": ["drill"]}
        for name, job in named
    ]
    said: dict[str, Any] = {"type": "tool_use", "id": "toolu_drill", "name": TOOL, "input": {"verdicts": verdicts}}
    if mood == "prose":
        said = {"type": "text", "text": "They all look wonderful to me."}
    if mood == "empty":
        said["input"] = {"verdicts": []}
    return 200, {
        "id": "msg_drill",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [] if mood == "refusal" else [said],
        "stop_reason": "refusal" if mood == "refusal" else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }
