"""A provider that takes 40 % of the letters, asks to wait, errs or breaks off at the others: 500 people, 3 runs."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from app.pace import Limits
from app.verify import Kind, verify
from ledger.collections import DELIVERIES
from ledger.deliveries import row_id
from ledger.documents import decode
from ledger.lifecycle import State
from ledger.records import Delivery
from ledger.store import every
from tests.http_faults import ERRORS, TAKEN, Answer, Close, FaultyApi, Posted, Step
from tests.world import World, item

PEOPLE = 500
NEWS = "Python developer"
NO_CIRCUIT = Limits(unclear_first_max=10**6, bad_streak_max=10**6)


class Moody:
    """Decides each letter's fate by a seed, and remembers it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.fates: dict[str, list[str]] = defaultdict(list)

    def __call__(self, posted: Posted) -> Step:
        (fate,) = self._random.choices(("taken", "later", "error", "dropped"), (40, 20, 20, 20))
        self.fates[posted.to].append(fate)
        match fate:
            case "taken":
                return TAKEN
            case "later":
                return Answer(429, ERRORS, headers=(("X-RateLimit-Reset", str(int(time.time()))),))
            case "error":
                return Answer(500, ERRORS)
            case _:
                return Close()


async def test_no_alert_is_accepted_twice_nothing_definite_is_lost_and_every_unclear_row_is_listed(
    tmp_path: Path,
) -> None:
    moody = Moody(seed=4)
    with FaultyApi(by=moody) as api:
        settings = {"SCOUT_MAIL": "sendgrid:", "SENDGRID_API_KEY": "SG.x", "SCOUT_SENDGRID_URL": api.url}
        async with World(tmp_path, **settings) as world:  # type: ignore[arg-type]
            world.app.state.parts = replace(world.parts, limits=NO_CIRCUIT)
            await world.begin()
            people = [f"p{n}@example.com" for n in range(PEOPLE)]
            for address in people:
                await world.user(address, "python")
            await world.cron()
            world.feed(item("Gardener"), item(NEWS))
            for _ in range(3):
                world.after(minutes=40)
                report = await world.cron()
                assert report["status"] == "completed"

            rows = [decode(Delivery, s) async for s in every(world.store, DELIVERIES, {})]
            states = Counter(row.state for row in rows)
            assert len(rows) == len({row_id(row) for row in rows}) == PEOPLE
            assert states.keys() <= {State.SENT, State.UNCLEAR, State.QUEUED}
            taken = Counter(posted.to for posted in api.taken)
            assert set(taken.values()) == {1}
            assert len(taken) == states[State.SENT]
            for address, fates in moody.fates.items():
                # Only a letter that was provably not taken is followed by another.
                assert set(fates[:-1]) <= {"later"}, (address, fates)
            ends = Counter(fates[-1] for fates in moody.fates.values())
            assert ends["error"] + ends["dropped"] == states[State.UNCLEAR]
            assert ends["later"] == states[State.QUEUED]
            assert min(states[State.SENT], states[State.UNCLEAR]) > PEOPLE / 4  # the trial was one

            found = await verify(world.store, None, now=world.now)
            assert {finding.kind for finding in found.findings} == {Kind.UNCLEAR}
            unclear = {row.outside for row in rows if row.state is State.UNCLEAR}
            assert {finding.outside for finding in found.findings} == unclear
            assert len(found.findings) == states[State.UNCLEAR]
