"""A provider that refuses everybody burns a handful, and the refusals are held against nobody."""

from __future__ import annotations

import pytest

from app.pace import BAD_STREAK_MAX
from ledger import users
from ledger.lifecycle import REJECTED_STREAK_MAX, Attempt, Outcome, State
from ledger.records import Mode, Stop
from ledger.sqlite import SqliteStore
from tests.proofs.scene import INSTANT, Scene

PEOPLE = 30
NO = Attempt(Outcome.REJECTED, "recipient: the mail server answered 554 5.7.1, blocked")
YES = Attempt(Outcome.ACCEPTED)


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store)


async def everybody(scene: Scene, count: int) -> None:
    await scene.run()
    for number in range(count):
        await scene.person(f"p{number:02}@example.com", Mode.INSTANT)
    await scene.run()


async def stopped(scene: Scene) -> list[Stop | None]:
    people = [user async for user in users.everyone(scene.store, lambda *_: None)]
    return [user.stopped for user in people if not user.active]


async def one_more(scene: Scene, outcomes: list[Attempt]) -> None:
    scene.board.jobs = [*scene.board.jobs, f"job{len(scene.board.jobs)}"]
    scene.later(minutes=15)
    await scene.run(outcomes=outcomes)


async def test_from_the_first_letter_on(scene: Scene) -> None:
    await everybody(scene, PEOPLE)
    for _ in range(REJECTED_STREAK_MAX):
        await one_more(scene, [NO] * PEOPLE)
        report = scene.reports[-1]
        assert report.status == "failed"
        assert "blocked" in report.reason
        assert report.mail.failed == BAD_STREAK_MAX
    assert await stopped(scene) == []
    rows = (await scene.rows()).values()
    assert sum(row.state is State.FAILED for row in rows) == REJECTED_STREAK_MAX * BAD_STREAK_MAX


async def test_a_person_alone_is_stopped_after_three(scene: Scene) -> None:
    await everybody(scene, 1)
    for _ in range(REJECTED_STREAK_MAX):
        await one_more(scene, [NO])
    assert await stopped(scene) == [Stop.REJECTED]


async def test_who_is_refused_while_others_are_not_is_stopped_after_three(scene: Scene) -> None:
    await everybody(scene, 4)
    for _ in range(REJECTED_STREAK_MAX):
        await one_more(scene, [NO, YES, YES, YES])
    assert await stopped(scene) == [Stop.REJECTED]


async def test_the_report_says_once_that_letters_were_not_taken_and_why(scene: Scene) -> None:
    await everybody(scene, 3)
    await one_more(scene, [Attempt(Outcome.DEFERRED, "connect: refused")] * 3)
    (error,) = scene.reports[-1].errors
    assert error == "mail: 3 letters were not taken, or unclear; the first: connect: refused"
    assert scene.reports[-1].status == "completed"


async def test_an_ordinary_letter_says_nothing_of_the_kind(scene: Scene) -> None:
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    await one_more(scene, [YES])
    assert scene.reports[-1].errors == []
