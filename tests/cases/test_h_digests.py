"""Cases H: when digests go out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger.records import Mode
from tests.shared import shared
from tests.sinks import Say, ScriptedSmtp
from tests.world import World, item

NEW = "Python developer"


def at(day: str, clock: str) -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)


def case(name: str) -> Any:
    return json.loads(shared(f"cases/{name}").read_text())


async def row_waits_for(world: World, address: str) -> None:
    """One row of the day before waits for the digest of this person."""
    await world.begin()
    await world.user(address, "python", mode=Mode.DAILY)
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    assert (await world.cron())["mail"]["queued"] == 1


@pytest.fixture
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("host_zone", ["America/New_York", "Australia/Melbourne", "UTC"], indirect=True)
@pytest.mark.parametrize("day", ["2026-03-08", "2026-10-04", "2026-11-30"])
async def test_one_digest_a_day_at_its_hour_in_utc_whatever_zone_the_host_has(
    day: str, host_zone: str, world: World
) -> None:
    """B84: on days when the host's clock changes, too."""
    told = case("B84_schedule.json")
    assert day in told["dates"]
    assert host_zone in told["tz_env"]
    world.now = at(day, "00:00:00") - timedelta(hours=12)
    await row_waits_for(world, "a@example.com")
    sent_at = []
    for clock in told["calls_utc"]:
        world.now = at(day, clock)
        sent_at += [clock] * (await world.cron())["mail"]["digests"]
    assert sent_at == [told["expect"]["at"]]
    assert world.sent("digest") == {("a@example.com", NEW): told["expect"]["digests"]}


async def test_a_day_with_two_late_calls_still_has_its_digest(each_world: World) -> None:
    """B85."""
    world, told = each_world, case("B85_schedule.json")
    world.now = at(told["date"], "00:00:00") - timedelta(hours=12)
    await row_waits_for(world, "a@example.com")
    sent_at = []
    for clock in told["calls_utc"]:
        world.now = at(told["date"], clock)
        sent_at += [clock] * (await world.cron())["mail"]["digests"]
    assert sent_at == [told["expect"]["digest_at"]]
    assert world.sent() == {("a@example.com", NEW): told["expect"]["digests"]}


async def test_nothing_to_send_sends_nothing_a_late_row_waits_and_a_refused_digest_is_tried_again_after_the_lease(
    tmp_path: Any,
) -> None:
    """B87."""
    told = case("B87_schedule.json")
    day = "2026-11-30"
    calls = [at(day, "08:00:00") + timedelta(minutes=10 * n) for n in range(25)]
    assert calls[-1] == at(day, "12:00:00")
    with ScriptedSmtp({"rcpt": [Say("451 4.3.0 try again later")]}) as sink:
        async with World(tmp_path, sink=sink, now=at("2026-11-29", "12:00:00")) as world:
            await row_waits_for(world, "flaky@example.com")
            await world.user("empty@example.com", "cobol", mode=Mode.DAILY)
            await world.user("late@example.com", "rust", mode=Mode.DAILY)
            sent_at = []
            for now in calls:
                world.now = now
                if now == at(day, "08:30:00"):
                    world.feed(item("Gardener"), item(NEW), item("Rust developer"))
                sent_at += [f"{now:%H:%M}"] * (await world.cron())["mail"]["digests"]
            assert sent_at == ["08:10"], told["expect"]
            assert world.sent() == {("flaky@example.com", NEW): 1}
            assert (sink.commands["rcpt"], sink.bodies) == (2, 1)

            world.now = at("2026-12-01", "08:05:00")
            await world.cron()
            assert world.letters() == {("flaky@example.com", "digest"): 1, ("late@example.com", "digest"): 1}
            assert world.sent()[("late@example.com", "Rust developer")] == 1


async def test_a_digest_that_is_refused_all_day_has_three_attempts_and_goes_on_with_the_next_one(tmp_path: Any) -> None:
    """B87: bounded."""
    with ScriptedSmtp({"rcpt": Say("451 4.3.0 try again later")}) as sink:
        async with World(tmp_path, sink=sink, now=at("2026-11-29", "12:00:00")) as world:
            await row_waits_for(world, "a@example.com")
            for n in range(25):
                world.now = at("2026-11-30", "08:00:00") + timedelta(minutes=15 * n)
                await world.cron()
            assert (sink.commands["rcpt"], sink.bodies) == (3, 0)
            sink.rescript({})
            for day in ("2026-12-01", "2026-12-02"):
                world.now = at(day, "08:00:00")
                await world.cron()
            assert world.sent() == {("a@example.com", NEW): 1}
            states = {digest.period: digest.state for digest in await world.digests()}
            assert states == {"2026-11-30": "superseded", "2026-12-01": "sent"}
