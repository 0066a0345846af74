"""`scout verify`: what the promises exclude is found, and a ledger that holds is said to hold."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli import main
from app.seen import in_events, in_outbox
from app.verify import Kind, Verified, verify
from ledger import users
from ledger.collections import DELIVERIES, DIGESTS
from ledger.deliveries import row_id
from ledger.digests import digest_id
from ledger.documents import encode
from ledger.lifecycle import Attempt, DigestState, Outcome, State
from ledger.records import Delivery, Mode
from mail.letter import Letter
from tests.faults import Go
from tests.world import World, item

ANN, BOB = "ann@example.com", "bob@example.com"
NEWS = "Python developer"


async def served(world: World) -> None:
    """Ann has had an alert and Bob a digest."""
    await news(world)
    await world.cron()
    world.after(hours=1)
    await world.cron()
    assert world.sent() == {(ANN, NEWS): 1, (BOB, NEWS): 1}


async def news(world: World) -> None:
    await world.begin()
    await world.user(ANN, "python")
    await world.user(BOB, "python", mode=Mode.DAILY)
    world.after(minutes=15)
    world.feed(item("Gardener"), item(NEWS))


async def verified(world: World) -> Verified:
    return await verify(world.store, in_outbox(world.folder / "outbox"), now=world.now)


async def kinds(world: World) -> Counter[Kind]:
    return Counter(finding.kind for finding in (await verified(world)).findings)


async def change(world: World, address: str, **changes: Any) -> Delivery:
    row = replace((await world.rows(address))[NEWS], **changes)
    await world.store.put(DELIVERIES, {row_id(row): encode(row)})
    return row


def files(world: World) -> list[Path]:
    return sorted((world.folder / "outbox" / "new").iterdir())


async def test_a_ledger_that_holds_has_no_findings_and_its_sum_is_told(each_world: World) -> None:
    await served(each_world)
    found = await verified(each_world)
    assert found.findings == []
    assert (found.queued, found.rows["sent"], found.letters, found.copies) == (2, 2, 2, 0)
    assert sum(found.rows.values()) == found.queued


async def test_an_empty_scout_holds(world: World) -> None:
    found = await verified(world)
    assert (found.findings, found.queued, found.letters) == ([], 0, 0)


async def test_waiting_rows_are_no_findings(world: World) -> None:
    await news(world)
    await world.cron()
    found = await verified(world)
    assert (found.findings, found.rows["queued"]) == ([], 1)


async def test_letters_that_a_mail_program_has_read_still_count(world: World) -> None:
    await served(world)
    for file in files(world):
        file.rename(world.folder / "outbox" / "cur" / f"{file.name}:2,S")
    found = await verified(world)
    assert (found.findings, found.letters) == ([], 2)


async def test_an_alert_that_left_twice_is_a_duplicate(world: World) -> None:
    await served(world)
    outside = (await world.rows(ANN))[NEWS].outside
    (file,) = [file for file in files(world) if file.name.startswith(f"{outside}.")]
    shutil.copy(file, file.with_name(f"{outside}.1.1_1"))
    (finding,) = (await verified(world)).findings
    assert (finding.kind, finding.outside) == (Kind.DUPLICATE, outside)
    assert "one alert left 2 times" in finding.what


async def test_a_copy_of_a_digest_is_a_duplicate_only_if_no_attempt_explains_it(world: World) -> None:
    await served(world)
    (digest,) = await world.digests()
    (file,) = [file for file in files(world) if file.name.startswith(f"{digest.outside}.")]
    shutil.copy(file, file.with_name(f"{digest.outside}.1.1_1"))
    assert await kinds(world) == {Kind.DUPLICATE: 1}
    await world.store.put(DIGESTS, {digest_id(digest): encode(replace(digest, attempts=2, unclear=1))})
    found = await verified(world)
    assert (found.findings, found.copies) == ([], 1)


async def test_a_letter_that_left_though_the_ledger_thinks_it_did_not_is_a_duplicate_to_come(world: World) -> None:
    await news(world)

    async def lies(letter: Letter, go: Go) -> Attempt:
        await go()
        return Attempt(Outcome.DEFERRED, "provably not taken, it says")

    world.intercept(lies)
    await world.cron()
    (finding,) = (await verified(world)).findings
    assert finding.kind is Kind.DUPLICATE
    assert "waits to be sent again" in finding.what
    world.after(minutes=11)
    await world.cron()  # claimed anew: the first letter belongs to no row any more
    assert (await kinds(world))[Kind.DUPLICATE] == 2


async def test_letters_to_strangers_and_foreign_files_are_none_of_its_business(world: World) -> None:
    await served(world)
    folder = world.folder / "outbox" / "new"
    (folder / "1234.host").write_bytes(b"From: x\n\nhello")
    to_eve = re.sub(rb"(ann|bob)@", b"eve@", files(world)[0].read_bytes())
    (folder / f"{'a' * 32}.1.1_1").write_bytes(to_eve)
    (folder / f"{'b' * 32}.1.1_1").write_bytes(b"To: ann@example.com\nDate: Mon, 30 Nov 2026 09:00:00 +0000\n\nsign in")
    assert (await verified(world)).findings == []


async def test_a_sent_row_whose_letter_is_not_in_the_outbox_is_a_loss(world: World) -> None:
    await served(world)
    for file in files(world):
        file.unlink()
    assert await kinds(world) == {Kind.LOST: 2}
    await change(world, ANN, receipt="2.0.0 queued as ABC")  # went by another transport, before
    await change(world, BOB, receipt=None)
    assert await kinds(world) == {}


async def test_unclear_rows_are_listed_with_the_id_that_the_provider_knows(world: World) -> None:
    await news(world)

    async def nobody_can_tell(letter: Letter, go: Go) -> Attempt:
        await go()
        return Attempt(Outcome.UNCLEAR, "no answer in time")

    world.intercept(nobody_can_tell)
    await world.cron()
    (finding,) = (await verified(world)).findings
    assert (finding.kind, finding.outside) == (Kind.UNCLEAR, (await world.rows(ANN))[NEWS].outside)
    assert "no answer in time; the outbox has it" in finding.what
    assert ANN not in finding.what


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"state": State.QUEUED, "wake_at": None, "period": None}, Kind.LOST),
        ({"state": State.QUEUED, "wake_at": None, "period": "2026-11-29"}, Kind.LOST),
        ({"state": State.QUEUED, "wake_at": None}, Kind.LOST),  # its digest is closed
        ({"state": State.CLAIMED, "wake_at": None}, Kind.STUCK),
        ({"state": "no such state"}, Kind.EQUATION),
    ],
)
async def test_a_row_that_nothing_will_ever_touch_again_is_found(
    changes: dict[str, Any], kind: Kind, world: World
) -> None:
    await served(world)
    await change(world, BOB, **changes)
    assert await kinds(world) == {kind: 1}


async def test_what_was_due_before_the_last_complete_run_is_stuck(world: World) -> None:
    await served(world)
    await change(world, BOB, state=State.QUEUED, wake_at=world.now, period=None)
    assert await kinds(world) == {}
    world.after(hours=1)
    assert await kinds(world) == {}  # nobody has called since
    await change(world, BOB, state=State.SENT, wake_at=None)
    await world.cron()
    await change(world, BOB, state=State.QUEUED, wake_at=world.now.replace(minute=0), period=None)
    world.after(minutes=15)
    await change(world, ANN, state=State.CLAIMED, wake_at=world.now)
    assert await kinds(world) == {Kind.STUCK: 1}


async def test_an_open_digest_that_nothing_wakes_or_whose_rows_are_gone_is_found(world: World) -> None:
    await served(world)
    (digest,) = await world.digests()
    opened = replace(digest, state=DigestState.OPEN, live=True, wake_at=None, rows=(*digest.rows, f"j1{'0' * 32}"))
    await world.store.put(DIGESTS, {digest_id(digest): encode(opened)})
    assert await kinds(world) == {Kind.STUCK: 1, Kind.EQUATION: 1}


async def test_a_deleted_person_leaves_no_finding(world: World) -> None:
    await served(world)
    for address in (ANN, BOB):
        await users.delete(world.store, (await world.rows(address))[NEWS].uid, now=world.now)
    assert (await verified(world)).findings == []


def posted(kind: str, outside: str | None, message: str, at: float) -> dict[str, Any]:
    found = {"event": kind, "email": ANN, "sg_message_id": f"{message}.filter-1.0", "timestamp": at}
    return found | ({"delivery_id": outside} if outside else {})


@pytest.mark.parametrize("by_line", [False, True])
async def test_the_providers_events_are_held_against_the_ledger(by_line: bool, world: World, tmp_path: Path) -> None:
    await served(world)
    ann = await change(world, ANN, receipt="m1")
    bob = await change(world, BOB, receipt="m2")
    (digest,) = await world.digests()
    at = world.now.timestamp()
    frame = [posted("processed", None, "m0", at - 86_400), posted("open", None, "m0", at + 86_400)]
    file = tmp_path / "events.json"

    async def held(*events: dict[str, Any]) -> Counter[Kind]:
        every = [*frame, *events]
        file.write_text("\n".join(map(json.dumps, every)) if by_line else json.dumps(every))
        found = await verify(world.store, in_events(file), now=world.now)
        return Counter(finding.kind for finding in found.findings)

    both = [posted(kind, row, m, at) for kind in ("processed", "delivered", "delivered")
            for row, m in ((ann.outside, "m1"), (digest.outside, "m2"))]  # fmt: skip
    assert await held(*both) == {}
    assert await held(*both, posted("processed", ann.outside, "m9", at)) == {Kind.DUPLICATE: 1}
    assert await held(*both[:1]) == {Kind.LOST: 1}
    await change(world, BOB, state=State.UNCLEAR, receipt=None)
    assert await held(*both) == {Kind.UNCLEAR: 1}
    assert bob.receipt == "m2"


def run(world: World, *arguments: str) -> tuple[int, str]:
    environ = {name: None for name in os.environ if name.startswith("SCOUT_")} | world._environ
    result = CliRunner().invoke(main, ["verify", *arguments], env=environ)
    return result.exit_code, result.output


async def test_the_command_says_so_and_ends_with_1_on_any_finding(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await served(world)
    code, said = await asyncio.to_thread(run, world)
    assert (code, "Everything holds." in said) == (0, True)
    code, said = await asyncio.to_thread(run, world, "--json")
    assert (code, json.loads(said)["findings"]) == (0, [])
    for file in files(world):
        file.unlink()
    code, said = await asyncio.to_thread(run, world)
    assert (code, said.count("lost")) == (1, 2)
    code, said = await asyncio.to_thread(run, world, "--json")
    assert (code, len(json.loads(said)["findings"])) == (1, 2)
    broken = tmp_path / "events.json"
    broken.write_text("not json")
    code, said = await asyncio.to_thread(run, world, "--events", str(broken))
    assert (code, said.count("\n")) == (2, 1)
    assert ANN not in said
