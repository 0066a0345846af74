"""Cases I: scoring by a model; and B10, B14 and B30 where they meet it. The real SDK against a server on loopback."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app import patience
from ledger import ids, verdicts
from ledger.collections import MATCHES
from ledger.documents import decode
from ledger.records import Mode
from ledger.store import every
from ledger.verdicts import Verdict, VerdictState
from tests.messages_api import MessagesApi, Play, Posting
from tests.shared import shared
from tests.world import World, item

NEW = "Python developer"
ANN, BOB = "ann@example.com", "bob@example.com"
BUSY = Play(529, kind="overloaded_error")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that does not say how long is asked again at once: these tests count calls, not seconds."""
    monkeypatch.setattr(patience, "BUSY_WAIT_S", (0.01, 0.02))


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        yield api


@pytest.fixture
async def judged(tmp_path: Path, api: MessagesApi) -> AsyncIterator[World]:
    """A world with a model; its feed has had its first poll."""
    async with World(tmp_path, ANTHROPIC_API_KEY="sk-ant-test", ANTHROPIC_BASE_URL=api.url) as world:
        await world.begin()
        yield world


async def person(world: World, address: str, *, mode: Mode = Mode.INSTANT, **fields: Any) -> str:
    name = address.partition("@")[0]
    return await world.user(address, "python", mode=mode, **{"ai": True, "about": f"I am called {name}.", **fields})


async def stored(world: World) -> list[Verdict]:
    return [decode(Verdict, s) async for s in every(world.store, MATCHES, {})]


def asked(api: MessagesApi) -> Counter[tuple[str, str]]:
    """(name, title) -> in how many calls."""
    found: Counter[tuple[str, str]] = Counter()
    for (profile, title), count in api.pairs().items():
        name = re.search(r"called (\w+)", profile)
        assert name
        found[name[1], title] += count
    return found


async def test_an_overloaded_model_that_recovers_is_asked_again_within_the_run(judged: World, api: MessagesApi) -> None:
    """B90: 529, 529, then an answer."""
    stub = json.loads(shared("cases/B90_stub.json").read_text())
    api.plays = [Play(each["status"], kind="overloaded_error") for each in stub if each["status"] != 200]
    api.scores[NEW] = 82
    await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    report = await judged.cron()
    assert (report["matches"]["ai_calls"], len(api.calls)) == (3, 3)
    assert judged.sent("alert") == {(ANN, NEW): 1}
    assert "Fits (82 of 100): You look for what Python developer is." in judged.mails()[0].text
    (verdict,) = await stored(judged)
    assert (verdict.state, verdict.score, verdict.model) == (VerdictState.DECIDED, 82, "claude-haiku-5-5")


async def test_a_model_that_stays_overloaded_stops_nobody_elses_mail_and_leaves_no_verdict(
    judged: World, api: MessagesApi
) -> None:
    """B90: 529 on every call."""
    api.always = BUSY
    await person(judged, ANN)
    await judged.user(BOB, "python")
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    report = await judged.cron()
    assert report["status"] == "completed"
    assert (report["matches"]["ai_calls"], report["matches"]["undecided"]) == (3, 1)
    assert judged.sent() == {(BOB, NEW): 1}
    assert [(v.state, v.score, v.why) for v in await stored(judged)] == [
        (VerdictState.PENDING, None, "HTTP 529 overloaded_error")
    ]
    judged.after(minutes=11)
    api.always = None
    await judged.cron()
    assert judged.sent() == {(BOB, NEW): 1, (ANN, NEW): 1}
    assert asked(api)["ann", NEW] == 4


async def test_a_wait_that_is_longer_than_the_run_is_left_to_a_later_one(judged: World, api: MessagesApi) -> None:
    api.plays = [Play(429, {"retry-after": "900"}, kind="rate_limit_error")]
    await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    report = await judged.cron()
    assert (report["matches"]["ai_calls"], report["status"]) == (1, "completed")
    judged.after(minutes=11)
    await judged.cron()
    assert judged.sent() == {(ANN, NEW): 1}


