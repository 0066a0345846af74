"""HTTP on loopback for drills: a server that is not surprised when its callers are killed."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

POLL_S = 0.05  # how soon it hears that it shall stop


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        return


class Loopback(ABC):
    """Open with `with`; every request has a thread of its own."""

    @abstractmethod
    def answer(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """Answer one whole request. A ConnectionError means that the caller was killed, and is no news."""

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                size = int(self.headers.get("content-length", "0"))
                try:
                    body = self.rfile.read(size)
                    if len(body) < size:
                        raise ConnectionError("killed while it asked")
                    server.answer(self, body)
                except ConnectionError:
                    self.close_connection = True

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                return

        self._server = _Server(("127.0.0.1", 0), Handler)
        name = f"drill-{type(self).__name__.lower()}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_S,), daemon=True, name=name)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str = "") -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"
