"""A model's word is paid for once, whatever happens between the answer and the letter."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.pause import pause
from app.steps import ask
from ledger import ids, users
from ledger.collections import MATCHES, SPEND
from ledger.records import Mode, Search, User
from ledger.sqlite import SqliteStore
from ledger.store import Unreachable, every
from scan.prompt import question
from scan.verdict import End, Question, Reply
from tests.proofs.judging import POSTING, Bench
from tests.proofs.scene import FRESH, INSTANT, Scene
from tests.proofs.stopping import Stops

BUSY = Reply(End.BUSY, reason="busy", retry_after_s=10_000)


@pytest.fixture
def bench(sqlite_store: SqliteStore) -> Bench:
    return Bench(sqlite_store, scores={"one": 70})


@pytest.fixture
async def scene(sqlite_store: SqliteStore, bench: Bench) -> Scene:
    environment = {"ANTHROPIC_API_KEY": "x" * 20, "SCOUT_AI_BATCH": "8"}
    scene = Scene(sqlite_store, environment=environment, judge=bench.judge)
    await judged(scene, INSTANT)
    await scene.run()
    scene.board.jobs = ["one"]
    scene.later(minutes=15)
    return scene


async def judged(scene: Scene, address: str) -> None:
    await scene.person(address, Mode.INSTANT, ai=True, about=f"I am {ids.uid_of(address)}.")


async def edit(scene: Scene, **fields: Any) -> None:
    def change(user: User) -> User:
        return users.with_catch_up(replace(user, **fields), now=scene.now)

    await users.change(scene.store, ids.uid_of(INSTANT), change)


async def verdict(scene: Scene) -> dict[str, Any]:
    (found,) = [snapshot.data async for snapshot in every(scene.store, MATCHES, {})]
    return dict(found)


class BeforeItsRow(Stops):
    """The process dies before the row of a pair that has its verdict."""

    def begin(self, name: str) -> bool:
        if name == "create deliveries":
            self.at = self.count + 1
        return super().begin(name)


async def answered_and_not_told(scene: Scene, bench: Bench) -> None:
    bench.answers = [BUSY]
    await scene.run()
    scene.later(minutes=15)
    await scene.run(BeforeItsRow())
    await scene.lease_ran_out()
    assert (await verdict(scene))["state"] == "decided"
    assert await scene.rows() == {}


async def test_after_a_pause_the_stored_word_is_told(scene: Scene, bench: Bench) -> None:
    await answered_and_not_told(scene, bench)
    calls = bench.calls
    await pause(scene.store, ids.uid_of(INSTANT), until=scene.now + timedelta(hours=3), now=scene.now)
    scene.later(minutes=15)
    await scene.run()
    assert scene.building.letters == []
    scene.later(hours=3)
    await scene.run()
    assert bench.calls == calls
    assert scene.building.jobs("alert")[INSTANT, "one"] == 1


async def test_after_an_edit_and_back_the_stored_word_is_told(scene: Scene, bench: Bench) -> None:
    await answered_and_not_told(scene, bench)
    calls = bench.calls
    await edit(scene, searches={"default": Search(keywords=("cobol",))})
    scene.later(minutes=15)
    await scene.run()
    assert (await verdict(scene))["state"] == "decided"
    await edit(scene, searches={"default": Search(keywords=("python",))})
    scene.later(minutes=15)
    await scene.run()
    assert bench.calls == calls
    assert scene.building.jobs("alert")[INSTANT, "one"] == 1


async def test_below_a_raised_threshold_it_asks_for_no_more_attention(scene: Scene, bench: Bench) -> None:
    await answered_and_not_told(scene, bench)
    await edit(scene, ai_threshold=90)
    scene.later(minutes=15)
    await scene.run()
    assert "wake_at" not in await verdict(scene)
    assert await scene.rows() == {}


async def test_a_pair_that_waits_for_its_word_outlives_a_pause(scene: Scene, bench: Bench) -> None:
    bench.answers = [BUSY]
    await scene.run()
    scene.later(minutes=5)
    await pause(scene.store, ids.uid_of(INSTANT), until=scene.now + timedelta(hours=30), now=scene.now)
    await scene.until(scene.now + timedelta(hours=60))
    assert scene.building.jobs("alert") + scene.building.jobs("digest") == {(INSTANT, "one"): 1}


async def test_a_pause_that_ends_early_wakes_the_pair_as_well(scene: Scene, bench: Bench) -> None:
    bench.answers = [BUSY]
    await scene.run()
    scene.later(minutes=5)
    await pause(scene.store, ids.uid_of(INSTANT), until=scene.now + timedelta(days=30), now=scene.now)
    scene.later(minutes=15)
    await scene.run()
    await pause(scene.store, ids.uid_of(INSTANT), until=None, now=scene.now)
    await scene.until(scene.now + timedelta(days=3))
    assert scene.building.jobs("alert") + scene.building.jobs("digest") == {(INSTANT, "one"): 1}


async def test_what_a_cut_answer_said_is_kept_though_the_store_then_fails(
    scene: Scene, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.board.jobs = [f"job{n}" for n in range(8)]
    bench.scores = dict.fromkeys(scene.board.jobs, 90)
    paid: list[str] = []
    take = bench.take

    async def cut(question: Question) -> Reply:
        reply = await take(question)
        named = {name: title.rsplit(" ", 1)[-1] for name, title in POSTING.findall(question.postings)}
        whole: Any = reply.said
        said = whole["verdicts"][: None if paid else 2]
        end = End.ANSWERED if paid else End.CUT
        paid.extend(named[one["name"]] for one in said)
        return Reply(end, {"verdicts": said}, reply.usage, reason="cut")

    monkeypatch.setattr(bench, "take", cut)

    class Failing:
        def __getattr__(self, name: str) -> Any:
            return getattr(scene.store, name)

        async def swap(self, collection: str, changes: Any) -> dict[str, str]:
            if collection == SPEND and paid:
                raise Unreachable("away")
            return await scene.store.swap(collection, changes)

    await scene.run(store=Failing())  # type: ignore[arg-type]
    assert scene.reports[-1].status == "failed"
    assert len(paid) == 2
    await scene.lease_ran_out()
    scene.later(minutes=15)
    await scene.run()
    assert sorted(paid) == sorted(scene.board.jobs)


async def test_a_person_whose_question_cannot_be_made_costs_nobody_else_theirs(
    scene: Scene, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await judged(scene, FRESH)
    cannot = ids.uid_of(INSTANT)

    def odd(user: User, *args: Any, **more: Any) -> Question:
        if user.uid == cannot:
            raise LookupError("odd")
        return question(user, *args, **more)

    monkeypatch.setattr(ask, "question", odd)
    await scene.run()
    assert scene.reports[-1].status == "completed"
    assert any("LookupError" in error for error in scene.reports[-1].errors)
    assert scene.building.jobs("alert") == {(FRESH, "one"): 1}
    scene.later(hours=3)
    await scene.run()
    assert scene.building.jobs("alert") == {(FRESH, "one"): 1, (INSTANT, "one"): 1}  # by keywords
    assert await scene.left_over() == []
