"""A document that cannot be read costs its own letter at most: the person's others, and everybody else's, go on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ledger import events, ids, users
from ledger.collections import DELIVERIES, DIGESTS, JOBS, USERS
from ledger.events import Event
from ledger.lifecycle import Attempt, Outcome
from ledger.records import Mode, Stop
from ledger.sqlite import SqliteStore
from ledger.store import every
from tests.proofs.scene import DAILY, INSTANT, Scene

UNCLEAR = Attempt(Outcome.UNCLEAR, "timeout")


@pytest.fixture
async def scene(sqlite_store: SqliteStore) -> Scene:
    """Bob's digest of two jobs has been pinned, and its first attempt was unclear."""
    scene = Scene(sqlite_store)
    await scene.person(DAILY, Mode.DAILY)
    await scene.run()
    scene.board.jobs = ["one", "two"]
    scene.later(minutes=15)
    await scene.run()
    scene.later(minutes=50)
    await scene.run(outcomes=[UNCLEAR])
    assert len(scene.building.letters) == 1
    return scene


async def spoil(scene: Scene, collection: str, **fields: Any) -> str:
    found = [snapshot async for snapshot in every(scene.store, collection, {})]
    await scene.store.put(collection, {found[0].id: {**found[0].data, **fields}})
    return found[0].id


async def days(scene: Scene, count: int) -> None:
    for day in range(count):
        scene.board.jobs.append(f"day{day}")
        scene.later(hours=24)
        await scene.run()
        assert scene.reports[-1].status == "completed"


async def test_a_pinned_row_leaves_the_other_rows_their_digest(scene: Scene) -> None:
    await spoil(scene, DELIVERIES, score="high")
    scene.later(hours=1)
    await scene.run()
    assert len(scene.building.letters) == 2
    assert scene.building.letters[-1].listed == 1
    await days(scene, 3)
    jobs = scene.building.jobs("digest")
    assert max(jobs.values()) == 2  # the unclear attempt, and the one that was accepted
    assert {job for _, job in jobs} == {"one", "two", "day0", "day1"}


async def test_a_pinned_row_shifts_no_other_row_out_of_its_letter(sqlite_store: SqliteStore) -> None:
    scene = Scene(sqlite_store, environment={"SCOUT_DIGEST_CAP": "2"})
    await scene.person(DAILY, Mode.DAILY)
    await scene.run()
    scene.board.jobs = ["a", "b", "c", "d"]
    scene.later(minutes=15)
    await scene.run()
    scene.later(hours=2)
    await scene.run(outcomes=[Attempt(Outcome.DEFERRED, "busy")])
    (digest,) = [snapshot async for snapshot in every(scene.store, DIGESTS, {})]
    first = ids.pair_id(ids.uid_of(DAILY), digest.data["rows"][0])
    snapshot = (await scene.store.get(DELIVERIES, [first]))[first]
    await scene.store.put(DELIVERIES, {first: {**snapshot.data, "score": "high"}})
    scene.later(hours=1)
    await scene.run()
    await scene.until(scene.now + timedelta(days=3))
    assert set(scene.building.jobs("digest").values()) == {1}
    assert len(scene.building.jobs("digest")) == 3


@pytest.mark.parametrize("fields", [{"attempts": "many"}, {"attempts": "many", "state": "sending"}, {"rows": 7}])
async def test_a_digest_lets_its_rows_go_to_the_next(scene: Scene, fields: dict[str, Any]) -> None:
    id_ = await spoil(scene, DIGESTS, **fields)
    await days(scene, 1)
    assert any("could not be read" in error for error in scene.reports[-1].errors)
    await days(scene, 2)
    assert not any("could not be read" in error for error in scene.reports[-1].errors)
    jobs = scene.building.jobs("digest")
    assert {job for _, job in jobs} == {"one", "two", "day0"}
    assert {jobs[DAILY, job] for job in ("one", "two")} == {2}  # the unclear attempt, and the next digest
    assert (await scene.store.get(DIGESTS, [id_]))[id_].data["live"] is False
    assert {state for state in await scene.left_over() if state.startswith("digest")} == set()


async def test_a_complaint_stops_a_person_whose_document_cannot_be_read(scene: Scene) -> None:
    uid = ids.uid_of(DAILY)
    good = (await scene.store.get(USERS, [uid]))[uid].data
    await scene.store.put(USERS, {uid: {**good, "searches": "all"}})
    event = Event(DAILY, stop=Stop.COMPLAINED)
    assert await events.stop(scene.store, event, now=scene.now)
    assert not await events.stop(scene.store, event, now=scene.now)
    found = (await scene.store.get(USERS, [uid]))[uid]
    await scene.store.put(USERS, {uid: {**found.data, "searches": good["searches"]}})  # somebody mends it
    person = await users.read(scene.store, uid)
    assert person is not None
    assert (person.record.active, person.record.stopped) == (False, Stop.COMPLAINED)


async def test_a_job_whose_key_no_row_can_have_is_told_and_stops_nobody(scene: Scene) -> None:
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    scene.board.jobs = [*scene.board.jobs, "fresh", "odd"]
    scene.later(minutes=15)

    class Spoiled:
        def __getattr__(self, name: str) -> Any:
            return getattr(scene.store, name)

        async def find(self, collection: str, where: Any, **more: Any) -> Any:
            page = await scene.store.find(collection, where, **more)
            if collection != JOBS:
                return page
            bad = [
                replace(s, data={**s.data, "key": "a/b"}) if "odd" in str(s.data["title"]) else s for s in page.items
            ]
            return replace(page, items=tuple(bad))

    await scene.run(store=Spoiled())  # type: ignore[arg-type]
    assert scene.reports[-1].status == "completed"
    assert [error for error in scene.reports[-1].errors if "job" in error]
    assert (INSTANT, "fresh") in scene.building.jobs("alert")
