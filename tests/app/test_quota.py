"""The day's limit of letters: digests first, then the best alerts; the rest waits for the digest and says so."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest

from app.quota import Quota
from ledger import quota
from ledger.lifecycle import Attempt, Outcome, State, Via
from ledger.records import Mode
from ledger.sqlite import SqliteStore
from ledger.store import Store
from tests.proofs.scene import START, Scene

DAY = date(2026, 11, 30)
EIGHT = START.replace(hour=8)


async def test_a_day_never_grants_more_than_its_maximum(store: Store) -> None:
    granted = [await quota.take(store, day=DAY, want=20, daily_max=50, digests=False) for _ in range(4)]
    assert granted == [20, 20, 10, 0]
    await quota.give_back(store, day=DAY, count=5, digests=False)
    assert await quota.take(store, day=DAY, want=20, daily_max=50, digests=False) == 5
    assert await quota.take(store, day=DAY + timedelta(days=1), want=20, daily_max=50, digests=False) == 20


async def test_what_yesterdays_digests_needed_is_held_back_from_the_alerts(store: Store) -> None:
    assert await quota.take(store, day=DAY, want=30, daily_max=50, digests=True) == 30
    morrow = DAY + timedelta(days=1)
    assert await quota.take(store, day=morrow, want=100, daily_max=50, digests=False) == 20
    assert await quota.take(store, day=morrow, want=100, daily_max=50, digests=True) == 30


async def test_over_midnight_what_was_left_of_yesterday_is_worth_nothing_today(store: Store) -> None:
    now = START.replace(hour=23, minute=59)
    run = Quota(store, daily_max=30, clock=lambda: now)
    assert [await run.take(digest=False) for _ in range(3)] == [True] * 3
    now += timedelta(minutes=2)
    run.untaken(digest=False)  # of yesterday's
    today = [await run.take(digest=True) for _ in range(17)]
    await run.give_back()
    other = Quota(store, daily_max=30, clock=lambda: now)
    while await other.take(digest=True):
        today.append(True)
    assert len(today) == 30


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store, environment={"SCOUT_MAIL_DAILY_MAX": "3"})


async def test_over_the_limit_the_rest_waits_for_the_digest_and_the_letter_says_so(scene: Scene) -> None:
    people = [f"p{n}@example.com" for n in range(5)]
    await scene.run()
    for who in people:
        await scene.person(who, Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    await scene.run()
    assert len(scene.building.letters) == 3
    rows = (await scene.rows()).values()
    assert Counter((row.state, row.via) for row in rows) == {
        (State.SENT, Via.ALERT): 3,
        (State.QUEUED, Via.DIGEST): 2,
    }
    scene.now = EIGHT  # the same day: nothing may leave
    await scene.run()
    assert len(scene.building.letters) == 3
    scene.now = EIGHT + timedelta(days=1)
    await scene.run()
    digests = [letter for letter in scene.building.letters if letter.kind == "digest"]
    assert len(digests) == 2
    assert all("daily limit of letters was reached" in letter.text for letter in digests)
    assert all("daily limit of letters was reached" in letter.html for letter in digests)
    assert await scene.left_over() == []


async def test_digests_come_before_alerts(scene: Scene) -> None:
    await scene.run()
    for n in range(3):
        await scene.person(f"d{n}@example.com", Mode.DAILY)
        await scene.person(f"i{n}@example.com", Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    scene.now = EIGHT + timedelta(hours=12)
    await scene.run()
    assert [letter.kind for letter in scene.building.letters] == ["alert"] * 3
    scene.board.jobs += ["two"]
    scene.now = EIGHT + timedelta(days=1)
    await scene.run()
    assert [letter.kind for letter in scene.building.letters[3:]] == ["digest"] * 3


async def test_a_letter_that_was_provably_not_taken_does_not_count(scene: Scene) -> None:
    await scene.run()
    await scene.person("i@example.com", Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    for _ in range(2):
        await scene.run(outcomes=[Attempt(Outcome.PAUSED, "401")])
    held = (await scene.store.get("locks", ["quota"]))["quota"].data
    assert held["used"] == 0


async def test_a_retry_after_within_the_run_is_tried_once_more_under_the_same_claim(scene: Scene) -> None:
    await scene.run()
    await scene.person("i@example.com", Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    await scene.run(outcomes=[Attempt(Outcome.DEFERRED, "429", retry_after_s=0.01)])
    (row,) = (await scene.rows()).values()
    assert (row.state, row.tries) == (State.SENT, 0)


async def test_an_unclear_attempt_is_repeated_only_where_the_provider_knows_the_key(scene: Scene) -> None:
    await scene.run()
    await scene.person("i@example.com", Mode.INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    unclear = Attempt(Outcome.UNCLEAR, "503", repeatable=True, retry_after_s=0.01)
    await scene.run(outcomes=[unclear, Attempt(Outcome.REJECTED, "409")])
    (row,) = (await scene.rows()).values()
    assert row.state is State.UNCLEAR, "a refusal under the same key does not prove that the first was not taken"
    scene.board.jobs += ["two"]
    await scene.run(outcomes=[unclear])
    assert (await scene.rows())["i@example.com", "two"].state is State.SENT
