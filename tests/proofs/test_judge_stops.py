"""A run that asks a judge, stopped before and after every effect, and every answer lost, on both stores.

Whatever happens, a stored verdict is never asked for again, a stop repeats at most the calls that were in flight,
and every pair finds its end: mailed once if it fits, never if it does not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from ledger.collections import JOBS, LOCKS, MATCHES
from ledger.documents import decode
from ledger.ids import uid_of
from ledger.records import Mode
from ledger.store import Store, every
from ledger.verdicts import Verdict, VerdictState
from scan.verdict import End, Reply
from tests.proofs.judging import Bench
from tests.proofs.scene import DAILY, INSTANT, START, Scene
from tests.proofs.stopping import HOWS, Stops

NewStore = Callable[[], Awaitable[Store]]
SCORES = {"one": 90, "two": 80, "three": 10}
FITS = {(who, job) for who in (INSTANT, DAILY) for job in ("one", "two")}


async def _stage(store: Store) -> tuple[Scene, Bench]:
    """A baseline is polled, two people who want verdicts have signed up; then three jobs appear."""
    bench = Bench(store, SCORES)
    scene = Scene(store, judge=bench.judge, environment={"SCOUT_AI_BATCH": "2"})
    await scene.run()
    for who, mode in ((INSTANT, Mode.INSTANT), (DAILY, Mode.DAILY)):
        await scene.person(who, mode, ai=True, about=f"I am {uid_of(who)}.", ai_threshold=50)
    scene.later(minutes=15)
    await scene.run()
    scene.board.jobs = list(SCORES)
    return scene, bench


async def _go_on(scene: Scene) -> None:
    await scene.lease_ran_out()
    for minutes in (11, 15, 15, 60, 45, 60 * 24):
        scene.later(minutes=minutes)
        await scene.run()


async def _ghosts() -> None:
    """A dead process's calls that had left it arrive all the same; what else it had under way comes to nothing."""
    left = [task for task in asyncio.all_tasks() if "Asking." in repr(task.get_coro())]
    if left:
        await asyncio.wait(left)


async def _verdicts(store: Store) -> dict[tuple[str, str], Verdict]:
    titles = {s.id: s.data["title"].rsplit(" ", 1)[-1] async for s in every(store, JOBS, {})}
    found = [decode(Verdict, s) async for s in every(store, MATCHES, {})]
    return {(verdict.uid, titles[verdict.job_id]): verdict for verdict in found}


def _mailed(scene: Scene) -> Counter[tuple[str, str]]:
    return scene.building.jobs("alert") + scene.building.jobs("digest")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("part", range(2))
async def test_a_run_that_asks_a_judge_may_stop_at_any_effect(new_store: NewStore, part: int, how: str) -> None:
    scene, bench = await _stage(await new_store())
    stops = Stops()
    await scene.run(stops)
    assert bench.calls == 4
    assert stops.names.count("ask") == 4
    for at, effect in list(enumerate(stops.names, start=1))[part::2]:
        scene, bench = await _stage(await new_store())
        assert (await scene.run(Stops(at, how)) is None) == (how != "lost")
        await _ghosts()
        stored = {pair for pair, v in (await _verdicts(scene.store)).items() if v.state is VerdictState.DECIDED}
        in_flight = set(bench.asked) - stored  # asked about, and no answer was written down
        await _go_on(scene)
        where = f"{how} {at}: {effect}"
        assert bench.wrong == [], where
        assert await scene.left_over() == [], where
        repeated = {pair: n for pair, n in bench.asked.items() if n > 1}
        assert set(repeated) <= in_flight, f"{where} repeated {repeated}"
        assert max(repeated.values(), default=1) <= 2, where
        mailed = _mailed(scene)
        rows = await scene.rows()
        assert set(rows) == FITS, where
        assert not [pair for pair, n in scene.building.jobs("alert").items() if n > 1], where
        assert all(mailed[pair] or rows[pair].state.value == "unclear" for pair in FITS), where
        found = await _verdicts(scene.store)
        assert {verdict.state for verdict in found.values()} == {VerdictState.DECIDED}, where
        assert not [v for v in found.values() if v.wake_at is not None], where
        assert len(found) == 6, where


async def test_a_second_run_asks_nothing_and_changes_no_verdict(new_store: NewStore) -> None:
    scene, bench = await _stage(await new_store())
    await scene.run()
    before, calls = await _verdicts(scene.store), bench.calls
    scene.later(minutes=15)
    report: Any = await scene.run()
    assert bench.calls == calls
    assert report.matches.ai_calls == 0
    assert await _verdicts(scene.store) == before


async def test_two_overlapping_runs_never_ask_about_the_same_pair(new_store: NewStore) -> None:
    scene, bench = await _stage(await new_store())
    first = asyncio.create_task(scene.run())
    others = []
    for _ in range(3):
        await asyncio.sleep(0.01)
        await scene.store.delete(LOCKS, ["cron"])  # stolen: the lock is not the guarantee
        others.append(asyncio.create_task(scene.run()))
    await asyncio.gather(first, *others)
    scene.later(minutes=15)
    await scene.run()
    assert bench.wrong == []
    assert set(bench.asked.values()) == {1}
    assert len(bench.asked) == 6
    assert await _jobs_open(scene.store) == []
    scene.later(days=1)
    await scene.run()
    assert _mailed(scene) == Counter(FITS)


async def _jobs_open(store: Store) -> list[str]:
    return [s.id async for s in every(store, JOBS, {"state": "open"})]


