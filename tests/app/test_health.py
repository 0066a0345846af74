"""GET /healthz: a scout that nobody calls is not healthy."""

from __future__ import annotations

import structlog

from ledger.lifecycle import Attempt, Outcome
from ledger.store import Unreachable
from mail.letter import Letter
from tests.cases.test_b_lost_mail import news_for
from tests.faults import Go
from tests.world import World


async def health(world: World) -> tuple[int, str]:
    answer = await world.call("/healthz", headers={})
    return answer.status_code, answer.json()["status"]


async def test_it_is_healthy_until_the_limit_after_the_first_start(world: World) -> None:
    assert await health(world) == (200, "ok")
    world.after(seconds=2700)
    assert await health(world) == (200, "ok")
    world.after(seconds=1)
    assert await health(world) == (503, "stale")


async def test_it_is_healthy_until_the_limit_after_the_last_complete_run(each_world: World) -> None:
    """B107."""
    world = each_world
    world.after(hours=26)
    assert await health(world) == (503, "stale")
    await world.begin()
    assert await health(world) == (200, "ok")
    world.after(minutes=44)
    answer = await world.call("/healthz", headers={})
    assert (answer.status_code, answer.json()["age_s"]) == (200, 44 * 60)
    world.after(minutes=2)
    assert await health(world) == (503, "stale")
    async with world.another() as restarted:
        answer = await world.call("/healthz", headers={}, app=restarted)
        assert answer.status_code == 503  # a restart does not hide that nobody calls


async def test_a_run_that_was_skipped_cut_or_failed_is_not_a_complete_one(world: World) -> None:
    await news_for(world, "a@example.com", "b@example.com")

    async def cut(_letter: Letter, go: Go) -> Attempt:
        world.app.state.runs.cut()
        return await go()

    world.intercept(cut)
    world.after(minutes=50)
    assert (await world.cron())["status"] == "partial"
    await world.store.create("locks", {"cron": {"ts": world.now, "holder": "h", "nonce": "n", "lease_s": 600.0}})
    assert (await world.cron())["status"] == "skipped"
    await world.steal_lock()

    async def fail(operation: str, collection: str) -> None:
        if collection == "deliveries":
            raise Unreachable("nobody answers")

    world.spy(fail)
    assert (await world.call()).status_code == 503
    assert await health(world) == (503, "stale")


async def test_it_says_why_no_run_completes_while_somebody_calls(each_world: World) -> None:
    world = each_world
    await news_for(world, "a@example.com", "b@example.com")

    async def said() -> str:
        reason = (await world.call("/healthz", headers={})).json()["reason"]
        assert isinstance(reason, str)
        return reason.removeprefix("no complete run for too long: ")

    world.after(minutes=50)
    assert await said() == "is anybody calling /cron?"

    async def refuse(_letter: Letter, _go: Go) -> Attempt:
        return Attempt(Outcome.PAUSED, "auth: the mail server answered 535")

    world.intercept(refuse)
    assert (await world.call()).status_code == 503
    assert await said() == "the last run failed; /status and the log say why"

    async def cut(_letter: Letter, _go: Go) -> Attempt:
        world.app.state.runs.cut()
        return Attempt(Outcome.DEFERRED, "greylisted")

    world.intercept(cut)
    world.after(minutes=20)
    assert (await world.cron())["status"] == "partial"
    assert await said() == "the last run was partial; /status and the log say why"
    world.after(minutes=46)
    assert await said() == "is anybody calling /cron?"


async def test_it_asks_for_no_secret_and_tells_none(world: World) -> None:
    answer = await world.call("/healthz", headers={})
    assert set(answer.json()) == {"status", "last_complete_at", "age_s", "stale_after_s"}
    assert answer.headers["cache-control"] == "no-store"


async def test_a_store_that_does_not_answer_is_told(world: World) -> None:
    async def fail(_operation: str, _collection: str) -> None:
        raise Unreachable("nobody answers")

    world.spy(fail)
    with structlog.testing.capture_logs() as logged:
        answer = await world.call("/healthz", headers={})
    assert (answer.status_code, answer.json()["reason"]) == (503, "the store cannot be used; the log says why")
    assert logged == [{"event": "store failed", "reason": "nobody answers", "log_level": "error"}]
