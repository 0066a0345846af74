"""The account's address and its links: a second click, an old link, another spelling; where somebody is signed in."""

from __future__ import annotations

import pytest

from ledger import ids
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
