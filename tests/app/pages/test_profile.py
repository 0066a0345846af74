"""Saying what fits: searches, gates, settings; nothing typed is lost, and two tabs do not undo each other."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.pages import fields
from ledger import ids, users
from ledger.records import Mode, Search, User
from scan.keywords import KEYWORDS_MAX
from tests.app.pages.visits import ANN, BASE, field, save_letters, save_search, signed_in, text, visiting
from tests.world import World, item
from tests.worlds import store_url


async def person(world: World) -> User:
    found = await users.read(world.store, ids.uid_of(ANN))
    assert found is not None
    return found.record


async def test_a_saved_search_is_kept_as_typed_and_the_next_run_catches_up(world: World) -> None:
    await world.begin()
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"))
    await world.cron()
    async with visiting(world) as client:
        await signed_in(client, world)
        answer = await save_search(
            client, "Backend", keywords='Python,  "C, and more"', must="remote", exclude="php", max_age_h="48"
        )
        assert answer.headers["location"] == "/me?saved=Backend"
        expected = Search(keywords=("Python", "C, and more"), must=("remote",), exclude=("php",), max_age_h=48)
        assert (await person(world)).searches == {"Backend": expected}
        await save_search(client, "Backend", was="Backend", keywords="python")
    report = await world.cron()
    assert report["mail"]["alerts"] == 1
    assert world.sent() == {(ANN, "Python developer"): 1}


async def test_every_gate_is_saved_and_shown_as_it_was_typed(world: World) -> None:
    typed: dict[str, Any] = {"min_hourly": "60 EUR", "min_fixed": "1,500", "currency": "USD", "max_age_h": "48",
             "countries": "Germany, EMEA", "languages": "English, de", "contracts": ["freelance", "part-time"],
             "sources": "board", "strict": "yes",
             "min_client_rating": "4.5", "min_client_spend": "1000", "min_client_hires": "3",
             "payment_verified_only": "yes"}  # fmt: skip
    async with visiting(world) as client:
        await signed_in(client, world)
        assert (await save_search(client, "Mine", **typed)).status_code == 303
        (search,) = (await person(world)).searches.values()
        assert search == Search(
            keywords=("python",), min_hourly=60, min_fixed=1500, currency="EUR", max_age_h=48, countries=("DE", "EMEA"),
            languages=("en", "de"), contracts=("freelance", "part-time"), sources=("board",), min_client_rating=4.5,
            min_client_spend=1000, min_client_hires=3, payment_verified_only=True, strict=True,
        )  # fmt: skip
        page = (await client.get("/me/search", params={"name": "Mine"})).text
        kept = {name: field(page, name) for name in typed if f'name="{name}" value="' in page and name != "contracts"}
        again = typed | kept | {"currency": "EUR"}
        assert (await save_search(client, "Mine", was="Mine", **again)).status_code == 303
        assert (await person(world)).searches == {"Mine": search}
        assert "at least EUR 60" in text((await client.get("/me")).text)


@pytest.mark.parametrize(
    ("typed", "shown", "told"),
    [
        ("90k a year", "90,000 a year", "at least USD 43.27 (90,000 a year)"),
        ("60", "60", "at least USD 60 (124,800 a year)"),
        ("104k a year", "50", "at least USD 50 (104,000 a year)"),
    ],
)
async def test_pay_for_a_year_is_understandable_afterwards_and_survives_saving(
    world: World, typed: str, shown: str, told: str
) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, "Mine", min_hourly=typed)
        (first,) = (await person(world)).searches.values()
        page = (await client.get("/me/search", params={"name": "Mine"})).text
        assert re.search(r'name="min_hourly" value="([^"]*)"', page).group(1) == shown  # type: ignore[union-attr]
        assert told in text((await client.get("/me")).text)
        await save_search(client, "Mine", was="Mine", min_hourly=shown)
        assert (await person(world)).searches == {"Mine": first}


async def test_a_search_is_renamed_removed_and_several_are_kept(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, "One")
        await save_search(client, "Two", keywords="go")
        await save_search(client, "Three", was="One", keywords="rust")
        assert {name: s.keywords for name, s in (await person(world)).searches.items()} == {
            "Three": ("rust",),
            "Two": ("go",),
        }
        taken = await save_search(client, "Two", was="Three")
        assert (taken.status_code, "Another search of yours" in text(taken.text)) == (400, True)
        question = await client.get("/me/search/remove", params={"name": "Three"})
        assert "Remove Three? The search goes for good" in text(question.text)
        assert "Keywords: rust" in text(question.text)
        assert len((await person(world)).searches) == 2
        asked = {"was": "Three", "mark": field(question.text, "mark")}
        await save_search(client, "Three", was="Three", keywords="zig")
        moved = await client.post("/me/search/remove", data=asked)
        assert (moved.status_code, "Keywords: zig" in text(moved.text)) == (409, True)
        assert len((await person(world)).searches) == 2
        for _ in range(2):  # a double click
            gone = await client.post("/me/search/remove", data=asked | {"mark": field(moved.text, "mark")})
            assert gone.headers["location"] == "/me?removed=1"
        assert list((await person(world)).searches) == ["Two"]
        assert (await client.get("/me/search/remove", params={"name": "Three"})).status_code == 404


@pytest.mark.parametrize(
    ("typed", "name", "said"),
    [
        ({"keywords": "", "must": ""}, "keywords", "Without a keyword"),
        ({"keywords": "((("}, "keywords", "no letter or digit"),
        ({"keywords": ", ".join(f"k{n}" for n in range(10_000))}, "keywords", f"for {KEYWORDS_MAX} keywords"),
        ({"keywords": "x" * 101}, "keywords", "at most 100 characters"),
        ({"max_age_h": "soon"}, "gate-max_age_h", "is not a whole number from 1 to 2,160"),
        ({"max_age_h": "9" * 5000}, "gate-max_age_h", "is not a whole number from 1 to 2,160"),
        ({"min_hourly": "much"}, "gate-min_hourly", "is not an amount"),
        ({"min_hourly": "-5"}, "gate-min_hourly", "is not an amount"),
        ({"countries": "Germany, Atlantis"}, "gate-countries", "Unknown: 'Atlantis'"),
        ({"contracts": "slavery"}, "gate-contracts", "not one of these"),
        ({"currency": "XXX"}, "gate-currency", "not one of these"),
        ({"min_client_hires": "2.5"}, "gate-min_client_hires", "is not a whole number from 0 to 10,000,000,000"),
        ({"min_client_rating": "6"}, "gate-min_client_rating", "not a number from 0 to 5"),
        ({"sources": "nowhere"}, "gate-sources", "not one of these"),
        ({"name": " "}, "name", "Give it a name"),
        ({"name": "n" * 61}, "name", "at most 60"),
        ({"name": "__x__"}, "name", "Give it a name"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_a_mistake_is_told_beside_its_field_and_nothing_typed_is_lost(
    world: World, typed: dict[str, str], name: str, said: str
) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        answer = await save_search(client, **({"name": "Mine", "must": "remote", "exclude": "<b>php</b>"} | typed))
    assert answer.status_code == 400
    error = answer.text.split(f'id="{name}-error">')[1].split("</p>")[0].replace("&#39;", "'")
    assert said in error
    assert error.endswith("."), "a mistake is told in a sentence"
    page = answer.text
    assert typed.get("must") == "" or ">remote</textarea>" in page
    assert "&lt;b&gt;php&lt;/b&gt;</textarea>" in page
    assert "<b>" not in page
    for key, value in typed.items():
        if key in ("keywords",):
            assert f">{value}</textarea>" in page
        elif key in ("max_age_h", "min_hourly", "countries", "min_client_rating"):
            assert f'value="{value}"' in page
    assert (await person(world)).searches == {}


async def test_the_second_of_two_tabs_is_told_and_loses_nothing(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, "Mine", keywords="python")
        forms = [await client.get("/me/search", params={"name": "Mine"}) for _ in range(2)]
        typed = [
            {"was": "Mine", "name": "Mine", "do": "save", "must": "", "exclude": "", "mark": field(form.text, "mark"),
             "keywords": keywords}
            for form, keywords in zip(forms, ("rust", "go"), strict=True)
        ]  # fmt: skip
        answers = await asyncio.gather(*(client.post("/me/search", data=fields_) for fields_ in typed))
        assert sorted(answer.status_code for answer in answers) == [303, 409]
        late = next(n for n, answer in enumerate(answers) if answer.status_code == 409)
        page = answers[late].text
        assert "changed in another window" in text(page)
        assert f">{typed[late]['keywords']}</textarea>" in page
        assert (await person(world)).searches["Mine"].keywords == (typed[1 - late]["keywords"],)
        again = await client.post("/me/search", data=typed[late] | {"mark": field(page, "mark")})
        assert again.status_code == 303
        assert (await person(world)).searches["Mine"].keywords == (typed[late]["keywords"],)


async def test_the_second_of_two_tabs_is_told_everything_that_differs_and_nothing_else(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, "Mine", must="remote")
        opened = field((await client.get("/me/search", params={"name": "Mine"})).text, "mark")
        await save_search(client, "Mine", was="Mine", must="remote", exclude="php, wordpress", min_hourly="60 EUR",
                          contracts=["freelance"], strict="yes")  # fmt: skip
        fields_ = {"was": "Mine", "name": "Mine", "mark": opened, "do": "save", "keywords": "python", "must": "remote"}
        late = await client.post("/me/search", data=fields_)
        assert late.status_code == 409
        told = text(late.text).split("Kept now: ")[1].split(". Saving again")[0]
        assert told == (
            "None of these: php, wordpress; Currency: EUR; Lowest pay an hour: 60; Kind of work: freelance; "
            "Be strict: what the board does not say counts as no: yes"
        )
        form = field((await client.get("/me/letters")).text, "mark")
        await save_letters(client, mode="weekly", quiet_from="22:00", quiet_to="06:00")
        late = await client.post(
            "/me/letters", data={"mark": form, "mode": "instant", "zone": "UTC", "ai_threshold": "60"}
        )
        assert late.status_code == 409
        told = text(late.text).split("Kept now: ")[1].split(". Saving again")[0]
        assert told == "How often: on Mondays; Quiet hours from: 22:00; Quiet hours to: 06:00"


async def test_a_new_search_of_a_name_that_another_tab_has_taken_is_told_beside_the_name(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)

        store = world.store

        async def other_tab(operation: str, collection: str) -> None:
            if (operation, collection) == ("swap", "users"):
                mine = {"Mine": Search(("go",))}
                await users.change(store, ids.uid_of(ANN), lambda user: replace(user, searches=mine))

        world.spy(before=other_tab)
        late = await save_search(client, "Mine")
        assert late.status_code == 409
        assert "Another search of yours has this name" in text(late.text)
    assert (await person(world)).searches == {"Mine": Search(("go",))}


async def test_a_run_between_opening_and_saving_is_no_conflict(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client, "Mine")
        form = await client.get("/me/search", params={"name": "Mine"})
        letters = await client.get("/me/letters")
        await world.cron()  # clears the catch-up: the document moves
        fields_ = {"was": "Mine", "name": "Mine", "mark": field(form.text, "mark"), "keywords": "go", "do": "save"}
        assert (await client.post("/me/search", data=fields_)).status_code == 303
        kept = {"mode": "daily", "mark": field(letters.text, "mark"), "zone": "UTC"}
        assert (await client.post("/me/letters", data=kept)).status_code == 303
    assert (await person(world)).mode is Mode.DAILY


async def test_settings_of_the_mail_are_saved_and_told_wrong_beside_their_fields(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        form = (await client.get("/me/letters")).text
        good = {"mark": field(form, "mark"), "mode": "weekly", "at": "07:30", "zone": "Europe/Berlin",
                "quiet_from": "22:00", "quiet_to": "06:00", "pause": "2027-01-07", "ai": "yes",
                "about": "I like <b>tests",
                "ai_threshold": "70"}  # fmt: skip
        bad = good | {"at": "25:00", "zone": "Mars/Base", "quiet_to": "", "pause": "2020-01-01", "ai_threshold": "101",
                      "mode": "hourly", "about": "x" * 5000}  # fmt: skip
        answer = await client.post("/me/letters", data=bad)
        assert answer.status_code == 400
        for name in ("at", "zone", "quiet_from", "pause", "ai_threshold", "mode", "about"):
            assert f'id="{name}-error"' in answer.text, name
        assert "x" * 5000 in answer.text
        assert "Mars/Base</option>" in answer.text
        assert (await client.post("/me/letters", data=good)).status_code == 303
        user = await person(world)
        assert (user.mode, user.at, user.zone, user.quiet_from, user.quiet_to) == (
            Mode.WEEKLY, "07:30", "Europe/Berlin", "22:00", "06:00")  # fmt: skip
        assert (user.ai, user.about, user.ai_threshold) == (True, "I like <b>tests", 70)
        assert user.paused_until is not None
        assert user.paused_until.isoformat() == "2027-01-06T23:00:00+00:00"
        assert "Paused until Thu 7 Jan, 00:00" in text((await client.get("/me")).text)
        assert (await client.post("/me/letters", data=good | {"pause": ""})).status_code == 409
        fresh = field((await client.get("/me/letters")).text, "mark")
        assert (await client.post("/me/letters", data=good | {"pause": "", "mark": fresh})).status_code == 303
        assert (await person(world)).paused_until is None


async def test_after_a_pause_come_the_jobs_of_its_last_day_and_what_waited_and_the_page_says_so(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        await world.cron()
        said = text((await client.get("/me/letters")).text)
        assert "then what waited already, and the fitting jobs of the last day" in said
        assert (await save_letters(client, mode="daily", at="06:00")).status_code == 303
        listed = [item("Gardener"), item("Python waits")]
        world.feed(*listed)
        world.after(minutes=15)
        await world.cron()
        assert (await save_letters(client, mode="daily", at="06:00", pause="2026-12-03")).status_code == 303
        for title, hours in (("Python missed", 1), ("Python last day", 50)):
            world.after(hours=hours)
            listed.append(item(title))
            world.feed(*listed)
            await world.cron()
            assert world.sent() == {}
        world.now = datetime(2026, 12, 3, 6, tzinfo=UTC)
        await world.cron()
        world.after(days=1)
        await world.cron()
    assert world.sent() == {(ANN, "Python waits"): 1, (ANN, "Python last day"): 1}


async def test_a_pause_while_no_mail_is_sent_is_told_beside_its_field_and_stays_typed(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        await client.post(f"/unsubscribe/{(await person(world)).token}")
        answer = await save_letters(client, pause="2026-12-24", about="Quiet work")
        assert answer.status_code == 400
        assert "No mail is sent to you at all" in answer.text.split('id="pause-error">')[1].split("</p>")[0]
        assert "Send me mail again" in text(answer.text)
        assert 'value="2026-12-24"' in answer.text
        assert "Quiet work</textarea>" in answer.text
        assert (await save_letters(client, about="Quiet work")).status_code == 303
        assert ((await person(world)).about, (await person(world)).paused_until) == ("Quiet work", None)


async def test_quiet_hours_hold_a_letter_back_until_they_end(world: World) -> None:
    await world.begin()
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        form = (await client.get("/me/letters")).text
        quiet = {"mark": field(form, "mark"), "mode": "instant", "quiet_from": "06:00", "quiet_to": "09:00"}
        assert (await client.post("/me/letters", data=quiet)).status_code == 303
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"))
        await world.cron()
        assert world.sent() == {}
        said = text((await client.get("/me/history")).text)
        assert "Waiting until Mon 30 Nov, 09:00 UTC, when your quiet hours end" in said
        world.after(hours=2)
        await world.cron()
        assert world.sent() == {(ANN, "Python developer"): 1}


async def test_somebody_who_unsubscribed_sees_it_and_resumes_with_one_button(world: World) -> None:
    async with visiting(world) as client:
        await signed_in(client, world)
        await save_search(client)
        token = (await person(world)).token
        assert (await client.post(f"/unsubscribe/{token}")).status_code == 200
        assert "you unsubscribed" in text((await client.get("/me")).text)
        await save_search(client, "My search", was="My search", keywords="go")  # changes the search, not the stop
        stopped = await person(world)
        assert (stopped.active, stopped.wake_at) == (False, None)
        assert (await client.post("/me/resume")).status_code == 303
        user = await person(world)
        assert (user.active, user.stopped) == (True, None)
        assert user.catch_up is not None


async def test_a_search_without_a_keyword_is_told(world: World) -> None:
    await world.user(ANN)
    await users.change(
        world.store, ids.uid_of(ANN), lambda user: replace(user, searches={"Old": Search(keywords=("", "  "))})
    )
    async with visiting(world) as client:
        await signed_in(client, world)
        assert "None of your searches has a keyword" in text((await client.get("/me")).text)


def test_every_gate_of_a_search_has_a_field() -> None:
    words = {"keywords", "must", "exclude"}
    gates = {name for name in Search.__dataclass_fields__ if name not in words}
    assert gates == {gate.field for gate in fields.GATES}


async def test_a_page_stays_small_with_two_hundred_keywords(world: World) -> None:
    many = tuple(f"keyword {n}" for n in range(200))
    await world.user(ANN, *many)
    async with visiting(world) as client:
        await signed_in(client, world)
        sizes = {path: len((await client.get(path)).content) for path in ("/me", "/me/search?name=default")}
    assert max(sizes.values()) < 60_000, sizes


async def test_the_whole_way_works_on_every_store_with_any_name_of_a_search(
    kind: str, place: str, tmp_path: Path
) -> None:
    name = "a.b/c `d` \u00fc [x] $1 \U0001f600"
    async with World(tmp_path, store=store_url(kind, place), SCOUT_BASE_URL=BASE) as world:
        await world.begin()
        async with visiting(world) as client:
            await signed_in(client, world)
            assert (await save_search(client, name, exclude="php")).status_code == 303
            world.after(minutes=15)
            world.feed(item("Gardener"), item("Python developer"), item("Python and PHP"))
            await world.cron()
            assert world.sent() == {(ANN, "Python developer"): 1}
            assert "1 mail last week" in text((await client.get("/me/search", params={"name": name})).text)
            said = await client.get("/me/why", params={"link": "https://jobs.example.com/python-and-php"})
            assert "it has php in the title" in text(said.text)
            assert "Sent Mon 30 Nov" in text((await client.get("/me/history")).text)
            assert (await save_search(client, "Plain", was=name)).status_code == 303
            assert list((await person(world)).searches) == ["Plain"]
            assert (await client.post("/me/delete")).status_code == 200
        assert await world.dump("users", "sessions", "sign_ins") == {}