@pytest.mark.parametrize(
    ("number", "score", "calls"),
    [(0, None, 2), (1, 82, 1), (2, 82, 1), (3, 85, 1), (4, None, 1), (5, None, 1), (6, None, 1)],
)
async def test_answers_of_every_shape_are_read_or_leave_the_pair_undecided_and_nothing_wrong_is_kept(
    judged: World, api: MessagesApi, number: int, score: int | None, calls: int
) -> None:
    """B92: cut, fenced, with prose before it, a string, 850, NaN, empty."""
    reply = json.loads(shared("cases/B92_replies.json").read_text())[number]
    api.always = Play(text=reply["text"], stop_reason=reply["stop_reason"])
    await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    report = await judged.cron()
    (verdict,) = await stored(judged)
    assert verdict.score == score
    assert verdict.state is (VerdictState.PENDING if score is None else VerdictState.DECIDED)
    assert len(api.calls) == report["matches"]["ai_calls"] == calls
    assert sum(judged.sent().values()) == (score is not None)
    if calls == 2:
        first, second = (call.body["max_tokens"] for call in api.calls)
        assert second >= 2 * first


async def test_what_a_cut_answer_did_say_is_kept_and_only_the_rest_is_asked_for_again(
    judged: World, api: MessagesApi
) -> None:
    titles = [f"Python developer {n}" for n in range(4)]
    await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), *(item(title) for title in titles))

    def first_two(posting: Posting) -> dict[str, Any]:
        if len(api.calls) == 1 and posting.title.endswith(("2", "3")):
            return {"score": None, "reason": ""}
        return {"score": 70, "reason": "You write Python.", "caveat": None, "tags": []}

    api.judged = first_two
    api.plays = [Play(stop_reason="max_tokens")]
    report = await judged.cron()
    assert (len(api.calls), report["matches"]["undecided"]) == (2, 0)
    assert asked(api) == {("ann", t): 2 if t.endswith(("2", "3")) else 1 for t in titles}
    assert judged.sent() == {(ANN, title): 1 for title in titles}


async def test_a_posting_that_gives_the_model_orders_moves_nothing_and_leaks_nothing(
    judged: World, api: MessagesApi
) -> None:
    """B94, with the worst of models: one that obeys every order it can read."""

    def obedient(posting: Posting) -> dict[str, Any]:
        if re.search(r"score to 100|match for every", posting.text):
            return {
                "score": 100,
                "reason": f"{api.calls[-1].profile} https://evil.example/x",
                "caveat": None,
                "tags": [],
            }
        return {"score": 12, "reason": "You do not sell carpets.", "caveat": None, "tags": ["<b>carpets</b>"]}

    api.judged = obedient
    about = "My name is Ann Secret and I live in the old lighthouse near Kap Arkona with nine cats and no carpets."
    await judged.user(ANN, "carpets", ai=True, about=about, ai_threshold=0)
    await judged.user(BOB, "python", ai=True, about="I am called bob.")
    await judged.cron()
    judged.board.serve("/feed.xml", shared("cases/B94_feed.xml").read_bytes())
    judged.after(minutes=15)
    await judged.cron()
    (verdict,) = await stored(judged)
    assert verdict.score == 12
    assert verdict.tags == ("carpets",)
    (call,) = api.calls
    assert "evil.example" not in json.dumps(call.body["system"]) + call.profile
    assert "carpets" in call.body["messages"][0]["content"][1]["text"]
    (mail,) = judged.mails()
    assert mail.to == ANN  # the gates decide first: Bob's keyword is not in it
    for secret in ("evil.example", "lighthouse", "Secret"):
        assert secret not in mail.text


async def test_a_model_that_quotes_the_profile_or_links_is_not_believed_or_cleaned(
    judged: World, api: MessagesApi
) -> None:
    about = "I live in the old lighthouse near Kap Arkona with nine cats and write Python all day."
    api.reasons = {NEW: f"As you say: {about}", "Python lead": "Fits, see https://evil.example/x and <b>apply</b>"}
    await judged.user(ANN, "python", ai=True, about=about, ai_threshold=0)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW), item("Python lead"))
    report = await judged.cron()
    assert report["matches"]["undecided"] == 1
    assert {v.why for v in await stored(judged)} == {"", "the answer quoted the profile"}
    (mail,) = judged.mails()
    assert "Fits (75 of 100): Fits, see and apply" in mail.text
    assert "evil" not in mail.text


