"""What every store owes: compare and set, on the version that was read."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from ledger.store import Snapshot, Store
from tests.conftest import OpenStore


async def read(store: Store, id_: str) -> Snapshot:
    return (await store.get("users", [id_]))[id_]


async def test_a_swap_on_the_version_read_takes_effect_and_answers_the_new_version(store: Store) -> None:
    created = await store.create("users", {"a": {"n": 1, "gone": True}})
    swapped = await store.swap("users", {"a": (created["a"], {"n": 2})})
    now = await read(store, "a")
    assert now.data == {"n": 2}
    assert swapped == {"a": now.version}
    assert swapped["a"] != created["a"]


async def test_of_twenty_racers_on_one_version_exactly_one_wins(store: Store) -> None:
    version = (await store.create("locks", {"cron": {"nonce": "none"}}))["cron"]
    won = await asyncio.gather(*[store.swap("locks", {"cron": (version, {"nonce": f"n{i}"})}) for i in range(20)])
    winners = [i for i, ids in enumerate(won) if ids]
    assert len(winners) == 1
    assert (await store.get("locks", ["cron"]))["cron"].data == {"nonce": f"n{winners[0]}"}


async def test_a_swap_that_lost_can_read_again_and_win(store: Store) -> None:
    await store.create("users", {"a": {"n": 0}})

    async def add_one() -> None:
        while True:
            seen = await read(store, "a")
            if await store.swap("users", {"a": (seen.version, {"n": seen.data["n"] + 1})}):
                return

    await asyncio.gather(*[add_one() for _ in range(8)])
    assert (await read(store, "a")).data == {"n": 8}


async def test_a_version_that_moved_vanished_or_never_was_swaps_nothing(store: Store) -> None:
    old = await store.create("users", {"moved": {"n": 1}, "gone": {"n": 1}, "good": {"n": 1}})
    await store.put("users", {"moved": {"n": 2}})
    await store.delete("users", ["gone"])
    changes = {
        "moved": (old["moved"], {"n": 9}),
        "gone": (old["gone"], {"n": 9}),
        "never": (old["good"], {"n": 9}),
        "good": (old["good"], {"n": 9}),
    }
    assert set(await store.swap("users", changes)) == {"good"}
    assert {id_: s.data["n"] for id_, s in (await store.get("users", list(changes))).items()} == {"moved": 2, "good": 9}


async def test_a_version_of_no_known_form_swaps_nothing(store: Store) -> None:
    await store.create("users", {"a": {"n": 1}})
    for version in ("", "0", "nonsense", "0.000000000", "999999999999.000000000", "-1.000000000"):
        assert await store.swap("users", {"a": (version, {"n": 2})}) == {}
    assert (await read(store, "a")).data == {"n": 1}


async def test_a_version_is_not_valid_again_after_the_document_came_back(store: Store) -> None:
    first = await store.create("users", {"a": {"n": 1}})
    await store.delete("users", ["a"])
    await store.create("users", {"a": {"n": 1}})
    assert await store.swap("users", {"a": (first["a"], {"n": 2})}) == {}


async def test_every_kind_of_write_moves_the_version(store: Store) -> None:
    versions = [(await store.create("users", {"a": {"n": 0}}))["a"]]
    versions.append((await store.swap("users", {"a": (versions[-1], {"n": 1})}))["a"])
    await store.put("users", {"a": {"n": 2}})
    versions.append((await read(store, "a")).version)
    assert len(set(versions)) == 3


async def test_a_swap_of_one_store_object_is_seen_by_another(open_store: OpenStore) -> None:
    one, other = await open_store(), await open_store()
    version = (await one.create("users", {"a": {"n": 1}}))["a"]
    assert (await read(other, "a")).version == version
    assert set(await other.swap("users", {"a": (version, {"n": 2})})) == {"a"}
    assert await one.swap("users", {"a": (version, {"n": 3})}) == {}


async def test_put_writes_whatever_was_there(store: Store) -> None:
    await store.put("users", {"a": {"n": 1, "old": True}})
    await store.put("users", {"a": {"n": 2}, "b": {"n": 3}})
    assert {i: s.data for i, s in (await store.get("users", ["a", "b"])).items()} == {"a": {"n": 2}, "b": {"n": 3}}


async def test_age_is_the_time_since_the_last_write_by_the_stores_own_clock(open_store: OpenStore, kind: str) -> None:
    now = datetime(2026, 11, 30, 8, tzinfo=UTC)
    writer = await open_store(clock=lambda: now)
    reader = await open_store(clock=lambda: now.replace(minute=10))
    await writer.create("locks", {"cron": {"n": 1}})
    age_s = (await reader.get("locks", ["cron"]))["cron"].age_s
    if kind == "sqlite":
        assert age_s == 600
    else:  # the server's clock: neither of ours
        assert 0 <= age_s < 60
