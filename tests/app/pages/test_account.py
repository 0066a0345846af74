"""The account's address and its links: a second click, an old link, another spelling; where somebody is signed in."""

from __future__ import annotations

import re

import pytest

from app.pages.agents import browser_named
from ledger import ids, sessions
from tests.app.pages.visits import ANN, ask, field, links, signed_in, text, visiting
from tests.world import World

BOB = "bob@example.com"


async def test_a_second_click_on_confirm_is_the_same_click_also_after_the_move(world: World) -> None:
    async with visiting(world) as client, visiting(world) as stranger:
        await signed_in(client, world)
        await client.post("/me/address", data={"email": BOB})
        (old,), (new,) = links(world, "confirm", ANN), links(world, "confirm", BOB)
        await ask(stranger)
        open_link = links(world, to=ANN)[-1]
        for link in (old, new):
            await client.get(link)
            await client.post(link)
        for link in (new, old):
            answer = await client.post(link)
            assert (answer.status_code, "Your mail moves" in text(answer.text)) == (200, True)
        assert (await stranger.post(open_link)).status_code == 410, "a link to the mailbox that was left still works"
        assert (await stranger.post(new)).status_code == 410
        world.after(seconds=61)
        assert "used already" in text((await client.post(new)).text)


async def test_an_old_link_to_sign_in_says_so_on_a_page_of_its_own_and_a_new_one_leads_on(world: World) -> None:
    async with visiting(world) as client:
        await ask(client, then="/me/letters")
        (link,) = links(world)
        world.after(minutes=15)
        page = await client.get(link)
        assert page.status_code == 410
        assert "This link does not work any more It is too old" in text(page.text)
        assert "Scout watches job boards" not in text(page.text)
        assert "email-error" not in page.text, "nothing is wrong with the field"
        assert field(page.text, "then") == "/me/letters"
        await ask(client, then=field(page.text, "then"))
        (again,) = set(links(world)) - {link}
        assert (await client.post(again)).headers["location"] == "/me/letters"


@pytest.mark.parametrize("path", ["login", "confirm"])
async def test_a_link_that_nobody_knows_tells_what_to_do(world: World, path: str) -> None:
    async with visiting(world) as client:
        page = await client.get(f"/{path}/{'A' * 43}")
    assert page.status_code == 410
    assert "no longer known here, or not whole" in text(page.text)
    assert ('href="/me/account"' in page.text) == (path == "confirm")
    assert ('action="/login"' in page.text) == (path == "login")


async def test_ones_own_address_in_another_spelling_is_kept_at_once_without_a_letter(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        mails = len(world.mails())
        answer = await client.post("/me/address", data={"email": "Ann@Example.com"})
        assert answer.status_code == 303
        assert "Ann@Example.com It is the same mailbox" in text((await client.get(answer.headers["location"])).text)
        assert len(world.mails()) == mails
        same = await client.post("/me/address", data={"email": "Ann@Example.com"})
        assert (same.status_code, "your address already" in text(same.text)) == (400, True)
    people = await world.dump("users")
    assert {id_: user["address"] for id_, user in people.items()} == {f"users/{ids.uid_of(ANN)}": "Ann@Example.com"}


FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.6 Mobile/15E148 Safari/604.1"
)


async def test_each_sign_in_is_named_and_can_be_ended_alone(world: World) -> None:
    await world.user(ANN, zone="Europe/Berlin")
    async with visiting(world, user_agent=FIREFOX) as here, visiting(world, user_agent=IPHONE) as there:
        await signed_in(here, world)
        world.after(minutes=3)
        await signed_in(there, world)
        page = (await here.get("/me/account")).text
        assert "Times are in Europe/Berlin" in text(page)
        assert "Firefox on Windows, this one since Mon 30 Nov, 08:00" in text(page)
        assert "Safari on iPhone since Mon 30 Nov, 08:03" in text(page)
        (other,) = re.findall(r'name="session" value="(\w+)"', page)
        answer = await here.post("/me/sign-out-there", data={"session": other})
        assert "Signed out there" in text((await here.get(answer.headers["location"])).text)
        assert (await there.get("/me")).status_code == 303
        assert (await here.get("/me")).status_code == 200
    kept = str(await world.dump("sessions"))
    assert "Firefox on Windows" in kept
    assert "Mozilla" not in kept


async def test_nobody_ends_a_session_of_somebody_else(world: World) -> None:
    async with visiting(world) as ann, visiting(world) as bob:
        await signed_in(ann, world)
        await signed_in(bob, world, BOB)
        theirs = sessions.session_id(str(bob.cookies["scout"]))
        for given in (theirs, "", "a/b", "x" * 5000):
            assert (await ann.post("/me/sign-out-there", data={"session": given})).status_code == 303
        assert (await bob.get("/me")).status_code == 200


async def test_a_session_that_is_over_is_not_listed(world: World) -> None:
    async with visiting(world) as first, visiting(world) as second:
        await signed_in(first, world)
        world.now += sessions.IDLE_MAX
        await signed_in(second, world)
        assert (await second.get("/me/account")).text.count("<strong>A browser") == 1


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Windows"),
        (IPHONE, "Safari on iPhone"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
         "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0",
         "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36",
         "Chrome on Android"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18 "
         "Safari/605.1.15", "Safari on macOS"),
        ("something (Windows)", "A browser on Windows"),
        ("<script>", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_browser_is_told_by_family_and_system_alone(agent: str, name: str) -> None:
    assert browser_named(agent) == name


async def test_the_operators_pages_lead_to_the_status_and_nobody_elses_do(world: World) -> None:
    for address, leads in (("ops@example.com", True), (ANN, False)):
        async with visiting(world) as client:
            await signed_in(client, world, address)
            assert ('href="/status"' in (await client.get("/me")).text) == leads
