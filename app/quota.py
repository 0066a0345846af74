"""One run's share of the day's letters: taken in blocks, given back when it is not used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

from ledger import quota
from ledger.store import Store

BLOCK_LETTERS = 20
OVER = "the daily limit of letters was reached"


class Quota:
    """`take` before each claim. Without a daily maximum there is always room and the store is not asked."""

    def __init__(self, store: Store, *, daily_max: int | None, clock: Callable[[], datetime]) -> None:
        self._store, self._daily_max, self._clock = store, daily_max, clock
        self._day = clock().date()
        self._is_turned = False  # midnight has passed in this run
        self._held = {True: 0, False: 0}  # of that day
        self._spent = {True: False, False: False}
        self._asking = asyncio.Lock()

    @property
    def is_limited(self) -> bool:
        return self._daily_max is not None

    async def take(self, *, digest: bool) -> bool:
        """Whether one more letter may leave today. Raises StoreError."""
        if self._daily_max is None:
            return True
        async with self._asking:
            self._turn()
            if self._held[digest] == 0 and not self._spent[digest]:
                granted = await quota.take(
                    self._store, day=self._day, want=BLOCK_LETTERS, daily_max=self._daily_max, digests=digest
                )
                self._held[digest] = granted
                self._spent[digest] = granted == 0
            if self._held[digest] == 0:
                return False
            self._held[digest] -= 1
            return True

    def _turn(self) -> None:
        """At midnight what is left of yesterday's block is worth nothing, and today has letters of its own."""
        if (today := self._clock().date()) != self._day:
            self._day, self._is_turned = today, True
            self._held = dict.fromkeys(self._held, 0)
            self._spent = dict.fromkeys(self._spent, False)

    def untaken(self, *, digest: bool) -> None:
        """A letter that was taken into account did not leave. Over midnight it may be yesterday's: then it is lost."""
        self._turn()
        if self._daily_max is not None and not self._is_turned:
            self._held[digest] += 1

    async def give_back(self) -> None:
        """At the end of the run. Raises StoreError."""
        self._turn()
        for digest, count in self._held.items():
            if count:
                self._held[digest] = 0
                await quota.give_back(self._store, day=self._day, count=count, digests=digest)

    def renews_at(self) -> datetime:
        """When the next day's letters may leave: midnight UTC."""
        return datetime.combine(self._clock().date() + timedelta(days=1), time(0), tzinfo=UTC)
