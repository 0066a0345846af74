"""What one run may still spend on judging: hard caps for the run, the day, and each person's day.

`take` before each call, with the most that it can cost; `settle` after it, with what it did cost. Of the day's
documents a block is reserved at a time, and what is left of it is given back at the end of the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import Decimal

from app.settings import Settings
from ledger import spend
from ledger.spend import Bill, Settled
from ledger.store import Store
from scan.verdict import Usage

DAY_BLOCK_CALLS = 20  # reserved at once
PERSON_BLOCK_CALLS = 2


@dataclass(frozen=True, slots=True)
class Caps:
    run: Bill
    day: Bill
    person: Bill  # a day


def caps_of(settings: Settings) -> Caps:
    def bill(tokens: int, dollars: Decimal) -> Bill:
        return Bill(tokens, int(dollars * 1_000_000))

    return Caps(
        run=bill(settings.ai_max_run_tokens, settings.ai_max_run_usd),
        day=bill(settings.ai_max_day_tokens, settings.ai_max_day_usd),
        person=bill(settings.ai_max_user_day_tokens, settings.ai_max_user_day_usd),
    )


@dataclass(frozen=True, slots=True)
class Over:
    """A cap was reached: which, for people, and until when asking is in vain. None: only in this run."""

    why: str
    until: datetime | None = None


@dataclass(slots=True)
class _Account:
    """One document's share of this run."""

    id: str
    most: Bill
    block_calls: int
    held: Bill = field(default_factory=Bill)
    is_spent: bool = False
    calls: int = 0
    used: Usage = field(default_factory=Usage)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Purse:
    def __init__(self, store: Store, *, caps: Caps, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock
        self._caps = caps
        self._left = caps.run
        began = clock()
        self._day = began.date()
        self._tomorrow = datetime.combine(self._day + timedelta(days=1), time(), tzinfo=began.tzinfo)
        self._all = _Account(spend.day_id(self._day), caps.day, DAY_BLOCK_CALLS)
        self._people: dict[str, _Account] = {}

    async def take(self, uid: str, most: Bill) -> Over | None:
        """Set aside the most that a call can cost. Over: it may not be made. Raises StoreError."""
        if not self._left.covers(most):
            return Over("the limit of one run is reached")
        person = self._people.setdefault(
            uid, _Account(spend.person_id(self._day, uid), self._caps.person, PERSON_BLOCK_CALLS)
        )
        self._left -= most
        if not await self._draw(person, most):
            self._left += most
            return Over("the day's limit for one person is reached", self._tomorrow)
        if not await self._draw(self._all, most):
            self._left += most
            person.held += most
            return Over("the day's limit is reached", self._tomorrow)
        return None

    def settle(self, uid: str, most: Bill, cost: Bill, usage: Usage, *, calls: int) -> None:
        """The call is over (`calls` 0: it was not made): what it did not use is there for the next."""
        self._left += most - cost
        for account in (self._people[uid], self._all):
            account.held += most - cost
            account.calls += calls
            account.used += usage

    async def close(self) -> None:
        """At the end of the run: give back, and note what was used. Raises StoreError."""
        accounts = [a for a in (self._all, *self._people.values()) if a.calls or a.held != Bill()]
        ends = {a.id: Settled(a.held, a.calls, a.used.all_input_tokens, a.used.output_tokens) for a in accounts}
        self._people.clear()
        self._all = _Account(self._all.id, self._all.most, DAY_BLOCK_CALLS)
        await spend.settle(self._store, ends, now=self._clock())

    async def _draw(self, account: _Account, most: Bill) -> bool:
        async with account.asking:
            if not account.held.covers(most) and not account.is_spent:
                need = Bill(max(0, most.tokens - account.held.tokens), max(0, most.micros - account.held.micros))
                granted = await spend.reserve(
                    self._store, account.id, need=need, want=most * account.block_calls, most=account.most,
                    now=self._clock(),
                )  # fmt: skip
                account.is_spent = granted == Bill()
                account.held += granted
            if not account.held.covers(most):
                return False
            account.held -= most
            return True
