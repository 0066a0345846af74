"""Random histories with a judge: runs that stop anywhere, answers of every kind, people who change their mind."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from ledger.collections import JOBS, MATCHES
from ledger.documents import decode
from ledger.ids import uid_of
from ledger.lifecycle import State
from ledger.records import Mode
from ledger.store import Store, every
from ledger.verdicts import GIVE_UP_AFTER, TRIES_MAX, Verdict, VerdictState
from scan.verdict import End, Reply, Usage
from tests.proofs.judging import Bench
from tests.proofs.scene import START, Scene
from tests.proofs.stopping import HOWS, Stops

SEEDS = int(os.environ.get("VERDICT_SEEDS", "8"))
PEOPLE = {"ann@example.com": Mode.INSTANT, "bob@example.com": Mode.DAILY, "cy@example.com": Mode.INSTANT}
JOBS_OF = [f"n{n}" for n in range(6)]
SCORES = dict(zip(JOBS_OF, (95, 80, 50, 49, 20, 0), strict=True))
THRESHOLD = 50
FAULTS = (End.BUSY, End.UNCLEAR, End.DECLINED, End.CUT, End.ANSWERED)  # each without a usable answer


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_whatever_happens_no_verdict_is_paid_for_twice_and_every_pair_finds_its_end(
    new_store: Callable[[], Awaitable[Store]], seed: int
) -> None:
    rng = random.Random(seed)
    scene, bench = await _stage(await new_store())
    listed = iter(JOBS_OF)
    unsure: set[tuple[str, str]] = set()
    for _ in range(14):
        scene.later(minutes=rng.choice((1, 11, 15, 15, 30)))
        for job in [next(listed, None) for _ in range(rng.randrange(3))]:
            if job is not None:
                scene.board.jobs.append(job)
        bench.answers = [
            Reply(rng.choice(FAULTS), reason="a fault", usage=Usage(5, 5)) for _ in range(rng.choice((0, 0, 2, 9)))
        ]
        stops = Stops(rng.randint(1, 30), rng.choice(HOWS)) if rng.random() < 0.5 else Stops()
        before = Counter(bench.asked)
        await scene.run(stops)
        stored = {pair for pair, v in (await _verdicts(scene)).items() if v.state is VerdictState.DECIDED}
        unsure |= (bench.asked - before).keys() - stored
        if rng.random() < 0.5:
            await scene.lease_ran_out()
    scene.board.jobs = list(JOBS_OF)
    bench.answers = []
    for _ in range(30):
        await scene.lease_ran_out()
        scene.later(minutes=20)
        await scene.run()
    scene.now = max(scene.now, START + timedelta(days=2, hours=2))
    await scene.run()
    await _check(scene, bench, unsure)


async def _stage(store: Store) -> tuple[Scene, Bench]:
    bench = Bench(store, SCORES)
    scene = Scene(store, judge=bench.judge, environment={"SCOUT_AI_BATCH": "3"})
    await scene.run()
    for who, mode in PEOPLE.items():
        await scene.person(who, mode, ai=True, about=f"I am {uid_of(who)}.", ai_threshold=THRESHOLD)
    scene.later(minutes=15)
    await scene.run()
    return scene, bench


async def _check(scene: Scene, bench: Bench, unsure: set[tuple[str, str]]) -> None:
    found, rows = await _verdicts(scene), await scene.rows()
    alerts, digests = scene.building.jobs("alert"), scene.building.jobs("digest")
    assert bench.wrong == []
    assert {pair for pair, n in bench.asked.items() if n > 1} <= unsure | bench.unanswered, (
        "asked again though its answer was stored"
    )
    assert max(bench.asked.values()) <= 3 * (TRIES_MAX + 14), "an end to the tries, but for calls that died in flight"
    assert set(found) == {(uid_of(who), job) for who in PEOPLE for job in JOBS_OF}
    assert await scene.left_over() == []
    for who in PEOPLE:
        for job in JOBS_OF:
            verdict, row = found[uid_of(who), job], rows.get((who, job))
            assert verdict.is_decided
            assert verdict.wake_at is None
            if verdict.state is VerdictState.DECIDED:
                assert verdict.score == SCORES[job]
                assert (row is not None) == (SCORES[job] >= THRESHOLD), f"{who} {job}"
            else:
                assert row is not None, f"{who} {job} was lost"
                assert row.not_scored
                assert row.created_at - verdict.created_at >= GIVE_UP_AFTER
            assert alerts[who, job] <= 1
            if row is not None:
                came = alerts[who, job] + digests[who, job]
                assert came or row.state is State.UNCLEAR, f"{who} {job} never came"
            else:
                assert not alerts[who, job] + digests[who, job]


async def _verdicts(scene: Scene) -> dict[tuple[str, str], Verdict]:
    titles = {s.id: s.data["title"].rsplit(" ", 1)[-1] async for s in every(scene.store, JOBS, {})}
    found = [decode(Verdict, s) async for s in every(scene.store, MATCHES, {})]
    return {(verdict.uid, titles[verdict.job_id]): verdict for verdict in found}
