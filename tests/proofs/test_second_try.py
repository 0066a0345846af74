"""The provider asks to come back in a moment, and in that moment the person changes something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from ledger import addresses, users
from ledger.ids import uid_of
from ledger.lifecycle import Attempt, Outcome, State
from ledger.records import Mode, Stop
from ledger.sqlite import SqliteStore
from mail.letter import Letter
from tests.proofs.scene import DAILY, INSTANT, Scene
from tests.proofs.stopping import StoppingTransport

BUSY = Attempt(Outcome.DEFERRED, "busy", retry_after_s=0.0)
MAYBE = Attempt(Outcome.UNCLEAR, "the answer was lost", repeatable=True, retry_after_s=0.0)
NEW = "new@example.com"
WHO = {"alert": INSTANT, "digest": DAILY}


class InBetween(StoppingTransport):
    """Something happens while the provider's first answer to a letter of this kind is on its way."""

    kind = ""
    happens: Callable[[], Awaitable[object]]
    calls: Counter[str]

    async def send(self, letter: Letter, *, at_most_s: float = 1.0) -> Attempt:
        self.calls[letter.kind] += 1
        answer = await super().send(letter, at_most_s=at_most_s)
        if letter.kind == self.kind and self.calls[letter.kind] == 1:
            await self.happens()
        return answer


@pytest.fixture
def scene(sqlite_store: SqliteStore) -> Scene:
    return Scene(sqlite_store)


def what_happens(scene: Scene, what: str, uid: str) -> Callable[[], Awaitable[object]]:
    store, now = scene.store, scene.now
    until = now + timedelta(days=3)
    return {
        "leaves": lambda: users.stop(store, uid, Stop.UNSUBSCRIBED, now=now),
        "goes": lambda: users.delete(store, uid, now=now),
        "pauses": lambda: users.change(store, uid, lambda user: replace(user, paused_until=until)),
        "moves": lambda: addresses.move(store, uid, NEW, now=now),
        "stays": lambda: users.change(store, uid, lambda user: replace(user, zone="Europe/Berlin")),
    }[what]


@pytest.mark.parametrize("first", [BUSY, MAYBE], ids=["busy", "unclear"])
@pytest.mark.parametrize("kind", ["alert", "digest"])
@pytest.mark.parametrize("what", ["leaves", "goes", "pauses", "moves", "stays"])
async def test_who_changed_that_in_the_meantime_gets_no_second_try(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, kind: str, what: str, first: Attempt
) -> None:
    await scene.run()
    await scene.person(WHO[kind], Mode.INSTANT if kind == "alert" else Mode.DAILY)
    await scene.run()
    scene.board.jobs = ["one"]
    scene.later(minutes=15)
    if kind == "digest":
        await scene.run()
        scene.later(days=1)
    monkeypatch.setattr("tests.proofs.scene.StoppingTransport", InBetween)
    monkeypatch.setattr(InBetween, "kind", kind)
    monkeypatch.setattr(InBetween, "calls", Counter[str](), raising=False)
    monkeypatch.setattr(InBetween, "happens", staticmethod(what_happens(scene, what, uid_of(WHO[kind]))), raising=False)
    await scene.run(outcomes=[first])
    assert InBetween.calls[kind] == (2 if what == "stays" else 1)
    if what == "stays":
        (row,) = (await scene.rows()).values()
        assert row.state is State.SENT
    elif what == "moves" and first is BUSY:
        scene.later(minutes=15 if kind == "alert" else 24 * 60)
        await scene.run()
        assert [letter.to for letter in scene.building.letters] == [NEW]
