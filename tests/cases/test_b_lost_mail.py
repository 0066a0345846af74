"""Cases B: lost or half-recorded emails."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ledger import ids, users
from ledger.collections import JOBS, USERS
from ledger.lifecycle import TRIES_MAX, Attempt, State, Via
from ledger.records import Mode
from mail.letter import Letter
from tests.faults import Go
from tests.sinks import OK, Drop, Say, ScriptedSmtp, refused_port
from tests.world import World, item
from tests.worlds import store_url

NEW = "Python developer"


async def news_for(world: World, *addresses: str, mode: Mode = Mode.INSTANT) -> None:
    """Everyone waits for one new job that the next call finds."""
    await world.begin()
    for address in addresses:
        await world.user(address, "python", mode=mode)
    await world.cron()
    world.after(minutes=15)
    world.feed(item("Gardener"), item(NEW))


async def test_an_error_inside_one_digest_leaves_only_that_one_to_be_sent_later(each_world: World) -> None:
    """B15."""
    world = each_world
    people = sorted(f"p{n}@example.com" for n in range(5))
    await news_for(world, *people, mode=Mode.DAILY)
    await world.cron()
    broken: list[str] = []

    async def out_of_memory(letter: Letter, go: Go) -> Attempt:
        if transport.begun == 3:
            broken.append(letter.to)
            raise MemoryError
        return await go()

    transport = world.intercept(out_of_memory)
    world.after(hours=1)
    report = await world.cron()
    assert (report["mail"]["digests"], report["mail"]["unclear"]) == (4, 1)
    states = {address: (await world.rows(address))[NEW].state for address in people}
    assert states == {address: State.QUEUED if address in broken else State.SENT for address in people}

    world.after(minutes=61)
    report = await world.cron()
    assert report["mail"]["digests"] == 1
    assert world.sent() == {(address, NEW): 1 for address in people}
    assert [(await world.rows(address))[NEW].state for address in people] == [State.SENT] * 5


async def test_a_refused_connection_leaves_the_alert_queued_with_a_reason_and_after_three_tries_to_the_digest(
    kind: str, place: str, tmp_path: Path
) -> None:
    """B16, definitely not taken."""
    nobody = f"smtp://127.0.0.1:{refused_port()}"
    async with World(tmp_path, store=store_url(kind, place), SCOUT_MAIL=nobody) as world:
        await news_for(world, "a@example.com")
        for tries in range(1, TRIES_MAX + 1):
            report = await world.cron()
            row = (await world.rows())[NEW]
            assert (report["mail"]["sent"], report["mail"]["deferred"]) == (0, 1)
            assert (row.state, row.tries) == (State.QUEUED, tries)
            assert "connection refused" in row.why
            world.after(minutes=31)
        assert row.via is Via.DIGEST
    with ScriptedSmtp() as sink:
        async with World(tmp_path, store=store_url(kind, place), sink=sink, now=world.now) as world:
            await world.cron()
            assert world.mails() == []
            assert row.wake_at is not None
            world.now = row.wake_at  # tomorrow's digest
            await world.cron()
            await world.cron()
            assert world.letters() == {("a@example.com", "digest"): 1}
            assert world.sent() == {("a@example.com", NEW): 1}


@pytest.mark.parametrize("answer", [Drop(), Drop(reset=True), Say("000 what")], ids=["drop", "reset", "nonsense"])
async def test_an_alert_of_which_nobody_can_tell_is_never_sent_again(answer: Drop | Say, tmp_path: Path) -> None:
    """B16, the ambiguous outcome."""
    with ScriptedSmtp({"dot": [answer]}) as sink:
        async with World(tmp_path, sink=sink) as world:
            await news_for(world, "a@example.com")
            report = await world.cron()
            assert (report["status"], report["mail"]["sent"], report["mail"]["unclear"]) == ("completed", 0, 1)
            row = (await world.rows())[NEW]
            assert row.state is State.UNCLEAR
            assert row.why
            for hours in (1, 24, 24):
                world.after(hours=hours)
                assert (await world.cron())["mail"]["sent"] == 0
        assert sink.bodies == 1


async def test_an_account_at_fault_leaves_the_row_queued_without_using_a_try(
    tmp_path: Path,
) -> None:
    """B16, the account's fault."""
    with ScriptedSmtp({"mail": [Say("550 5.7.1 account disabled")]}) as sink:
        async with World(tmp_path, sink=sink) as world:
            await news_for(world, "a@example.com")
            answer = await world.call()
            assert (answer.status_code, answer.json()["status"]) == (503, "failed")
            row = (await world.rows())[NEW]
            assert (row.state, row.tries, row.via) == (State.QUEUED, 0, Via.ALERT)
            world.after(minutes=15)
            await world.cron()
            assert world.sent() == {("a@example.com", NEW): 1}


