"""Cases F: serverless and async runtimes. B62 is in tests/app/test_aws.py."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from app.settings import load
from app.web import make_app
from ledger.lifecycle import State
from ledger.records import Mode
from tests.cases.test_b_lost_mail import NEW, news_for
from tests.sinks import Hang, ScriptedSmtp
from tests.world import SECRET, World
from tests.worlds import store_url


def test_two_test_clients_in_a_row_both_run(kind: str, place: str, tmp_path: Path) -> None:
    """B63: nothing that belongs to an event loop outlives it."""
    (tmp_path / "none.toml").write_text("")
    environ = {"SCOUT_CRON_SECRET": SECRET, "SCOUT_STORE": store_url(kind, place)}
    settings = load({**environ, "SCOUT_SOURCES": str(tmp_path / "none.toml"), "SCOUT_MAIL": f"outbox:///{tmp_path}/o"})
    app = make_app(settings)
    for _ in range(2):
        with TestClient(app) as client:
            answer = client.get("/cron", headers={"Authorization": f"Bearer {SECRET}"})
            assert (answer.status_code, answer.json()["status"]) == (200, "completed")


async def test_everything_is_settled_before_the_last_byte_of_the_answer(world: World) -> None:
    """B65: a platform may stop the process there."""
    await news_for(world, *(f"p{n}@example.com" for n in range(8)))
    await world.user("daily@example.com", "python", mode=Mode.DAILY)
    others = asyncio.all_tasks()
    at_the_end: dict[str, Any] = {}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body"):
            at_the_end["tasks"] = [t for t in asyncio.all_tasks() - others if not t.done()]
            at_the_end["letters"] = world.letters()
            async with world.another() as fresh:  # what another process would find
                found = fresh.state.parts.store
                at_the_end["states"] = [s.data["state"] for s in (await found.find("deliveries", {})).items]
                at_the_end["lock"] = await found.get("locks", ["cron"])
                at_the_end["runs"] = len((await found.find("runs", {})).items)

    headers = [(b"authorization", f"Bearer {SECRET}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/cron", "query_string": b"", "headers": headers}
    await world.app(scope, receive, send)  # type: ignore[arg-type]

    assert at_the_end["tasks"] == []
    assert at_the_end["letters"] == {(f"p{n}@example.com", "alert"): 1 for n in range(8)}
    assert sorted(at_the_end["states"]) == [State.QUEUED, *[State.SENT] * 8]  # the daily one waits
    assert (at_the_end["lock"], at_the_end["runs"]) == ({}, 3)


async def test_a_mail_server_that_hangs_after_the_letter_costs_one_alert_and_not_the_run(tmp_path: Path) -> None:
    """B66: cut in time, unclear for ever; the others are served and the lock is given back."""
    with ScriptedSmtp({"dot": [Hang()]}) as sink:
        async with World(tmp_path, sink=sink, SCOUT_WALL_S="4") as world:
            people = ["a@example.com", "b@example.com", "c@example.com"]
            await news_for(world, *people)
            report = await world.cron()
            assert report["took_s"] < 4
            assert (report["mail"]["unclear"], report["mail"]["alerts"]) == (1, 2)
            assert await world.store.get("locks", ["cron"]) == {}
            world.after(hours=25)
            assert (await world.cron())["mail"]["sent"] == 0
            assert world.sent() == {(address, NEW): 1 for address in people}
            assert sink.accepted == 2


async def test_a_mail_server_that_hangs_after_a_digest_is_sent_the_same_letter_again(
    tmp_path: Path,
) -> None:
    """B66, the digest."""
    with ScriptedSmtp({"dot": [Hang()]}) as sink:
        async with World(tmp_path, sink=sink, SCOUT_WALL_S="4") as world:
            await news_for(world, "a@example.com", mode=Mode.DAILY)
            await world.cron()
            world.after(hours=1)
            report = await world.cron()
            assert (report["mail"]["unclear"], (await world.rows())[NEW].state) == (1, State.QUEUED)
            for minutes, letters in ((15, 1), (40, 1), (6, 2)):  # an hour later, not at the next call
                world.after(minutes=minutes)
                await world.cron()
                assert sink.bodies == letters
            first, second = world.mails()
            assert first.message_id == second.message_id
            assert sink.accepted == 1
            assert (await world.rows())[NEW].state is State.SENT


async def test_a_mail_server_that_never_greets_takes_nothing_and_the_alert_waits(tmp_path: Path) -> None:
    """B66, before anything went out."""
    with ScriptedSmtp({"connect": [Hang()]}) as sink:
        async with World(tmp_path, sink=sink, SCOUT_WALL_S="4") as world:
            await news_for(world, "a@example.com")
            report = await world.cron()
            assert (report["mail"]["deferred"], (await world.rows())[NEW].state) == (1, State.QUEUED)
            world.after(minutes=11)
            await world.cron()
            assert world.sent() == {("a@example.com", NEW): 1}
