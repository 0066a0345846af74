"""A TCP proxy between a real client and the real emulator that can lose answers.

It reads the server's HTTP/2 frames (RFC 9113, section 4.1): the first HEADERS frame of an answer proves that the
emulator has done the work. Then the connection is cut and the client never sees it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

FRAME_HEAD_BYTES = 9
HEADERS = 0x1


class Cutter:
    """`lose` answers are lost from now on; with `share`, each of all answers with that chance. `lost` counts them."""

    def __init__(self, target: str, *, share: float = 0.0, seed: int = 0) -> None:
        self.lose = 0
        self.share = share
        self._rng = random.Random(seed)
        self.lost = 0
        self.host = ""
        self._target = target

    def set_share(self, share: float) -> None:
        self.share = share

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name, _, port = self._target.rpartition(":")
        up_reader, up_writer = await asyncio.open_connection(name, int(port))
        asks = asyncio.create_task(_copy(reader, up_writer))
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answers(up_reader, writer)
        finally:
            asks.cancel()
            for end in (writer, up_writer):
                end.transport.abort()
            await asyncio.gather(asks, return_exceptions=True)

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readexactly(FRAME_HEAD_BYTES)
            body = await reader.readexactly(int.from_bytes(head[:3], "big"))
            if head[3] == HEADERS and (self.lose > 0 or self._rng.random() < self.share):
                self.lose = max(0, self.lose - 1)
                self.lost += 1
                return
            writer.write(head + body)
            await writer.drain()


@asynccontextmanager
async def cutter_before(target: str, *, share: float = 0.0, seed: int = 0) -> AsyncIterator[Cutter]:
    cutter = Cutter(target, share=share, seed=seed)
    connections: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        connections.add(task)
        with suppress(asyncio.CancelledError):
            await cutter.serve(reader, writer)
        connections.discard(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    cutter.host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield cutter
    finally:
        server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
