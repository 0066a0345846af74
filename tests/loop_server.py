"""A server in a thread with an event loop of its own, for as long as its `with` lasts."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from abc import ABC, abstractmethod
from typing import Self

HOST = "127.0.0.1"
START_MAX_S = 60.0


class LoopServer(ABC):
    """`port` is known inside the `with`; leaving it cancels whatever still runs in the loop."""

    host: str = HOST
    port: int = 0
    never: asyncio.Event  # for a peer that hangs; kept here: a task that only waits for its own event may be collected

    @abstractmethod
    async def listen(self) -> asyncio.Server:
        """Start on a free port of HOST."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        name = type(self).__name__
        self._thread = threading.Thread(target=self._run, args=(started,), name=name, daemon=True)
        self._thread.start()
        if not started.wait(START_MAX_S):
            raise RuntimeError(f"{name} did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_MAX_S)

    def _run(self, started: threading.Event) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        self.never = asyncio.Event()
        server = await self.listen()
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        await end(server)


async def end(server: asyncio.Server) -> None:
    """Close it with whatever still runs in this loop, but for its caller, and leave no socket behind."""
    server.close()
    await asyncio.sleep(0)  # who was accepted just now has a transport by then, which a cancelled task closes
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # closed sockets are given back in the loop's next round
