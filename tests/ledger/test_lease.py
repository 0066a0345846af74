"""The lock: exclusive, expiring at the lease its holder wrote, released by its holder only; on every store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ledger.collections import LOCKS
from ledger.lease import LOCK_ID, Busy, Lease, acquire, release
from ledger.sqlite import SqliteStore
from ledger.store import Store

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


async def take(store: Store, name: str, *, lease_s: float = 600.0) -> Lease | Busy:
    return await acquire(store, holder=name, lease_s=lease_s, now=NOW)


async def test_the_second_is_told_who_holds_it_and_since_when(store: Store) -> None:
    assert isinstance(await take(store, "a"), Lease)
    busy = await take(store, "b")
    assert isinstance(busy, Busy)
    assert (busy.holder, busy.since) == ("a", NOW)


async def test_of_many_at_once_one_has_it(store: Store) -> None:
    got = await asyncio.gather(*(take(store, f"h{n}") for n in range(20)))
    assert sum(isinstance(each, Lease) for each in got) == 1


async def test_released_it_is_free_at_once(store: Store) -> None:
    lease = await take(store, "a")
    assert isinstance(lease, Lease)
    assert await release(store, lease)
    assert isinstance(await take(store, "b"), Lease)


async def test_a_late_release_leaves_the_later_holders_lock(store: Store) -> None:
    late = await take(store, "a")
    assert isinstance(late, Lease)
    await store.delete(LOCKS, [LOCK_ID])  # its lease ran out and it was swept
    newer = await take(store, "b")
    assert isinstance(newer, Lease)
    assert not await release(store, late)
    assert isinstance(await take(store, "c"), Busy)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def timed(tmp_path: Path, clock: Clock) -> SqliteStore:
    return SqliteStore(tmp_path / "lease.db", clock=clock)


@pytest.mark.parametrize(("age_s", "is_free"), [(0, False), (599.999, False), (600, True), (601, True), (-1, True)])
async def test_it_is_free_from_the_moment_its_lease_is_over(
    timed: SqliteStore, clock: Clock, age_s: float, is_free: bool
) -> None:
    """By the store's own clock; a lock from the future is taken over, with a warning."""
    await take(timed, "dead")
    clock.now = NOW + timedelta(seconds=age_s)
    got = await take(timed, "next")
    assert isinstance(got, Lease) == is_free
    if age_s < 0:
        assert isinstance(got, Lease)
        assert "future" in got.warning
    await timed.close()


async def test_the_lease_that_its_holder_wrote_is_honoured(timed: SqliteStore, clock: Clock) -> None:
    await take(timed, "slow", lease_s=1800)
    clock.now = NOW + timedelta(seconds=700)
    assert isinstance(await take(timed, "next", lease_s=600), Busy)
    await timed.close()


async def test_a_lease_over_an_hour_is_a_mistake_and_counts_as_free(timed: SqliteStore) -> None:
    await take(timed, "wrong", lease_s=90_000)
    got = await take(timed, "next")
    assert isinstance(got, Lease)
    assert "lease of 90000 s" in got.warning
    await timed.close()


async def test_a_hosts_wrong_clock_neither_steals_nor_sits_on_it(timed: SqliteStore) -> None:
    await acquire(timed, holder="a", lease_s=600, now=NOW + timedelta(days=400))
    busy = await acquire(timed, holder="b", lease_s=600, now=NOW - timedelta(days=400))
    assert isinstance(busy, Busy)
    assert busy.age_s == pytest.approx(0, abs=1)
    await timed.close()


async def test_a_lost_answer_is_read_back(store: Store) -> None:
    class Loses:
        async def create(self, collection: str, docs: dict[str, object]) -> dict[str, str]:
            await store.create(collection, docs)  # type: ignore[arg-type]
            return {}

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

    assert isinstance(await take(Loses(), "a"), Lease)  # type: ignore[arg-type]
