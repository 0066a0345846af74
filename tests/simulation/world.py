"""One simulation: many processes on one store, in virtual time, in the order of a seed; then the mail is counted."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from app.cycle import cycle
from app.deadline import Deadline
from app.parts import Parts
from app.settings import load
from ledger import users
from ledger.ids import uid_of
from ledger.lifecycle import Attempt, Outcome
from ledger.records import Mode, Search, SourceState, Stop, User
from ledger.store import Doc, Page, Snapshot, Unreachable, Write
from mail.letter import Letter, Site
from scan.posting import Answer, Items, Posting
from tests.simulation.memory import MemoryStore
from tests.simulation.plan import Call, Edit, Plan

T = TypeVar("T")

START = datetime(2026, 11, 27, 5, 0, tzinfo=UTC)  # a Friday: the weekly digest falls into the simulation
SETTINGS = load({"SCOUT_WALL_S": "300", "SCOUT_LOCK_S": "600"})
JOB_LINK = re.compile(r"https://jobs\.example\.com/(\d+)")


class Killed(BaseException):
    """The process is gone; what it awaited never comes back."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A letter that the provider took. `clean`: its sender was told so, and nothing then happened to it."""

    letter: Letter
    process: Process

    @property
    def jobs(self) -> set[int]:
        return {int(job) for job in JOB_LINK.findall(self.letter.text)}


@dataclass
class World:
    plan: Plan
    rng: random.Random
    store: MemoryStore = field(init=False)
    sent: list[Sent] = field(default_factory=list)
    is_quiet: bool = False  # the provider has recovered; what waits must find its end
    told: list[str] = field(default_factory=list)  # what happened, for whoever reads a failing seed

    def __post_init__(self) -> None:
        self.store = MemoryStore(clock=self.now)

    def now(self) -> datetime:
        return START + timedelta(seconds=asyncio.get_running_loop().time())

    def listed(self) -> list[int]:
        passed_s = (self.now() - START).total_seconds()
        return [number for number, at_s in enumerate(self.plan.jobs) if at_s <= passed_s]

    def tell(self, what: str) -> None:
        self.told.append(f"{self.now():%d %H:%M:%S} {what}")


