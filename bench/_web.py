"""`python -m bench._web DELAY_S FOLDER`: boards and a mail provider over HTTP. Prints its port.

GET answers with the file of that name after a while, POST takes a letter as SendGrid does. GET /taken gives back, as a
JSON list, the letters that were posted, and forgets them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from email.utils import formatdate
from pathlib import Path

HEAD_MAX_BYTES = 64 * 1024


class Boards:
    def __init__(self, folder: Path, delay_s: float) -> None:
        self._folder, self._delay_s = folder, delay_s
        self._taken: list[str] = []

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, path, _ = head.split(" ", 2)
                length = next(
                    (int(line[15:]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0
                )
                body = await reader.readexactly(length)
                writer.write(await self._answer(method, path, body))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, body: bytes) -> bytes:
        if path == "/taken":
            taken, self._taken = self._taken, []
            return _said(200, "application/json", json.dumps(taken).encode())
        await asyncio.sleep(self._delay_s)
        if method == "POST":
            self._taken.append(body.decode())
            return _said(202, "text/plain", b"", more=f"X-Message-Id: {len(self._taken)}\r\n")
        return _said(200, "application/rss+xml", (self._folder / path.rpartition("/")[2]).read_bytes())


def _said(status: int, kind: str, body: bytes, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status} said\r\nDate: {formatdate(usegmt=True)}\r\nContent-Type: {kind}\r\n{more}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def serve(folder: Path, delay_s: float) -> None:
    server = await asyncio.start_server(Boards(folder, delay_s).talk, "127.0.0.1", 0, limit=HEAD_MAX_BYTES, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[2]), float(sys.argv[1])))
