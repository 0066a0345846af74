"""What strangers send: other sites' forms, stolen cookies, huge bodies, HTML, header breaks, floods."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
import structlog

from app.access import AccessLog
from app.pages.form import FORM_MAX_BYTES
from app.pages.view import HEADERS
from ledger import ids, users
from ledger.lifecycle import Attempt, Outcome
from ledger.records import Search
from mail.letter import Letter
from tests.app.pages.visits import ANN, BASE, OURS, ask, links, save_search, signed_in, text, visiting
from tests.world import World, item

HTML = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
UNSAFE = (
    "/login", "/login/x", "/logout", "/confirm/x", "/me/search", "/me/letters", "/me/address", "/me/resume",
    "/me/sign-out-everywhere", "/me/delete", "/me/jobs/x", "/me/search/remove",
    "/me/sign-out-there", "/me/rescore",
)  # fmt: skip


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": ""},
        {"origin": "https://evil.example.com"},
        {"origin": "null"},
        {"origin": BASE + ".evil.example.com"},
        {},
    ],
    ids=str,
)
async def test_no_other_site_can_do_anything_for_somebody_who_is_signed_in(
    world: World, headers: dict[str, str]
) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        before = await world.dump("users", "sessions", "sign_ins", "feedback")
        mails = len(world.mails())
        del client.headers["sec-fetch-site"]
        for path in UNSAFE:
            answer = await client.post(path, data={"email": "x@example.com"}, headers=headers)
            assert answer.status_code == 403, path
            assert "set-cookie" not in answer.headers
        assert await world.dump("users", "sessions", "sign_ins", "feedback") == before
        assert len(world.mails()) == mails
        assert (await client.post("/logout", headers={"origin": BASE})).status_code == 303


async def test_every_unsafe_route_of_the_pages_is_in_the_list_above(world: World) -> None:
    described = world.app.openapi()["paths"]
    posts = {path for path, methods in described.items() if "post" in methods}
    pages = {re.sub(r"\{\w+\}", "x", path) for path in posts if not re.match(r"/(cron|unsubscribe|webhooks)", path)}
    assert pages == set(UNSAFE)


async def test_a_stolen_or_made_up_cookie_opens_nothing(world: World) -> None:
    async with visiting(world) as ann, visiting(world) as thief:
        await signed_in(ann, world)
        (session,) = await world.dump("sessions")
        for value in (session.partition("/")[2], "x", "a" * 5000, ids.uid_of(ANN), "../../users/x", '"'):
            answer = await thief.get("/me", headers={"cookie": f"scout={value}"})
            assert answer.status_code == 303, value


@pytest.mark.parametrize(
    "then", ["https://evil.example.com/", "//evil.example.com", "/\\evil.example.com", "/me/../logout", "/logout",
             "/me?x=//evil", "/me\r\nset-cookie: a=b", "javascript:alert(1)", "/me/" + "a" * 101]
)  # fmt: skip
async def test_signing_in_leads_to_our_own_pages_only(world: World, then: str) -> None:
    async with visiting(world) as client:
        page = await client.get("/login", params={"then": then})
        assert 'name="then"' not in page.text
        await ask(client, then=then)
        answer = await client.post(links(world)[-1])
        assert answer.headers["location"] == "/me/search"
        assert re.fullmatch(r"scout=[\w-]{43}; [\w=;/ -]+", answer.headers["set-cookie"])


@pytest.mark.parametrize(
    "address",
    [
        "ann@example.com\r\nBcc: x@example.com", "ann@example.com\nSubject: x", "ann@example.com, x@example.com",
        "Ann <ann@example.com>", "ann@example.com%0d%0aBcc:x", "@", "a@b", "ann@-x-.com", "a" * 300 + "@example.com",
        "ann@example.com\0", "", " ", "ann@[127.0.0.1]", "\u202eann@example.com", "an\u200bn@example.com",
        '"a b"@example.com',
    ],
    ids=ascii,
)  # fmt: skip
async def test_an_address_that_is_none_gets_an_answer_and_no_letter(world: World, address: str) -> None:
    async with visiting(world) as client:
        answer = await ask(client, address)
    if answer.status_code == 200:  # only if what is left is one plain address
        assert [mail.to for mail in world.mails()] == [address.replace("\0", "").strip()]
    else:
        assert answer.status_code == 400
        assert 'id="email-error"' in answer.text
        assert world.mails() == []


async def test_a_megabyte_is_refused_before_it_is_read_as_a_form(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        for path in ("/login", "/me/search", "/me/letters"):
            answer = await client.post(path, data={"keywords": "x" * 1_000_000, "email": "x" * 10})
            assert answer.status_code == 413
            assert f"{FORM_MAX_BYTES // 1024} KB" in text(answer.text)
        many = "&".join(f"k{n}=1" for n in range(5000))
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert (await client.post("/login", content=many, headers=form)).status_code == 400
        assert (await client.post("/login", content=b"\xff\xfe=%ff&email=%zz", headers=form)).status_code == 400
        assert (await client.post("/login", files={"email": b"x"})).status_code == 415
        assert (await client.post("/login", json={"email": ANN})).status_code == 415


async def test_html_in_keywords_names_and_jobs_comes_out_as_text(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        assert (await save_search(client, f"N{HTML}", keywords=f"python, {HTML}")).status_code == 303
        world.after(minutes=15)
        link = 'https://jobs.example.com/x"><script>alert(3)</script>'
        world.feed(
            item("Gardener"), item(f"Python {HTML}", link=link, text=HTML), item("Python js", link="javascript:x()")
        )
        await world.cron()
        name = next(iter((await users.read(world.store, ids.uid_of(ANN))).record.searches))  # type: ignore[union-attr]
        paths = ["/me", "/me/history", "/me/letters", "/me/account"]
        pages = [await client.get(path) for path in paths]
        pages += [
            await client.get("/me/search", params={"name": name}),
            await client.get("/me", params={"saved": HTML}),
        ]
        pages += [
            await client.get("/me/why", params={"link": HTML}),
            await client.get("/me/search", params={"name": HTML}),
        ]
    assert "Python" in text(pages[1].text)
    for page in pages:
        body = page.text.replace(f'<script src="{js}" defer></script>', "") if (js := _js(page.text)) else page.text
        assert "<script" not in body
        assert "<img" not in body
        assert "javascript:" not in body


def _js(page: str) -> str:
    found = re.search(r'<script src="(/static/[0-9a-f]{12}/scout\.js)" defer></script>', page)
    return found[1] if found else ""


async def test_every_answer_has_the_strict_headers_and_only_static_files_are_kept(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await ask(client)
        paths = ["/", "/login", links(world)[-1], "/me", "/me/search", "/me/letters", "/me/history", "/me/why",
                 "/me/account", "/me/delete", "/me/rescore", "/me/export.json", "/nope", "/status"]  # fmt: skip
        for path in paths:
            answer = await client.get(path)
            for name, value in HEADERS.items():
                if name != "Content-Security-Policy":
                    assert answer.headers[name] == value, (path, name)
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';")
            assert "unsafe" not in policy
            assert ("script-src" in policy) == ("<script" in answer.text)
            assert answer.headers["cache-control"] == "no-store"
            assert not re.search(r"<[^>]+ (style|on\w+)=", answer.text), path
        for url in re.findall(r'(?:href|src)="(/static/[^"]+)"', (await client.get("/me/search")).text):
            kept = await client.get(url)
            assert "immutable" in kept.headers["cache-control"]
            assert kept.headers["x-content-type-options"] == "nosniff"
        assert (await client.get("/static/0/../secrets")).status_code == 404
        assert (await client.get("/static/0/%2e%2e%2fview.py")).status_code == 404


async def test_a_thousand_requests_at_once_for_ten_addresses_mail_at_most_the_limit_and_none_fails(
    world: World,
) -> None:
    addresses = [f"p{n}@example.com" for n in range(10)]
    async with visiting(world) as client:
        answers = await asyncio.gather(*(ask(client, addresses[n % 10]) for n in range(1000)))
        assert Counter(answer.status_code for answer in answers) == {200: 50, 429: 950}
        assert Counter(mail.to for mail in world.mails()) == dict.fromkeys(addresses, 5)
        every_link = links(world)
        codes = Counter([(await client.post(link)).status_code for link in every_link])
    assert codes == {303: 50}
    assert len(await world.dump("users")) == 10


async def test_a_transport_that_fails_is_told_plainly_and_the_same_for_everybody(world: World) -> None:
    await world.user(ANN)

    async def refuse(letter: Letter, send: object) -> Attempt:
        return Attempt(Outcome.PAUSED, "401")

    world.intercept(refuse)  # type: ignore[arg-type]
    async with visiting(world) as client:
        said = [await ask(client, address) for address in (ANN, "bob@example.com")]
    assert [answer.status_code for answer in said] == [503, 503]
    assert "could not be sent" in text(said[0].text)
    assert re.sub("ann|bob", "X", said[0].text) == re.sub("ann|bob", "X", said[1].text)


async def test_no_log_line_holds_a_token_an_address_or_a_cookie(world: World) -> None:
    with structlog.testing.capture_logs() as lines:
        transport = httpx2.ASGITransport(app=AccessLog(world.app), client=("9.9.9.9", 1))
        async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=OURS) as client:
            await signed_in(client, world)
            await client.get("/me/why", params={"link": "https://jobs.example.com/secret-wish"})
            cookie = str(client.cookies["scout"])
    said = str(lines)
    assert "/login/{token}" in said
    token = links(world)[0].rpartition("/")[2]
    assert [word for word in (token, ANN, ids.uid_of(ANN), cookie, "secret-wish") if word in said] == []


async def test_letters_to_sign_in_count_for_the_days_limit(tmp_path: Path) -> None:
    async with World(tmp_path, SCOUT_BASE_URL=BASE, SCOUT_MAIL_DAILY_MAX="2") as world, visiting(world) as client:
        codes = [(await ask(client, f"p{n}@example.com")).status_code for n in range(4)]
        assert codes == [200, 200, 503, 503]
        assert len(world.mails()) == 2


async def test_a_store_that_is_down_is_told_as_a_page_and_nothing_else_is(world: World) -> None:
    from ledger.store import Unreachable

    async with visiting(world) as client:
        await signed_in(client, world)

        async def fail(operation: str, collection: str) -> None:
            raise Unreachable(f"the host for {ANN} is down")

        world.spy(before=fail)
        for path in ("/me", "/me/search", "/me/history", "/status"):
            answer = await client.get(path)
            assert answer.status_code == 503
            assert "try again in a minute" in text(answer.text)
            assert ANN not in answer.text
        assert (await client.post("/me/search", data={"do": "save"})).status_code == 503
        assert (await ask(client)).status_code == 503


async def test_an_unreadable_user_document_is_a_page_that_says_so_and_harms_nobody_else(world: World) -> None:
    async with visiting(world) as client, visiting(world) as other:
        await signed_in(client, world)
        await signed_in(other, world, "bob@example.com")
        await world.store.put("users", {ids.uid_of(ANN): {"uid": 7}})
        assert (await client.get("/me")).status_code == 503
        assert (await other.get("/me")).status_code == 200


async def test_a_profile_of_a_thousand_searches_from_elsewhere_still_has_a_page(world: World) -> None:
    await world.user(ANN)
    searches = {f"s{n}": Search(keywords=("python",)) for n in range(200)}
    await users.change(world.store, ids.uid_of(ANN), lambda user: replace(user, searches=searches))
    async with visiting(world) as client:
        await signed_in(client, world)
        assert (await client.get("/me")).status_code == 200
        assert "that is the most" in text((await save_search(client, "one more")).text)
