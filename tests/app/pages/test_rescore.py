"""Score again: the price first, only by a click, and only what was judged by another profile and not sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import ids, users, verdicts
from ledger.verdicts import GIVE_UP_AFTER, Verdict, VerdictState
from tests.app.pages.visits import ANN, BASE, signed_in, text, visiting
from tests.messages_api import MessagesApi, Play
from tests.world import World, item

TITLES = ("Python developer", "Python lead", "Python tester")


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        api.scores = {"Python developer": 20, "Python tester": 30}
        yield api


@pytest.fixture
async def judged(tmp_path: Path, api: MessagesApi) -> AsyncIterator[World]:
    """One of three jobs was sent; two were scored too low."""
    named: dict[str, Any] = {"ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": api.url, "SCOUT_BASE_URL": BASE}
    async with World(tmp_path, **named) as world:
        await world.begin()
        await world.user(ANN, "python", ai=True, about="I am new here.")
        await world.cron()
        world.feed(item("Gardener"), *map(item, TITLES))
        await world.cron()
        assert (len(api.calls), world.sent()) == (1, {(ANN, "Python lead"): 1})
        yield world


async def says(world: World, about: str, **fields: object) -> None:
    await users.change(world.store, ids.uid_of(ANN), lambda user: replace(user, about=about, **fields))  # type: ignore[arg-type]


async def kept(world: World) -> dict[str, Verdict]:
    """Verdicts by the reason's place: those under the threshold."""
    held = await verdicts.of_user(world.store, ids.uid_of(ANN))
    return {one.record.id: one.record for one in held if one.record.score in (20, 30)}


async def test_the_price_is_shown_first_and_one_click_asks_once(judged: World, api: MessagesApi) -> None:
    async with visiting(judged) as client:
        await signed_in(client, judged)
        assert "Nothing to score again" in text((await client.get("/me/rescore")).text)
        await says(judged, "I would do anything.")
        assert "/me/rescore" in (await client.get("/me/letters")).text
        before = await judged.dump("matches")
        shown = text((await client.get("/me/rescore")).text)
        assert "Score 2 jobs again?" in shown
        assert "costs at most $0.0" in shown
        assert await judged.dump("matches") == before
        assert "2 jobs will be scored again" in text((await client.post("/me/rescore")).text)
        assert "Nothing to score again" in text((await client.post("/me/rescore")).text)
    assert len(api.calls) == 1
    api.scores = {"Python developer": 90, "Python tester": 10}
    judged.after(minutes=15)
    await judged.cron()
    assert len(api.calls) == 2
    assert judged.sent() == {(ANN, "Python lead"): 1, (ANN, "Python developer"): 1}
    judged.after(minutes=15)
    await judged.cron()
    assert len(api.calls) == 2


async def test_without_an_answer_the_word_that_was_there_stands_and_can_be_asked_for_again(
    judged: World, api: MessagesApi
) -> None:
    await says(judged, "I would do anything.")
    before = await kept(judged)
    assert len(before) == 2
    async with visiting(judged) as client:
        await signed_in(client, judged)
        await client.post("/me/rescore")
        api.always = Play(status=500)
        for _ in range(int(GIVE_UP_AFTER / timedelta(minutes=15)) + 2):
            judged.after(minutes=15)
            await judged.cron()
        after = await kept(judged)
        assert {id_: (v.state, v.score, v.reason, v.wake_at) for id_, v in after.items()} == {
            id_: (VerdictState.DECIDED, v.score, v.reason, None) for id_, v in before.items()
        }
        assert judged.sent() == {(ANN, "Python lead"): 1}
        assert "Score 2 jobs again?" in text((await client.get("/me/rescore")).text)


@pytest.mark.parametrize("fields", [{"ai": False}, {"active": False}])
async def test_who_switches_it_off_meanwhile_keeps_the_words_that_were_paid_for(
    judged: World, api: MessagesApi, fields: dict[str, object]
) -> None:
    await says(judged, "I would do anything.")
    before = await kept(judged)
    async with visiting(judged) as client:
        await signed_in(client, judged)
        await client.post("/me/rescore")
        await says(judged, "I would do anything.", **fields)
        judged.after(minutes=15)
        await judged.cron()
        shown = text((await client.get("/me/rescore")).text)
    assert {v.score for v in (await kept(judged)).values()} == {20, 30}
    assert {v.state for v in (await kept(judged)).values()} == {VerdictState.DECIDED}
    assert len(before) == 2
    assert (len(api.calls), judged.sent()) == (1, {(ANN, "Python lead"): 1})
    if "ai" in fields:
        assert "switched off for you" in shown


async def test_without_a_model_the_page_says_so(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        assert "No model judges here" in text((await client.get("/me/rescore")).text)
        assert "Nothing to score again" in text((await client.post("/me/rescore")).text)
