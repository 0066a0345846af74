"""Every run gets on: what a cut one left is done by the next, and nobody stands behind people who are served."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from app.deadline import Deadline
from ledger import ids, users
from ledger.collections import DELIVERIES, USERS
from ledger.lifecycle import State, Via
from ledger.records import Mode, User
from ledger.sqlite import SqliteStore
from ledger.store import Doc, Unreachable
from tests.proofs.scene import DAILY, INSTANT, Scene

PEOPLE = 30


@dataclass
class Counting:
    """A store that counts its round trips, and calls `before` with each one's name, collection and ids."""

    inner: Any
    before: Any = None
    calls: list[tuple[str, str]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self.inner, name)

        async def call(collection: Any = "", *args: Any, **more: Any) -> Any:
            self.calls.append((name, collection))
            if self.before is not None:
                await self.before(name, collection)
            return await (asked(collection, *args, **more) if collection != "" else asked())

        return call


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store)


async def everybody(scene: Scene, mode: Mode = Mode.INSTANT, **fields: Any) -> None:
    await scene.run()
    for number in range(PEOPLE):
        await scene.person(f"p{number:02}@example.com", mode, **fields)
    await scene.run()
    scene.board.jobs = ["one"]


async def test_the_run_after_a_cut_one_asks_nothing_of_those_who_are_served(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await everybody(scene)
    letters = scene.building.letters

    def allows(_: Deadline, _s: float) -> bool:
        return len(letters) < 10 or len(scene.reports) > 2

    monkeypatch.setattr(Deadline, "allows", allows)
    await scene.run()
    served = len(letters)
    assert 10 <= served < PEOPLE
    scene.later(minutes=15)
    store = Counting(scene.store)
    await scene.run(store=store)  # type: ignore[arg-type]
    assert len(letters) == len({letter.to for letter in letters}) == PEOPLE
    assert scene.reports[-1].status == "completed"
    assert sum(call == ("create", DELIVERIES) for call in store.calls) == PEOPLE - served
    assert await scene.left_over() == []


@pytest.mark.parametrize("fields", [{"quiet_from": "06:00", "quiet_to": "09:00"}, {"mode": Mode.DAILY}])
async def test_those_who_get_no_letter_now_are_queued_together(scene: Scene, fields: dict[str, Any]) -> None:
    await everybody(scene, **fields)
    store = Counting(scene.store)
    await scene.run(store=store)  # type: ignore[arg-type]
    rows = await scene.rows()
    assert len(rows) == PEOPLE
    assert {row.state for row in rows.values()} == {State.QUEUED}
    assert sum(call == ("create", DELIVERIES) for call in store.calls) == 1


async def test_catch_ups_without_a_fit_are_answered_together(scene: Scene) -> None:
    await scene.run()
    for number in range(PEOPLE):
        await scene.person(f"p{number:02}@example.com", Mode.INSTANT)
    store = Counting(scene.store)
    await scene.run(store=store)  # type: ignore[arg-type]
    assert sum(call == ("swap", USERS) for call in store.calls) == 1
    scene.later(minutes=15)
    await scene.run()
    people = [user async for user in users.active(scene.store, lambda *_: None)]
    assert [user for user in people if user.catch_up is not None] == []


async def test_whoever_turned_instant_since_the_match_gets_the_letter_after_all(scene: Scene) -> None:
    await scene.run()
    await scene.person(DAILY, Mode.DAILY)
    await scene.run()
    scene.board.jobs = ["one"]

    async def turn(name: str, collection: str) -> None:
        if (name, collection) == ("get", USERS):
            store.before = None
            await users.change(scene.store, ids.uid_of(DAILY), lambda user: replace(user, mode=Mode.INSTANT))

    store = Counting(scene.store, turn)
    await scene.run(store=store)  # type: ignore[arg-type]
    assert [(letter.to, letter.kind) for letter in scene.building.letters] == [(DAILY, "alert")]


@pytest.mark.parametrize("mode", [Mode.INSTANT, Mode.DAILY])
async def test_a_profile_saved_during_a_run_loses_none_of_its_jobs(scene: Scene, mode: Mode) -> None:
    """More fits of that day than a catch-up would take: the new ones stay open for it."""
    await scene.run()
    await scene.person(DAILY, mode)
    await scene.run()
    scene.board.jobs = [f"old{n}" for n in range(30)]
    scene.later(minutes=15)
    await scene.run()
    new = [f"new{n}" for n in range(15)]
    scene.board.jobs = [*scene.board.jobs, *new]
    scene.board.published_at = scene.now - timedelta(hours=5)  # ranked behind the others
    scene.later(minutes=15)

    async def save(name: str, collection: str) -> None:
        if (name, collection) == ("get", USERS):  # as the people are read again, just before the claims
            store.before = None
            uid = ids.uid_of(DAILY)
            edit = lambda user: users.with_catch_up(replace(user, at="09:00"), now=scene.now)  # noqa: E731
            await users.change(scene.store, uid, edit)

    store = Counting(scene.store, save)
    await scene.run(store=store)  # type: ignore[arg-type]
    assert scene.reports[-1].remaining.jobs == len(new)
    scene.later(minutes=15)
    await scene.run()
    rows = await scene.rows()
    assert [job for job in new if (DAILY, job) not in rows] == []


async def test_a_store_that_fails_between_claim_and_send_leaves_the_rows_waiting_not_unclear(scene: Scene) -> None:
    await scene.run()
    scene.board.jobs = ["one"]
    scene.later(minutes=15)
    await scene.person(INSTANT, Mode.INSTANT)  # a catch-up: its flag is cleared between claim and send

    async def fail(name: str, collection: str) -> None:
        if (name, collection) == ("create", DELIVERIES):
            store.before = fail_once

    async def fail_once(name: str, collection: str) -> None:
        if (name, collection) == ("swap", USERS):
            store.before = None
            raise Unreachable("away")

    store = Counting(scene.store, fail)
    await scene.run(store=store)  # type: ignore[arg-type]
    assert scene.reports[-1].status == "failed"
    assert [(row.state, row.via, row.tries) for row in (await scene.rows()).values()] == [(State.QUEUED, Via.ALERT, 0)]
    await scene.lease_ran_out()
    scene.later(minutes=1)
    await scene.run()
    assert [letter.to for letter in scene.building.letters] == [INSTANT]


async def test_a_claim_that_fails_half_way_gives_back_what_it_won(scene: Scene) -> None:
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT, quiet_from="06:00", quiet_to="07:30")
    await scene.run()
    scene.board.jobs = ["waits"]
    await scene.run()
    scene.board.jobs = ["waits", "new"]
    scene.later(hours=1)

    async def fail(name: str, collection: str) -> None:
        if (name, collection) == ("swap", DELIVERIES):
            store.before = None
            raise Unreachable("away")

    store = Counting(scene.store, fail)
    await scene.run(store=store)  # type: ignore[arg-type]
    assert {row.state for row in (await scene.rows()).values()} == {State.QUEUED}
    await scene.lease_ran_out()
    await scene.run()
    assert [letter.listed for letter in scene.building.letters] == [2]


