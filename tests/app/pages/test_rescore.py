"""Score again: the price first, only by a click, and only what was judged by another profile and not sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app import rescore
from ledger import ids, users, verdicts
from ledger.records import Search, Stop
from ledger.verdicts import GIVE_UP_AFTER, Verdict, VerdictState
from tests.app.pages.visits import ANN, BASE, field, signed_in, text, visiting
from tests.messages_api import MessagesApi, Play
from tests.world import World, item

TITLES = ("Python developer", "Python lead", "Python tester")
UID = ids.uid_of(ANN)
SENT = {(ANN, "Python lead"): 1}


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        api.scores = {"Python developer": 20, "Python tester": 30}
        yield api


@pytest.fixture
async def judged(tmp_path: Path, api: MessagesApi) -> AsyncIterator[World]:
    """One of three jobs was sent; two were scored too low, by a profile that has changed since."""
    named: dict[str, Any] = {
        "ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": api.url, "SCOUT_BASE_URL": BASE
    }  # fmt: skip
    async with World(tmp_path, **named) as world:
        await world.begin()
        await world.user(ANN, "python", ai=True, about="I am new here.")
        await world.cron()
        world.feed(item("Gardener"), *map(item, TITLES))
        await world.cron()
        assert (len(api.calls), world.sent()) == (1, SENT)
        await becomes(world, about="I would do anything.")
        yield world


async def becomes(world: World, **fields: object) -> None:
    await users.change(world.store, UID, lambda user: replace(user, **fields))  # type: ignore[arg-type]


async def low(world: World) -> Mapping[str, Verdict]:
    """The verdicts of the two jobs that were scored too low, by their ids."""
    held = await verdicts.of_user(world.store, UID)
    return {one.record.id: one.record for one in held if one.record.score in (20, 30)}


async def shown(client: httpx2.AsyncClient) -> str:
    return text((await client.get("/me/rescore")).text)


async def click(client: httpx2.AsyncClient) -> str:
    """Look at the price and press the button; what the person then reads."""
    mark = field((await client.get("/me/rescore")).text, "mark")
    answer = await client.post("/me/rescore", data={"mark": mark})
    assert (answer.status_code, answer.headers["location"]) == (303, "/me/rescore")
    return await shown(client)


async def test_the_price_is_shown_first_and_one_click_asks_once(judged: World, api: MessagesApi) -> None:
    async with visiting(judged) as client:
        await signed_in(client, judged)
        assert "/me/rescore" in (await client.get("/me/letters")).text
        before = await judged.dump("matches")
        offered = await shown(client)
        assert "Score 2 jobs again?" in offered
        assert "costs about $0.0" in offered
        assert await judged.dump("matches") == before
        said = await click(client)
        assert "2 jobs to be scored again" in said
        assert "Score 2 jobs again?" not in said
        assert (await client.post("/me/rescore", data={"mark": "x"})).status_code == 303
        why = text((await client.get("/me/why?link=https://jobs.example.com/python-developer")).text)
        assert "It is to be scored again; until then its 20 of 100 stands." in why
        assert len(api.calls) == 1
        api.scores = {"Python developer": 90, "Python tester": 10}
        judged.after(minutes=15)
        await judged.cron()
        assert len(api.calls) == 2
        assert judged.sent() == SENT | {(ANN, "Python developer"): 1}
        assert "Nothing to score again" in await shown(client)
    judged.after(minutes=15)
    await judged.cron()
    assert len(api.calls) == 2


async def test_without_an_answer_the_word_that_was_there_stands_and_can_be_asked_for_again(
    judged: World, api: MessagesApi
) -> None:
    before = await low(judged)
    assert len(before) == 2
    async with visiting(judged) as client:
        await signed_in(client, judged)
        await click(client)
        api.always = Play(status=500)
        for _ in range(int(GIVE_UP_AFTER / timedelta(minutes=15)) + 2):
            judged.after(minutes=15)
            await judged.cron()
        assert {id_: (v.state, v.score, v.reason, v.wake_at) for id_, v in (await low(judged)).items()} == {
            id_: (VerdictState.DECIDED, v.score, v.reason, None) for id_, v in before.items()
        }
        assert judged.sent() == SENT
        assert "Score 2 jobs again?" in await shown(client)


@pytest.mark.parametrize("fields", [{"ai": False}, {"active": False}])
async def test_who_switches_it_off_meanwhile_keeps_the_words_that_were_paid_for(
    judged: World, api: MessagesApi, fields: dict[str, object]
) -> None:
    async with visiting(judged) as client:
        await signed_in(client, judged)
        await click(client)
        await becomes(judged, **fields)
        judged.after(minutes=15)
        await judged.cron()
    assert sorted((v.score or 0, v.state) for v in (await low(judged)).values()) == [
        (20, VerdictState.DECIDED), (30, VerdictState.DECIDED)
    ]  # fmt: skip
    assert (len(api.calls), judged.sent()) == (1, SENT)


async def test_their_two_hours_begin_with_the_first_run_that_looks_at_them(judged: World, api: MessagesApi) -> None:
    async with visiting(judged) as client:
        await signed_in(client, judged)
        await click(client)
    api.scores = {"Python developer": 90, "Python tester": 10}
    judged.after(hours=5)
    await judged.cron()
    assert len(api.calls) == 2
    assert judged.sent() == SENT | {(ANN, "Python developer"): 1}


async def test_who_pauses_is_told_when_and_gets_them_after_the_pause(judged: World, api: MessagesApi) -> None:
    until = judged.now + timedelta(days=3)
    await becomes(judged, paused_until=until)
    async with visiting(judged) as client:
        await signed_in(client, judged)
        assert "Paused until Thu 3 Dec" in await click(client)
    api.scores = {"Python developer": 90, "Python tester": 10}
    judged.after(minutes=15)
    await judged.cron()
    assert len(api.calls) == 1
    judged.now = until
    await judged.cron()
    assert len(api.calls) == 2
    judged.after(hours=1)  # a job of three days ago comes with the daily mail
    await judged.cron()
    assert judged.sent() == SENT | {(ANN, "Python developer"): 1}


async def test_who_gets_no_mail_or_no_verdicts_is_promised_nothing(judged: World) -> None:
    async with visiting(judged) as client:
        await signed_in(client, judged)
        await becomes(judged, ai=False)
        assert "The second look by a model is switched off for you." in await shown(client)
        await becomes(judged, ai=True)
        await users.stop(judged.store, UID, Stop.UNSUBSCRIBED, now=judged.now)
        said = await shown(client)
        assert "Nothing to score again" in said
        assert "No mail is sent to you" in said
        await client.post("/me/rescore", data={"mark": "x"})
    assert {v.state for v in (await low(judged)).values()} == {VerdictState.DECIDED}


async def test_jobs_beyond_an_age_limit_are_not_offered(judged: World) -> None:
    await becomes(judged, searches={"default": Search(keywords=("python",), max_age_h=24)})
    async with visiting(judged) as client:
        await signed_in(client, judged)
        assert "Score 2 jobs again?" in await shown(client)
        judged.after(hours=30)
        assert "Nothing to score again" in await shown(client)


async def test_a_click_agrees_to_the_price_that_was_shown_and_to_no_other(judged: World) -> None:
    await becomes(judged, searches={"default": Search(keywords=("python",), exclude=("tester",))})
    async with visiting(judged) as client:
        await signed_in(client, judged)
        first = (await client.get("/me/rescore")).text
        assert "Score 1 job again?" in text(first)
        await becomes(judged, searches={"default": Search(keywords=("python",))})
        answer = await client.post("/me/rescore", data={"mark": field(first, "mark")})
        assert answer.status_code == 409
        assert "Something changed since you opened this page." in text(answer.text)
        assert "Score 2 jobs again?" in text(answer.text)
        assert {v.state for v in (await low(judged)).values()} == {VerdictState.DECIDED}
        await client.post("/me/rescore", data={"mark": field(answer.text, "mark")})
        assert {v.state for v in (await low(judged)).values()} == {VerdictState.PENDING}


async def test_one_go_takes_the_newest_and_the_rest_can_follow(judged: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescore, "ONE_GO_MAX_PAIRS", 1)
    async with visiting(judged) as client:
        await signed_in(client, judged)
        said = await shown(client)
        assert "Score 1 job again?" in said
        assert "These are the newest; 1 job more can follow." in said
        said = await click(client)
        assert "1 job to be scored again" in said
        assert "Score 1 job again?" in said


async def test_counting_and_pricing_leave_the_loop_to_the_others(
    judged: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside: list[str] = []
    to_thread = asyncio.to_thread

    async def noted(what: Any, *args: Any, **kwargs: Any) -> Any:
        aside.append(what.__name__)
        return await to_thread(what, *args, **kwargs)

    monkeypatch.setattr("app.rescore.asyncio.to_thread", noted)
    async with visiting(judged) as client:
        await signed_in(client, judged)
        await shown(client)
    assert aside.count("_priced") == 1


async def test_without_a_model_the_page_says_so(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        assert "No model judges here" in await shown(client)
        assert (await client.post("/me/rescore", data={"mark": "x"})).status_code == 303
