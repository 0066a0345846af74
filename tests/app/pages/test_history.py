"""History, opinions, the account, export and leaving."""

from __future__ import annotations

import json
import re
from datetime import time

from app import profile
from ledger import addresses, ids, users
from ledger.feedback import said
from ledger.records import Mode
from tests.app.pages.visits import ANN, BASE, ask, links, save_search, signed_in, text, visiting
from tests.world import World, item

BOB = "bob@example.com"


async def with_a_letter(world: World, *people: str) -> str:
    """One job mailed to these people; returns its key."""
    await world.begin()
    for address in people:
        await world.user(address)
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"))
    await world.cron()
    (row,) = (await world.rows(people[0])).values()
    return row.key


async def test_the_history_says_what_came_of_each_and_takes_an_opinion(world: World) -> None:
    key = await with_a_letter(world, ANN)
    async with visiting(world) as client:
        await signed_in(client, world)
        page = await client.get("/me/history")
        assert "Sent Mon 30 Nov, 07:15 UTC" in text(page.text)
        answer = await client.post(f"/me/jobs/{key}", data={"opinion": "good", "then": "/me/history", "page": "1"})
        assert answer.headers["location"] == f"/me/history?page=1#{key}"
        assert await said(world.store, ids.uid_of(ANN)) == {key: "good"}
        await client.post(f"/me/jobs/{key}", data={"opinion": "not-for-me"})
        assert await said(world.store, ids.uid_of(ANN)) == {key: "not-for-me"}
        assert 'value="" aria-pressed="true">Not for me' in (await client.get(f"/me/jobs/{key}")).text
        await client.post(f"/me/jobs/{key}", data={"opinion": ""})
        assert await said(world.store, ids.uid_of(ANN)) == {}


async def test_opening_a_job_changes_nothing_and_nobody_sees_anothers(world: World) -> None:
    key = await with_a_letter(world, ANN)
    async with visiting(world) as ann, visiting(world) as bob:
        await signed_in(ann, world)
        await signed_in(bob, world, BOB)
        before = await world.dump("users", "deliveries", "feedback")
        for _ in range(3):
            assert (await ann.get(f"/me/jobs/{key}")).status_code == 200
        assert (await bob.get(f"/me/jobs/{key}")).status_code == 404
        assert (await bob.post(f"/me/jobs/{key}", data={"opinion": "good"})).status_code == 404
        assert await world.dump("users", "deliveries", "feedback") == before


async def test_the_letter_links_to_the_page_of_each_job_and_signing_in_leads_there(world: World) -> None:
    key = await with_a_letter(world, ANN)
    (letter,) = world.mails()
    assert f"{BASE}/me/jobs/{key}" in letter.text
    async with visiting(world) as client:
        first = await client.get(f"/me/jobs/{key}")
        assert first.headers["location"] == f"/login?then=/me/jobs/{key}"
        form = await client.get(first.headers["location"])
        await ask(client, ANN, then=re.search(r'name="then" value="([^"]+)"', form.text)[1])  # type: ignore[index]
        answer = await client.post(links(world)[-1])
        assert answer.headers["location"] == f"/me/jobs/{key}"


async def test_an_address_moves_when_both_mailboxes_agree_and_nothing_comes_again(world: World) -> None:
    await with_a_letter(world, ANN)
    async with visiting(world) as client:
        await signed_in(client, world)
        assert (await client.post("/me/address", data={"email": BOB})).status_code == 200
        (old,), (new,) = links(world, "confirm", ANN), links(world, "confirm", BOB)
        assert "Half done" in text((await client.post(new)).text)
        assert ANN in text((await client.get("/me/account")).text)
        assert "Your mail moves" in text((await client.post(old)).text)
        assert BOB in text((await client.get("/me/account")).text)
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"), item("Python two"))
    await world.cron()
    assert world.sent() == {(ANN, "Python developer"): 1, (BOB, "Python two"): 1}
    async with visiting(world) as again:
        await signed_in(again, world, BOB)
        assert "Python developer" in text((await again.get("/me/history")).text)
    people = {id_: doc for id_, doc in (await world.dump("users")).items() if "of" not in doc}
    assert len(people) == 1


async def test_an_address_with_a_page_of_its_own_is_not_taken_and_not_told_before_its_mailbox_agrees(
    world: World,
) -> None:
    await world.user(BOB)
    async with visiting(world) as client:
        await signed_in(client, world)
        known = await client.post("/me/address", data={"email": BOB})
        unknown = await client.post("/me/address", data={"email": "cy@example.com"})
        assert re.sub(r"bob|cy", "X", known.text) == re.sub(r"bob|cy", "X", unknown.text)
        (new,) = links(world, "confirm", BOB)
        old = next(link for link in links(world, "confirm", ANN))
        await client.post(new)
        for link in links(world, "confirm", ANN):
            answer = await client.post(link)
        assert answer.status_code in (200, 409)
        assert old
    assert {doc["address"] for doc in (await world.dump("users")).values()} == {ANN, BOB}


async def test_one_mailbox_alone_moves_nothing(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await client.post("/me/address", data={"email": BOB})
        (old,) = links(world, "confirm", ANN)
        for _ in range(2):
            await client.post(old)
        assert ANN in text((await client.get("/me/account")).text)
        assert (await client.post(old.replace("/confirm/", "/login/"))).status_code == 410


async def test_the_export_holds_everything_and_opens_no_door(world: World) -> None:
    await with_a_letter(world, ANN, BOB)
    async with visiting(world) as client:
        await signed_in(client, world)
        answer = await client.get("/me/export.json")
        assert "attachment" in answer.headers["content-disposition"]
        kept = json.loads(answer.text)
        assert kept["user"]["address"] == ANN
        assert [row["title"] for row in kept["deliveries"]] == ["Python developer"]
        (ann,) = [d for d in (await world.dump("users")).values() if d["address"] == ANN]
        assert ann["token"] not in answer.text
        assert str(client.cookies["scout"]) not in answer.text
        assert BOB not in answer.text


async def test_deleting_leaves_bare_ids_only_and_says_goodbye_once(world: World) -> None:
    key = await with_a_letter(world, ANN)
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        await client.post(f"/me/jobs/{key}", data={"opinion": "good"})
        assert (await client.get("/me/delete")).status_code == 200
        assert (await client.post("/me/delete")).status_code == 200
        assert (await client.get("/me")).status_code == 303
    left = await world.dump("users", "deliveries", "digests", "matches", "feedback", "sessions", "sign_ins")
    assert [doc["title"] for doc in left.values()] == [""]
    assert [mail.subject for mail in world.mails()].count("Your Scout page is deleted") == 1
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"), item("Python two"))
    await world.cron()
    assert [to for to, _ in world.sent()] == [ANN]  # the one from before


async def test_the_operator_finds_a_person_by_every_address_they_had(world: World) -> None:
    await world.user(ANN)
    uid = ids.uid_of(ANN)
    assert await addresses.move(world.store, uid, BOB, now=world.now)
    told = await profile.save(world.store, BOB, profile.Changes(mode=Mode.DAILY), default_at=time(8), now=world.now)
    assert (told.created, told.user.uid, told.user.mode) == (False, uid, Mode.DAILY)
    assert len([user async for user in users.everyone(world.store, lambda _uid, _error: None)]) == 1