@dataclass(eq=False)
class Process:
    """One call of /cron in a process of its own: what it does to the world passes through `effect`."""

    world: World
    call: Call
    number: int
    count: int = 0
    is_dead: bool = False
    suspended_until_s: float = 0.0

    @property
    def is_clean(self) -> bool:
        return self.call == Call(self.call.at_s)

    async def effect(self, name: str, do: Callable[[], Awaitable[T]], not_done: T | None = None) -> T:
        """Perhaps late, perhaps twice refused, perhaps the last. `not_done` is what a lost answer says."""
        await self.breathe()
        self.count += 1
        number, call, rng = self.count, self.call, self.world.rng
        if number == call.stop_at:
            self.world.tell(f"p{self.number} suspended for {call.stop_s:.0f} s before {name}")
            self.suspended_until_s = asyncio.get_running_loop().time() + call.stop_s
            await self.breathe()
        kill = number == call.kill_at
        if kill and rng.random() < 0.5:
            self._die(f"before {name}")
        fault = dict(call.faults).get(number)
        if fault == "refused":
            self.world.tell(f"p{self.number} refused: {name}")
            raise Unreachable("simulated")
        done = await do()
        if kill:
            self._die(f"after {name}")
        await self.breathe()
        if fault == "lost":
            self.world.tell(f"p{self.number} lost the answer: {name}")
            if not_done is None or rng.random() < 0.3:
                raise Unreachable("simulated")
            return not_done
        return done

    async def breathe(self) -> None:
        """A moment passes; a suspended process waits, a dead one goes no further."""
        self._live()
        if self.world.plan.slow:
            await asyncio.sleep(self.world.rng.choice((0.0, 0.0, self.world.rng.uniform(0, 1.5))))
        while (wait_s := self.suspended_until_s - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(wait_s)
        self._live()

    def _live(self) -> None:
        if self.is_dead:
            raise Killed

    def _die(self, where: str) -> None:
        self.world.tell(f"p{self.number} killed {where}")
        self.is_dead = True
        raise Killed


class Wire:
    """The store as a process reaches it."""

    def __init__(self, process: Process) -> None:
        self._process, self._store = process, process.world.store

    async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
        nothing: dict[str, str] = {}
        return await self._write(f"create {collection}", lambda: self._store.create(collection, docs), nothing, docs)

    async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
        nothing: dict[str, str] = {}
        return await self._write(f"swap {collection}", lambda: self._store.swap(collection, changes), nothing, changes)

    async def commit(self, writes: Sequence[Write]) -> bool:
        return await self._write("commit", lambda: self._store.commit(writes), False, writes)

    async def put(self, collection: str, docs: Mapping[str, Doc]) -> None:
        await self._write(f"put {collection}", lambda: self._store.put(collection, docs), None, docs)

    async def delete(self, collection: str, ids: Sequence[str]) -> None:
        await self._write(f"delete {collection}", lambda: self._store.delete(collection, ids), None, ids)

    async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
        await self._process.breathe()
        return await self._store.get(collection, ids)

    async def find(self, collection: str, where: Mapping[str, Any], **more: Any) -> Page:
        await self._process.breathe()
        return await self._store.find(collection, where, **more)

    async def find_range(self, collection: str, field: str, **more: Any) -> Page:
        await self._process.breathe()
        return await self._store.find_range(collection, field, **more)

    async def prune(self, collection: str, *, now: datetime, limit: int) -> int:
        await self._process.breathe()
        return await self._store.prune(collection, now=now, limit=limit)

    async def ping(self) -> None:
        await self._process.breathe()

    async def close(self) -> None:
        return None

    async def _write(self, name: str, do: Callable[[], Awaitable[T]], not_done: T, what: Any) -> T:
        return await self._process.effect(name, do, not_done) if what else await do()


class Provider:
    """The mail provider as a process reaches it: every outcome of the table, and letters that take their time."""

    name = "provider"
    smtputf8 = True

    def __init__(self, process: Process) -> None:
        self._process = process

    def longest_s(self, at_most_s: float) -> float:
        return min(15.0, at_most_s)

    async def send(self, letter: Letter, *, at_most_s: float = 15.0) -> Attempt:
        world = self._process.world
        names, weights = zip(*world.plan.outcomes, strict=True)
        what = "accepted" if world.is_quiet else world.rng.choices(names, weights)[0]

        async def take() -> str:
            if what in ("accepted", "unclear-taken"):
                world.sent.append(Sent(letter, self._process))
            world.tell(f"p{self._process.number} {letter.kind} to {letter.to}: {what}")
            return str(what)

        try:
            answer = await self._process.effect(f"send {letter.kind}", take, "unclear-taken")
        except Unreachable:
            return Attempt(Outcome.UNCLEAR, "no answer")
        return {
            "accepted": Attempt(Outcome.ACCEPTED, receipt="r"),
            "rejected": Attempt(Outcome.REJECTED, "550"),
            "deferred": Attempt(Outcome.DEFERRED, "451", retry_after_s=world.rng.choice((None, 5.0, 900.0))),
            "paused": Attempt(Outcome.PAUSED, "401"),
        }.get(answer, Attempt(Outcome.UNCLEAR, "timeout"))

    async def close(self) -> None:
        return None


@dataclass
class Board:
    """What is listed now, as one board tells it."""

    process: Process
    name: str = "board"
    platform: str = "board"
    min_interval_s: int = 600
    attribution: str = ""

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        await self.process.breathe()
        return Items(
            tuple(
                Posting("board", str(n), f"Python {n}", f"https://jobs.example.com/{n}", "python")
                for n in self.process.world.listed()
            )
        )


async def call(world: World, plan: Call, number: int) -> None:
    """One call of /cron from its beginning to whatever end."""
    process = Process(world, plan, number)
    board = Board(process)
    parts = Parts(
        settings=SETTINGS,
        store=Wire(process),
        sources={board.name: board},
        transport=Provider(process),
        site=Site("https://scout.example.com", "Scout <scout@example.com>"),
        clock=world.now,
    )
    deadline = Deadline(300, clock=world.now, monotonic=asyncio.get_running_loop().time)
    try:
        await cycle(parts, deadline=deadline)
    except (Killed, BaseExceptionGroup):
        if not process.is_dead:
            raise


def address(person: int) -> str:
    return f"p{person}@example.com"


async def sign_up(world: World, person: int, mode: Mode) -> None:
    def edit(user: User) -> User:
        return replace(user, mode=mode, searches={"default": Search(keywords=("python",))})

    await users.save_profile(world.store, address(person), edit, now=world.now())


async def edit(world: World, change: Edit) -> None:
    """A person's change, through the same code as the page's."""
    uid, now = uid_of(address(change.person)), world.now()
    what, _, value = change.what.partition(":")
    world.tell(f"{address(change.person)} {change.what}")
    if what == "stop":
        await users.stop(world.store, uid, Stop.UNSUBSCRIBED, now=now)
    elif what == "delete":
        await users.delete(world.store, uid, now=now)
    elif what == "save":
        await users.change(world.store, uid, lambda user: users.with_catch_up(user, now=now) if user.active else user)
    elif what == "pause":
        until = now + timedelta(hours=int(value))
        await users.change(
            world.store, uid, lambda u: users.with_catch_up(replace(u, paused_until=until), now=now) if u.active else u
        )
    else:
        fields: dict[str, dict[str, Any]] = {
            "mode": {"mode": Mode(value)} if what == "mode" else {},
            "at": {"at": value},
            "zone": {"zone": value, "at": "08:00"},
        }
        await users.change(world.store, uid, lambda user: replace(user, **fields[what]))
