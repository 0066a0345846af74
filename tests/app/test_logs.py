"""What may never be in a log, a report, an answer or a document: secrets, and in logs and answers addresses.

B100.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import structlog
from starlette.types import Receive, Scope, Send

from app import logs
from app.access import AccessLog
from app.web import make_app
from ledger.store import Unreachable
from tests.cases.test_b_lost_mail import NEW, news_for
from tests.emulator import free_port
from tests.sinks import Drop, Say, ScriptedSmtp
from tests.world import KEPT, SECRET, World, item, rss

KEY, LOGIN, PASSWORD = "K3Y-of-the-feed", "reader", "pa55word-of-the-feed"


@pytest.fixture(params=["json", "text"])
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Everything that is logged, in both styles: ours as `app.logs` sets it up, and the libraries' down to INFO."""
    stream = io.StringIO()
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    logs.set_up(request.param, stream=stream)
    root.setLevel(logging.INFO)
    yield stream
    root.setLevel(before[0])
    root.handlers[:] = before[1]
    structlog.reset_defaults()


async def everything(world: World) -> str:
    """Every document of the store, as text."""
    async with world.another() as fresh:  # the world's own store may be one that fails
        world.app = fresh
        return json.dumps(await world.dump(*KEPT, "runs", "locks"), default=str)


