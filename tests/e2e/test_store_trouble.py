"""The store fails at any one write of a run, before or after it took effect: no alert twice, no row lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.lifecycle import State
from ledger.records import Mode
from ledger.store import Unreachable
from tests.faults import Forgetful
from tests.world import World, item

NEW = "Python developer"
WRITES = {"create", "swap", "put", "commit"}
WRITES_MAX = 24  # more than such a run makes


class Failing:
    """Raises at the store's nth write; before it took effect, or, where `lost`, when only its answer was lost."""

    def __init__(self, nth: int, *, lost: bool) -> None:
        self._nth, self._lost = nth, lost
        self.writes = 0

    async def before(self, operation: str, _collection: str) -> None:
        self.writes += operation in WRITES
        self._fail(operation, now=not self._lost)

    async def after(self, operation: str, _collection: str) -> None:
        self._fail(operation, now=self._lost)

    def _fail(self, operation: str, *, now: bool) -> None:
        if now and operation in WRITES and self.writes == self._nth:
            raise Unreachable("nobody answered")


@pytest.mark.parametrize("lost", [False, True], ids=["not-written", "answer-lost"])
@pytest.mark.parametrize("first", range(1, WRITES_MAX, 8))
async def test_a_run_whose_store_fails_at_any_write_is_finished_by_the_next_ones(
    first: int, lost: bool, tmp_path: Path
) -> None:
    for nth in range(first, first + 8):
        folder = tmp_path / str(nth)
        folder.mkdir()
        async with World(folder) as world:
            await world.begin()
            await world.user("a@example.com", "python")
            await world.user("d@example.com", "python", "gardener", mode=Mode.DAILY)
            world.feed(item("Gardener"), item("Gardener of old"))
            await world.cron()
            world.after(hours=1)  # a digest is due, and there is news
            world.feed(item("Gardener"), item("Gardener of old"), item(NEW))
            failing = Failing(nth, lost=lost)
            world.spy(failing.before, failing.after)
            answer = await world.call()
            if failing.writes < nth:
                assert (nth > 10, answer.json()["status"]) == (True, "completed")
                return
            for minutes in (11, 62, 24 * 60):  # past the lease and the retry, then the next digest
                world.after(minutes=minutes)
                assert (await world.cron())["status"] == "completed"
            _check(world, nth, {title: row.state for title, row in (await world.rows("a@example.com")).items()})
            assert {row.state for row in (await world.rows("d@example.com")).values()} == {State.SENT}
    assert first + 8 <= WRITES_MAX, "the run makes more writes than are tried"


def _check(world: World, nth: int, states: dict[str, State]) -> None:
    alerts: Counter[tuple[str, str]] = world.sent("alert")
    digests = world.sent("digest")
    assert set(alerts.values()) <= {1}, (nth, alerts)
    sent_or_unclear = alerts[("a@example.com", NEW)] == 1 or states.get(NEW) is State.UNCLEAR
    assert sent_or_unclear or digests[("a@example.com", NEW)] == 1, (nth, states)
    for title in ("Gardener of old", NEW):
        assert 1 <= digests[("d@example.com", title)] <= 2, (nth, title, digests)


@pytest.mark.parametrize("first", range(1, WRITES_MAX, 8))
async def test_a_write_that_is_denied_though_it_took_effect_is_recognised_and_nothing_is_lost_or_repeated(
    first: int, tmp_path: Path
) -> None:
    for nth in range(first, first + 8):
        folder = tmp_path / str(nth)
        folder.mkdir()
        async with World(folder) as world:
            await world.begin()
            await world.user("a@example.com", "python")
            await world.user("d@example.com", "python", "gardener", mode=Mode.DAILY)
            world.feed(item("Gardener"), item("Gardener of old"))
            await world.cron()
            world.after(hours=1)
            world.feed(item("Gardener"), item("Gardener of old"), item(NEW))
            forgetful = Forgetful(world.store, nth)
            world.app.state.parts = replace(world.parts, store=forgetful)
            assert (await world.call()).status_code == 200
            for minutes in (11, 62, 24 * 60):
                world.after(minutes=minutes)
                assert (await world.cron())["status"] == "completed"
            assert forgetful.writes > WRITES_MAX
            rows = [row for to in ("a@example.com", "d@example.com") for row in (await world.rows(to)).values()]
            assert [row.state for row in rows] == [State.SENT] * 3, nth
            assert world.sent() == {
                ("a@example.com", NEW): 1,
                ("d@example.com", NEW): 1,
                ("d@example.com", "Gardener of old"): 1,
            }, nth
