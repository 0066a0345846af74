"""A process that stops: every effect on the world is counted, and one of them is the last.

`before`: the process dies and the effect never happens. `after`: it happens, and the process dies before it
hears of it. `lost`: it happens, the process lives, but the answer says that it did not (a write that was
repeated after its answer was lost; a letter whose answer never came).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ledger.lifecycle import Attempt, Outcome
from ledger.store import Doc, Page, Snapshot, Store, Write
from mail.letter import Letter

HOWS = ("before", "after", "lost")


_mine: ContextVar[int] = ContextVar("effect", default=0)  # of this task: effects of several may overlap


class Stopped(BaseException):
    """SIGKILL, as far as one process can play it: nothing that it does afterwards has an effect."""


@dataclass
class Stops:
    """At the `at`-th effect (from 1) the process stops in the way of `how`. None: it never does."""

    at: int | None = None
    how: str = "before"
    count: int = 0
    dead: bool = False
    names: list[str] = field(default_factory=list)

    def begin(self, name: str) -> bool:
        """Called before an effect; returns whether its answer is lost. Raises Stopped."""
        if self.dead:
            raise Stopped
        self.count += 1
        self.names.append(name)
        _mine.set(self.count)
        if self.count != self.at:
            return False
        if self.how == "before":
            self.dead = True
            raise Stopped
        return self.how == "lost"

    def end(self) -> None:
        """Called after an effect has happened. Raises Stopped."""
        if _mine.get() == self.at and self.how == "after":
            self.dead = True
            raise Stopped

    def alive(self) -> None:
        if self.dead:
            raise Stopped


class StoppingStore:
    """A store whose writes are effects; reads have none, but a dead process does not read."""

    def __init__(self, inner: Store, stops: Stops) -> None:
        self._inner, self._stops = inner, stops

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        if not docs:
            return {}
        lost = self._stops.begin(f"create {collection}")
        done = await self._inner.create(collection, docs)
        self._stops.end()
        return {} if lost else done

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        if not changes:
            return {}
        lost = self._stops.begin(f"swap {collection}")
        done = await self._inner.swap(collection, changes)
        self._stops.end()
        return {} if lost else done

    async def commit(self, writes: Sequence[Write]) -> bool:
        lost = self._stops.begin(f"commit {writes[0].collection if writes else ''}")
        done = await self._inner.commit(writes)
        self._stops.end()
        return False if lost else done

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        if docs:
            self._stops.begin(f"put {collection}")
            await self._inner.put(collection, docs)
            self._stops.end()

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        if ids:
            self._stops.begin(f"delete {collection}")
            await self._inner.delete(collection, ids)
            self._stops.end()

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        self._stops.alive()
        return await self._inner.get(collection, ids)

    async def find(self, collection: str, where: Mapping[str, Any], **more: Any) -> Page:
        self._stops.alive()
        return await self._inner.find(collection, where, **more)

    async def find_range(self, collection: str, field: str, **more: Any) -> Page:
        self._stops.alive()
        return await self._inner.find_range(collection, field, **more)

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        self._stops.alive()
        return await self._inner.prune(collection, now=now, limit=limit)

    async def ping(self) -> None:
        self._stops.alive()
        await self._inner.ping()

    async def close(self) -> None:
        await self._inner.close()


JOB_LINK = re.compile(r"https://jobs\.example\.com/(\w+)")


@dataclass
class Building:
    """What left the building: letters that the provider took, whatever the sender heard of it."""

    letters: list[Letter] = field(default_factory=list)

    def jobs(self, kind: str) -> Counter[tuple[str, str]]:
        """(address, job) -> in how many letters of that kind it went out."""
        return Counter(
            (letter.to, job)
            for letter in self.letters
            if letter.kind == kind
            for job in set(JOB_LINK.findall(letter.text))
        )


class StoppingTransport:
    """Takes every letter, unless told an outcome for it; handing one over is an effect."""

    name = "building"
    smtputf8 = True

    def __init__(self, building: Building, stops: Stops, outcomes: Sequence[Attempt] = ()) -> None:
        self._building, self._stops, self._outcomes = building, stops, list(outcomes)

    def longest_s(self, at_most_s: float) -> float:
        return min(1.0, at_most_s)

    async def send(self, letter: Letter, *, at_most_s: float = 1.0) -> Attempt:
        lost = self._stops.begin(f"send {letter.kind}")
        attempt = self._outcomes.pop(0) if self._outcomes else Attempt(Outcome.ACCEPTED, receipt="r")
        if attempt.outcome in (Outcome.ACCEPTED, Outcome.UNCLEAR):  # the worst case: unclear, and it went out
            self._building.letters.append(letter)
        self._stops.end()
        return Attempt(Outcome.UNCLEAR, "the answer was lost") if lost else attempt

    async def close(self) -> None:
        return None
