"""What a letter had no room for: it says how many, what comes of them, and where they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ledger.collections import JOBS
from ledger.documents import decode, encode
from ledger.lifecycle import Attempt, Outcome, State, Via
from ledger.records import Job, JobState, Mode
from ledger.sqlite import SqliteStore
from ledger.store import every
from mail.letter import Letter
from tests.proofs.scene import DAILY, INSTANT, START, Scene

HISTORY = "https://scout.example.com/me/history"


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store)


async def newest(scene: Scene, jobs: range, outcomes: tuple[Attempt, ...] = ()) -> Letter:
    """A run after these jobs came, and the last letter that left."""
    scene.board.jobs = [f"j{n:03d}" for n in jobs]
    scene.later(minutes=15)
    await scene.run(outcomes=outcomes)
    return scene.building.letters[-1]


def says(letter: Letter, left_out: str) -> bool:
    assert (HISTORY in letter.text) == (f'href="{HISTORY}"' in letter.html) == ("... and" in letter.text)
    return f"... {left_out}.\n" in letter.text and f"{left_out}.<br>" in letter.html


async def an_instant_person(scene: Scene, *, zone: str = "UTC") -> None:
    await scene.run()
    await scene.person(INSTANT, Mode.INSTANT, zone=zone)
    await scene.run()


async def test_an_alert_counts_what_waits_for_the_daily_mail_and_when_that_comes(scene: Scene) -> None:
    await an_instant_person(scene, zone="Asia/Tokyo")  # and the default hour, 08:00 UTC
    letter = await newest(scene, range(36))
    assert letter.listed == 20
    assert says(letter, "and 16 more, which wait for your daily mail of Mon 30 Nov, 17:00")
    rows = (await scene.rows()).values()
    assert sum((row.state, row.via) == (State.QUEUED, Via.DIGEST) for row in rows) == 16


async def test_an_alert_that_leaves_nothing_out_says_nothing(scene: Scene) -> None:
    await an_instant_person(scene)
    assert "more" not in (await newest(scene, range(20))).text
    letter = await newest(scene, range(20, 41))
    assert says(letter, "and 1 more, which waits for your daily mail of Mon 30 Nov, 08:00 UTC")


async def test_an_alert_does_not_count_what_an_earlier_one_held(scene: Scene) -> None:
    """A run that was cut before it could close its jobs: the next one meets the same pairs again."""
    await an_instant_person(scene)
    await newest(scene, range(36))
    found = {s.id: s async for s in every(scene.store, JOBS, {})}
    opened = {id_: encode(replace(decode(Job, s), state=JobState.OPEN)) for id_, s in found.items()}
    await scene.store.swap(JOBS, {id_: (found[id_].version, doc) for id_, doc in opened.items()})
    letter = await newest(scene, range(36, 41))
    assert letter.listed == 5
    assert says(letter, "and 16 more, which wait for your daily mail of Mon 30 Nov, 08:00 UTC")


async def test_a_digest_says_which_come_again_and_which_do_not(scene: Scene) -> None:
    await scene.run()
    await scene.person(DAILY, Mode.DAILY)
    await scene.run()
    await newest_digest(scene, range(45), day=0)
    assert says(scene.building.letters[-1], "and 25 more, which wait for the next mail")
    scene.board.jobs = []
    await newest_digest(scene, range(45, 69), day=1)
    assert says(scene.building.letters[-1], "and 29 more: 4 wait for the next mail, 25 will not come again")
    scene.board.jobs = []
    await newest_digest(scene, range(0), day=2)
    assert scene.building.letters[-1].listed == 4
    states = [row.state for row in (await scene.rows()).values()]
    assert (states.count(State.SENT), states.count(State.EXPIRED)) == (44, 25)


async def newest_digest(scene: Scene, jobs: range, *, day: int) -> None:
    scene.board.jobs = [f"j{n:03d}" for n in jobs]
    scene.now = START + timedelta(days=day, minutes=30)
    await scene.run()
    scene.now = START + timedelta(days=day, hours=1)
    await scene.run()


async def test_what_was_left_out_twice_is_told_as_gone_at_every_attempt(scene: Scene) -> None:
    await scene.run()
    await scene.person(DAILY, Mode.DAILY)
    await scene.run()
    await newest_digest(scene, range(50), day=0)
    scene.now = START + timedelta(days=1, hours=1)
    await scene.run(outcomes=[Attempt(Outcome.UNCLEAR, "timeout")])
    scene.later(hours=1)
    await scene.run()
    first, second = scene.building.letters[-2:]
    assert says(first, "and 10 more, which had no room twice and will not come again")
    assert first == second
