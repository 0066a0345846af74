"""Cases E: Firestore, and what it asks of every store."""

from __future__ import annotations

import ast
import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import ids, lease
from ledger.collections import DIGESTS, INDEXES, JOBS, LOCKS, USERS
from ledger.records import Mode
from ledger.store import Refused
from tests.shared import shared
from tests.world import World, item

NEW = "Python developer"
ROOT = Path(__file__).parents[2]


def case(name: str) -> Any:
    return json.loads(shared(f"cases/{name}").read_text())


async def test_native_ids_beyond_the_limit_of_a_document_id_are_stored(each_world: World) -> None:
    """B49."""
    world = each_world
    guids = case("B49_ids.json")
    await world.begin()
    await world.user("a@example.com", "python")
    await world.cron()
    world.feed(*(item(f"Python {n}", guid=guid) for n, guid in enumerate(guids)))
    report = await world.cron()
    assert (report["status"], report["jobs"]["new"], report["errors"]) == ("completed", len(guids), [])
    assert {len(key.partition("/")[2]) for key in await world.dump(JOBS)} == {34}
    assert world.sent() == {("a@example.com", f"Python {n}"): 1 for n in range(len(guids))}


async def test_slashes_in_ids_and_addresses_never_lead_to_another_collection(each_world: World) -> None:
    """B50."""
    world, told = each_world, case("B50_ids.json")
    await world.begin()
    for address in told["emails"]:
        await world.user(address, "python")
    await world.cron()
    world.feed(item("Gardener"), *(item(f"Python {n}", guid=guid) for n, guid in enumerate(told["guids"])))
    await world.cron()
    found = await world.dump()
    count = {name: sum(key.startswith(f"{name}/") for key in found) for name in ("users", "jobs", "deliveries")}
    assert count == {"users": 2, "jobs": 5, "deliveries": 8}
    assert [key for key in found if key.count("/") != 1 or "=" in key or "+" in key] == []
    assert world.sent() == {(a, f"Python {n}"): 1 for a in told["emails"] for n in range(4)}


async def test_two_runs_that_both_see_no_row_send_one_letter(each_world: World) -> None:
    """B53."""
    world = each_world
    await world.begin()
    await world.user("a@example.com", "python")
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    meet, came = asyncio.Barrier(2), 0

    async def together(operation: str, collection: str) -> None:
        nonlocal came
        if (operation, collection) == ("create", "deliveries"):
            came += 1
            both.set()
            if came <= 2:
                await meet.wait()

    both = asyncio.Event()
    async with world.another() as other:
        for app in (world.app, other):
            world.spy(together, app=app)
        first = asyncio.create_task(world.cron())
        await both.wait()  # it has found the job and no row, and is about to claim
        await world.steal_lock()
        world.after(microseconds=1)
        reports = await asyncio.gather(first, world.cron(app=other))
    assert came == 2
    assert sorted(report["mail"]["alerts"] for report in reports) == [0, 1]
    assert world.sent() == {("a@example.com", NEW): 1}


def test_no_code_opens_a_firestore_transaction() -> None:
    """B55 and B56: what is not there is never repeated, and holds no lock."""
    named = [
        f"{path.name}: {name}"
        for path in ROOT.glob("*/**/*.py")
        if path.relative_to(ROOT).parts[0] in ("app", "ledger", "scan", "mail")
        for node in ast.walk(ast.parse(path.read_text()))
        if (name := getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None))
        and "transaction" in str(name).lower()
        and "sqlite" not in path.name
    ]
    assert named == []


