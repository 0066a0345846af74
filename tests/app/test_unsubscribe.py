"""Leaving: one click is enough, a scanner's visit is not, and nothing is sent from that moment."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

from ledger import ids, users
from ledger.collections import USERS
from ledger.documents import encode
from ledger.lifecycle import State
from ledger.records import Mode, Stop
from ledger.store import Unreachable
from tests.world import World, item

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BOUNDARY = "----x"
MULTIPART = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
AS_MULTIPART = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--{BOUNDARY}--\r\n'
)


async def call(world: World, method: str, path: str, *, headers: dict[str, str] | None = None, content: str = ""):
    transport = httpx2.ASGITransport(app=world.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://scout.test") as client:
        return await client.request(method, path, headers=headers, content=content.encode())


async def link_in_a_letter(world: World) -> tuple[str, str]:
    """(uid, path) of somebody who has just got an alert."""
    await world.begin()
    uid = await world.user("ann@example.com", "python")
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"))
    await world.cron()
    (mail,) = world.mails()
    (url,) = set(re.findall(r"http://scout\.test(/unsubscribe/\S+)", mail.text))
    return uid, url


async def person(world: World, uid: str):
    found = await users.read(world.store, uid)
    assert found is not None
    return found.record


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        (FORM, "List-Unsubscribe=One-Click"),
        (MULTIPART, AS_MULTIPART),
        (FORM, ""),
        ({}, ""),
        (MULTIPART, "broken"),
        ({"Content-Type": "application/json"}, "{"),
        (FORM, "x" * 200_000),
        (FORM | {"Cookie": "a=b", "Origin": "https://mail.example", "Sec-Fetch-Site": "cross-site"}, ""),
    ],
    ids=["form", "multipart", "empty form", "nothing", "broken multipart", "json", "large", "cross-site"],
)
async def test_one_click_leaves_with_200_and_no_cookie_and_no_redirect_however_often(
    headers: dict[str, str], content: str, world: World
) -> None:
    """RFC 8058."""
    uid, path = await link_in_a_letter(world)
    answers = [await call(world, "POST", path, headers=headers, content=content) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert not any("set-cookie" in answer.headers or "location" in answer.headers for answer in answers)
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}
    user = await person(world, uid)
    assert (user.active, user.stopped, user.stopped_at) == (False, Stop.UNSUBSCRIBED, world.now)


async def test_a_scanner_that_opens_the_link_a_hundred_times_changes_nothing_and_the_persons_click_still_works(
    world: World,
) -> None:
    """B79."""
    uid, path = await link_in_a_letter(world)
    before = await world.dump(USERS)
    for _ in range(50):
        asked, peeked = await call(world, "GET", path), await call(world, "HEAD", path)
        assert (asked.status_code, peeked.status_code, peeked.content) == (200, 200, b"")
        assert "set-cookie" not in asked.headers
    assert await world.dump(USERS) == before
    assert '<form method="post"><button>' in asked.text
    assert '/me/letters">Get fewer letters instead' in asked.text
    assert "<script" not in asked.text
    assert (await call(world, "POST", path, headers=FORM)).status_code == 200
    assert not (await person(world, uid)).active
    assert "<form" not in (await call(world, "GET", path)).text


async def test_nothing_is_sent_from_the_moment_somebody_leaves_and_what_waited_expires(each_world: World) -> None:
    world = each_world
    await world.begin()
    uid = await world.user("ann@example.com", "python", mode=Mode.DAILY)
    await world.user("bob@example.com", "python", mode=Mode.DAILY)
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"))
    assert (await world.cron())["mail"]["queued"] == 2
    token = (await person(world, uid)).token
    assert (await call(world, "POST", f"/unsubscribe/{token}", headers=FORM)).status_code == 200
    world.after(hours=1)
    report = await world.cron()
    assert (report["mail"]["digests"], report["mail"]["expired"]) == (1, 1)
    assert {mail.to for mail in world.mails()} == {"bob@example.com"}
    row = (await world.rows("ann@example.com"))["Python developer"]
    assert (row.state, row.why) == (State.EXPIRED, "its user has stopped: unsubscribed")


async def test_leaving_while_the_letter_is_being_claimed_wins_if_it_came_first(world: World) -> None:
    await world.begin()
    uid = await world.user("ann@example.com", "python")
    token = (await person(world, uid)).token
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"))
    left: list[int] = []

    async def leave_first(operation: str, collection: str) -> None:
        if (operation, collection) == ("create", "jobs") and not left:
            left.append((await call(world, "POST", f"/unsubscribe/{token}")).status_code)

    world.spy(leave_first)
    await world.cron()
    assert left == [200]
    assert world.mails() == []


@pytest.mark.parametrize("token", ["nobody-has-this-one", "x" * 5000, "%00", "..%2f..", "%F0%9F%92%8C", "' or 1=1"])
async def test_a_token_that_nobody_has_is_told_so(token: str, world: World) -> None:
    uid, _ = await link_in_a_letter(world)
    for method in ("GET", "HEAD", "POST"):
        assert (await call(world, method, f"/unsubscribe/{token}")).status_code == 404
    assert (await person(world, uid)).active


async def test_the_mark_of_a_deleted_person_stays_as_it_is(world: World) -> None:
    uid, path = await link_in_a_letter(world)
    await users.stop(world.store, uid, Stop.BOUNCED, now=world.now)
    await users.delete(world.store, uid, now=world.now)
    before = await world.dump(USERS)
    assert {(await call(world, method, path)).status_code for method in ("GET", "POST")} == {200}
    assert await world.dump(USERS) == before
    assert (await call(world, "POST", "/unsubscribe/")).status_code in (404, 405)
    assert (await call(world, "POST", "/unsubscribe/%20")).status_code == 404


async def test_leaving_does_not_weaken_a_complaint(world: World) -> None:
    uid, path = await link_in_a_letter(world)
    await users.stop(world.store, uid, Stop.COMPLAINED, now=world.now)
    assert (await call(world, "POST", path)).status_code == 200
    assert (await person(world, uid)).stopped is Stop.COMPLAINED


async def test_leaving_works_on_a_document_that_cannot_be_read(world: World) -> None:
    uid = await world.user("ann@example.com")
    document = {**encode(await person(world, uid)), "mode": "hourly"}
    await world.store.put(USERS, {uid: document})
    for _ in range(2):
        assert (await call(world, "POST", f"/unsubscribe/{document['token']}")).status_code == 200
    (after,) = (await world.dump(USERS)).values()
    assert (after["active"], after["stopped"], after["mode"]) == (False, "unsubscribed", "hourly")


async def test_a_store_that_does_not_answer_is_said_and_never_taken_for_leaving(world: World) -> None:
    uid, path = await link_in_a_letter(world)

    async def down(operation: str, collection: str) -> None:
        raise Unreachable("nobody answered")

    parts = world.app.state.parts
    world.spy(down)
    assert {(await call(world, method, path)).status_code for method in ("GET", "POST")} == {503}
    world.app.state.parts = parts
    assert (await person(world, uid)).active


async def test_the_token_stands_in_no_log_and_opens_nothing_else(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    uid, path = await link_in_a_letter(world)
    token = path.rpartition("/")[2]
    answer = await call(world, "POST", path)
    assert token not in "".join(capfd.readouterr())
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert ids.address_of(uid) not in answer.text
    told = {"Authorization": f"Bearer {token}"}
    assert (await world.call("/cron", headers=told)).status_code == 401


async def test_every_person_has_a_token_of_their_own_of_sixteen_random_bytes(tmp_path: Path, world: World) -> None:
    for number in range(20):
        await world.user(f"p{number}@example.com")
    tokens = {document["token"] for document in (await world.dump(USERS)).values()}
    assert len(tokens) == 20
    assert {len(token) for token in tokens} == {22}
