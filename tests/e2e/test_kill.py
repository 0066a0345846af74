"""SIGKILL a real server as soon as its first claim is seen in the store, again and again; then the mail is counted.

`python -m tests.e2e.test_kill` does it 20 times over 200 people; the suite does it less often over fewer.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from datetime import timedelta

import pytest

from app.drill.count import Verdict, count
from app.drill.stage import Server, Stage, staged
from ledger.collections import DELIVERIES
from ledger.lifecycle import State

LOOK_EVERY_S = 0.002


async def killed_at_claims(*, people: int, kills: int, lock_s: int, wall_s: int, delay_s: float) -> tuple[Verdict, int]:
    """The verdict, and how many of the kills fell inside a run."""
    verdict = Verdict("kill at the first claim")
    inside = 0
    async with staged(seed=20, lock_s=lock_s, wall_s=wall_s, delay_s=delay_s) as stage:
        await stage.sign_up(instant=people * 2 // 3, daily=people - people * 2 // 3)
        for number in range(kills):
            stage.new_jobs(2)
            if number % 4 == 3:
                stage.move(timedelta(days=1))
            inside += await _kill_one(stage, delay_s=delay_s * (number % 5))
            await stage.lease_passes()
            server = await stage.start()
            await stage.quiet(server)
            await server.end()
        await stage.settle_everything()
        await count(stage, verdict, kills=kills)
    return verdict, inside


async def _kill_one(stage: Stage, *, delay_s: float) -> bool:
    server = await stage.start()
    run = asyncio.create_task(stage.cron(server))
    await _claim_is_seen(stage, server, run)
    await asyncio.sleep(delay_s)  # at different moments of the letters in flight
    inside = not run.done()
    await server.end(signal.SIGKILL)
    await run
    return inside


async def _claim_is_seen(stage: Stage, server: Server, run: asyncio.Task[object]) -> None:
    while not run.done() and server.is_alive:
        page = await stage.store.find(DELIVERIES, {"state": State.CLAIMED.value}, limit=1)
        if page.items:
            return
        await asyncio.sleep(LOOK_EVERY_S)


@pytest.mark.timeout(300)
async def test_a_server_killed_at_its_first_claim_mails_no_alert_twice_and_loses_no_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    verdict, inside = await killed_at_claims(people=40, kills=4, lock_s=5, wall_s=4, delay_s=0.05)
    assert verdict.violations == []
    assert inside >= 3
    assert verdict.figures["alerts twice"] == 0


if __name__ == "__main__":
    told, hit = asyncio.run(killed_at_claims(people=200, kills=20, lock_s=5, wall_s=4, delay_s=0.05))
    sys.stdout.write(f"{hit} of 20 kills fell inside a run\n{told.figures}\n")
    sys.stdout.write("".join(f"VIOLATION {violation}\n" for violation in told.violations))
    sys.exit(1 if told.violations or hit < 15 else 0)
