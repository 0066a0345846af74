"""Cases J and K: the endpoint and its callers. B105 is tested with the pages, B100 in tests/app/test_logs.py.

B108 and B111 are about the shipped workflow: tests/test_workflows.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from tests.cases.test_b_lost_mail import NEW, news_for
from tests.shared import shared
from tests.world import FEED, SECRET, World, item, rss


def case(name: str) -> Any:
    return json.loads(shared(f"cases/{name}").read_text())


async def test_without_a_secret_nothing_is_authorised_and_the_store_is_never_asked(tmp_path: Path) -> None:
    """B98."""
    told = case("B98_requests.json")
    asked: list[str] = []

    async def note(operation: str, _collection: str) -> None:
        asked.append(operation)

    for switch in ("false", "true"):
        async with World(tmp_path, SCOUT_CRON_SECRET=None, SCOUT_ALLOW_QUERY_SECRET=switch) as world:
            world.spy(note)
            answers = [
                await world.call(f"/cron{query}", headers=headers, method=method)
                for headers in (*told["headers"], {"X-Cron-Secret": ""}, {"X-Cron-Secret": "None"})
                for query in told["queries"]
                for method in ("GET", "POST")
            ]
            assert {answer.status_code for answer in answers} == {401}
    assert asked == []


async def test_line_ends_around_the_configured_secret_do_not_matter(tmp_path: Path) -> None:
    """B102."""
    told = case("B102_env.json")
    async with World(tmp_path, SCOUT_CRON_SECRET=told["CRON_SECRET"]) as world:
        world.feed()
        assert (await world.call(headers={"Authorization": told["caller_header"]})).status_code == 200
        assert (await world.call(headers={"X-Cron-Secret": told["caller_header"][7:]})).status_code == 200
        assert (await world.call(headers={"Authorization": told["caller_header"][:-1]})).status_code == 401


async def test_no_answer_may_be_cached_and_two_answers_differ(world: World) -> None:
    """B104."""
    await world.begin()
    answers = [await world.call(), await world.call(), await world.call(method="POST"), await world.call(headers={})]
    await world.store.create("locks", {"cron": {"ts": world.now, "holder": "h", "nonce": "n", "lease_s": 600.0}})
    answers.append(await world.call())
    assert [answer.status_code for answer in answers] == [200, 200, 200, 401, 200]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}
    ran = [answer.json() for answer in answers if answer.status_code == 200]
    assert [report["status"] for report in ran] == ["completed"] * 3 + ["skipped"]
    assert len({report["run_id"] for report in ran}) == 4
    assert {datetime.fromisoformat(report["started_at"]).isoformat() for report in ran} == {world.now.isoformat()}


async def test_a_call_after_a_killed_client_is_busy_and_the_lock_is_not_stuck(world: World) -> None:
    """B112: the server goes on with the run of a caller that went away."""
    await news_for(world, "a@example.com")
    world.board.serve(FEED, rss(item("Gardener"), item(NEW)), delay_s=1.5)
    asked = world.board.count(FEED)
    with world.served() as url:
        with socket.create_connection((url.rpartition("/")[2].split(":")[0], int(url.rpartition(":")[2]))) as caller:
            caller.sendall(f"GET /cron HTTP/1.1\r\nHost: x\r\nX-Cron-Secret: {SECRET}\r\n\r\n".encode())
            while world.board.count(FEED) == asked:
                await asyncio.sleep(0.01)
        async with httpx2.AsyncClient(base_url=url, headers={"X-Cron-Secret": SECRET}, timeout=30) as client:
            second = (await client.get("/cron")).json()
            assert (second["status"], second["skipped"]) == ("skipped", "previous run in flight")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(60):
                    while await world.store.get("locks", ["cron"]):
                        await asyncio.sleep(0.02)
            third = (await client.get("/cron")).json()
    assert (third["status"], third["mail"]["sent"]) == ("completed", 0)
    assert world.sent() == {("a@example.com", NEW): 1}
