"""Cases G, and B16, B19 and B66, over SendGrid: a provider that refuses, errs, hangs or breaks off.

B68, B70, B71, B76, B83 and B88 are about letters and stand in tests/mail; B78 and B79 in tests/app; B81 with the ids,
B82 with the pages.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger import ids
from ledger.collections import USERS
from ledger.lifecycle import State
from ledger.records import Mode
from tests.http_faults import ERRORS, TAKEN, Answer, Close, FaultyApi, Hang, Posted, Step
from tests.shared import shared
from tests.sinks import refused_port
from tests.world import World, item

NEWS = "Python developer"
ANN, BOB, CAT = "ann@example.com", "bob@example.com", "cat@example.com"


def over_sendgrid(folder: Path, api: FaultyApi | str, **settings: str) -> World:
    url = api if isinstance(api, str) else api.url
    environ: dict[str, Any] = {"SCOUT_MAIL": "sendgrid:", "SENDGRID_API_KEY": "SG.x", "SCOUT_SENDGRID_URL": url}
    return World(folder, **{**environ, **settings})


async def news_for(world: World, *addresses: str, mode: Mode = Mode.INSTANT) -> None:
    """Everyone waits for one new job that the next call finds."""
    await world.begin()
    for address in addresses:
        await world.user(address, "python", mode=mode)
    await world.cron()
    world.after(minutes=15)
    world.feed(item("Gardener"), item(NEWS))


async def called(world: World) -> tuple[int, dict[str, Any]]:
    """(status, report) of one call."""
    answer = await world.call()
    return answer.status_code, answer.json()


def taken(api: FaultyApi) -> Counter[tuple[str, bool]]:
    """How often the provider said that it took the news, for each person."""
    return Counter((posted.to, NEWS in posted.json["subject"]) for posted in api.taken)


async def test_a_used_up_account_stops_the_run_at_its_first_refusal_and_burns_nothing(tmp_path: Path) -> None:
    """B73: 40 alerts and 10 digests are waiting, and the third letter is refused."""
    stub = json.loads(shared("cases/B73_stub.json").read_text())
    steps = [
        Answer(step) if isinstance(step, int) else Answer(step["status"], json.dumps(step["body"]))
        for step in stub["sendgrid"]
    ]
    with FaultyApi() as api:
        async with over_sendgrid(tmp_path, api) as world:
            await world.begin()
            daily = [f"daily{n}@example.com" for n in range(stub["digests_pending"])]
            for address in daily:
                await world.user(address, "java", mode=Mode.DAILY)
            for n in range(stub["instants_pending"]):
                await world.user(f"p{n}@example.com", "python")
            await world.cron()
            world.after(minutes=15)
            world.feed(item("Gardener"), item("Java developer"))
            assert (await world.cron())["mail"]["queued"] == 10
            assert api.bodies == 0
            api.rescript(steps)
            world.after(hours=1)
            world.feed(item("Gardener"), item("Java developer"), item(NEWS))
            status, report = await called(world)
            expect = stub["expect"]
            assert (status, report["status"]) == (503, "failed")
            assert "credits exceeded" in report["reason"]
            assert api.bodies <= expect["sendgrid_calls_max"]
            rows = [row for address in daily for row in (await world.rows(address)).values()]
            assert [row.state for row in rows] == [State.QUEUED] * expect["digest_rows_still_queued"]
            every = await world.dump("deliveries")
            assert len(every) - len(rows) <= expect["ledger_rows_created_max"]
            states = Counter(document["state"] for document in every.values())
            assert states.keys() == {"sent", "queued"}

            api.rescript(TAKEN)
            world.after(minutes=15)
            assert (await called(world))[0] == 200
            assert len({posted.to for posted in api.taken}) == 50
            assert max(Counter(posted.to for posted in api.taken).values()) == 1


async def test_a_401_on_the_third_of_fifty_touches_only_what_was_in_flight_and_the_next_run_sends_the_rest(
    tmp_path: Path,
) -> None:
    """B16, B73."""
    with FaultyApi([TAKEN, TAKEN, Answer(401, ERRORS)]) as api:
        async with over_sendgrid(tmp_path, api) as world:
            people = [f"p{n}@example.com" for n in range(50)]
            await news_for(world, *people)
            status, report = await called(world)
            assert (status, report["mail"]["sent"]) == (503, 2)
            assert "sendgrid answered 401" in report["reason"]
            in_flight = api.bodies
            assert in_flight <= 4
            rows = await world.dump("deliveries")
            assert len(rows) == in_flight
            assert Counter(row["state"] for row in rows.values()) == {"sent": 2, "queued": in_flight - 2}
            assert {row.get("tries", 0) for row in rows.values()} == {0}
            api.rescript(TAKEN)  # the key is mended
            world.after(minutes=15)
            status, report = await called(world)
            assert (status, report["mail"]["sent"]) == (200, 48)
            assert Counter(posted.to for posted in api.taken) == dict.fromkeys(people, 1)


async def test_a_provider_that_only_errs_costs_three_of_five_hundred_alerts(tmp_path: Path) -> None:
    with FaultyApi(Answer(500, ERRORS)) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, *(f"p{n}@example.com" for n in range(500)))
            status, report = await called(world)
            assert (status, report["mail"]["unclear"]) == (503, 3)
            assert "the first 3 letters were unclear" in report["reason"]
            assert api.bodies == 3
            assert len(await world.dump("deliveries")) == 3


@pytest.mark.parametrize(
    ("step", "state", "status"),
    [
        (Answer(413, "<html><h1>413 Request Entity Too Large</h1></html>", "text/html"), State.QUEUED, 503),
        (Answer(500, ""), State.UNCLEAR, 200),
        (Answer(400, '{"message": "no errors in here"}'), State.QUEUED, 503),
        (Answer(413, ERRORS), State.FAILED, 200),
        (Answer(400, ERRORS), State.FAILED, 200),
    ],
    ids=["413 as a page", "500 without a body", "400 without errors", "413", "400"],
)
async def test_an_error_that_is_not_the_json_it_should_be_is_read_without_a_crash_and_its_reason_kept(
    step: Answer, state: State, status: int, tmp_path: Path
) -> None:
    """B75."""
    with FaultyApi(step) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN)
            told, report = await called(world)
            assert told == status
            row = (await world.rows(ANN))[NEWS]
            assert row.state is state
            assert f"sendgrid answered {step.status}" in row.why
            assert not [error for error in report["errors"] if "could not be served" in error]
            assert api.bodies == 1


async def test_a_digest_that_is_too_large_for_a_box_on_the_way_waits_and_goes_when_it_may(tmp_path: Path) -> None:
    """B75, for a digest: parked with its reason."""
    page = shared("cases/B75_body.html").read_text()
    with FaultyApi(Answer(413, page, "text/html")) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN, mode=Mode.DAILY)
            await world.cron()
            world.after(hours=1)
            assert (await called(world))[0] == 503
            (digest,) = await world.digests()
            assert "413" in digest.why
            assert (await world.rows(ANN))[NEWS].state is State.QUEUED
            api.rescript(TAKEN)
            world.after(minutes=15)
            assert (await called(world))[1]["mail"]["digests"] == 1
            assert len(api.taken) == 1


@pytest.mark.parametrize("mode", [Mode.INSTANT, Mode.DAILY])
async def test_a_401_leaves_the_row_queued_with_its_reason_and_it_goes_once_later(mode: Mode, tmp_path: Path) -> None:
    """B16."""
    with FaultyApi(Answer(401, ERRORS)) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN, mode=mode)
            await world.call()
            world.after(hours=1)
            status, report = await called(world)
            row = (await world.rows(ANN))[NEWS]
            assert (status, row.state, report["mail"]["sent"]) == (503, State.QUEUED, 0)
            assert report["mail"]["deferred"] == 1
            told = row.why if mode is Mode.INSTANT else (await world.digests())[0].why
            assert told == "sendgrid answered 401: no"
            api.rescript(TAKEN)
            for _ in range(4):
                world.after(minutes=15)
                await world.cron()
            assert taken(api) == {(ANN, True): 1}


async def test_a_refused_connection_leaves_the_row_queued_and_counts_a_try(tmp_path: Path) -> None:
    """B16, R1."""
    async with over_sendgrid(tmp_path, f"http://127.0.0.1:{refused_port()}") as world:
        await news_for(world, ANN)
        report = await world.cron()
        row = (await world.rows(ANN))[NEWS]
        assert (row.state, row.tries, report["mail"]["deferred"]) == (State.QUEUED, 1, 1)
        assert "nothing was handed over" in row.why


@pytest.mark.parametrize("step", [Close(), Close(reset=True), Answer(500, ERRORS), Answer(502, "<html>", "text/html")])
async def test_an_alert_of_which_nobody_can_tell_is_never_sent_again(step: Step, tmp_path: Path) -> None:
    """B16."""
    with FaultyApi(step) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN)
            report = await world.cron()
            assert report["mail"]["unclear"] == 1
            api.rescript(TAKEN)
            for _ in range(8):
                world.after(hours=6)
                await world.cron()
            assert (api.bodies, (await world.rows(ANN))[NEWS].state) == (1, State.UNCLEAR)


async def test_a_bad_address_and_a_broken_document_fail_alone(tmp_path: Path) -> None:
    """B19."""

    def refuses_bob(posted: Posted) -> Step:
        return Answer(400, ERRORS) if posted.to == BOB else TAKEN

    with FaultyApi(by=refuses_bob) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN, BOB, CAT, "dan@example.com", "eve@example.com")
            dan, eve = ids.uid_of("dan@example.com"), ids.uid_of("eve@example.com")
            documents = await world.dump(USERS)
            await world.store.put(USERS, {
                dan: documents[f"users/{dan}"] | {"address": "not-an-address"},
                eve: documents[f"users/{eve}"] | {"mode": ["instant"]},
            })  # fmt: skip
            status, report = await called(world)
            assert (status, report["mail"]["sent"], report["mail"]["failed"]) == (200, 2, 2)
            assert taken(api) == {(ANN, True): 1, (CAT, True): 1}
            assert api.bodies == 3
            row = (await world.rows(BOB))[NEWS]
            assert (row.state, row.why) == (State.FAILED, "sendgrid answered 400: no")
            assert [error for error in report["errors"] if "user document cannot be read" in error]


@pytest.mark.parametrize("mode", [Mode.INSTANT, Mode.DAILY])
async def test_a_provider_that_never_answers_costs_one_letter_and_not_the_run(mode: Mode, tmp_path: Path) -> None:
    """B66: cut at the deadline, here a quarter of a wall of four seconds."""

    def hangs_for_bob(posted: Posted) -> Step:
        return Hang() if posted.to == BOB else TAKEN

    with FaultyApi(by=hangs_for_bob) as api:
        async with over_sendgrid(tmp_path, api, SCOUT_WALL_S="4", SCOUT_LOCK_S="6") as world:
            await news_for(world, ANN, BOB, CAT, mode=mode)
            if mode is Mode.DAILY:
                await world.cron()
                world.after(hours=1)
            status, report = await called(world)
            assert (status, report["mail"]["sent"], report["mail"]["unclear"]) == (200, 2, 1)
            assert report["took_s"] < 4
            row = (await world.rows(BOB))[NEWS]
            assert row.state is (State.UNCLEAR if mode is Mode.INSTANT else State.QUEUED)
            assert await world.dump("locks") == {}
            world.after(hours=2)
            api.by = None
            await world.cron()
            again = 0 if mode is Mode.INSTANT else 1
            assert taken(api) == {(ANN, True): 1, (CAT, True): 1} | ({(BOB, True): 1} if again else {})
            assert api.bodies == 3 + again


async def test_a_digest_whose_answer_was_lost_goes_again_with_equal_bytes(tmp_path: Path) -> None:
    """B66, R1: the same letter under the same id, so that a provider or a person can tell a copy."""
    with FaultyApi([Close(), TAKEN]) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN, mode=Mode.DAILY)
            await world.cron()
            world.after(hours=1)
            assert (await world.cron())["mail"]["unclear"] == 1
            world.after(hours=1)
            assert (await world.cron())["mail"]["digests"] == 1
            assert list(api.copies.values()) == [2]


async def test_a_429_with_a_time_to_come_back_is_tried_once_more_in_the_same_run(tmp_path: Path) -> None:
    with FaultyApi([Answer(429, ERRORS, headers=(("Retry-After", "0"),)), TAKEN]) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN)
            assert (await world.cron())["mail"]["sent"] == 1
            assert (api.bodies, len(api.taken)) == (2, 1)


async def test_no_request_ever_names_two_people(tmp_path: Path) -> None:
    """B76."""
    with FaultyApi() as api:
        async with over_sendgrid(tmp_path, api) as world:
            await news_for(world, ANN, BOB, CAT)
            for address in (ANN, BOB, CAT):
                await world.user(address.replace("@", "+daily@"), "python", mode=Mode.DAILY)
            await world.cron()
            world.after(hours=1)
            await world.cron()
            recipients = [[to for p in posted.json["personalizations"] for to in p["to"]] for posted in api.received]
            assert {len(people) for people in recipients} == {1}
            assert len(recipients) == 6
            assert not any({"cc", "bcc"} & posted.json["personalizations"][0].keys() for posted in api.received)


async def test_twenty_letters_at_once_each_hold_their_own_job_and_link(tmp_path: Path) -> None:
    """B88."""
    with FaultyApi(by=lambda posted: replace(TAKEN, after_s=len(posted.body) % 7 / 200)) as api:
        async with over_sendgrid(tmp_path, api) as world:
            await world.begin()
            for n in range(20):
                await world.user(f"p{n}@example.com", f"skill{n}x")
            world.after(minutes=15)
            world.feed(item("Gardener"), *(item(f"Work with skill{n}x") for n in range(20)))
            assert (await world.cron())["mail"]["sent"] == 20
            users = (await world.dump(USERS)).values()
            tokens = {user["address"]: user["token"] for user in users}
            for posted in api.received:
                number = posted.to.removeprefix("p").partition("@")[0]
                text = posted.json["content"][0]["value"]
                assert text.count("Work with") == 1
                assert f"Work with skill{number}x" in text
                assert f"/unsubscribe/{tokens[posted.to]}" in text
