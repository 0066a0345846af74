"""Digests of many rows: one commit always takes them, and what finds no room is counted, told and let go in the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ledger import deliveries, ids
from ledger.collections import DELIVERIES, DIGESTS
from ledger.documents import decode
from ledger.lifecycle import Attempt, Outcome, State, Via
from ledger.pinning import ROWS_MAX
from ledger.records import Delivery, Digest, Mode
from ledger.sqlite import SqliteStore
from ledger.store import every
from tests.proofs.scene import DAILY, START, Scene
from tests.proofs.stopping import JOB_LINK, Stopped, StoppingStore, Stops


@pytest.fixture
async def scene(sqlite_store: SqliteStore) -> Scene:
    scene = Scene(sqlite_store, environment={"SCOUT_DIGEST_CAP": "100"})
    await scene.person(DAILY, Mode.DAILY)
    await scene.run()
    return scene


async def waiting(scene: Scene, count: int, name: str = "job", *, day: int = 0, **fields: Any) -> None:
    due = START + timedelta(days=day, hours=1)
    then = due - timedelta(hours=9)
    row = Delivery(
        uid=ids.uid_of(DAILY), key="", job_id="x", state=State.QUEUED, via=Via.DIGEST, created_at=then,
        first_seen=then, title="", link="", score=1, reason="python in the title", wake_at=due,
    )  # fmt: skip
    rows = [
        replace(row, key=ids.job_id("b", f"{name}{n}"), title=f"{name}{n}", link=f"https://jobs.example.com/{name}{n}")
        for n in range(count)
    ]
    await deliveries.queue(scene.store, [replace(row, **fields) for row in rows])


async def states(scene: Scene) -> Counter[str]:
    rows = [decode(Delivery, snapshot) async for snapshot in every(scene.store, DELIVERIES, {})]
    return Counter(row.state.value for row in rows)


async def morning(scene: Scene, day: int) -> None:
    scene.now = START + timedelta(days=day, hours=1, minutes=1)
    await scene.run()


async def test_rows_that_were_given_up_and_new_ones_together_are_more_than_one_commit_takes(scene: Scene) -> None:
    await waiting(scene, 300, "old")
    for day in range(3):
        for hour in (1, 3, 8):
            scene.now = START + timedelta(days=day, hours=hour, minutes=1)
            await scene.run(outcomes=[Attempt(Outcome.UNCLEAR, "timeout")])
    before = len(scene.building.letters)
    await waiting(scene, 300, "new", day=3)
    await morning(scene, 3)
    assert scene.reports[-1].status == "completed"
    assert len(scene.building.letters) == before + 1
    assert (await states(scene))["failed"] == 300


async def test_rows_that_are_large_are_pinned_as_far_as_one_commit_takes_them(scene: Scene) -> None:
    links = tuple(f"https://x.example.com/{'y' * 1900}{n}" for n in range(4))
    await waiting(scene, 450, twin_links=links)
    await morning(scene, 0)
    assert scene.reports[-1].status == "completed"
    (digest,) = [decode(Digest, snapshot) async for snapshot in every(scene.store, DIGESTS, {})]
    assert 0 < len(digest.rows) < 450
    assert digest.beyond == 450 - len(digest.rows)
    assert (await states(scene))["sent"] == scene.building.letters[-1].listed > 0


async def test_what_finds_no_room_is_told_and_counts_as_left_over(scene: Scene) -> None:
    await waiting(scene, ROWS_MAX + 50)
    await morning(scene, 0)
    listed = scene.building.letters[-1].listed
    assert f"{ROWS_MAX + 50 - listed} more" in scene.building.letters[-1].text
    assert await states(scene) == {"sent": listed, "queued": ROWS_MAX + 50 - listed}
    await morning(scene, 1)
    left = ROWS_MAX + 50 - listed - scene.building.letters[-1].listed
    assert f"{left} more" in scene.building.letters[-1].text
    assert "wait for the next mail" not in scene.building.letters[-1].text
    assert (await states(scene))["expired"] == left
    await morning(scene, 2)
    assert (await states(scene))["queued"] == 0
    assert len(scene.building.letters) == 2
    assert await scene.left_over() == []


async def test_a_flip_that_was_cut_in_half_calls_only_those_rows_sent_that_the_letter_lists(scene: Scene) -> None:
    await waiting(scene, 100, title="職" * 90, reason="r" * 200, company="c" * 130, place="p" * 130)
    stops = Stops()

    class Half(StoppingStore):
        """A batch may take effect in part: each write is for itself."""

        async def swap(self, collection: str, changes: Any) -> dict[str, str]:
            if collection == DELIVERIES and len(changes) > 90 and not stops.dead:
                await scene.store.swap(collection, dict(list(changes.items())[:10]))
                stops.dead = True
                raise Stopped
            return await super().swap(collection, changes)

    scene.now = START + timedelta(hours=1, minutes=1)
    await scene.run(stops, store=Half(scene.store, stops))
    (letter,) = scene.building.letters
    assert letter.listed < 100
    await scene.lease_ran_out()
    scene.later(minutes=20)
    await scene.run()
    assert len(scene.building.letters) == 1
    there = set(JOB_LINK.findall(letter.text))
    rows = [decode(Delivery, snapshot) async for snapshot in every(scene.store, DELIVERIES, {})]
    assert {row.link.rsplit("/", 1)[1] for row in rows if row.state is State.SENT} == there
