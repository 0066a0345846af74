"""A provider that refuses everybody burns a handful, and the refusals are held against nobody."""

from __future__ import annotations

import pytest

from app.pace import BAD_STREAK_MAX
from ledger import users
from ledger.lifecycle import REJECTED_STREAK_MAX, Attempt, Outcome
from ledger.records import Mode, Stop
from ledger.sqlite import SqliteStore
from mail.letter import Letter
from tests.proofs.scene import INSTANT, Scene
from tests.proofs.stopping import StoppingTransport

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
        assert f"{BAD_STREAK_MAX} letters in a row" in report.reason
        assert "blocked" in report.reason
        assert report.not_taken == BAD_STREAK_MAX
    assert await stopped(scene) == []


async def test_a_person_alone_is_stopped_after_three(scene: Scene) -> None:
    await everybody(scene, 1)
    for _ in range(REJECTED_STREAK_MAX):
        await one_more(scene, [NO])
    assert await stopped(scene) == [Stop.REJECTED]


class OneRefuses(StoppingTransport):
    """A provider that refuses whatever goes to these addresses."""

    refused: tuple[str, ...] = ()

    async def send(self, letter: Letter, *, at_most_s: float = 1.0) -> Attempt:
        return NO if letter.to.startswith(self.refused) else await super().send(letter, at_most_s=at_most_s)


async def test_who_is_refused_while_others_are_not_is_stopped_after_three(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await everybody(scene, 4)
    monkeypatch.setattr(OneRefuses, "refused", ("p01",))
    monkeypatch.setattr("tests.proofs.scene.StoppingTransport", OneRefuses)
    for _ in range(REJECTED_STREAK_MAX):
        await one_more(scene, [])
    assert await stopped(scene) == [Stop.REJECTED]


async def test_twenty_dead_addresses_do_not_stand_in_the_way_of_the_others(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await everybody(scene, BAD_STREAK_MAX + 5)
    dead = tuple(f"p{number:02}" for number in range(BAD_STREAK_MAX))
    monkeypatch.setattr(OneRefuses, "refused", dead)
    monkeypatch.setattr("tests.proofs.scene.StoppingTransport", OneRefuses)
    for _ in range(12):
        await one_more(scene, [])
    came = {who for who, _ in scene.building.jobs("alert")}
    assert came == {f"p{number:02}@example.com" for number in range(BAD_STREAK_MAX, BAD_STREAK_MAX + 5)}
    assert await stopped(scene) == [Stop.REJECTED] * BAD_STREAK_MAX


async def test_a_letter_that_was_taken_at_the_second_try_is_no_trouble(scene: Scene) -> None:
    await everybody(scene, 1)
    await one_more(scene, [Attempt(Outcome.DEFERRED, "busy", retry_after_s=0.0), YES])
    assert scene.reports[-1].errors == []
    await one_more(scene, [Attempt(Outcome.DEFERRED, "busy", retry_after_s=0.0)] * 2)
    assert scene.reports[-1].errors == ["mail: one letter was not taken, or unclear; the first: busy"]


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
