"""The digest's rules through whole runs: caps, carrying, giving up, retries, switches. Letters are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from ledger import users
from ledger.ids import uid_of
from ledger.lifecycle import Attempt, Outcome, State, Via
from ledger.records import Mode, Stop
from ledger.sqlite import SqliteStore
from tests.proofs.scene import DAILY, INSTANT, START, Scene

EIGHT = START.replace(hour=8)
DEFERRED, UNCLEAR = Attempt(Outcome.DEFERRED, "451"), Attempt(Outcome.UNCLEAR, "timeout")


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store)


async def queued(scene: Scene, count: int, *, mode: Mode = Mode.DAILY, who: str = DAILY) -> None:
    """One person with `count` rows waiting, and the clock at the digest's hour."""
    await scene.run()
    await scene.person(who, mode)
    await scene.run()
    scene.board.jobs = [f"j{n:03d}" for n in range(count)]
    scene.later(minutes=15)
    await scene.run()
    scene.now = EIGHT


async def at(scene: Scene, when: datetime, outcomes: Sequence[Attempt] = ()) -> int:
    """A run at that time; how many digests left."""
    before = sum(letter.kind == "digest" for letter in scene.building.letters)
    scene.now = when
    await scene.run(outcomes=outcomes)
    return sum(letter.kind == "digest" for letter in scene.building.letters) - before


async def states(scene: Scene) -> dict[State, int]:
    found = [row.state for row in (await scene.rows()).values()]
    return {state: found.count(state) for state in State if state in found}


async def test_twenty_are_shown_and_the_rest_is_counted_in_the_letter(scene: Scene) -> None:
    await queued(scene, 33)
    assert await at(scene, EIGHT) == 1
    letter = scene.building.letters[-1]
    assert letter.listed == 20
    assert "13 more" in letter.text
    assert await states(scene) == {State.SENT: 20, State.QUEUED: 13}


async def test_a_row_left_over_is_carried_once_and_expires_after_the_second_digest(scene: Scene) -> None:
    await queued(scene, 50)
    assert await at(scene, EIGHT) == 1
    assert await at(scene, EIGHT + timedelta(days=1)) == 1
    assert await states(scene) == {State.SENT: 40, State.EXPIRED: 10}
    expired = [row for row in (await scene.rows()).values() if row.state is State.EXPIRED]
    assert {row.why for row in expired} == {"two digests had no room for it"}
    assert await at(scene, EIGHT + timedelta(days=2)) == 0


async def test_each_row_is_mailed_once_over_many_days(scene: Scene) -> None:
    await queued(scene, 45)
    for day in range(4):
        await at(scene, EIGHT + timedelta(days=day))
    assert set(scene.building.jobs("digest").values()) == {1}


async def test_a_deferred_digest_is_tried_again_after_the_lease_and_comes_once(scene: Scene) -> None:
    await queued(scene, 2)
    assert await at(scene, EIGHT, [DEFERRED]) == 0
    assert await at(scene, EIGHT + timedelta(minutes=5)) == 0
    assert await at(scene, EIGHT + timedelta(minutes=10)) == 1
    assert await at(scene, EIGHT + timedelta(minutes=20)) == 0
    assert set(scene.building.jobs("digest").values()) == {1}


async def test_an_unclear_digest_is_sent_again_after_an_hour_then_four_then_with_the_next_period(scene: Scene) -> None:
    await queued(scene, 2)
    sent = [
        await at(scene, EIGHT + timedelta(minutes=minutes), [UNCLEAR])
        for minutes in (0, 15, 59, 60, 75, 60 + 239, 60 + 240, 60 + 255, 60 * 20)
    ]
    assert sent == [1, 0, 0, 1, 0, 0, 1, 0, 0]  # the worst case: each unclear one did arrive
    assert len({letter.outside_id for letter in scene.building.letters}) == 1, "a repeat is the same letter"
    assert len({(letter.subject, letter.text, letter.html, letter.date) for letter in scene.building.letters}) == 1
    assert await at(scene, EIGHT + timedelta(days=1)) == 1
    assert await states(scene) == {State.SENT: 2}


async def test_rows_unclear_in_three_periods_are_given_up_and_say_so(scene: Scene) -> None:
    await queued(scene, 1)
    for day in range(4):
        await at(scene, EIGHT + timedelta(days=day), [UNCLEAR])
    (row,) = (await scene.rows()).values()
    assert (row.state, row.why) == (State.FAILED, "unclear, gave up")
    assert len(scene.building.letters) == 3


async def test_an_account_at_fault_uses_no_attempt(scene: Scene) -> None:
    await queued(scene, 1)
    for minutes in range(0, 100, 10):
        assert await at(scene, EIGHT + timedelta(minutes=minutes), [Attempt(Outcome.PAUSED, "401")]) == 0
    assert await at(scene, EIGHT + timedelta(minutes=100)) == 1


async def test_a_rejected_digest_fails_its_rows_with_the_reason(scene: Scene) -> None:
    await queued(scene, 25)
    await at(scene, EIGHT, [Attempt(Outcome.REJECTED, "550 5.7.1 refused")])
    rows = (await scene.rows()).values()
    assert {(row.state, row.why) for row in rows} == {(State.FAILED, "550 5.7.1 refused")}


