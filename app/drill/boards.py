"""A job board for drills, on loopback: an RSS feed whose jobs appear when the drill says so, and its faults."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from xml.sax.saxutils import escape

from app.drill.loopback import Loopback

MOODS = ("well", "broken", "slow", "down", "refusing", "cut", "drip")
SLOW_S = 1.5
DRIP_BYTES, DRIP_S = 64, 0.1


@dataclass(frozen=True, slots=True)
class BoardJob:
    number: int
    word: str  # the trade that it asks for

    def item(self) -> str:
        link = f"https://jobs.drill.example/{self.number}"
        return (
            f"<item><title>{escape(self.word)} developer, drill {self.number}</title><link>{link}</link>"
            f"<guid isPermaLink='false'>drill-{self.number}</guid>"
            f"<description>Wanted: somebody who knows {escape(self.word)}. Number {self.number}.</description></item>"
        )


@dataclass
class Boards(Loopback):
    """`jobs` are listed by both `/good` and, if it is in the mood, `/moody`."""

    jobs: list[BoardJob] = field(default_factory=list)
    mood: str = "well"  # one of MOODS
    requests: int = 0

    def answer(self, request: BaseHTTPRequestHandler, _body: bytes) -> None:
        self.requests += 1
        mood = self.mood if request.path == "/moody" else "well"
        if mood == "down":
            request.close_connection = True
            return
        if mood == "slow":
            time.sleep(SLOW_S)
        if mood == "refusing":
            request.send_error(429, "later")
            return
        body = b"<html>Just a moment...</html>" if mood == "broken" else self._feed()
        request.send_response(200)
        request.send_header("Content-Type", "application/rss+xml; charset=utf-8")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if mood == "cut":
            request.wfile.write(body[: len(body) // 2])
            request.close_connection = True
            return
        for start in range(0, len(body), DRIP_BYTES if mood == "drip" else len(body)):
            request.wfile.write(body[start : start + DRIP_BYTES] if mood == "drip" else body)
            if mood == "drip":
                request.wfile.flush()
                time.sleep(DRIP_S)

    def _feed(self) -> bytes:
        items = "".join(job.item() for job in self.jobs)
        return f"<?xml version='1.0'?><rss version='2.0'><channel><title>Drill</title>{items}</channel></rss>".encode()
