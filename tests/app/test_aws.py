"""AWS Lambda: the handler behind API Gateway (REST and HTTP APIs) and a Function URL, in a process of its own.

B62: each call may find another event loop, or none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger.firestore import FirestoreStore
from ledger.sqlite import SqliteStore
from ledger.store import every
from tests.boards import Board
from tests.conftest import real_clock
from tests.world import FEED, SECRET, item, rss
from tests.worlds import store_url

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("lambda_calls.py")


def rest_api(method: str, path: str, headers: dict[str, str], query: dict[str, str]) -> dict[str, Any]:
    """API Gateway, REST API with Lambda proxy integration: payload format 1.0."""
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": query or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
        "pathParameters": {"proxy": path.lstrip("/")},
        "stageVariables": None,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "abcdef1234",
            "httpMethod": method,
            "identity": {"sourceIp": "192.0.2.1", "userAgent": "curl/8"},
            "path": f"/prod{path}",
            "protocol": "HTTP/1.1",
            "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
            "resourcePath": "/{proxy+}",
            "stage": "prod",
        },
        "body": None,
        "isBase64Encoded": False,
    }


def http_api(method: str, path: str, headers: dict[str, str], query: dict[str, str]) -> dict[str, Any]:
    """API Gateway, HTTP API: payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "&".join(f"{name}={value}" for name, value in query.items()),
        "headers": {name.lower(): value for name, value in headers.items()},
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "abcdef1234",
            "domainName": "abcdef1234.execute-api.eu-central-1.amazonaws.com",
            "domainPrefix": "abcdef1234",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "curl/8",
            },
            "requestId": "id",
            "routeKey": "$default",
            "stage": "$default",
            "time": "30/Nov/2026:08:00:00 +0000",
            "timeEpoch": 1796025600000,
        },
        "isBase64Encoded": False,
    }


def function_url(method: str, path: str, headers: dict[str, str], query: dict[str, str]) -> dict[str, Any]:
    """A Function URL: payload format 2.0 with its own host, and AuthType NONE."""
    event = http_api(method, path, headers, query)
    context = {**event["requestContext"], "domainName": "abcdef.lambda-url.eu-central-1.on.aws", "authentication": None}
    return {**event, "requestContext": context}


EVENTS = {"rest": rest_api, "http": http_api, "url": function_url}


def answers(
    events: list[dict[str, Any]], *, between: bool, store: str, url: str, folder: Path
) -> list[tuple[int, dict[str, Any]]]:
    """Status and body of each call, all in one process."""
    (folder / "sources.toml").write_text(f'[[source]]\nname = "board"\nkind = "feed"\nurl = "{url}"\n')
    kept = ("PATH", "FIRESTORE_EMULATOR_HOST")
    environ = {name: os.environ[name] for name in kept if name in os.environ} | {
        "PYTHONPATH": str(ROOT),
        "SCOUT_CRON_SECRET": SECRET,
        "SCOUT_STORE": store,
        "SCOUT_MAIL": f"outbox:///{folder}/outbox",
        "SCOUT_SOURCES": str(folder / "sources.toml"),
        "SCOUT_ALLOW_LOOPBACK": "true",
    }
    command = [sys.executable, str(SCRIPT), *(["between"] if between else [])]
    done = subprocess.run(
        command, cwd=folder, env=environ, input=json.dumps(events), capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(answer["statusCode"], json.loads(answer["body"])) for answer in json.loads(done.stdout)]


@pytest.mark.parametrize("between", [False, True], ids=["in-a-row", "another-loop-between"])
def test_three_calls_of_each_kind_in_one_process_all_run(between: bool, kind: str, place: str, tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {SECRET}", "Host": "scout.example.com"}
    events = [make("GET", "/cron", headers, {"budget": "25"}) for make in EVENTS.values() for _ in range(3)]
    with Board() as board:
        url = board.serve(FEED, rss(item("Gardener")))
        told = answers(events, between=between, store=store_url(kind, place), url=url, folder=tmp_path)
        assert board.count(FEED) == 1
    assert [(status, body["status"]) for status, body in told] == [(200, "completed")] * 9
    assert [body["errors"] for _, body in told] == [[]] * 9
    assert told[0][1]["sources"]["ok"] == 1
    assert len({body["run_id"] for _, body in told}) == 9


def test_the_guard_the_methods_and_health_are_the_same_behind_every_kind_of_event(tmp_path: Path) -> None:
    calls = [
        ("GET", "/cron", {"X-Cron-Secret": SECRET}, {}),
        ("POST", "/cron", {"X-Cron-Secret": SECRET}, {}),
        ("GET", "/cron", {}, {"secret": SECRET}),
        ("HEAD", "/cron", {"X-Cron-Secret": SECRET}, {}),
        ("GET", "/cron", {"X-Cron-Secret": SECRET}, {"budget": "1"}),
        ("GET", "/healthz", {}, {}),
    ]
    events = [make(*call) for make in EVENTS.values() for call in calls]
    with Board() as board:
        url = board.serve(FEED, rss(item("Gardener")))
        store = f"sqlite:///{tmp_path}/scout.db"
        statuses = [s for s, _ in answers(events, between=False, store=store, url=url, folder=tmp_path)]
    assert statuses == [200, 200, 401, 405, 400, 200] * 3


async def test_what_a_call_did_is_in_the_store_when_it_has_answered(kind: str, place: str, tmp_path: Path) -> None:
    event = function_url("GET", "/cron", {"X-Cron-Secret": SECRET}, {})
    with Board() as board:
        url = board.serve(FEED, rss(item("Gardener"), item("Python developer")))
        ((_, report),) = answers([event], between=False, store=store_url(kind, place), url=url, folder=tmp_path)
    store = SqliteStore(place, clock=real_clock) if kind == "sqlite" else FirestoreStore(place)
    found = {name: [s.data async for s in every(store, name, {})] for name in ("jobs", "runs", "locks")}
    await store.close()
    assert [run["report"] for run in found["runs"]] == [report]
    assert (len(found["jobs"]), found["locks"]) == (2, [])
