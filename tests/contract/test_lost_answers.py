"""An answer of Firestore that is lost after the work was done: nothing is doubled, and a nonce tells whose it is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.drill.cutter import Cutter, cutter_before
from ledger.firestore import FirestoreStore
from ledger.firestore_rpc import TRIES_MAX
from ledger.store import Create, Delete, Put, Swap, Unreachable, Write, counted


@pytest.fixture
async def cutter(emulator_host: str) -> AsyncIterator[Cutter]:
    async with cutter_before(emulator_host) as cutter:
        yield cutter


@pytest.fixture
async def direct(firestore_store: FirestoreStore) -> FirestoreStore:
    """The same data without the proxy."""
    await firestore_store.ping()
    return firestore_store


@pytest.fixture
async def store(
    cutter: Cutter, direct: FirestoreStore, firestore_project: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[FirestoreStore]:
    """A store whose connection leads through the proxy and is open."""
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", cutter.host)
    store = FirestoreStore(firestore_project)
    await store.ping()
    yield store
    await store.close()


async def data(store: FirestoreStore, collection: str) -> dict[str, object]:
    return {s.id: s.data for s in (await store.find(collection, {})).items}


async def test_a_creation_whose_answer_is_lost_is_found_by_its_nonce(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter
) -> None:
    cutter.lose = 1
    with counted() as counts:
        assert await store.create("deliveries", {"u_j": {"nonce": "mine"}}) == {}
    assert (cutter.lost, counts.round_trips) == (1, 2)
    assert (await store.get("deliveries", ["u_j"]))["u_j"].data["nonce"] == "mine"
    assert await data(direct, "deliveries") == {"u_j": {"nonce": "mine"}}


async def test_a_creation_whose_every_answer_is_lost_raises_and_is_there(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter
) -> None:
    cutter.lose = TRIES_MAX
    with pytest.raises(Unreachable):
        await store.create("deliveries", {"u_j": {"nonce": "mine"}})
    assert cutter.lost == TRIES_MAX
    assert await data(direct, "deliveries") == {"u_j": {"nonce": "mine"}}
    assert (await store.get("deliveries", ["u_j"]))["u_j"].data["nonce"] == "mine"  # and it recovers by itself


async def test_of_a_batch_whose_answer_is_lost_the_rows_of_others_stay_theirs(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter
) -> None:
    await direct.create("deliveries", {"b": {"nonce": "other"}})
    cutter.lose = 1
    assert await store.create("deliveries", {id_: {"nonce": "mine"} for id_ in "abc"}) == {}
    assert cutter.lost == 1
    nonces = {id_: s.data["nonce"] for id_, s in (await store.get("deliveries", ["a", "b", "c"])).items()}
    assert nonces == {"a": "mine", "b": "other", "c": "mine"}


async def test_a_swap_whose_answer_is_lost_is_found_by_its_nonce(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter
) -> None:
    version = (await direct.create("locks", {"cron": {"nonce": "old"}}))["cron"]
    cutter.lose = 1
    assert await store.swap("locks", {"cron": (version, {"nonce": "mine"})}) == {}
    assert cutter.lost == 1
    held = (await store.get("locks", ["cron"]))["cron"]
    assert held.data == {"nonce": "mine"}
    assert await direct.swap("locks", {"cron": (version, {"nonce": "theirs"})}) == {}
    assert set(await store.swap("locks", {"cron": (held.version, {"nonce": "next"})})) == {"cron"}


async def test_a_swap_that_lost_its_race_and_its_answer_is_not_taken_for_ours(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter
) -> None:
    version = (await direct.create("locks", {"cron": {"nonce": "old"}}))["cron"]
    await direct.swap("locks", {"cron": (version, {"nonce": "theirs"})})
    cutter.lose = 1
    assert await store.swap("locks", {"cron": (version, {"nonce": "mine"})}) == {}
    assert (cutter.lost, await data(direct, "locks")) == (1, {"cron": {"nonce": "theirs"}})


async def test_a_commit_whose_answer_is_lost_says_false_and_is_there_once(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter
) -> None:
    old = await direct.create("deliveries", {"a": {"n": 1}, "gone": {"n": 1}})
    cutter.lose = 1
    writes: list[Write] = [
        Create("digests", "d", {"nonce": "mine"}),
        Swap("deliveries", "a", old["a"], {"n": 2}),
        Put("deliveries", "put", {"n": 2}),
        Delete("deliveries", "gone", old["gone"]),
    ]
    assert await store.commit(writes) is False
    assert cutter.lost == 1
    assert await data(direct, "digests") == {"d": {"nonce": "mine"}}
    assert await data(direct, "deliveries") == {"a": {"n": 2}, "put": {"n": 2}}


async def test_a_put_or_delete_whose_answer_is_lost_is_simply_done_again(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter
) -> None:
    cutter.lose = 1
    await store.put("sources", {"a": {"n": 1}, "b": {"n": 1}})
    cutter.lose = 1
    await store.delete("sources", ["a"])
    assert (cutter.lost, await data(direct, "sources")) == (2, {"b": {"n": 1}})


@pytest.mark.parametrize("read", ["get", "find"])
async def test_a_read_whose_answer_is_lost_is_asked_again_and_never_empty(
    store: FirestoreStore, direct: FirestoreStore, cutter: Cutter, read: str
) -> None:
    await direct.create("jobs", {"a": {"state": "open"}})
    cutter.lose = 1
    with counted() as counts:
        if read == "get":
            assert set(await store.get("jobs", ["a"])) == {"a"}
        else:
            assert [s.id for s in (await store.find("jobs", {"state": "open"})).items] == ["a"]
    assert (cutter.lost, counts.reads, counts.round_trips) == (1, 1, 2)
