"""The demo's boards: a small HTTP server on loopback that answers as boards do, with validators."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from app.demo.feeds import Page


@dataclass(slots=True)
class Boards:
    """What the boards answer from now on, by path, and how often each was asked, by (path, status)."""

    port: int
    pages: dict[str, Page] = field(default_factory=dict)
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def answers(self, status: int) -> int:
        with self.lock:
            return sum(count for (_, given), count in self.asked.items() if given == status)

    def requests(self) -> int:
        with self.lock:
            return self.asked.total()


@contextmanager
def open_boards() -> Iterator[Boards]:
    """On a free port of 127.0.0.1, in a thread, until the end of the block."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        boards = Boards(server.server_address[1])
        server.boards = boards  # type: ignore[attr-defined]  # the only way to a handler
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="demo boards", daemon=True)
        thread.start()
        try:
            yield boards
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hangs up early is no error of a board's."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        boards: Boards = self.server.boards  # type: ignore[attr-defined]
        page = boards.pages.get(self.path, Page(b"nothing here", "text/plain", status=404))
        etag = f'"{hashlib.sha256(page.body).hexdigest()[:16]}"'
        is_known = page.status == 200 and self.headers.get("If-None-Match") == etag
        status = 304 if is_known else page.status
        with boards.lock:
            boards.asked[self.path, status] += 1
        body = b"" if is_known else page.body
        self.send_response(status)
        self.send_header("Content-Type", page.content_type)
        if page.status == 200:
            self.send_header("ETag", etag)
        if not is_known:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: the demo tells what was asked by itself."""
