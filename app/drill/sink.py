"""A mail server for drills, on loopback: it keeps every letter it takes, and misbehaves on request."""

from __future__ import annotations

import asyncio
import email
import email.policy
import random
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Self

BODY_MAX_BYTES = 4 * 1024 * 1024
HANG_S = 20.0
REJECTION = "554 5.6.0"
JOB_LINK = re.compile(r"https://jobs\.drill\.example/(\d+)")

# What may happen to a letter; only those in TAKEN leave the building.
TAKEN = frozenset({"accept", "accept-then-drop", "accept-late"})
FAULTS = (
    "accept", "accept", "accept", "accept-then-drop", "accept-late", "defer-mail", "defer-rcpt", "defer-dot",
    "reject-dot", "drop-before-data", "drop-in-body", "hang-after-dot",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Taken:
    """A letter that left the building."""

    at_s: float  # monotonic
    to: str
    outside: str
    jobs: frozenset[int]
    how: str


@dataclass
class Sink:
    """Open with `with`. `plan`: what happens to the next letters, drawn by the seed; empty: all are accepted."""

    delay_s: float = 0.0
    seed: int = 0
    plan: tuple[str, ...] = ()
    port: int = 0
    letters: list[Taken] = field(default_factory=list)
    refused: int = 0
    rejected: int = 0  # of the refused ones, for good
    met: Counter[str] = field(default_factory=Counter)  # letters by what happened to them

    def __enter__(self) -> Self:
        self._rng = random.Random(self.seed)
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True, name="drill-sink")
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._talk, "127.0.0.1", 0, limit=BODY_MAX_BYTES, backlog=256)
        )
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"220 drill\r\n")
            await self._letters(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the other side was killed, or the drill is over
        finally:
            writer.close()

    async def _letters(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fate = self._fate()
        while line := await reader.readline():
            verb = line[:4].upper()
            if verb == b"QUIT":
                writer.write(b"221 bye\r\n")
                return
            if verb == b"MAIL":
                fate = self._fate()
                self.met[fate] += 1
            if verb == b"DATA":
                if fate == "drop-before-data":
                    return
                writer.write(b"354 go on\r\n")
                if fate == "drop-in-body":
                    await reader.readline()
                    return
                body = await reader.readuntil(b"\r\n.\r\n")
                if not await self._after_the_dot(body, fate, writer):
                    return
            elif (verb, fate) in ((b"MAIL", "defer-mail"), (b"RCPT", "defer-rcpt")):
                self.refused += 1
                writer.write(b"451 4.3.0 later\r\n")
            else:
                writer.write(b"250 drill\r\n")
            await writer.drain()

    async def _after_the_dot(self, body: bytes, fate: str, writer: asyncio.StreamWriter) -> bool:
        """Take the letter or not; returns whether the connection goes on."""
        if fate in TAKEN:
            self.letters.append(_taken(body, fate))  # from here on it has left, whoever hears of it
        if fate == "accept-then-drop":
            return False
        if fate == "hang-after-dot":
            await asyncio.sleep(HANG_S)
            return False
        if fate == "accept-late":
            await asyncio.sleep(self._rng.uniform(0, 1))
        await asyncio.sleep(self.delay_s)
        answer = {"defer-dot": b"451 4.3.0 later\r\n", "reject-dot": f"{REJECTION} no\r\n".encode()}.get(fate)
        self.refused += answer is not None
        self.rejected += fate == "reject-dot"
        writer.write(answer or b"250 2.0.0 taken\r\n")
        return True

    def _fate(self) -> str:
        return self._rng.choice(self.plan) if self.plan else "accept"


def _taken(body: bytes, how: str) -> Taken:
    message = email.message_from_bytes(body[:-3].replace(b"\r\n..", b"\r\n."), policy=email.policy.default)
    text = message.get_body(("plain",))
    links = JOB_LINK.findall(text.get_content()) if text is not None else []
    outside = str(message["Message-ID"]).strip("<> ").partition("@")[0]
    return Taken(time.monotonic(), str(message["To"]).strip("<> "), outside, frozenset(map(int, links)), how)