@pytest.mark.parametrize("end", [End.BUSY, End.UNCLEAR, End.DECLINED, End.ANSWERED, End.REFUSED])
async def test_without_an_answer_the_job_closes_and_the_pair_is_mailed_unscored_after_two_hours_and_not_before(
    new_store: NewStore, end: End
) -> None:
    scene, bench = await _stage(await new_store())
    bench.answers = [Reply(end, reason="a fault", retry_after_s=9999.0)] * 1000
    await scene.run()
    assert await _jobs_open(scene.store) == []
    wanted_at = scene.now
    while scene.now < wanted_at + timedelta(hours=3):
        assert _mailed(scene) == Counter() or scene.now >= wanted_at + timedelta(hours=2)
        scene.later(minutes=15)
        await scene.run()
    assert max(bench.asked.values()) <= 4, "the tries have an end"
    scene.now = START + timedelta(days=1, hours=2)
    await scene.run()
    everything = {(who, job) for who in (INSTANT, DAILY) for job in SCORES}
    assert _mailed(scene) == Counter(everything)
    assert {row.not_scored for row in (await scene.rows()).values()} == {"no verdict came within two hours"}
    assert all("Not scored: no verdict came within two hours" in letter.text for letter in scene.building.letters)
    assert await scene.left_over() == []
    calls = bench.calls
    scene.later(minutes=15)
    await scene.run()
    assert bench.calls == calls


async def test_a_pair_that_waits_is_mailed_when_its_verdict_comes_though_its_job_has_closed(
    new_store: NewStore,
) -> None:
    scene, bench = await _stage(await new_store())
    bench.answers = [Reply(End.UNCLEAR, reason="timeout")] * 4
    await scene.run()
    assert (await _jobs_open(scene.store), _mailed(scene)) == ([], Counter())
    scene.board.jobs = []
    scene.later(minutes=11)
    await scene.run()
    assert scene.building.jobs("alert") == Counter({(INSTANT, "one"): 1, (INSTANT, "two"): 1})
    assert all("Fits (90 of 100): Because of one." in letter.text for letter in scene.building.letters)
    assert not [v for v in (await _verdicts(scene.store)).values() if v.wake_at is not None]


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_carried_pair_survives_a_stop_between_its_verdict_and_its_row(new_store: NewStore, how: str) -> None:
    async def waiting() -> tuple[Scene, Bench]:
        scene, bench = await _stage(await new_store())
        bench.answers = [Reply(End.UNCLEAR, reason="timeout")] * 4
        await scene.run()
        scene.later(minutes=11)
        return scene, bench

    scene, bench = await waiting()
    stops = Stops()
    await scene.run(stops)
    for at, effect in enumerate(stops.names, start=1):
        scene, bench = await waiting()
        await scene.run(Stops(at, how))
        await _go_on(scene)
        assert bench.wrong == [], effect
        assert set(await scene.rows()) == FITS, f"{how} {at}: {effect}"
        assert not [pair for pair, n in scene.building.jobs("alert").items() if n > 1]
        assert not [v for v in (await _verdicts(scene.store)).values() if v.wake_at is not None]


async def test_who_has_a_row_costs_no_call(new_store: NewStore) -> None:
    """B14: the ledger has decided; the model is not even asked."""
    scene, bench = await _stage(await new_store())
    scene.judge = None
    await scene.run()
    assert scene.building.jobs("alert")[INSTANT, "three"] == 1
    scene.judge = bench.judge
    await scene.person(INSTANT, Mode.INSTANT, ai=True, about=f"I am {uid_of(INSTANT)}.")
    scene.later(minutes=15)
    await scene.run()
    assert bench.asked == Counter()
    assert scene.building.jobs("alert")[INSTANT, "three"] == 1


async def _after_two_who_are_not_there(store: Store, **fields: Any) -> tuple[Scene, Bench, int]:
    """Nobody has answered about their pairs, and by the next run they have changed so."""
    scene, bench = await _stage(store)
    bench.answers = [Reply(End.UNCLEAR, reason="timeout")] * 4
    await scene.run()
    calls = bench.calls
    for who in (INSTANT, DAILY):
        await scene.person(who, Mode.INSTANT, **fields)
    scene.later(hours=3)
    await scene.run()
    return scene, bench, calls


async def test_nothing_is_asked_or_mailed_for_somebody_who_has_gone_meanwhile(new_store: NewStore) -> None:
    scene, bench, calls = await _after_two_who_are_not_there(await new_store(), active=False)
    assert bench.calls == calls
    assert _mailed(scene) == Counter()
    found = (await _verdicts(scene.store)).values()
    assert {v.state for v in found} == {VerdictState.DROPPED}
    assert all(v.why.startswith("its user has stopped") for v in found)


async def test_nothing_is_asked_or_mailed_for_somebody_who_pauses_before_the_pause_is_over(new_store: NewStore) -> None:
    until = START + timedelta(days=2)
    scene, bench, calls = await _after_two_who_are_not_there(await new_store(), paused_until=until)
    await scene.until(until - timedelta(minutes=1))
    assert bench.calls == calls
    assert _mailed(scene) == Counter()
    found = (await _verdicts(scene.store)).values()
    assert {(v.state, v.wake_at) for v in found} == {(VerdictState.PENDING, until)}
    await scene.until(until + timedelta(days=2))
    assert {v.state for v in (await _verdicts(scene.store)).values()} == {VerdictState.UNSCORED}
    assert set(_mailed(scene)) >= {(who, job) for who in (INSTANT, DAILY) for job in SCORES}
