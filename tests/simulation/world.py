"""One simulation's world: the store, the mail that left, and the people, in virtual time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from app.settings import Settings
from ledger import users
from ledger.ids import uid_of
from ledger.records import Mode, Search, Stop, User
from mail.letter import Letter
from tests.simulation.memory import Frozen, MemoryStore
from tests.simulation.plan import KIND, Edit

TWIN_TEXT = "We are looking for a python developer who likes to work with us on things of many kinds. " * 4


JOB_LINK = re.compile(r"https://jobs\.example\.com/(\d+)")

Clean = Callable[[], bool]  # whether nothing befell whoever did it, and it heard what had happened


@dataclass(frozen=True, slots=True)
class Sent:
    """A letter that the provider took."""

    letter: Letter
    at: datetime
    groups: frozenset[int]
    is_clean: Clean


@dataclass
class World:
    begin: datetime
    clock_s: Callable[[], float]
    settings: Settings
    frozen: Frozen | None = None
    seed: int = 0
    is_slow: bool = False
    outcomes: tuple[tuple[str, int], ...] = KIND
    answers: tuple[tuple[str, int], ...] = (("answered", 1),)
    has_model: bool = False
    has_twins: bool = False
    are_renamed: bool = False
    listed_before: tuple[int, ...] = ()  # jobs on the board before the plan's
    job_times_s: tuple[float, ...] = ()
    is_loud: bool = False  # tell every operation
    sent: list[Sent] = field(default_factory=list)
    is_quiet: bool = False  # the provider has recovered; what waits must find its end
    told: list[str] = field(default_factory=list)  # what happened, for whoever reads a failing plan
    broken: list[str] = field(default_factory=list)  # promises, seen while they were broken
    saves: Counter[int] = field(default_factory=Counter)  # by person, since the scene
    asked: dict[tuple[str, int], list[Clean]] = field(default_factory=dict)  # (uid, job's group) -> calls with it
    stop_max_s: float = 0.0  # the longest that a process was suspended
    steps: int = 0  # awaits at which the scheduler may let another go on, suspend, fail or kill
    claims: dict[str, Any] = field(default_factory=dict)  # nonce -> the process that wrote it into a row or digest
    claimed_outside: dict[str, Any] = field(default_factory=dict)  # the letter's id outside -> the same
    answers_heard: dict[str, str] = field(default_factory=dict)  # the letter's id outside -> how its last attempt ended
    store: MemoryStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = MemoryStore(clock=self.now, begin=self.frozen)

    def now(self) -> datetime:
        return self.begin + timedelta(seconds=self.clock_s())

    def listed(self) -> list[int]:
        passed_s = self.clock_s()
        return [*self.listed_before, *(n for n, at_s in enumerate(self.job_times_s) if at_s <= passed_s)]

    def group(self, job: int) -> int:
        """Twins are one to the ledger."""
        return job // 2 * 2 if self.has_twins else job

    def groups(self, letter: Letter) -> frozenset[int]:
        return frozenset(self.group(int(job)) for job in JOB_LINK.findall(letter.text))

    def take(self, letter: Letter, *, is_clean: Clean) -> None:
        self.sent.append(Sent(letter, self.now(), self.groups(letter), is_clean))

    def ask(self, uid: str, group: int, *, is_clean: Clean) -> None:
        self.asked.setdefault((uid, group), []).append(is_clean)

    def break_(self, promise: str, how: str) -> None:
        self.broken.append(f"{promise}: {how}")
        self.tell(f"BROKEN {how}")

    def tell(self, what: str) -> None:
        self.told.append(f"{self.now():%d %H:%M:%S} {what}")


def address(person: int) -> str:
    return f"p{person}@example.com"


UIDS = tuple(uid_of(address(person)) for person in range(16))


async def sign_up(world: World, person: int, mode: str, **fields: Any) -> None:
    def edit(user: User) -> User:
        return replace(
            user,
            mode=Mode(mode),
            active=True,
            stopped=None,
            searches={"default": Search(keywords=("python",))},
            **fields,
        )

    await users.save_profile(world.store, address(person), edit, now=world.now())


async def edit(world: World, change: Edit, mode: str) -> None:
    """A person's change, through the same code as the page's."""
    uid, now = UIDS[change.person], world.now()
    what, _, value = change.what.partition(":")
    world.tell(f"{address(change.person)} {change.what}")
    if what == "stop":
        await users.stop(world.store, uid, Stop.UNSUBSCRIBED, now=now)
    elif what == "delete":
        await users.delete(world.store, uid, now=now)
    elif what == "back":
        world.saves[change.person] += 1
        await sign_up(world, change.person, mode)
    elif what == "save":
        world.saves[change.person] += 1
        await users.change(world.store, uid, lambda user: users.with_catch_up(user, now=now) if user.active else user)
    elif what == "pause":
        world.saves[change.person] += 1
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
