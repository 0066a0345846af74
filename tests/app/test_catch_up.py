"""A newly saved profile: at most one letter of the fresh jobs, nobody falls between, no newer save is undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from app.report import Report, Status
from ledger import users
from ledger.ids import uid_of
from ledger.lifecycle import State
from ledger.records import Mode, Search
from ledger.sqlite import SqliteStore
from ledger.store import Doc, Snapshot
from tests.proofs.scene import INSTANT, START, Scene
from tests.proofs.stopping import StoppingStore, Stops


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store)


async def test_a_new_person_gets_the_twenty_best_of_the_fresh_jobs_in_one_letter(scene: Scene) -> None:
    await scene.run()
    scene.board.jobs = [f"j{n:03d}" for n in range(300)]
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    await scene.until(START + timedelta(days=3))
    assert [(letter.kind, letter.listed) for letter in scene.building.letters] == [("alert", 20)]


async def test_a_silent_baseline_alerts_nobody_but_its_recent_jobs_count_for_a_catch_up(scene: Scene) -> None:
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["old"]
    scene.board.published_at = START - timedelta(days=3)
    baseline = Scene(scene.store, now=scene.now)
    baseline.board.name, baseline.board.jobs = "another", ["recent"]
    baseline.board.published_at = START - timedelta(hours=2)
    await baseline.run()
    assert baseline.building.letters == []
    await baseline.person(INSTANT, Mode.INSTANT)
    await baseline.run()
    assert set(baseline.building.jobs("alert")) == {(INSTANT, "recent")}


async def test_a_profile_saved_while_the_run_works_keeps_its_own_catch_up(scene: Scene) -> None:
    """The run clears the flag that it answered, not the newer one."""
    await scene.run()
    scene.board.jobs = ["one"]
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT)
    newer: list[str] = []

    class SavesMeanwhile(StoppingStore):
        async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
            if collection == "deliveries" and not newer:
                user = await users.change(scene.store, uid_of(INSTANT), lambda u: users.with_catch_up(u, now=scene.now))
                assert user is not None
                assert user.catch_up is not None
                newer.append(user.catch_up)
            return await super().create(collection, docs)

    await scene.run(Stops(), store=SavesMeanwhile(scene.store, Stops()))
    after = await users.read(scene.store, uid_of(INSTANT))
    assert after is not None
    assert after.record.catch_up == newer[0]
    await scene.run()
    after = await users.read(scene.store, uid_of(INSTANT))
    assert after is not None
    assert after.record.catch_up is None
    assert scene.building.jobs("alert") == {(INSTANT, "one"): 1}


async def test_a_profile_saved_between_match_and_claim_decides_what_is_mailed(scene: Scene) -> None:
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    saved: list[bool] = []

    class SavesMeanwhile(StoppingStore):
        async def get(self, collection: str, ids: Sequence[str]) -> dict[str, Snapshot]:
            if collection == "users" and not saved:
                saved.append(True)
                await users.change(
                    scene.store,
                    uid_of(INSTANT),
                    lambda u: users.with_catch_up(
                        replace(u, searches={"default": Search(keywords=("cobol",))}), now=scene.now
                    ),
                )
            return await super().get(collection, ids)

    await scene.run(store=SavesMeanwhile(scene.store, Stops()))
    await scene.run()
    assert saved
    assert scene.building.letters == [], "mailed by a profile that its owner had replaced"


async def test_a_process_suspended_between_claim_and_send_does_not_send_in_somebody_elses_time(scene: Scene) -> None:
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]

    class Suspended(StoppingStore):
        async def create(self, collection: str, docs: Mapping[str, Doc]) -> dict[str, str]:
            done = await super().create(collection, docs)
            if collection == "deliveries":
                scene.later(seconds=700)  # beyond the wall and the lease
            return done

    report = await scene.run(store=Suspended(scene.store, Stops()))
    assert scene.building.letters == []
    assert isinstance(report, Report)
    assert (report.status, report.remaining.users) == (Status.PARTIAL, 1)
    (row,) = (await scene.rows()).values()
    assert (row.state, row.tries) == (State.QUEUED, 0)
    scene.later(minutes=11)
    await scene.run()
    assert scene.building.jobs("alert") == {(INSTANT, "one"): 1}
