"""What every store owes: an id is created once."""

from __future__ import annotations

import asyncio

import pytest

from ledger.store import Store, counted, every


async def test_create_returns_the_ids_that_this_call_created(store: Store) -> None:
    assert set(await store.create("jobs", {"a": {"n": 1}, "b": {"n": 2}})) == {"a", "b"}
    assert set(await store.create("jobs", {"b": {"n": 3}, "c": {"n": 4}})) == {"c"}
    assert {s.id: s.data["n"] async for s in every(store, "jobs", {})} == {"a": 1, "b": 2, "c": 4}


async def test_the_version_that_create_returns_is_the_one_that_is_read(store: Store) -> None:
    created = await store.create("jobs", {"a": {"n": 1}, "b": {"n": 2}})
    assert {s.id: s.version for s in (await store.get("jobs", ["a", "b"])).values()} == created


async def test_of_fifty_concurrent_creations_exactly_one_wins(store: Store) -> None:
    won = await asyncio.gather(*[store.create("deliveries", {"u_j": {"nonce": f"n{i}"}}) for i in range(50)])
    winners = [i for i, ids in enumerate(won) if ids]
    assert len(winners) == 1
    assert (await store.get("deliveries", ["u_j"]))["u_j"].data == {"nonce": f"n{winners[0]}"}


async def test_concurrent_creations_of_many_ids_share_them_without_overlap(store: Store) -> None:
    ids = [f"u{i}_j" for i in range(40)]
    won = await asyncio.gather(*[store.create("deliveries", {i: {"by": n} for i in ids}) for n in range(8)])
    taken = [(id_, n) for n, some in enumerate(won) for id_ in some]
    assert sorted(id_ for id_, _ in taken) == sorted(ids)
    assert {s.id: s.data["by"] async for s in every(store, "deliveries", {})} == dict(taken)


async def test_a_deleted_id_can_be_created_again_under_another_version(store: Store) -> None:
    first = await store.create("jobs", {"a": {"n": 1}})
    await store.delete("jobs", ["a"])
    second = await store.create("jobs", {"a": {"n": 1}})
    assert second["a"] != first["a"]


async def test_creating_nothing_asks_nobody(store: Store) -> None:
    with counted() as counts:
        assert await store.create("jobs", {}) == {}
    assert (counts.round_trips, counts.writes) == (0, 0)


@pytest.mark.parametrize("id_", ["", "a/b", ".", "..", "__x__", "x" * 1501, "\ud800"])
async def test_an_id_that_would_be_read_as_a_path_is_refused_before_anything_is_written(store: Store, id_: str) -> None:
    with pytest.raises(ValueError, match="an id must"):
        await store.create("jobs", {"good": {"n": 1}, id_: {"n": 1}})
    assert await store.get("jobs", ["good"]) == {}


async def test_one_id_in_two_collections_is_two_documents(store: Store) -> None:
    await store.create("jobs", {"a": {"n": 1}})
    assert set(await store.create("aliases", {"a": {"n": 2}})) == {"a"}
