"""A switch of mode, hour or zone while jobs wait for a digest: they come at the new hour, once, on both stores."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

import pytest

from app import pause, profile
from ledger.ids import uid_of
from ledger.lifecycle import State
from ledger.records import Mode, User
from ledger.schedule import hour_of, next_due
from ledger.store import Store
from tests.faults import Spied, nothing
from tests.proofs.scene import DAILY, START, Scene
from tests.proofs.stopping import HOWS, Stopped, StoppingStore, Stops

NewStore = Callable[[], Awaitable[Store]]
EIGHT = time(8)  # the operator's default
HOURS = (None, "00:05", "06:30", "12:00", "23:45")
ZONES = ("UTC", "America/New_York", "Pacific/Kiritimati")
UID = uid_of(DAILY)


@dataclass(frozen=True)
class Wish:
    mode: Mode
    at: str | None
    zone: str

    def __call__(self, user: User) -> User:
        return replace(user, mode=self.mode, at=self.at, zone=self.zone)


def some_wish(dice: random.Random) -> Wish:
    return Wish(dice.choice([Mode.INSTANT, Mode.DAILY, Mode.WEEKLY]), dice.choice(HOURS), dice.choice(ZONES))


async def waiting(store: Store, wish: Wish) -> Scene:
    """Somebody with two jobs that wait for their digest; who wants them at once has made the wish since."""
    scene = Scene(store)
    await scene.run()
    await scene.person(DAILY, Mode.DAILY)
    await profile.change(store, UID, wish if wish.mode is not Mode.INSTANT else replace(wish, mode=Mode.DAILY),
                         default_at=EIGHT, now=scene.now)  # fmt: skip
    await scene.run()
    scene.board.jobs = ["one", "two"]
    scene.later(minutes=15)
    await scene.run()
    return scene


async def switch(scene: Scene, wish: Wish, store: Store | None = None) -> datetime:
    """Save the wish; returns when the next digest is due by it, as the person's page promises."""
    user = await profile.change(store or scene.store, UID, wish, default_at=EIGHT, now=scene.now)
    assert user is not None
    return next_due(hour_of(user, default_at=EIGHT), scene.now).at


async def wakes(scene: Scene) -> set[datetime | None]:
    return {row.wake_at for row in (await scene.rows()).values() if row.state is State.QUEUED}


@pytest.mark.parametrize("seed", range(8))
async def test_what_waits_goes_to_the_next_hour_of_each_new_wish_and_comes_once(new_store: NewStore, seed: int) -> None:
    dice = random.Random(seed)
    scene = await waiting(await new_store(), some_wish(dice))
    for _ in range(dice.randint(1, 3)):
        scene.later(minutes=dice.randint(1, 600))
        due = {at for at in await wakes(scene) if at is not None and at <= scene.now}
        promised = await switch(scene, some_wish(dice))
        later = {at for at in await wakes(scene) if at is not None and at > scene.now}
        assert later <= {promised} | due, "a job waits for an hour that nobody chose"
    await scene.until(scene.now + timedelta(days=9), every_min=360)
    assert scene.building.jobs("digest") == {(DAILY, "one"): 1, (DAILY, "two"): 1}
    assert await scene.left_over() == []


async def test_from_weekly_to_daily_on_a_tuesday_the_mail_comes_on_wednesday(new_store: NewStore) -> None:
    scene = await waiting(await new_store(), Wish(Mode.WEEKLY, "06:00", "UTC"))
    tuesday, wednesday = START + timedelta(days=1), START.replace(hour=6) + timedelta(days=2)
    scene.now = tuesday
    assert await switch(scene, Wish(Mode.DAILY, "06:00", "UTC")) == wednesday
    await scene.until(wednesday - timedelta(minutes=1), every_min=360)
    assert scene.building.letters == []
    scene.now = wednesday
    await scene.run()
    assert [letter.listed for letter in scene.building.letters] == [2]


async def test_a_new_hour_that_has_just_passed_puts_nothing_off(new_store: NewStore) -> None:
    """Of a job of Friday, due on Monday at 08:00; at 07:15 they choose 07:00: it does not come a week later."""
    scene = Scene(await new_store())
    await scene.run()
    await scene.person(DAILY, Mode.WEEKLY, zone="UTC")
    await scene.run()
    scene.later(days=4)
    scene.board.jobs = ["one", "two"]
    await scene.run()
    scene.now = START + timedelta(days=7, minutes=15)
    await switch(scene, Wish(Mode.WEEKLY, "07:00", "UTC"))
    await scene.run()
    assert [letter.listed for letter in scene.building.letters] == [2]


async def test_no_row_wakes_before_the_end_of_a_pause(new_store: NewStore) -> None:
    scene = await waiting(await new_store(), Wish(Mode.WEEKLY, "08:00", "UTC"))
    until = START + timedelta(days=3)
    await pause.pause(scene.store, UID, until=until, now=scene.now)
    await switch(scene, Wish(Mode.DAILY, "09:00", "UTC"))
    assert await wakes(scene) == {until}
    await switch(scene, Wish(Mode.WEEKLY, "06:00", "UTC"))
    assert await wakes(scene) == {START.replace(hour=6) + timedelta(days=7)}


@pytest.mark.parametrize("how", HOWS)
async def test_a_save_that_dies_before_it_moved_the_rows_loses_nothing(new_store: NewStore, how: str) -> None:
    wish = Wish(Mode.DAILY, "09:00", "UTC")
    names = ["swap users", "swap deliveries"]
    for at, effect in enumerate(names, start=1):
        scene = await waiting(await new_store(), Wish(Mode.WEEKLY, "08:00", "UTC"))
        stops = Stops(at, how)
        try:
            await switch(scene, wish, StoppingStore(scene.store, stops))
        except Stopped:
            assert how != "lost"
        assert stops.names[at - 1] == effect
        await scene.until(START + timedelta(days=9), every_min=360)
        assert scene.building.jobs("digest") == {(DAILY, "one"): 1, (DAILY, "two"): 1}, f"{how} {effect}"
        assert await scene.left_over() == []


async def test_a_digest_that_leaves_while_its_person_saves_comes_once(new_store: NewStore) -> None:
    scene = await waiting(await new_store(), Wish(Mode.DAILY, "08:00", "UTC"))
    saved_at = scene.now

    async def a_run(operation: str, collection: str) -> None:
        if (operation, collection) == ("swap", "deliveries"):
            scene.now = START.replace(hour=8)
            await scene.run()
            scene.now = saved_at

    await switch(scene, Wish(Mode.DAILY, "07:45", "UTC"), Spied(scene.store, a_run, nothing))
    assert {row.state for row in (await scene.rows()).values()} == {State.SENT}
    await scene.until(START + timedelta(days=9), every_min=360)
    assert scene.building.jobs("digest") == {(DAILY, "one"): 1, (DAILY, "two"): 1}
