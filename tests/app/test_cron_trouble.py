"""GET /cron when a part of the world does not work: a reason is told, and nobody else is held up."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.lifecycle import State
from ledger.records import Mode
from tests.cases.test_b_lost_mail import NEW, news_for
from tests.emulator import free_port
from tests.sinks import OK, Say, ScriptedSmtp
from tests.world import World, item


async def test_a_store_that_nobody_answers_for_is_503_with_the_reason_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", f"127.0.0.1:{free_port()}")
    async with World(tmp_path, store="firestore://nowhere") as world:
        answer = await world.call()
    assert (answer.status_code, answer.json()["status"]) == (503, "failed")
    assert answer.json()["reason"].startswith("the store cannot be used: Firestore, project nowhere: UNAVAILABLE; ")
    assert (world.board.requests, world.mails()) == ([], [])


async def test_a_store_file_that_cannot_be_opened_is_503_with_the_reason_and_nothing_is_sent(tmp_path: Path) -> None:
    (tmp_path / "scout.db").mkdir()
    async with World(tmp_path) as world:
        answer = await world.call()
    assert (answer.status_code, answer.json()["status"]) == (503, "failed")
    assert answer.json()["reason"].startswith("the store cannot be used: ")
    assert (world.board.requests, world.mails()) == ([], [])


@pytest.mark.parametrize("answer", ["535 5.7.8 credentials invalid", "550 5.7.1 account disabled"])
async def test_a_paused_mail_account_is_503_with_the_reason_and_touches_only_the_letters_in_flight(
    answer: str, tmp_path: Path
) -> None:
    people = [f"p{n:02}@example.com" for n in range(20)]
    with ScriptedSmtp({"mail": [OK, *[Say(answer)] * 10]}) as sink:
        async with World(tmp_path, sink=sink) as world:
            await news_for(world, *people)
            said = await world.call()
            report = said.json()
            assert (said.status_code, report["status"], report["mail"]["sent"]) == (503, "failed", 1)
            assert report["reason"].startswith(f"mail is paused: mail: the mail server answered {answer[:9]}")
            assert sink.commands["mail"] <= 1 + 2 * 2  # two in flight, each asked again on a fresh connection
            states = [row.state for address in people for row in (await world.rows(address)).values()]
            assert sorted(states) == [State.QUEUED, State.QUEUED, State.SENT]
            assert report["remaining"]["users"] == 17
            sink.rescript({})
            world.after(minutes=15)
            report = await world.cron()
            assert (report["status"], report["mail"]["alerts"]) == ("completed", 19)
            assert world.sent() == {(address, NEW): 1 for address in people}


async def test_a_paused_mail_account_leaves_every_digest_queued_without_using_an_attempt(tmp_path: Path) -> None:
    people = [f"p{n:02}@example.com" for n in range(5)]
    with ScriptedSmtp({"mail": Say("550 5.7.1 account disabled")}) as sink:
        async with World(tmp_path, sink=sink) as world:
            await news_for(world, *people, mode=Mode.DAILY)
            await world.cron()
            for _ in range(5):
                world.after(hours=1)
                assert (await world.call()).status_code == 503
            assert {digest.attempts for digest in await world.digests()} == {0}
            sink.rescript({})
            world.after(minutes=15)
            assert (await world.cron())["mail"]["digests"] == 5
            assert world.sent() == {(address, NEW): 1 for address in people}


async def test_a_broken_source_item_user_and_mailbox_are_counted_with_a_reason_and_stop_nobody(tmp_path: Path) -> None:
    with ScriptedSmtp({"rcpt": [Say("550 5.1.1 no such user")]}) as sink:
        names = ("good", "error", "page", "missing", "refused", "silent")
        async with World(tmp_path, sink=sink, SCOUT_WALL_S="5") as world:
            board = world.board
            good = world.feed(item("Gardener"), path="/good")
            board.serve("/error", "", status=500)
            board.serve("/page", "<!doctype html><html><body>Sign in</body></html>", content_type="text/html")
            board.serve("/silent", "", delay_s=30)
            urls = {name: board.url(f"/{name}") for name in names} | {"refused": f"http://127.0.0.1:{free_port()}/"}
            world.write_sources(urls)
            async with world.another() as app:
                await world.cron(app=app)
                for address in ("a@example.com", "b@example.com", "c@example.com"):
                    uid = await world.user(address, "python")
                document = (await world.store.get("users", [uid]))[uid].data
                await world.store.put("users", {uid: {**document, "searches": "all of them"}})
                broken = "<item><title></title><description></description></item>"
                assert good == world.feed(item("Gardener"), broken, item(NEW), path="/good")
                answer = await world.call(app=app)
    report = answer.json()
    assert (answer.status_code, report["status"]) == (200, "completed")
    assert (report["sources"]["ok"], report["jobs"]["new"], report["jobs"]["skipped"]) == (1, 1, 1)
    failed = {source["name"]: source["reason"] for source in report["sources"]["failed"]}
    assert sorted(failed) == ["error", "missing", "page", "refused", "silent"]
    assert all(failed.values())
    assert (report["mail"]["alerts"], report["mail"]["failed"]) == (1, 1)
    assert len(world.sent()) == 1
    told = " ".join(report["errors"])
    assert all(word in told for word in ("item skipped", "searches", "mailbox does not exist"))
    assert "@" not in answer.text
