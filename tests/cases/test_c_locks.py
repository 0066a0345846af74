"""Cases C: locks, overlap, clocks. B30's verdicts are tested with the verdicts."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

from app.cycle import holder_name
from ledger import deliveries, digests, ids, lease
from ledger.collections import DIGESTS, LOCKS
from ledger.lifecycle import Attempt, DigestState, State
from ledger.records import Mode
from mail.letter import Letter
from tests.faults import Go
from tests.shared import shared
from tests.world import T0, World, item

NEW = "Python developer"


async def lock_of(world: World) -> dict[str, Any] | None:
    found = await world.store.get(LOCKS, [lease.LOCK_ID])
    return found[lease.LOCK_ID].data if found else None


async def test_a_run_that_wakes_up_after_its_lease_stops_and_leaves_the_newer_run_its_lock(world: World) -> None:
    """B24."""
    told = json.loads(shared("cases/B24_timeline.json").read_text())
    people = ["a@example.com", "b@example.com", "c@example.com"]
    await world.begin()
    for address in people:
        await world.user(address, "python")
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    began = world.now
    hangs, wakes, busy, ends = (asyncio.Event() for _ in range(4))

    async def hang(_letter: Letter, go: Go) -> Attempt:
        hangs.set()
        await wakes.wait()
        return await go()

    async def hold_the_last(_letter: Letter, go: Go) -> Attempt:
        if b_sends.begun == 2:
            busy.set()
            await ends.wait()
        return await go()

    a_sends = world.intercept(hang)
    async with world.another() as other:
        b_sends = world.intercept(hold_the_last, app=other)
        a = asyncio.create_task(world.cron())
        await hangs.wait()
        world.now = began + timedelta(seconds=told[2]["t"])
        b = asyncio.create_task(world.cron(app=other))
        await busy.wait()
        lock_of_b = await lock_of(world)
        world.now = began + timedelta(seconds=told[3]["t"])
        wakes.set()
        report_a = await a
        assert await lock_of(world) == lock_of_b
        ends.set()
        report_b = await b

    assert a_sends.begun == 1  # what had begun; nothing after waking up
    assert (report_a["status"], report_a["remaining"]["users"]) == ("partial", 2)
    assert any("settled by somebody else" in error for error in report_a["errors"])
    assert (report_b["mail"]["alerts"], report_b["mail"]["unclear"]) == (2, 1)
    world.after(hours=25)
    assert (await world.cron())["mail"]["sent"] == 0
    assert world.sent() == {(address, NEW): 1 for address in people}


async def test_a_late_release_never_frees_the_lock_of_a_later_holder(world: World) -> None:
    """B26."""
    told = json.loads(shared("cases/B26_timeline.json").read_text())
    times = [T0 + timedelta(seconds=step["t"]) for step in told[:-1]]

    async def acquire(holder: str) -> lease.Lease | lease.Busy:
        return await lease.acquire(world.store, holder=holder, lease_s=600, now=world.now)

    world.now = times[0]
    a = await acquire("A")
    world.now = times[1]
    b = await acquire("B")
    assert isinstance(a, lease.Lease)
    assert isinstance(b, lease.Lease)
    written = await lock_of(world)
    world.now = times[2]
    assert await lease.release(world.store, a) is False
    world.now = times[3]
    report = await world.cron()
    assert (report["status"], report["holder"], report["stats"]["age_s"]) == ("skipped", "B", 2)
    assert await lock_of(world) == written
    assert await lease.release(world.store, b) is True
    assert (await world.cron())["status"] == "completed"


async def test_the_lock_of_a_killed_run_is_busy_for_its_lease_and_then_nobody_has_to_delete_it(world: World) -> None:
    """B28."""
    await world.begin()
    holder = holder_name("20261130T070000Z-killed00")
    assert isinstance(await lease.acquire(world.store, holder=holder, lease_s=600, now=world.now), lease.Lease)
    began = world.now
    world.now = began + timedelta(minutes=5)
    report = await world.cron()
    assert (report["status"], report["skipped"]) == ("skipped", "previous run in flight")
    assert (report["holder"], report["since"], report["stats"]) == (holder, began.isoformat(), {"age_s": 300})
    assert report["took_s"] < 1
    world.now = began + timedelta(minutes=11)
    report = await world.cron()
    assert (report["status"], report["errors"]) == ("completed", [])
    assert await lock_of(world) is None


async def test_a_claim_of_a_dead_run_becomes_unclear_after_its_lease_and_is_never_sent(each_world: World) -> None:
    """B30, the alert."""
    world = each_world
    await world.begin()
    await world.user("a@example.com", "python", quiet_from="00:00", quiet_to="10:00")
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    await world.cron()
    waiting = await deliveries.read(world.store, [deliveries.row_id((await world.rows())[NEW])])
    nonce = ids.new_nonce()
    claimed = await deliveries.claim(
        world.store, [], list(waiting.values()), nonce=nonce, now=world.now, lease_s=600
    )  # and here its process died
    assert len(claimed) == 1

    world.after(minutes=9)
    assert (await world.cron())["mail"]["unclear"] == 0
    assert (await world.rows())[NEW].state is State.CLAIMED
    world.after(minutes=1)
    report = await world.cron()
    assert (report["mail"]["unclear"], report["mail"]["sent"]) == (1, 0)
    row = (await world.rows())[NEW]
    assert (row.state, row.why) == (State.UNCLEAR, "the run that was sending it died")
    world.after(hours=25)
    await world.cron()
    assert world.mails() == []


async def test_a_digest_that_a_dead_run_was_sending_is_sent_again_after_the_lease_as_the_same_letter(
    each_world: World,
) -> None:
    """B30, the digest."""
    world = each_world
    await world.begin()
    await world.user("a@example.com", "python", mode=Mode.DAILY)
    await world.cron()
    world.feed(item("Gardener"), item(NEW))
    await world.cron()
    world.after(hours=1)

    async def refuse(letter: Letter, go: Go) -> Attempt:
        seen.append(letter.outside_id)
        return await go() if len(seen) > 1 else await die()

    async def die() -> Attempt:
        (digest,) = await world.digests()
        assert digest.state is DigestState.SENDING
        left.update(await world.store.get(DIGESTS, [digests.digest_id(digest)]))
        raise OSError

    seen: list[str] = []
    left: dict[str, Any] = {}
    world.intercept(refuse)
    await world.cron()
    await world.store.put(DIGESTS, {id_: snapshot.data for id_, snapshot in left.items()})  # as a killed run leaves it

    world.after(minutes=9)
    assert (await world.cron())["mail"]["digests"] == 0
    world.after(minutes=1)
    report = await world.cron()
    assert (report["mail"]["digests"], report["status"]) == (1, "completed")
    (digest,) = await world.digests()
    assert (digest.state, digest.attempts, digest.unclear) == (DigestState.SENT, 2, 1)
    assert seen == [digest.outside] * 2
    assert world.sent() == {("a@example.com", NEW): 1}
    assert (await world.rows())[NEW].state is State.SENT
