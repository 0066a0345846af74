"""The operator is told what only they can mend: once a day at most, never twice, and not by a paused account."""

from __future__ import annotations

from datetime import datetime

import pytest

from ledger.lifecycle import Attempt, Outcome
from ledger.records import Health, Mode
from ledger.sqlite import SqliteStore
from scan.posting import Answer, Failed, Items, Posting
from tests.proofs.scene import INSTANT, Scene
from tests.proofs.stopping import Stops


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store, environment={"SCOUT_OPERATOR": "ops@example.com"})


def told(scene: Scene) -> list[str]:
    return [letter.text for letter in scene.building.letters if letter.kind == "operator"]


async def with_a_job(scene: Scene) -> None:
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]


async def test_an_unclear_letter_is_told_once_a_day(scene: Scene) -> None:
    await with_a_job(scene)
    await scene.run(outcomes=[Attempt(Outcome.UNCLEAR, "timeout")])
    assert len(told(scene)) == 1
    assert "may or may not have arrived" in told(scene)[0]
    for number in range(3):
        scene.board.jobs.append(f"more{number}")
        scene.later(minutes=15)
        await scene.run(outcomes=[Attempt(Outcome.UNCLEAR, "timeout")])
    assert len(told(scene)) == 1
    scene.later(hours=24)
    await scene.run()
    assert len(told(scene)) == 2


async def test_a_paused_account_is_told_when_it_works_again(scene: Scene) -> None:
    await with_a_job(scene)
    await scene.run(outcomes=[Attempt(Outcome.PAUSED, "401 credits exceeded")])
    assert told(scene) == []
    scene.later(minutes=15)
    await scene.run()
    assert ["credits exceeded" in text for text in told(scene)] == [True]


async def test_a_source_silent_for_a_day_is_named(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    await scene.run()

    async def fails(*_: object, now: datetime, deadline_s: float) -> Answer:
        return Failed(Health.REFUSED, "403 Forbidden")

    monkeypatch.setattr(scene.board, "poll", fails)
    scene.later(hours=2)
    await scene.run()
    assert told(scene) == []
    scene.later(hours=23)
    await scene.run()
    assert ["Source board has been silent since" in text and "403" in text for text in told(scene)] == [True]


async def test_a_source_that_never_answered_is_named_at_its_third_poll(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object, now: datetime, deadline_s: float) -> Answer:
        return Failed(Health.UNREACHABLE, "no such host")

    monkeypatch.setattr(scene.board, "poll", fails)
    for polls in (1, 2, 3):
        await scene.run()
        assert len(told(scene)) == polls // 3
        scene.later(minutes=15)
    assert "Source board has never answered: no such host" in told(scene)[0]


async def test_a_source_that_is_suspended_is_named_in_the_same_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.run()
    polls = iter(range(9))

    async def moves(*_: object, now: datetime, deadline_s: float) -> Answer:
        poll = next(polls)
        fresh = tuple(Posting("board", f"{poll}-{n}", f"Rust {n}", "", "text") for n in range(6))
        return Items(fresh, has_own_ids=False)

    monkeypatch.setattr(scene.board, "poll", moves)
    for _ in range(3):
        scene.later(minutes=15)
        await scene.run()
    assert ["Source board is suspended" in text and "scout sources resume" in text for text in told(scene)] == [True]


async def test_a_run_that_dies_while_telling_tells_at_most_once(scene: Scene) -> None:
    await with_a_job(scene)
    stops = Stops()
    await scene.run(stops, outcomes=[Attempt(Outcome.UNCLEAR, "timeout")])
    sent_at = stops.names.index("send operator") + 1
    for at in range(sent_at - 2, sent_at + 2):
        for how in ("before", "after", "lost"):
            scene.board.jobs.append(f"again{at}{how}")
            scene.later(days=2)
            before = len(told(scene))
            await scene.run(Stops(at, how), outcomes=[Attempt(Outcome.UNCLEAR, "timeout")])
            await scene.lease_ran_out()
            scene.later(minutes=11)
            await scene.run()
            assert len(told(scene)) - before <= 1


@pytest.mark.parametrize("outcome", [Outcome.DEFERRED, Outcome.PAUSED])
async def test_a_letter_that_was_not_taken_comes_with_the_next_run(scene: Scene, outcome: Outcome) -> None:
    await with_a_job(scene)
    await scene.run(outcomes=[Attempt(Outcome.UNCLEAR, "timeout"), Attempt(outcome, "450 come back")])
    assert told(scene) == []
    assert any("operator: the letter was not taken: 450" in error for error in scene.reports[-1].errors)
    scene.later(minutes=15)
    await scene.run()
    assert [
        "may or may not have arrived (since 30 Nov 07:00" in text.replace("\n", " ") or text for text in told(scene)
    ]
    assert len(told(scene)) == 1
    scene.later(minutes=15)
    await scene.run()
    assert len(told(scene)) == 1


async def test_a_letter_that_was_refused_is_tried_again_a_day_later(scene: Scene) -> None:
    await with_a_job(scene)
    await scene.run(outcomes=[Attempt(Outcome.UNCLEAR, "timeout"), Attempt(Outcome.REJECTED, "550 no")])
    scene.later(hours=12)
    await scene.run()
    assert told(scene) == []
    scene.later(hours=12)
    await scene.run()
    assert len(told(scene)) == 1


async def test_without_an_operator_nothing_is_written_or_sent(sqlite_store: SqliteStore) -> None:
    scene = Scene(sqlite_store)
    await with_a_job(scene)
    await scene.run(outcomes=[Attempt(Outcome.UNCLEAR, "timeout")])
    assert told(scene) == []
    assert await sqlite_store.get("locks", ["operator"]) == {}


async def test_an_idle_run_costs_the_store_no_more_for_it(scene: Scene) -> None:
    await scene.run()
    scene.board.min_interval_s = 3600
    await scene.run()
    report = await scene.run()
    assert report is not None
    assert scene.reports[-1].cost.reads <= 12
