"""GET /cron: who may call, what is answered, and when a run stops."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from ledger.collections import RUNS
from ledger.lifecycle import Attempt
from ledger.store import Unreachable
from mail.letter import Letter
from tests.cases.test_b_lost_mail import NEW, news_for
from tests.faults import Go
from tests.world import SECRET, World


async def runs_of(world: World) -> int:
    return len(await world.dump(RUNS))


async def test_get_and_post_run_with_and_without_a_slash_and_head_never_does(world: World) -> None:
    await world.begin()
    for method, path in (("GET", "/cron"), ("POST", "/cron"), ("GET", "/cron/"), ("POST", "/cron/")):
        before = await runs_of(world)
        answer = await world.call(path, method=method)
        assert (answer.status_code, answer.json()["status"], answer.history) == (200, "completed", [])
        assert await runs_of(world) == before + 1
    before = await runs_of(world)
    for method in ("HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"):
        for path in ("/cron", "/cron/"):
            answer = await world.call(path, method=method)
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert await runs_of(world) == before


async def test_no_answer_of_any_status_may_be_stored(world: World) -> None:
    await world.begin()
    answers = {
        200: await world.call(),
        401: await world.call(headers={}),
        400: await world.call("/cron?budget=none"),
        405: await world.call(method="HEAD"),
        404: await world.call("/corn"),
    }

    async def down(_operation: str, _collection: str) -> None:
        raise Unreachable("nobody answers")

    world.spy(down)
    answers[503] = await world.call()
    assert {status: answer.status_code for status, answer in answers.items()} == {s: s for s in answers}
    assert {answer.headers["cache-control"] for answer in answers.values()} == {"no-store"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {SECRET}"},
        {"authorization": f"bearer  {SECRET} "},
        {"X-Cron-Secret": SECRET},
        {"X-Cron-Secret": SECRET, "Authorization": "Basic x"},
    ],
)
async def test_the_secret_is_taken_from_either_header(headers: dict[str, str], world: World) -> None:
    world.feed()
    assert (await world.call(headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": SECRET},
        {"Authorization": f"Basic {SECRET}"},
        {"Authorization": f"Bearer {SECRET}x"},
        {"Authorization": f"Bearer {SECRET[:-1]}"},
        {"X-Cron-Secret": SECRET.upper()},
        {"Cookie": f"secret={SECRET}"},
    ],
)
async def test_anything_else_is_unauthorized_and_no_run(headers: dict[str, str], world: World) -> None:
    answer = await world.call(f"/cron?secret={SECRET}", headers=headers)
    assert (answer.status_code, answer.json()["status"]) == (401, "unauthorized")
    assert await runs_of(world) == 0


async def test_the_query_carries_the_secret_only_where_the_operator_allows_it(tmp_path: Path) -> None:
    async with World(tmp_path, SCOUT_ALLOW_QUERY_SECRET="true") as world:
        world.feed()
        assert (await world.call(f"/cron?secret={SECRET}", headers={})).status_code == 200
        assert (await world.call(f"/cron?secret={SECRET}x", headers={})).status_code == 401
        assert (await world.call("/cron?secret=", headers={})).status_code == 401


async def test_a_secret_beyond_ascii_is_compared_as_the_bytes_that_were_sent(tmp_path: Path) -> None:
    secret = "ein-schönes-Geheimnis-à"
    async with World(tmp_path, SCOUT_CRON_SECRET=secret) as world:
        world.feed()
        for headers in ({b"x-cron-secret": secret.encode()}, {b"authorization": b"Bearer " + secret.encode()}):
            assert (await world.call(headers=headers)).status_code == 200  # type: ignore[arg-type]
        assert (await world.call(headers={b"x-cron-secret": secret.encode()[:-1]})).status_code == 401  # type: ignore[arg-type,dict-item]


@pytest.mark.parametrize(
    "budget", ["", "4", "0", "-5", "301", "25.0", "2e2", "٢٥", "ten", "25;", "9" * 5000, "0" * 20 + "25x", "+25"]
)
async def test_a_budget_that_is_no_whole_number_in_range_is_refused_and_no_run(budget: str, world: World) -> None:
    answer = await world.call(f"/cron?budget={budget}")
    assert (answer.status_code, answer.json()["status"]) == (400, "bad request")
    assert "from 5 to 300" in answer.json()["reason"]
    assert await runs_of(world) == 0


async def test_a_budget_from_five_seconds_to_the_wall_is_taken(world: World) -> None:
    await world.begin()
    for budget in ("5", "25", "300"):
        assert (await world.cron(f"/cron?budget={budget}"))["status"] == "completed"


async def test_a_budget_cut_stops_between_users_and_the_next_call_does_exactly_the_rest(each_world: World) -> None:
    world = each_world
    people = {f"p{n}@example.com" for n in range(20)}
    await news_for(world, *people)
    began = world.now

    async def slow(_letter: Letter, go: Go) -> Attempt:
        world.now = began + timedelta(seconds=4 * transport.begun)
        return await go()

    transport = world.intercept(slow)
    report = await world.cron("/cron?budget=25")
    first = {mail.to for mail in world.mails()}
    assert (report["status"], report["reason"]) == ("partial", "the next call does the rest")
    assert 0 < len(first) < 20
    assert report["mail"]["alerts"] == len(first)
    assert (report["remaining"]["users"], report["remaining"]["jobs"]) == (20 - len(first), 1)

    transport.begun = -1000
    report = await world.cron()
    assert (report["status"], report["mail"]["alerts"]) == ("completed", 20 - len(first))
    assert world.sent() == {(address, NEW): 1 for address in people}
    assert set((await world.cron())["remaining"].values()) == {0}


async def test_the_process_being_told_to_end_is_the_wall_reached(world: World) -> None:
    people = {f"p{n}@example.com" for n in range(10)}
    await news_for(world, *people)

    async def end(_letter: Letter, go: Go) -> Attempt:
        world.app.state.runs.cut()
        return await go()

    transport = world.intercept(end)
    report = await world.cron()
    assert (report["status"], report["mail"]["alerts"], transport.begun) == ("partial", 1, 1)
    async with world.another() as next_process:
        assert (await world.cron(app=next_process))["mail"]["alerts"] == 9
    assert world.sent() == {(address, NEW): 1 for address in people}


async def test_the_answer_has_the_documented_shape_and_is_kept_as_it_was_given(world: World) -> None:
    await news_for(world, "a@example.com")
    report = await world.cron()
    assert set(report) == {
        "run_id", "started_at", "status", "took_s", "sources", "jobs", "matches", "mail", "cost", "remaining", "errors",
    }  # fmt: skip
    assert set(report["sources"]) == {"ok", "not_modified", "not_due", "failed"}
    assert set(report["jobs"]) == {"seen", "new", "twins", "stale", "skipped"}
    assert set(report["matches"]) >= {"pairs", "fit", "ai_calls", "ai_cached", "undecided"}
    mail = {"alerts", "digests", "sent", "queued", "failed", "deferred", "unclear", "expired"}
    assert set(report["mail"]) >= mail
    cost = {"reads", "writes", "deletes", "round_trips", "ai_input_tokens", "ai_output_tokens"}
    assert set(report["cost"]) >= cost
    assert set(report["remaining"]) >= {"users", "jobs"}
    kept = (await world.dump(RUNS))[f"{RUNS}/{report['run_id']}"]
    assert kept["report"] == report
