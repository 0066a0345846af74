"""Forty boards in a process of their own: most are healthy, some hang, some are broken, some drip."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

HEALTHY, HANGING, BROKEN, DRIPPING = 25, 5, 5, 5
ITEMS = 200
TEXT = "We build things in Python and look for somebody who likes that as much as we do. " * 40


@contextmanager
def boards() -> Iterator[dict[str, str]]:
    """{name: URL}; what a board does is the beginning of its name."""
    names = [f"{kind}{n}" for kind, count in
             (("healthy", HEALTHY), ("hanging", HANGING), ("broken", BROKEN), ("dripping", DRIPPING))
             for n in range(count)]  # fmt: skip
    server = subprocess.Popen([sys.executable, "-m", "bench._boards"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        yield {name: f"http://127.0.0.1:{port}/{name}" for name in names}
    finally:
        server.kill()
        server.wait()


def feed(name: str) -> bytes:
    items = "".join(
        f"<item><title>Python developer {name} {n}</title><link>https://jobs.example.com/{name}/{n}</link>"
        f"<guid>{name}-{n}</guid><description>{TEXT}</description></item>"
        for n in range(ITEMS)
    )
    return f"<rss version='2.0'><channel><title>x</title>{items}</channel></rss>".encode()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        head = await reader.readuntil(b"\r\n\r\n")
        name = head.split(b" ")[1].decode().strip("/")
        if name.startswith("hanging"):
            await asyncio.sleep(3600)
        body = b"<html>Just a moment...</html>" if name.startswith("broken") else feed(name)
        writer.write(f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        step = 1 if name.startswith("dripping") else len(body)
        for start in range(0, len(body), step):
            writer.write(body[start : start + step])
            await writer.drain()
            if step == 1:
                await asyncio.sleep(0.05)
    writer.close()


async def serve() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