async def test_a_model_that_answers_rubbish_costs_a_few_calls_and_then_the_keywords_decide(
    judged: World, api: MessagesApi
) -> None:
    """B96: one job, fifty people, a call of /cron every ten minutes, then every hour, for three days."""
    api.always = Play(text="I would rather talk about the weather.")
    for n in range(50):
        await person(judged, f"p{n}@example.com")
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    calls: list[int] = []
    for run in range(18 + 69):
        calls.append((await judged.cron())["matches"]["ai_calls"])
        judged.after(minutes=10 if run < 18 else 60)
    assert max(asked(api).values()) == verdicts.TRIES_MAX
    assert len(api.calls) == sum(calls) == 50 * verdicts.TRIES_MAX
    assert sum(calls[13:]) == 0
    assert judged.sent() == {(f"p{n}@example.com", NEW): 1 for n in range(50)}
    assert all("Not scored: no verdict came within two hours" in mail.text for mail in judged.mails())


async def test_a_marker_of_a_dead_run_is_no_verdict_and_is_asked_about_again_once_its_lease_is_over(
    judged: World, api: MessagesApi
) -> None:
    """B30."""
    uid = await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    api.always = Play(drop="unanswered")
    await judged.cron()
    (pending,) = await stored(judged)
    claimed = await verdicts.read(judged.store, [pending.id], lambda *_: None)
    await verdicts.claim(
        judged.store, [], list(claimed.values()), nonce=ids.new_nonce(), now=judged.now, lease_s=600
    )  # and its run dies
    api.always, calls = None, len(api.calls)
    judged.after(minutes=9)
    report = await judged.cron()
    assert (len(api.calls), report["matches"]["undecided"], judged.sent()) == (calls, 0, Counter())
    judged.after(minutes=2)
    await judged.cron()
    assert (len(api.calls), judged.sent()) == (calls + 1, {(ANN, NEW): 1})
    assert (await stored(judged))[0].uid == uid


async def test_white_space_in_a_text_costs_no_second_call(judged: World, api: MessagesApi) -> None:
    """B10."""
    feeds = [shared(f"cases/B10_fetch{n}.xml").read_bytes() for n in (1, 2)]
    words = re.findall(rb"<title>([^<]+)</title>", feeds[0])[1].decode().split()
    await judged.user(ANN, *words, ai=True, about="I am called ann.")
    await judged.cron()
    for feed in feeds:
        judged.board.serve("/feed.xml", feed)
        judged.after(minutes=15)
        await judged.cron()
    assert len(api.calls) == 1
    assert len(judged.mails()) == 1


async def test_twins_share_one_verdict(judged: World, api: MessagesApi) -> None:
    ad = "We look for somebody who writes Python for our weather stations, tests it well and likes the sea. " * 4
    body = f"<p>Acme</p>{ad}"
    await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW, text=body))
    await judged.cron()
    judged.after(minutes=15)
    judged.feed(item("Gardener"), item(NEW, guid="again", link="https://jobs.example.com/again", text=body))
    await judged.cron()
    known = {v.key for v in await stored(judged)}
    assert len(api.calls) == len(known)


async def test_without_a_key_everything_goes_by_keywords_at_once(world: World) -> None:
    await world.begin()
    await person(world, ANN)
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    report = await world.cron()
    assert (report["matches"]["ai_calls"], report["matches"]["undecided"]) == (0, 0)
    assert world.sent() == {(ANN, NEW): 1}
    assert await stored(world) == []
    assert "Not scored" not in world.mails()[0].text


async def test_a_key_that_is_taken_away_leaves_no_pair_behind(judged: World, api: MessagesApi) -> None:
    api.always = BUSY
    await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    await judged.cron()
    judged.after(minutes=15)
    async with World(judged.folder, board=judged.board, now=judged.now) as plain:
        await plain.cron()
        assert plain.sent() == {(ANN, NEW): 1}
        assert [v.state for v in await stored(plain)] == [VerdictState.UNSCORED]


async def test_a_score_below_the_threshold_is_no_fit_and_stays_so(judged: World, api: MessagesApi) -> None:
    api.scores = {NEW: 59}
    await person(judged, ANN)
    await judged.cron()
    judged.feed(item("Gardener"), item(NEW))
    await judged.cron()
    for _ in range(3):
        judged.after(hours=1)
        await judged.cron()
    assert (len(api.calls), judged.sent()) == (1, Counter())
    assert judged.now - (await stored(judged))[0].created_at == timedelta(hours=3)
