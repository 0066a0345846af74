"""What every store owes: it counts as Firestore bills, and cuts its requests where Firestore must."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from ledger.store import Counts, Create, Delete, Put, Store, Swap, Write, counted, every

T0 = datetime(2026, 11, 30, 8, tzinfo=UTC)


async def test_only_creations_that_took_effect_are_writes(store: Store) -> None:
    await store.create("jobs", {"a": {"n": 1}})
    with counted() as counts:
        await store.create("jobs", {"a": {"n": 2}, "b": {"n": 2}, "c": {"n": 2}})
    assert counts == Counts(writes=2, round_trips=1)


async def test_only_swaps_that_took_effect_are_writes(store: Store) -> None:
    old = await store.create("jobs", {"a": {"n": 1}, "b": {"n": 1}})
    await store.put("jobs", {"b": {"n": 2}})
    with counted() as counts:
        await store.swap("jobs", {id_: (version, {"n": 3}) for id_, version in old.items()})
    assert counts == Counts(writes=1, round_trips=1)


async def test_an_absent_document_is_one_read(store: Store) -> None:
    await store.create("jobs", {"a": {"n": 1}})
    with counted() as counts:
        await store.get("jobs", ["a", "b", "c", "a"])
    assert counts == Counts(reads=3, round_trips=1)


async def test_an_empty_query_is_one_read_and_another_as_many_as_it_finds(store: Store) -> None:
    await store.create("jobs", {f"j{i}": {"state": "open", "wake_at": T0} for i in range(3)})
    with counted() as empty:
        await store.find("jobs", {"state": "matched"})
        await store.find_range("runs", "wake_at", at_most=T0)
    assert empty == Counts(reads=2, round_trips=2)
    with counted() as full:
        await store.find("jobs", {"state": "open"})
        await store.find_range("jobs", "wake_at", at_most=T0)
    assert full == Counts(reads=6, round_trips=2)


async def test_pages_are_round_trips_and_the_last_full_one_is_not_the_end(store: Store) -> None:
    await store.create("jobs", {f"j{i}": {"state": "open"} for i in range(4)})
    with counted() as counts:
        first = await store.find("jobs", {}, limit=2)
        second = await store.find("jobs", {}, limit=2, after=first.after)
        third = await store.find("jobs", {}, limit=2, after=second.after)
    assert (len(second.items), third.items, third.after) == (2, (), None)
    assert counts == Counts(reads=5, round_trips=3)


async def test_puts_and_deletes_count_each_document(store: Store) -> None:
    with counted() as counts:
        await store.put("jobs", {"a": {"n": 1}, "b": {"n": 1}})
        await store.delete("jobs", ["a", "nobody"])
    assert counts == Counts(writes=2, deletes=2, round_trips=2)


async def test_a_commit_counts_when_it_took_effect_and_is_one_round_trip_either_way(store: Store) -> None:
    old = await store.create("jobs", {"a": {"n": 1}, "b": {"n": 1}})
    writes: list[Write] = [
        Create("jobs", "c", {"n": 2}),
        Swap("jobs", "a", old["a"], {"n": 2}),
        Delete("jobs", "b", old["b"]),
        Put("runs", "r", {"n": 2}),
    ]
    with counted() as done:
        assert await store.commit(writes)
    with counted() as refused:
        assert not await store.commit(writes)
    assert done == Counts(writes=3, deletes=1, round_trips=1)
    assert refused == Counts(round_trips=1)


async def test_a_ping_is_one_read(store: Store) -> None:
    with counted() as counts:
        await store.ping()
    assert counts == Counts(reads=1, round_trips=1)


async def test_each_counts_what_it_did_itself_and_its_tasks(store: Store) -> None:
    async def one(n: int) -> Counts:
        with counted() as counts:
            await asyncio.gather(*[store.create("jobs", {f"{n}-{i}": {"n": 1}}) for i in range(n)])
        return counts

    assert await asyncio.gather(*[one(n) for n in (1, 2, 5)]) == [Counts(writes=n, round_trips=n) for n in (1, 2, 5)]


async def test_batches_are_cut_at_five_hundred_documents(store: Store) -> None:
    docs = {f"j{i:04d}": {"n": i} for i in range(1001)}
    with counted() as counts:
        versions = await store.create("jobs", docs)
        swapped = await store.swap("jobs", {id_: (version, {"n": -1}) for id_, version in versions.items()})
        found = await store.get("jobs", list(docs))
        await store.delete("jobs", list(docs))
    assert len(versions) == len(swapped) == len(found) == 1001
    assert counts == Counts(reads=1001, writes=2002, deletes=1001, round_trips=12)


async def test_batches_are_cut_at_three_mebibytes(store: Store) -> None:
    docs = {f"j{i}": {"text": "x" * 700_000} for i in range(10)}
    with counted() as counts:
        assert len(await store.create("jobs", docs)) == 10
    assert counts == Counts(writes=10, round_trips=3)
    assert [len(s.data["text"]) async for s in every(store, "jobs", {})] == [700_000] * 10


async def test_an_id_taken_in_one_batch_keeps_no_other_from_being_created(store: Store) -> None:
    await store.create("jobs", {"j0003": {"n": -1}, "j0777": {"n": -1}})
    won = await store.create("jobs", {f"j{i:04d}": {"n": i} for i in range(1001)})
    assert len(won) == 999
    assert not won.keys() & {"j0003", "j0777"}