def with_secrets(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{LOGIN}:{PASSWORD}@{parts.netloc}", query=f"key={KEY}").geturl()


@pytest.mark.parametrize("value", [SECRET, f"{SECRET}-wrong"])
async def test_a_secret_in_the_query_is_in_no_log_answer_or_document(
    value: str, written: io.StringIO, tmp_path: Path
) -> None:
    async with World(tmp_path, SCOUT_ALLOW_QUERY_SECRET="true") as world:
        await news_for(world, "a@example.com")
        app = AccessLog(make_app(world.settings, clock=world.clock))
        with world.served(app) as url:
            queries = (f"/cron?secret={value}&budget=25", f"/cron?secret={value}&budget=never", f"/no?secret={value}")
            answers = [await asyncio.to_thread(fetched, url + query) for query in queries]
        assert [status for status, _ in answers] == ([200, 400, 404] if value == SECRET else [401, 401, 404])
        told = written.getvalue()
        assert "request" in told
        assert SECRET not in told + "".join(body for _, body in answers) + await everything(world)


def fetched(url: str) -> tuple[int, str]:
    """Status and body, by a client that logs nothing."""
    with urllib.request.build_opener(NoRaise).open(url, timeout=30) as answer:
        return answer.status, answer.read().decode()


class NoRaise(urllib.request.HTTPErrorProcessor):
    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response


async def test_an_error_of_our_own_shows_no_secret(written: io.StringIO, tmp_path: Path) -> None:
    async with World(tmp_path, SCOUT_ALLOW_QUERY_SECRET="true") as world:
        await news_for(world, "someone@example.com")

        async def fail(operation: str, collection: str) -> None:
            if collection == "deliveries":
                raise KeyError(operation)

        world.spy(fail)
        logging.getLogger("httpx2").disabled = True  # the test's own client
        answer = await world.call(f"/cron?secret={SECRET}", headers={})
        logging.getLogger("httpx2").disabled = False
        assert (answer.status_code, answer.json()["status"]) == (503, "failed")
        assert "KeyError" in written.getvalue()
        for text in (written.getvalue(), answer.text, await everything(world)):
            assert SECRET not in text
        for text in (written.getvalue(), answer.text):
            assert "someone" not in text


@pytest.mark.parametrize("how", ["works", "fails", "redirects", "is refused", "is no feed"])
async def test_a_key_in_the_address_of_a_feed_is_in_no_log_answer_document_or_letter(
    how: str, written: io.StringIO, tmp_path: Path
) -> None:
    async with World(tmp_path) as world:
        board = world.board
        url = board.url("/feed.xml")
        match how:
            case "fails":
                board.serve("/feed.xml", "", status=500)
            case "redirects":
                board.redirect("/feed.xml", f"/feed.xml?key={KEY}")
            case "is refused":
                url = f"http://127.0.0.1:{free_port()}/feed.xml"
            case "is no feed":
                board.serve("/feed.xml", f"no feed at {with_secrets(url)}")
            case _:
                board.serve("/feed.xml", rss(item("Gardener")))
        world.write_sources({"board": with_secrets(url)})
        async with world.another() as app:
            await world.user("a@example.com", "python")
            first = await world.call(app=app)
            if how == "works":
                assert first.json()["sources"]["ok"] == 1
                assert board.requests[0].path == f"/feed.xml?key={KEY}"
                assert "authorization" in board.requests[0].headers
                board.serve("/feed.xml", rss(item("Gardener"), item(NEW)))
                assert (await world.call(app=app)).json()["mail"]["alerts"] == 1
            else:
                assert len(first.json()["sources"]["failed"]) == 1
        letters = "".join(mail.text for mail in world.mails())
        told = written.getvalue() + first.text + letters + await everything(world)
    assert [secret for secret in (KEY, PASSWORD, LOGIN) if secret in told] == []


async def test_a_run_that_cannot_begin_is_an_error_in_the_log(written: io.StringIO, tmp_path: Path) -> None:
    """At 3 am the log is what there is: an answer of 503 alone does not say why."""
    async with World(tmp_path) as world:

        async def away(_operation: str, _collection: str) -> None:
            raise Unreachable("cannot open the store")

        world.spy(away)
        answer = await world.call()
        assert answer.status_code == 503
    (line,) = [line for line in written.getvalue().splitlines() if "run failed" in line]
    assert "cannot open the store" in line
    assert "error" in line


async def test_the_password_of_the_mail_server_is_in_no_log_answer_or_document(
    written: io.StringIO, tmp_path: Path
) -> None:
    with ScriptedSmtp() as sink:  # offers no TLS, so nothing may be said to it
        mail = f"smtp://mailer:pa55word-of-the-mail@127.0.0.1:{sink.port}"
        async with World(tmp_path, SCOUT_MAIL=mail) as world:
            await news_for(world, "a@example.com")
            answer = await world.call()
            assert (answer.status_code, sink.commands["auth"], sink.bodies) == (503, 0, 0)
            told = written.getvalue() + answer.text + await everything(world)
    assert "pa55word-of-the-mail" not in told
    assert "mailer" not in told


@pytest.mark.parametrize(
    "script",
    [
        {},
        {"rcpt": Say("550 5.1.1 <someone@example.com> no such user someone")},
        {"rcpt": Say("451 4.7.1 someone@example.com is greylisted")},
        {"mail": Say("550 5.1.8 <scout@localhost> unknown")},
        {"dot": Drop()},
    ],
    ids=["accepted", "rejected", "deferred", "paused", "unclear"],
)
async def test_no_address_is_in_a_log_or_an_answer_whatever_the_mail_server_says(
    script: dict[str, Say | Drop], written: io.StringIO, tmp_path: Path
) -> None:
    with ScriptedSmtp(script) as sink:
        async with World(tmp_path, sink=sink) as world:
            await news_for(world, "someone@example.com")
            answer = await world.call()
            rows = await world.rows()
    assert "someone" not in written.getvalue() + answer.text
    assert "someone@" not in rows[NEW].why + str(rows[NEW].receipt)
    assert rows[NEW].uid not in written.getvalue() + answer.text  # a uid is a readable address


async def test_every_line_is_json_with_its_run_and_counts(world: World) -> None:
    written = io.StringIO()
    logs.set_up("json", stream=written)
    await news_for(world, "a@example.com")
    report = await world.cron()
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    mine = [line for line in lines if line.get("run_id") == report["run_id"]]
    assert [line["event"] for line in mine] == ["source read", "letter", "run"]
    assert (mine[1]["outcome"], mine[2]["mail"]) == ("accepted", report["mail"])


async def test_a_store_that_fails_in_the_middle_is_logged_without_what_it_was_asked(
    written: io.StringIO, world: World
) -> None:
    await news_for(world, "someone@example.com")

    async def fail(operation: str, collection: str) -> None:
        if (operation, collection) == ("create", "deliveries"):
            raise Unreachable("Firestore: UNAVAILABLE")

    world.spy(fail)
    answer = await world.call()
    assert answer.status_code == 503
    told = written.getvalue()
    assert "UNAVAILABLE" in told
    assert "someone" not in told
    assert next(iter((await world.dump("users")).keys())).partition("/")[2] not in told


@pytest.mark.parametrize(("status", "level"), [(200, "info"), (404, "info"), (500, "error"), (503, "error")])
async def test_a_request_that_failed_for_our_reasons_is_logged_as_an_error(status: int, level: str) -> None:
    async def answers(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    with structlog.testing.capture_logs() as logged:
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=AccessLog(answers)), base_url="http://scout.test"
        ) as client:
            await client.get("/")
    assert [(line["event"], line["status"], line["log_level"]) for line in logged] == [("request", status, level)]


async def test_a_request_without_an_answer_is_logged_as_an_error() -> None:
    async def breaks(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError

    with structlog.testing.capture_logs() as logged, pytest.raises(RuntimeError):
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=AccessLog(breaks)), base_url="http://scout.test"
        ) as client:
            await client.get("/")
    assert [(line["event"], line["status"], line["log_level"]) for line in logged] == [("request", 0, "error")]