@pytest.fixture
def local_time(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`local_time(zone)`: the zone of this process, put back at the end."""

    def set_to(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield set_to
    monkeypatch.undo()
    time.tzset()


async def test_old_shapes_of_times_are_read_and_only_aware_utc_is_written(each_world: World, local_time: Any) -> None:
    """B57."""
    world, told = each_world, case("B57_docs.json")
    local_time(told["tz_env"])
    world.now = datetime(2026, 11, 30, 7, 45, tzinfo=UTC)
    await world.begin()
    uid = await world.user("a@example.com", "python")
    await world.user("b@example.com", "python")
    await world.cron()
    document = dict((await world.store.get(USERS, [uid]))[uid].data)
    document |= {"stopped_at": "2026-11-30T08:00:00"}
    del document["created_at"]
    await world.store.put(USERS, {uid: document})
    world.feed(item("Gardener"), item(NEW))
    old = {"first_seen": told["job_first_seen_epoch_ms"], "state": "open", "platform": "p", "source": "board"}
    old |= {"id": "j1" + "0" * 32, "key": "j1" + "0" * 32, "title": "Python of old", "link": "", "text": ""}
    await world.store.put(JOBS, {old["id"]: old})

    for written, since in (("lock_naive", "2026-11-30T08:00:00+00:00"), ("lock_offset", "2026-11-30T08:00:00+00:00")):
        lock = {"ts": told[written], "holder": "old", "nonce": ids.new_nonce(), "lease_s": 600}
        await world.store.put(LOCKS, {lease.LOCK_ID: lock})
        report = await world.cron()
        assert (report["status"], report["since"]) == ("skipped", since)
        assert 0 <= report["stats"]["age_s"] <= 5  # since it was written; the emulator's clock is the real one
    await world.store.delete(LOCKS, [lease.LOCK_ID])

    report = await world.cron()
    assert (report["status"], report["errors"], report["mail"]["alerts"]) == ("completed", [], 2)
    people = ("a@example.com", "b@example.com")
    assert world.sent() == {(to, title): 1 for to in people for title in (NEW, "Python of old")}
    found = await world.dump("users", "jobs", "deliveries", "sources", "runs", "aliases")
    times = [v for key, doc in found.items() for v in doc.values() if isinstance(v, datetime)]
    assert len(times) > 20
    assert {at.utcoffset() for at in times} == {timedelta()}
    rows = await world.rows("a@example.com")
    assert rows["Python of old"].first_seen == datetime.fromtimestamp(told["job_first_seen_epoch_ms"] / 1000, UTC)


async def test_a_missing_index_fails_the_run_with_the_hint_and_is_never_no_users(world: World) -> None:
    """B59."""
    await world.begin()
    await world.user("a@example.com", "python", mode=Mode.DAILY)
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    await world.cron()
    world.after(hours=1)
    hint = "Firestore: FAILED_PRECONDITION (an index is missing; deploy firestore.indexes.json)"

    async def no_index(operation: str, collection: str) -> None:
        if operation.startswith("find") and collection == DIGESTS and is_missing:
            raise Refused(hint)

    is_missing = True
    world.spy(no_index)
    answer = await world.call()
    assert (answer.status_code, answer.json()["status"]) == (503, "failed")
    assert hint in answer.json()["reason"]
    assert world.mails() == []
    is_missing = False
    await world.cron()
    assert world.sent() == {("a@example.com", NEW): 1}


def test_no_query_needs_a_composite_index_and_the_shipped_file_exempts_what_is_never_searched() -> None:
    """B59: the port has no query that joins two kinds of condition, so single-field indexes suffice."""
    shipped = json.loads((ROOT / "firestore.indexes.json").read_text())
    assert shipped["indexes"] == []
    exempt = {(o["collectionGroup"], o["fieldPath"]) for o in shipped["fieldOverrides"] if o["indexes"] == []}
    searched = {(name, field) for name, index in INDEXES.items() for field in (*index.equal, *index.ranged)}
    assert exempt & searched == set()
    assert ("jobs", "text") in exempt


async def test_keys_with_dots_dashes_and_back_ticks_are_keys(store: Any) -> None:
    """B61."""
    counters = dict.fromkeys(case("B61_keys.json"), 1)
    created = await store.create("runs", {"a": {"counts": counters, **counters}})
    await store.swap("runs", {"a": (created["a"], {"counts": dict.fromkeys(counters, 2), **counters})})
    found = (await store.get("runs", ["a"]))["a"].data
    assert found == {"counts": dict.fromkeys(counters, 2), **counters}