async def test_a_pause_that_ends_while_a_run_looks_is_not_put_back(scene: Scene) -> None:
    until = scene.now + timedelta(days=9)
    user = User("uid", "a@example.com", catch_up="saved", token="t", paused_until=until, wake_at=until)
    assert users.asleep(user, until) == user
    freed = replace(user, paused_until=None, wake_at=scene.now)
    assert users.asleep(freed, until) == freed


async def test_one_document_that_keeps_changing_is_told_and_comes_again(scene: Scene) -> None:
    await scene.run()
    await scene.person(DAILY, Mode.DAILY)
    await scene.person(INSTANT, Mode.INSTANT)

    class Refusing:
        def __getattr__(self, name: str) -> Any:
            return getattr(scene.store, name)

        async def swap(self, collection: str, changes: Mapping[str, tuple[str, Doc]]) -> dict[str, str]:
            stuck = ids.uid_of(DAILY)
            return await scene.store.swap(collection, {id_: new for id_, new in changes.items() if id_ != stuck})

    await scene.run(store=Refusing())  # type: ignore[arg-type]
    assert scene.reports[-1].status == "completed"
    assert any("kept changing" in error for error in scene.reports[-1].errors)
    await scene.run()
    assert not any("kept changing" in error for error in scene.reports[-1].errors)


async def test_a_source_that_raises_is_a_source_that_failed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    await scene.run()

    async def raises(*_: object, **__: object) -> None:
        raise KeyError("odd")

    monkeypatch.setattr(scene.board, "poll", raises)
    scene.later(hours=1)
    await scene.run()
    state = (await scene.store.get("sources", ["board"]))["board"].data
    assert (state["failures"], state["health"]) == (1, "malformed")
    assert scene.reports[-1].sources.failed == [{"name": "board", "reason": "could not be read: KeyError"}]


async def test_without_a_source_the_report_says_so(scene: Scene) -> None:
    assert scene.reports == []
    outcome = await scene.run(sources={})
    assert outcome is not None
    assert scene.reports[-1].errors == ["sources: none is configured: nothing can be found"]
