"""What every store owes: a few writes, all or nothing; and removal."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from ledger.store import Create, Delete, Put, Store, Swap, Write, every

T0 = datetime(2026, 11, 30, 8, tzinfo=UTC)


async def content(store: Store, collection: str) -> dict[str, object]:
    return {s.id: s.data["n"] async for s in every(store, collection, {})}


async def test_a_commit_writes_all_kinds_over_several_collections(store: Store) -> None:
    old = await store.create("users", {"swapped": {"n": 1}, "deleted": {"n": 1}, "removed": {"n": 1}})
    done = await store.commit(
        [
            Create("digests", "new", {"n": 2}),
            Swap("users", "swapped", old["swapped"], {"n": 2}),
            Put("users", "put", {"n": 2}),
            Delete("users", "deleted", old["deleted"]),
            Delete("users", "removed"),
            Delete("users", "absent"),
        ]
    )
    assert done is True
    assert await content(store, "digests") == {"new": 2}
    assert await content(store, "users") == {"swapped": 2, "put": 2}


@pytest.mark.parametrize("failing", ["create", "swap", "swap of an absent one", "delete", "delete of an absent one"])
async def test_one_failed_precondition_leaves_everything_as_it_was(store: Store, failing: str) -> None:
    old = await store.create("users", {"a": {"n": 1}, "b": {"n": 1}})
    await store.put("users", {"b": {"n": 2}})
    bad: dict[str, Write] = {
        "create": Create("users", "b", {"n": 9}),
        "swap": Swap("users", "b", old["b"], {"n": 9}),
        "swap of an absent one": Swap("users", "nobody", old["b"], {"n": 9}),
        "delete": Delete("users", "b", old["b"]),
        "delete of an absent one": Delete("users", "nobody", old["b"]),
    }
    good: list[Write] = [
        Create("digests", "d", {"n": 9}),
        Swap("users", "a", old["a"], {"n": 9}),
        Put("users", "c", {"n": 9}),
    ]
    for writes in ([*good, bad[failing]], [bad[failing], *good]):
        assert await store.commit(writes) is False
        assert await content(store, "digests") == {}
        assert await content(store, "users") == {"a": 1, "b": 2}


async def test_of_ten_racing_commits_on_one_version_exactly_one_wins(store: Store) -> None:
    version = (await store.create("users", {"a": {"n": -1}}))["a"]
    done = await asyncio.gather(
        *[
            store.commit([Swap("users", "a", version, {"n": i}), Create("digests", f"d{i}", {"n": i})])
            for i in range(10)
        ]
    )
    winner = done.index(True)
    assert done.count(True) == 1
    assert await content(store, "users") == {"a": winner}
    assert await content(store, "digests") == {f"d{winner}": winner}


async def test_a_commit_names_no_document_twice(store: Store) -> None:
    with pytest.raises(ValueError, match="twice"):
        await store.commit([Create("users", "a", {"n": 1}), Put("users", "a", {"n": 2})])
    assert await store.commit([Create("users", "a", {"n": 1}), Create("digests", "a", {"n": 2})]) is True


async def test_a_commit_too_large_for_one_request_is_a_mistake_that_is_told(store: Store) -> None:
    with pytest.raises(ValueError, match="at most 500 writes"):
        await store.commit([Create("users", f"u{i}", {"n": 1}) for i in range(501)])
    with pytest.raises(ValueError, match="at most 3145728 bytes"):
        await store.commit([Create("users", f"u{i}", {"text": "x" * 900_000}) for i in range(4)])
    assert await content(store, "users") == {}


async def test_a_commit_of_five_hundred_writes_is_one(store: Store) -> None:
    assert await store.commit([Create("users", f"u{i}", {"n": i}) for i in range(500)]) is True
    assert len(await content(store, "users")) == 500


async def test_a_commit_of_nothing_takes_effect(store: Store) -> None:
    assert await store.commit([]) is True


async def test_delete_removes_and_does_not_mind_an_absent_id(store: Store) -> None:
    await store.create("users", {"a": {"n": 1}, "b": {"n": 2}, "c": {"n": 3}})
    await store.delete("users", ["a", "nobody", "c", "a"])
    assert await content(store, "users") == {"b": 2}


async def test_prune_removes_a_bounded_slice_of_what_has_expired_and_nothing_else(store: Store, kind: str) -> None:
    docs = {f"old{i}": {"n": i, "expire_at": T0 - timedelta(seconds=i)} for i in range(5)}
    docs |= {"later": {"n": 8, "expire_at": T0 + timedelta(microseconds=1)}, "never": {"n": 9}}
    await store.create("runs", docs)
    removed = [await store.prune("runs", now=T0, limit=3) for _ in range(3)]
    if kind == "firestore":  # its TTL policy does it, see firestore.indexes.json
        assert removed == [0, 0, 0]
    else:
        assert removed == [3, 2, 0]
        assert await content(store, "runs") == {"later": 8, "never": 9}


async def test_what_has_expired_but_is_present_counts_as_present(store: Store) -> None:
    await store.create("jobs", {"a": {"n": 1, "expire_at": datetime(2020, 1, 1, tzinfo=UTC)}})
    assert await store.create("jobs", {"a": {"n": 2}}) == {}
    assert set(await store.get("jobs", ["a"])) == {"a"}