async def test_after_an_outage_there_is_one_digest_with_everything(scene: Scene) -> None:
    await queued(scene, 3)
    scene.board.jobs += ["late"]
    assert await at(scene, EIGHT + timedelta(days=3, hours=5)) == 1
    assert await at(scene, EIGHT + timedelta(days=4)) == 0  # what was new at that run went along
    assert len(scene.building.jobs("digest")) == 4
    assert set(scene.building.jobs("digest").values()) == {1}


async def test_superseded_rows_come_first_and_outside_the_cap(scene: Scene) -> None:
    scene.environment["SCOUT_DIGEST_CAP"] = "2"
    await queued(scene, 2)
    for hours in (0, 1, 5):
        await at(scene, EIGHT + timedelta(hours=hours), [DEFERRED])
    scene.board.jobs += ["new1", "new2", "new3"]
    await at(scene, EIGHT + timedelta(hours=6))
    assert await at(scene, EIGHT + timedelta(days=1)) == 1
    letter = scene.building.letters[-1]
    assert letter.listed == 4
    assert letter.text.index("/j000") < letter.text.index("/new1")
    assert "1 more" in letter.text


async def test_a_user_who_stops_gets_no_digest_and_the_rows_say_why(scene: Scene) -> None:
    await queued(scene, 2)
    await users.stop(scene.store, uid_of(DAILY), Stop.UNSUBSCRIBED, now=scene.now)
    assert await at(scene, EIGHT) == 0
    assert {(r.state, r.why) for r in (await scene.rows()).values()} == {
        (State.EXPIRED, "its user has stopped: unsubscribed")
    }
    assert await scene.left_over() == []


async def test_a_user_who_stops_between_two_attempts_gets_no_second_one(scene: Scene) -> None:
    await queued(scene, 2)
    await at(scene, EIGHT, [DEFERRED])
    await users.stop(scene.store, uid_of(DAILY), Stop.COMPLAINED, now=scene.now)
    assert await at(scene, EIGHT + timedelta(hours=1)) == 0
    assert await scene.left_over() == []


async def test_a_pause_holds_the_rows_until_its_end(scene: Scene) -> None:
    await queued(scene, 2)
    until = EIGHT + timedelta(days=2, hours=3)
    await users.change(
        scene.store, uid_of(DAILY), lambda u: users.with_catch_up(replace(u, paused_until=until), now=scene.now)
    )
    assert await at(scene, EIGHT) == 0
    assert await at(scene, EIGHT + timedelta(days=1)) == 0
    assert await at(scene, until) == 1
    assert set(scene.building.jobs("digest").values()) == {1}


HOURS = ("06:30", "08:00", "09:00", "23:45")
ZONES = ("UTC", "America/New_York", "Pacific/Kiritimati")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("hour", HOURS)
@pytest.mark.parametrize("mode", [Mode.DAILY, Mode.WEEKLY])
async def test_a_change_of_hour_zone_or_mode_neither_repeats_nor_drops(
    scene: Scene, hour: str, zone: str, mode: Mode
) -> None:
    await queued(scene, 2)
    scene.now = EIGHT - timedelta(minutes=1)
    await users.change(scene.store, uid_of(DAILY), lambda u: replace(u, at=hour, zone=zone, mode=mode))
    await scene.until(EIGHT + timedelta(days=9), every_min=240)
    assert scene.building.jobs("digest") == {(DAILY, "j000"): 1, (DAILY, "j001"): 1}
    assert await scene.left_over() == []


@pytest.mark.parametrize("first", Mode)
@pytest.mark.parametrize("second", Mode)
async def test_a_switch_of_mode_at_any_moment_mails_every_job_once(scene: Scene, first: Mode, second: Mode) -> None:
    await queued(scene, 3, mode=first, who=INSTANT)
    scene.now = EIGHT - timedelta(minutes=1)
    await users.change(scene.store, uid_of(INSTANT), lambda u: replace(u, mode=second))
    scene.board.jobs += ["after"]
    await scene.until(EIGHT + timedelta(days=9), every_min=240)
    both = scene.building.jobs("alert") + scene.building.jobs("digest")
    assert both == {(INSTANT, job): 1 for job in ("j000", "j001", "j002", "after")}
    assert await scene.left_over() == []


async def test_a_deferred_alert_of_someone_who_left_instant_mode_goes_into_the_digest(scene: Scene) -> None:
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    await scene.run(outcomes=[DEFERRED])
    await users.change(scene.store, uid_of(INSTANT), lambda u: replace(u, mode=Mode.DAILY))
    scene.later(minutes=10)
    await scene.run()
    (row,) = (await scene.rows()).values()
    assert (row.via, row.state, row.wake_at) == (Via.DIGEST, State.QUEUED, EIGHT)
    assert await at(scene, EIGHT) == 1


async def test_more_than_twenty_fits_make_one_alert_and_the_rest_goes_by_digest(scene: Scene) -> None:
    await queued(scene, 27, mode=Mode.INSTANT, who=INSTANT)
    assert [letter.listed for letter in scene.building.letters] == [20]
    assert await at(scene, EIGHT) == 1
    assert set((scene.building.jobs("alert") + scene.building.jobs("digest")).values()) == {1}
    assert await states(scene) == {State.SENT: 27}
