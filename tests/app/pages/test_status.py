"""The operator's page: who may see it, what it tells, and when it turns unhealthy."""

from __future__ import annotations

from dataclasses import replace

from app.pages.chart import HEIGHT, chart
from ledger import deliveries, ids
from ledger.lifecycle import Attempt, Outcome
from ledger.schedule import Hour, time_of, zone_of
from tests.app.pages.test_preview import job_of, store_jobs
from tests.app.pages.visits import ANN, signed_in, text, visiting
from tests.world import SECRET, World, item

OPERATOR = "ops@example.com"


async def test_the_status_answers_the_secret_and_the_operators_session_and_nobody_else(world: World) -> None:
    await world.begin()
    async with visiting(world) as nobody, visiting(world) as ann, visiting(world) as ops:
        assert (await nobody.get("/status")).headers["location"] == "/login?then=/status"
        assert (await nobody.get("/status", params={"format": "json"})).status_code == 401
        assert (await nobody.get("/status", headers={"accept": "*/*"})).status_code == 401
        wrong = {"authorization": "Bearer " + "x" * 30, "accept": "*/*"}
        assert (await nobody.get("/status", headers=wrong)).status_code == 401
        await signed_in(ann, world, ANN)
        assert (await ann.get("/status")).status_code == 403
        await signed_in(ops, world, "OPS@example.com")
        assert (await ops.get("/status")).status_code == 200
        told = await nobody.get("/status", params={"format": "json"}, headers={"authorization": f"Bearer {SECRET}"})
        assert told.json()["status"] == "ok"
        assert told.json()["runs"][0]["status"] == "completed"


async def test_the_status_tells_runs_sources_and_unclear_rows_without_addresses(world: World) -> None:
    await world.begin()
    await world.user(ANN)
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"))
    await world.cron()
    await store_jobs(world, job := job_of(world, 7, title="Python unclear"))
    offer = deliveries.offered(ids.uid_of(ANN), job, score=2, reason="python in the title", now=world.now)
    won = await deliveries.claim(world.store, [offer], [], nonce="n" * 32, now=world.now, lease_s=60)
    hour = Hour(time_of("08:00"), zone_of("UTC"))
    await deliveries.settle(world.store, won, Attempt(Outcome.UNCLEAR, "no answer"), hour=hour, now=world.now)
    world.board.serve("/feed.xml", "<html>gone</html>", content_type="text/html")
    world.after(minutes=15)
    await world.call()
    async with visiting(world) as client:
        await signed_in(client, world, OPERATOR)
        page = (await client.get("/status")).text
        told = (await client.get("/status", params={"format": "json"})).json()
    assert "Python unclear" in text(page)
    assert "no answer" in text(page)
    assert "<svg" in page
    assert "at most 1" in text(page)
    assert ANN not in page
    assert ids.uid_of(ANN) not in page + str(told)
    (source,) = told["sources"]
    assert (source["name"], source["failures"]) == ("board", 1)
    assert source["reason"] in text(page)
    assert [row["outside"] for row in told["unclear"]] == [ids.outside_id("n" * 32)]


async def test_the_status_turns_unhealthy_when_nobody_calls_for_a_day(world: World) -> None:
    await world.begin()
    world.after(hours=26)
    async with visiting(world) as client:
        await signed_in(client, world, OPERATOR)
        page = text((await client.get("/status")).text)
        told = (await client.get("/status", params={"format": "json"})).json()
    assert "No complete run for 26 h ago" not in page
    assert "No complete run for 26 h: is anybody calling /cron?" in page
    assert (told["status"], told["age_s"]) == ("stale", 26 * 3600)
    assert (await world.call("/healthz")).status_code == 503


async def test_a_scout_that_never_ran_has_a_status(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world, OPERATOR)
        page = await client.get("/status")
    assert page.status_code == 200
    assert "No run yet" in text(page.text)


def test_bars_are_scaled_to_the_highest_and_a_small_one_still_shows() -> None:
    zero = {"jobs": {"new": 0}, "mail": {"sent": 0}, "took_s": 0.0, "cost": {"reads": 0, "writes": 0}}
    runs = [zero | {"jobs": {"new": new}} for new in (1000, 1, 0)]
    drawn = chart(runs)
    assert drawn is not None
    assert [bar.height for bar in drawn.rows[0].bars] == [0.0, 1.0, HEIGHT]
    assert [bar.height for bar in drawn.rows[1].bars] == [0.0] * 3
    assert chart([]) is None
    assert replace(drawn, width=0).summary.startswith("3 runs. new jobs: at most 1,000")
