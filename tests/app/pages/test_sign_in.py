"""Signing in by a link: who gets one, what it opens, and how often."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from ledger import ids, sessions
from ledger.documents import decode
from ledger.records import Stop, User
from ledger.sessions import IDLE_MAX
from tests.app.pages.visits import ANN, BASE, ask, field, links, signed_in, text, visiting
from tests.shared import shared
from tests.sinks import ScriptedSmtp
from tests.world import World


async def test_a_link_makes_an_account_and_nothing_before_it_does(world: World) -> None:
    async with visiting(world) as client:
        assert (await ask(client)).status_code == 200
        assert await world.dump("users") == {}
        (link,) = links(world)
        assert ANN in text((await client.get(link)).text)
        assert await world.dump("users") == {}
        answer = await client.post(link)
        assert (answer.status_code, answer.headers["location"]) == (303, "/me/search")
        assert len(await world.dump("users")) == 1
        assert (await client.get("/me")).status_code == 200


async def test_known_and_unknown_get_the_same_answer_the_same_letter_and_the_same_reads(world: World) -> None:
    await world.user(ANN)
    calls: list[list[tuple[str, str]]] = []

    async def note(operation: str, collection: str) -> None:
        calls[-1].append((operation, collection))

    world.spy(before=note)
    said = []
    async with visiting(world) as client:
        for address in (ANN, "bob@example.com"):
            calls.append([])
            answer = await ask(client, address)
            said.append(re.sub(r"ann|bob", "X", answer.text))
            assert answer.status_code == 200
            assert "set-cookie" not in answer.headers
    assert said[0] == said[1]
    # Which document of a limit is taken, and whether it is its first, is chance; how often is not.
    assert len(calls[0]) > 6
    assert [place for _, place in calls[0]] == [place for _, place in calls[1]]
    assert [c for c in calls[0] if c[1] != "limits"] == [c for c in calls[1] if c[1] != "limits"]
    first, second = (re.sub(r"/login/\S+", "", mail.text) for mail in world.mails())
    assert first == second


async def test_one_person_has_one_account_in_any_case_and_unicode_form(world: World) -> None:
    forms = ["User@Example.COM ", "user@example.com", "USER@EXAMPLE.COM"]
    async with visiting(world) as client:
        for typed in forms:
            before = links(world)
            await ask(client, typed)
            (link,) = set(links(world)) - set(before)
            assert (await client.post(link)).status_code == 303
    users = [decode(User, s) for s in (await world.store.find("users", {})).items]
    assert [user.address for user in users] == ["User@Example.COM"]


async def test_recorded_forms_of_one_address_are_one_user_each(world: World) -> None:
    typed = json.loads(shared("cases/B81_users.json").read_text())
    async with visiting(world) as client:
        for address in typed:
            before = links(world)
            assert (await ask(client, address)).status_code == 200
            (link,) = set(links(world)) - set(before)
            assert (await client.post(link)).status_code == 303
    assert len(typed) == 5
    assert len(await world.dump("users")) == len({ids.uid_of(address) for address in typed}) == 2


async def test_an_address_that_the_transport_cannot_write_to_is_refused_at_sign_up(tmp_path: Path) -> None:
    with ScriptedSmtp() as sink:
        async with World(tmp_path, sink=sink, SCOUT_BASE_URL=BASE) as world, visiting(world) as client:
            answer = await ask(client, "ren\u00e9@example.com")
            assert answer.status_code == 400
            assert "letters before the @" in text(answer.text)
        assert sink.received == []


async def test_scanners_spend_nothing_and_the_person_still_gets_in(world: World) -> None:
    async with visiting(world) as person, visiting(world, client=("9.9.9.7", 1)) as scanner:
        await ask(person)
        (link,) = links(world)
        for method in ("HEAD", "GET", "GET"):
            assert (await scanner.request(method, link)).status_code == 200
        page = (await scanner.get(link)).text
        assert "<script" not in page
        assert (await person.post(link)).status_code == 303
        assert (await person.get("/me")).status_code == 200


async def test_a_link_works_once_and_a_double_click_is_one_click(world: World) -> None:
    async with visiting(world) as person, visiting(world) as thief:
        await ask(person)
        (link,) = links(world)
        await person.get(link)
        await thief.get(link)
        assert (await person.post(link)).status_code == 303
        assert (await person.post(link)).status_code == 303  # the same browser, at once
        assert (await thief.post(link)).status_code == 410
        assert "used already" in text((await thief.get(link)).text)
        world.after(seconds=61)
        assert (await person.post(link)).status_code == 410


async def test_of_two_browsers_at_once_one_gets_in(world: World) -> None:
    async with visiting(world) as one, visiting(world) as two:
        await ask(one)
        (link,) = links(world)
        await asyncio.gather(one.get(link), two.get(link))
        answers = await asyncio.gather(one.post(link), two.post(link))
    assert sorted(answer.status_code for answer in answers) == [303, 410]
    assert len(await world.dump("sessions")) == 1


async def test_a_link_is_dead_after_fifteen_minutes(world: World) -> None:
    async with visiting(world) as client:
        await ask(client)
        (link,) = links(world)
        world.after(minutes=15)
        assert (await client.post(link)).status_code == 410
        assert "too old" in text((await client.get(link)).text)
    assert await world.dump("sessions", "users") == {}


@pytest.mark.parametrize("token", ["x", "A" * 43, "%00", "a" * 5000, "..%2f..%2fme", "é"])
async def test_a_wrong_token_opens_nothing(world: World, token: str) -> None:
    async with visiting(world) as client:
        for path in (f"/login/{token}", f"/confirm/{token}"):
            assert (await client.get(path)).status_code in (404, 410)
            assert (await client.post(path)).status_code in (404, 410)
    assert await world.dump("sessions", "users") == {}


async def test_the_token_is_in_one_letter_and_in_no_document(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        (link,) = links(world)
        token = link.rpartition("/")[2]
        cookie = client.cookies["scout"]
        kept = str(await world.dump("sign_ins", "sessions", "users", "limits"))
    assert len(token) >= 43
    assert token not in kept
    assert cookie not in kept


async def test_at_most_five_letters_an_hour_go_to_one_address(world: World) -> None:
    async with visiting(world) as client:
        codes = [(await ask(client)).status_code for _ in range(7)]
        assert codes == [200] * 5 + [429] * 2
        assert len(world.mails()) == 5
        assert (await ask(client, "bob@example.com")).status_code == 200
        world.after(hours=1)
        assert (await ask(client)).status_code == 200


async def test_one_caller_cannot_mail_the_world_and_a_proxy_is_no_caller(world: World) -> None:
    async with visiting(world, client=("9.9.9.7", 1)) as flood:
        codes = [(await ask(flood, f"v{n}@example.com")).status_code for n in range(102)]
    assert codes == [200] * 100 + [429] * 2
    forwarded = {"client": ("10.0.0.1", 1), "x_forwarded_for": "9.9.9.9, 9.9.9.7"}
    async with visiting(world, **forwarded) as behind:  # type: ignore[arg-type]
        assert (await ask(behind, "w@example.com")).status_code == 429
    async with visiting(world, client=("10.0.0.1", 1)) as local:
        assert (await ask(local, "w@example.com")).status_code == 200


async def test_a_session_has_a_fresh_key_and_signing_out_ends_it(world: World) -> None:
    async with visiting(world) as client, visiting(world) as other:
        client.cookies.set("scout", "planted-by-somebody", domain="127.0.0.1")
        await signed_in(client, world)
        key = client.cookies.get("scout", domain="127.0.0.1", path="/")
        assert key != "planted-by-somebody"
        other.cookies.set("scout", str(key), domain="127.0.0.1")
        assert (await other.get("/me")).status_code == 200
        assert (await client.post("/logout")).status_code == 303
        assert (await other.get("/me")).status_code == 303
    assert await world.dump("sessions") == {}


@pytest.mark.parametrize("path", ["/me", "/me/letters", "/me/history", "/me/rescore", "/status"])
async def test_who_is_not_signed_in_is_told_that_the_page_needs_it(world: World, path: str) -> None:
    async with visiting(world) as client:
        sent = await client.get(path)
        assert "Sign in to see this page" in text((await client.get(sent.headers["location"])).text)
        for plain in ("/", "/login", "/login?then=https://evil.example.com"):
            assert "Sign in to see" not in text((await client.get(plain)).text)


@pytest.mark.parametrize(
    ("path", "back"),
    [
        ("/me/letters", "/me/letters"),
        ("/me/search", "/me/search"),
        ("/me/address", "/me/account"),
        ("/me/resume", "/me"),
    ],
)
async def test_a_save_after_the_session_ended_is_told_and_leads_back_to_its_form(
    world: World, path: str, back: str
) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        world.after(days=31)
        before = await world.dump("users")
        answer = await client.post(path, data={"name": "x", "keywords": "python", "email": "x@example.com"})
        assert answer.headers["location"] == f"/login?then={back}&lost=1"
        page = await client.get(answer.headers["location"])
        assert "You are signed out, so nothing was changed" in text(page.text)
        assert field(page.text, "then") == back
        assert await world.dump("users") == before


async def test_signing_out_everywhere_ends_every_browser_and_every_open_link(world: World) -> None:
    async with visiting(world) as one, visiting(world) as two, visiting(world) as three:
        await signed_in(one, world)
        await signed_in(two, world)
        await ask(three)
        open_link = links(world)[-1]
        answer = await one.post("/me/sign-out-everywhere")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert (await two.get("/me")).status_code == 303
        assert [(await three.post(link)).status_code for link in links(world)] == [410] * 3
        assert open_link


async def test_a_session_ends_after_a_month_of_absence_and_half_a_year_at_most(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        for _ in range(6):
            world.after(days=29)
            assert (await client.get("/me")).status_code == 200
        world.after(days=7)
        assert (await client.get("/me")).status_code == 303
        await signed_in(client, world)
        world.now += IDLE_MAX
        assert (await client.get("/me")).status_code == 303


async def test_cookies_are_pinned_to_the_host_on_https_and_plain_on_loopback(tmp_path: Path) -> None:
    found = {}
    for name, base in (("tls", "https://scout.example.com"), ("plain", BASE)):
        (tmp_path / name).mkdir()
        async with World(tmp_path / name, SCOUT_BASE_URL=base) as world, visiting(world, base=base) as client:
            await ask(client)
            (link,) = links(world)
            found[name] = (await client.post(link)).headers["set-cookie"]
            hsts = (await client.get("/")).headers.get("strict-transport-security")
            assert (hsts is not None) == (name == "tls")
    assert re.match(r"__Host-scout=[\w-]{43}; HttpOnly; Max-Age=\d+; Path=/; SameSite=lax; Secure$", found["tls"])
    assert re.match(r"scout=[\w-]{43}; HttpOnly; Max-Age=\d+; Path=/; SameSite=lax$", found["plain"])


async def test_somebody_deleted_after_a_bounce_can_come_back_and_sees_why_nothing_comes(world: World) -> None:
    from ledger import users

    uid = await world.user(ANN)
    await users.stop(world.store, uid, Stop.BOUNCED, now=world.now)
    await users.delete(world.store, uid, now=world.now)
    async with visiting(world) as client:
        await signed_in(client, world)
        assert "came back" in text((await client.get("/me")).text)
        await client.post("/me/resume")
        assert "came back" not in text((await client.get("/me")).text)


async def test_a_link_of_somebody_who_left_opens_nothing_of_theirs(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await client.post("/me/delete")
        key = await sessions.begin(world.store, ids.uid_of(ANN), now=world.now)
        client.cookies.set("scout", key, domain="127.0.0.1")
        assert (await client.get("/me")).status_code == 303
