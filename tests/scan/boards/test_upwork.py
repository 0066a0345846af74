"""Upwork's API on data of its published shape: no recorded answer of the real one was to be had."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from ledger.records import Client, Health
from ledger.secrets import StoredSecrets
from ledger.sqlite import SqliteStore
from scan.posting import Failed, Items
from scan.sources import upwork
from scan.sources.board import Page
from scan.sources.item import Unreadable
from tests.boards import Board, Reply
from tests.scan.boards.made import NOW, failure, items, made, polled

UID = 1899999999999999999
NODE = {
    "id": str(UID),
    "title": "Python &amp; Go",
    "description": "Build a <b>thing</b>.",
    "ciphertext": f"~02{UID}",
    "createdDateTime": "2026-11-29T10:00:00Z",
    "publishedDateTime": None,
    "amount": None,
    "hourlyBudgetMin": {"rawValue": "25.0", "currency": "USD"},
    "hourlyBudgetMax": {"rawValue": "45.5", "currency": "USD"},
    "skills": [{"name": "python", "prettyName": "Python"}],
    "client": {"totalSpent": {"rawValue": "1200.5", "currency": "USD"}, "totalFeedback": 4.9,
               "verificationStatus": "VERIFIED", "location": {"country": "Germany"}},
}  # fmt: skip


def answer(*nodes: dict[str, Any]) -> bytes:
    search = {"totalCount": len(nodes), "edges": [{"node": node} for node in nodes]}
    return json.dumps({"data": {"marketplaceJobPostingsSearch": search}}).encode()


def token(access: str, refresh: str) -> Reply:
    body = {"access_token": access, "refresh_token": refresh, "expires_in": 86400}
    return Reply(json.dumps(body).encode(), content_type="application/json")


def entry(board: Board, **more: str) -> dict[str, str]:
    return {
        "kind": "upwork", "url": board.url("/graphql"), "token_url": board.url("/token"), "terms_read": "yes",
        "client_id": "id", "client_secret": "s3cret", "refresh_token": "s3cret-0", **more,
    }  # fmt: skip


def refreshes(board: Board) -> list[str]:
    """The refresh tokens that were spent, in order."""
    bodies = (parse_qs(seen.body.decode()) for seen in list(board.requests) if seen.path == "/token")
    return [body["refresh_token"][0] for body in bodies]


def test_a_node_is_read_under_its_number_with_pay_and_client() -> None:
    page = upwork.parse(answer(NODE), now=NOW)
    assert isinstance(page, Page)
    (posting,) = page.reading.postings
    assert (posting.platform, posting.native_id, posting.title) == ("upwork", str(UID), "Python & Go")
    assert posting.link == f"https://www.upwork.com/jobs/~02{UID}"
    assert (posting.pay_min, posting.pay_max, posting.currency, posting.period) == (25.0, 45.5, "USD", "hour")
    assert posting.client == Client(rating=4.9, spent=1200.5, payment_verified=True)
    assert posting.published_at == datetime(2026, 11, 29, 10, tzinfo=UTC)


def test_a_fixed_price_plain_numbers_and_a_date_out_of_the_number_are_read() -> None:
    fixed = NODE | {"amount": {"rawValue": "500", "currency": "EUR"}, "hourlyBudgetMin": 0, "hourlyBudgetMax": None,
                    "createdDateTime": None, "client": None}  # fmt: skip
    public = {"data": {"publicMarketplaceJobPostingsSearch": {"jobs": [fixed]}}}
    page = upwork.parse(json.dumps(public).encode(), now=NOW)
    assert isinstance(page, Page)
    (posting,) = page.reading.postings
    assert (posting.pay_min, posting.pay_max, posting.currency, posting.period) == (500.0, 500.0, "EUR", "fixed")
    assert posting.client is None
    assert posting.published_at is not None
    assert posting.published_at.timestamp() == ((UID >> 22) + 1288834974657) / 1000


def test_errors_inside_an_answer_with_status_200_are_a_failure_and_are_not_quoted() -> None:
    errors = [{"message": "token s3cret lacks the scope", "extensions": {"classification": "UNAUTHORIZED"}}]
    assert upwork.parse(json.dumps({"errors": errors, "data": None}).encode(), now=NOW) == Unreadable(
        "the board answered with an error of class UNAUTHORIZED"
    )


async def test_a_token_is_renewed_once_kept_and_used_until_it_ends(board: Board, tmp_path: Path) -> None:
    board.replies("/token", token("s3cret-a1", "s3cret-1"), token("s3cret-a2", "s3cret-2"))
    board.serve("/graphql", answer(NODE))
    for _ in range(2):  # two processes, one after the other
        async with made(tmp_path, **entry(board, query="python", tenant="org")) as source:
            assert len((await items(source)).postings) == 1
    assert refreshes(board) == ["s3cret-0"]
    asked = [seen for seen in board.requests if seen.path == "/graphql"]
    assert [seen.headers["authorization"] for seen in asked] == ["Bearer s3cret-a1"] * 2
    assert asked[0].headers["x-upwork-api-tenantid"] == "org"
    assert json.loads(asked[0].body)["variables"]["filter"] == {"searchExpression_eq": "python"}


async def test_a_token_that_is_no_longer_taken_is_renewed_with_the_rotated_one(board: Board, tmp_path: Path) -> None:
    board.replies("/token", token("s3cret-a1", "s3cret-1"), token("s3cret-a2", "s3cret-2"))
    board.replies("/graphql", Reply(answer(NODE)), Reply(b"", 401), Reply(answer(NODE)))
    async with made(tmp_path, **entry(board)) as source:
        await items(source)
        await items(source)
    assert refreshes(board) == ["s3cret-0", "s3cret-1"]


async def test_of_two_runs_that_need_a_token_one_alone_spends_the_refresh_token(board: Board, tmp_path: Path) -> None:
    slow = json.dumps({"access_token": "a", "refresh_token": "r", "expires_in": 86400}).encode()
    board.replies("/token", Reply(slow, delay_s=0.3))
    board.serve("/graphql", answer(NODE))
    async with made(tmp_path, **entry(board)) as one, made(tmp_path, **entry(board)) as other:
        answers = await asyncio.gather(polled(one), polled(other))
    assert refreshes(board) == ["s3cret-0"]
    assert sorted(type(found).__name__ for found in answers) == ["Failed", "Items"]
    (failed,) = (found for found in answers if isinstance(found, Failed))
    assert failed.reason == "another run is renewing the token"


async def test_a_sign_in_that_is_refused_says_so_and_lets_the_next_run_try(board: Board, tmp_path: Path) -> None:
    board.replies("/token", Reply(b'{"error": "invalid_grant s3cret"}', 400), token("a", "r"))
    board.serve("/graphql", answer(NODE))
    async with made(tmp_path, **entry(board)) as source:
        failed = await failure(source)
        assert failed.health is Health.REFUSED
        assert "sign in to Upwork again" in failed.reason
        assert isinstance(await polled(source), Items)
    assert refreshes(board) == ["s3cret-0", "s3cret-0"]


async def test_a_refresh_token_that_the_operator_changed_comes_before_the_kept_one(
    board: Board, tmp_path: Path
) -> None:
    board.replies("/token", token("a1", "r1"), token("a2", "r2"))
    board.serve("/graphql", answer(NODE))
    async with made(tmp_path, **entry(board)) as source:
        await items(source)
    async with made(tmp_path, **entry(board, refresh_token="s3cret-new")) as source:
        await items(source)
    assert refreshes(board) == ["s3cret-0", "s3cret-new"]


async def test_a_change_that_lost_its_race_is_none_and_one_that_took_effect_is_read_back(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db", clock=lambda: NOW)
    secrets = StoredSecrets(store)
    first = await secrets.swap("x", None, {"v": "1", "nonce": "a"})
    assert first is not None
    assert await secrets.swap("x", None, {"v": "2", "nonce": "b"}) is None
    assert await secrets.swap("x", None, {"v": "1", "nonce": "a"}) == first  # its answer had been lost
    second = await secrets.swap("x", first, {"v": "3", "nonce": "c"})
    assert second is not None
    assert await secrets.swap("x", first, {"v": "4", "nonce": "d"}) is None
    assert repr(second).startswith("HeldSecret(version=")
    await store.close()