async def test_an_address_that_is_none_fails_with_a_reason_and_the_others_are_mailed(each_world: World) -> None:
    """B19."""
    world = each_world
    await news_for(world, "a@example.com", "b@example.com", "c@example.com")
    uid = ids.uid_of("b@example.com")
    await users.change(world.store, uid, lambda user: replace(user, address="not-an-address"))
    report = await world.cron()

    assert (report["status"], report["mail"]["alerts"], report["mail"]["failed"]) == ("completed", 2, 1)
    assert world.sent() == {("a@example.com", NEW): 1, ("c@example.com", NEW): 1}
    row = (await world.rows("b@example.com"))[NEW]
    assert (row.uid, row.state) == (uid, State.FAILED)
    assert "domain" in row.why or "local part" in row.why


async def test_a_mailbox_that_a_server_refuses_fails_alone(tmp_path: Path) -> None:
    """B19, over SMTP."""
    with ScriptedSmtp({"rcpt": [OK, Say("550 5.1.1 no such user"), OK]}) as sink:
        async with World(tmp_path, sink=sink) as world:
            await news_for(world, "a@example.com", "b@example.com", "c@example.com")
            report = await world.cron()
            assert (report["status"], report["mail"]["alerts"], report["mail"]["failed"]) == ("completed", 2, 1)
            assert len(world.sent()) == 2
            assert set(world.sent().values()) == {1}
            world.after(minutes=15)
            world.feed(item("Gardener"), item(NEW), item("Python two"))
            assert (await world.cron())["mail"]["alerts"] == 2  # that mailbox does not exist: it is left alone


@pytest.mark.parametrize("damage", [{"searches": 7}, {"token": None}, {"mode": "sometimes"}, {"wake_at": {"a": 1}}])
async def test_a_user_document_that_cannot_be_read_is_told_once_and_the_others_are_mailed(
    damage: dict[str, object], world: World
) -> None:
    """B19, the ill-typed document."""
    await news_for(world, "a@example.com", "b@example.com", "c@example.com")
    uid = await world.user("b@example.com", "python")
    data = (await world.store.get(USERS, [uid]))[uid].data
    changed = {k: v for k, v in {**data, **damage}.items() if v is not None}
    await world.store.put(USERS, {uid: changed})
    answer = await world.call()
    report = answer.json()
    assert (answer.status_code, report["status"], report["mail"]["alerts"]) == (200, "completed", 2)
    (told,) = [error for error in report["errors"] if error.startswith("users")]
    assert next(iter(damage)) in told
    assert world.sent() == {("a@example.com", NEW): 1, ("c@example.com", NEW): 1}


async def test_a_budget_that_ends_in_the_middle_of_the_digests_leaves_exactly_the_rest_to_the_next_call(
    each_world: World,
) -> None:
    """B22."""
    world = each_world
    people = {f"p{n}@example.com" for n in range(100)}
    await news_for(world, *people, mode=Mode.DAILY)
    await world.cron()
    world.after(hours=1)
    began = world.now

    async def slow(_letter: Letter, go: Go) -> Attempt:
        if transport.begun >= 40:
            world.now = began + timedelta(seconds=290)
        return await go()

    transport = world.intercept(slow)
    report = await world.cron()
    first = {mail.to for mail in world.mails()}
    assert report["status"] == "partial"
    assert 40 <= len(first) < 100
    assert report["mail"]["digests"] == len(first)
    assert report["remaining"]["users"] == 100 - len(first)

    transport.begun = -1000
    report = await world.cron()
    assert (report["status"], report["mail"]["digests"]) == ("completed", 100 - len(first))
    assert world.sent("digest") == {(address, NEW): 1 for address in people}


async def test_a_digest_tells_of_a_job_whose_document_was_cleaned_up_in_between(each_world: World) -> None:
    """B23."""
    world = each_world
    world.now += timedelta(hours=2)
    await news_for(world, "a@example.com", mode=Mode.DAILY)
    await world.cron()
    await world.store.delete(JOBS, [key.partition("/")[2] for key in await world.dump(JOBS)])
    world.after(days=1)
    report = await world.cron()
    (mail,) = world.mails()
    assert (report["errors"], mail.jobs, mail.links) == ([], (NEW,), ("https://jobs.example.com/python-developer",))
    assert "python in the title" in mail.text


async def test_three_refused_letters_in_a_row_stop_a_user_visibly(tmp_path: Path) -> None:
    """B19 and the design's stop: nobody is written to for ever."""
    with ScriptedSmtp({"rcpt": Say("550 5.7.1 not wanted here")}) as sink:
        async with World(tmp_path, sink=sink) as world:
            await news_for(world, "a@example.com")
            for n in range(4):
                world.feed(item("Gardener"), *(item(f"Python {m}") for m in range(n + 1)))
                await world.cron()
                world.after(minutes=15)
            user = await users.read(world.store, (await world.rows())["Python 0"].uid)
            assert user is not None
            assert (user.record.active, user.record.stopped) == (False, "rejected")
        assert (sink.bodies, sink.commands["rcpt"]) == (0, 3)
