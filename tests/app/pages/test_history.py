"""History, opinions, the account, export and leaving."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, time

from app import profile
from ledger import addresses, ids, users
from ledger.documents import encode
from ledger.feedback import said
from ledger.records import Mode, Stop
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


async def test_history_and_job_page_say_what_the_letter_said(world: World) -> None:
    key = await with_a_letter(world, ANN)
    id_ = ids.pair_id(ids.uid_of(ANN), key)
    (row,) = (await world.rows(ANN)).values()
    judged = {"verdict_score": 82, "verdict_reason": "You build APIs, see https://evil.example/x.", "caveat": "No pay."}
    unscored = {"not_scored": "no verdict came within two hours"}
    async with visiting(world) as client:
        await signed_in(client, world)
        for said, told in (
            ({}, "Fits: python in the title"),
            ({"search": "Side gig"}, "Fits Side gig : python in the title"),
            (judged, "Fits (82 of 100): You build APIs, see (link left out). But: No pay."),
            (unscored, "Fits: python in the title Not scored: no verdict came within two hours"),
        ):
            await world.store.put("deliveries", {id_: encode(replace(row, **said))})  # type: ignore[arg-type]
            pages = [text((await client.get(path)).text) for path in ("/me/history", f"/me/jobs/{key}")]
            assert [told in page for page in pages] == [True, True], told
            assert ["Found by python in the title" in page for page in pages] == [False, said is judged]


async def test_a_note_is_called_one_and_not_for_me_leads_to_the_search_that_found_it(world: World) -> None:
    key = await with_a_letter(world, ANN)
    async with visiting(world) as client:
        await signed_in(client, world)
        uid = ids.uid_of(ANN)
        (name,) = (await users.read(world.store, uid)).record.searches  # type: ignore[union-attr]
        page = await client.get(f"/me/jobs/{key}")
        assert "A note for yourself" in text(page.text)
        assert f'href="/me/search?name={name}"' in page.text
        assert "It came because of" not in page.text
        noted = await client.post(f"/me/jobs/{key}", data={"opinion": "not-for-me"})
        page = await client.get(noted.headers["location"])
        assert "It came because of python in the title . To keep such jobs away, change the search" in text(page.text)
        assert page.text.count(f'href="/me/search?name={name}"') == 1
        assert (await client.get(f"/me/search?name={name}")).status_code == 200
        assert "Keep such jobs away" in text((await client.get("/me/history")).text)
        await users.change(world.store, uid, lambda user: replace(user, searches={}))
        assert "To your searches" in text((await client.get(f"/me/jobs/{key}")).text)


async def test_of_several_searches_the_one_that_a_job_fits_is_named_in_letter_and_history(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, "Full time", keywords="baker")
        await save_search(client, "Side gig & co", keywords="python")
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"))
        await world.cron()
        (letter,) = [mail for mail in world.mails() if mail.kind == "alert"]
        assert "Fits Side gig & co: python in the title" in letter.text
        (row,) = (await world.rows(ANN)).values()
        page = await client.get(f"/me/jobs/{row.key}")
        assert "Fits Side gig &amp; co" in re.sub(r"</?bdi>", "", page.text)
        assert 'href="/me/search?name=Side+gig+%26+co"' in page.text


async def test_who_gets_no_mail_is_promised_none(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        uid = ids.uid_of(ANN)
        await users.change(world.store, uid, lambda user: replace(user, mode=Mode.DAILY))
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"))
        await world.cron()

        async def told(path: str) -> str:
            return text((await client.get(path)).text)

        why = "/me/why?link=https://jobs.example.com/python-developer"
        assert "Mail comes once a day; the next one Mon 30 Nov, 08:00 UTC" in await told("/me")
        assert "Waiting for your daily mail of Mon 30 Nov, 08:00 UTC" in await told("/me/history")
        for end, first in (
            (datetime(2026, 12, 3, 0, tzinfo=UTC), "00:00"),
            (datetime(2026, 12, 3, 8, tzinfo=UTC), "08:00"),
        ):
            await users.change(world.store, uid, lambda user, end=end: replace(user, paused_until=end))  # type: ignore[misc]
            page = await told("/me")
            assert f"Paused until Thu 3 Dec, {first} UTC" in page
            assert "After your pause mail comes once a day; the first Thu 3 Dec, 08:00 UTC" in page
            for path in ("/me/history", why):
                assert f"Waiting until your pause ends, Thu 3 Dec, {first} UTC" in await told(path)
        await users.stop(world.store, uid, Stop.UNSUBSCRIBED, now=world.now)
        page = await told("/me")
        assert "You chose mail once a day; none comes now" in page
        assert "08:00" not in page
        for path in ("/me/history", why):
            assert "Not sent: you unsubscribed" in await told(path)


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
        kept = "list is kept for 48 hours under your address: the numbers of the jobs that were chosen for you"
        assert kept in text((await client.get("/me/delete")).text)
        assert (await client.post("/me/delete")).status_code == 200
        assert (await client.get("/me")).status_code == 303
    left = await world.dump("users", "deliveries", "digests", "matches", "feedback", "sessions", "sign_ins")
    assert [doc["title"] for doc in left.values()] == [""]
    (goodbye,) = [mail for mail in world.mails() if mail.subject == "Your Scout page is deleted"]
    assert kept in goodbye.text
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
