"""The process stopped before and after every effect of a run, and every answer lost, on both stores.

The schedule is exhaustive: the run is made once undisturbed to count its effects, then once for each effect and
each way to stop there, and after each the scout goes on until nothing is waiting. Then the mail is counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from ledger.lifecycle import State
from ledger.records import Delivery, Mode
from ledger.store import Store
from tests.proofs.scene import DAILY, FRESH, INSTANT, START, WEEKLY, Scene
from tests.proofs.stopping import HOWS, Stops

NewStore = Callable[[], Awaitable[Store]]
Stage = Callable[[Store], Awaitable[Scene]]
JOBS = ("one", "two")
ALERTED = {(who, job) for who in (INSTANT, FRESH) for job in JOBS}
DIGESTED = {(who, job) for who in (DAILY, WEEKLY) for job in JOBS}


async def _before_the_alerts(store: Store) -> Scene:
    """A baseline is polled, people have signed up; then two jobs appear."""
    scene = Scene(store)
    await scene.run()
    for who, mode in ((INSTANT, Mode.INSTANT), (DAILY, Mode.DAILY), (WEEKLY, Mode.WEEKLY)):
        await scene.person(who, mode)
    scene.later(minutes=15)
    await scene.run()
    await scene.person(FRESH, Mode.INSTANT)
    scene.board.jobs = list(JOBS)
    return scene


async def _before_the_digests(store: Store) -> Scene:
    scene = await _before_the_alerts(store)
    await scene.run()
    scene.now = START + timedelta(days=7, hours=1, minutes=5)  # Monday again: daily and weekly are due
    return scene


def _check(scene: Scene, rows: dict[tuple[str, str], Delivery], *, how: str, effect: str) -> None:
    alerts, digests = scene.building.jobs("alert"), scene.building.jobs("digest")
    assert not [pair for pair, n in alerts.items() if n > 1], "an alert came twice"
    names = [letter.outside_id for letter in scene.building.letters if letter.kind == "alert"]
    assert len(set(names)) == len(names), "two alerts share their name outside"
    assert set(rows) == ALERTED | DIGESTED, "a fit has no row"
    for pair in ALERTED:
        assert alerts[pair] + digests[pair] <= 1, f"{pair} came as alert and in a digest"
        if alerts[pair] + digests[pair] == 0:
            assert rows[pair].state is State.UNCLEAR, f"{pair} was lost and nobody is told"
        if rows[pair].state is State.UNCLEAR:
            assert (effect, how) in _UNCLEAR_AFTER, f"unclear though nothing was in flight: {effect}, {how}"
    for pair in DIGESTED:
        assert digests[pair] >= 1, f"{pair} never came"
        assert rows[pair].state is State.SENT
        if digests[pair] > 1:
            assert digests[pair] == 2
            assert (effect, how) in _TWICE_AFTER, f"a digest was repeated: {effect}, {how}"


# Only a stop between the claim and the settling may leave an alert unclear ...
_UNCLEAR_AFTER = {
    ("create deliveries", "after"),
    ("swap deliveries", "after"),
    ("swap deliveries", "before"),
    ("swap users", "before"),
    ("swap users", "after"),
    ("send alert", "before"),
    ("send alert", "after"),
    ("send alert", "lost"),
    # two letters in flight: while one stops the process, the other is between claim and settling
    ("create deliveries", "before"),
}
# ... and only one between "accepted" and the first flip may repeat a digest: a flipped row proves the acceptance.
_TWICE_AFTER = {
    ("send digest", "after"),
    ("send digest", "lost"),
    ("swap deliveries", "before"),
}


async def _go_on(scene: Scene) -> None:
    await scene.lease_ran_out()
    scene.later(minutes=11)
    await scene.run()
    week = START + timedelta(days=8)
    for at in (
        START + timedelta(hours=2),
        START + timedelta(days=7, hours=1, minutes=20),
        START + timedelta(days=7, hours=3),
        START + timedelta(days=7, hours=8),
        week + timedelta(hours=2),
    ):
        if at > scene.now:
            scene.now = at
            await scene.run()


async def _effects(scene: Scene) -> list[str]:
    stops = Stops()
    await scene.run(stops)
    return stops.names


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("stage", [_before_the_alerts, _before_the_digests], ids=["alerts", "digests"])
async def test_a_run_may_stop_at_any_effect(new_store: NewStore, stage: Stage, part: int, how: str) -> None:
    names = await _effects(await stage(await new_store()))
    assert any(name.startswith("send") for name in names), "the run sends nothing: it proves nothing"
    for at, effect in list(enumerate(names, start=1))[part::4]:
        scene = await stage(await new_store())
        stops = Stops(at, how)
        outcome = await scene.run(stops)
        assert stops.names[at - 1] == effect
        assert (outcome is None) == (how != "lost"), f"{how} at {effect} did not stop the run"
        await _go_on(scene)
        assert await scene.left_over() == [], f"{how} {at}: {effect}"
        _check(scene, await scene.rows(), how=how, effect=effect)
