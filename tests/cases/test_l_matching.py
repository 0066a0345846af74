"""Cases L: who gets which job, counted on the mail that left after GET /cron."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from typing import Any

import pytest

from ledger import users
from ledger.collections import JOBS
from ledger.documents import decode
from ledger.records import Job, Mode, Search, User
from ledger.store import every
from scan.pay import Period, converted, parse_pay
from tests.shared import shared
from tests.world import World, item

# Where a table leaves the answer open: token-exact, and short words where they are names.
RULED = {"go to market strategy": False, "vitamin C tablets": True, "R&D lead": False, "make use of it": False}


def table(name: str) -> Any:
    return json.loads(shared(f"cases/{name}_table.json").read_text("utf-8"))


def offer(title: str, **elements: str) -> str:
    more = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in elements.items())
    return item(title).replace("</item>", f"{more}</item>")


async def looks_for(world: World, address: str, search: Search, mode: Mode = Mode.INSTANT) -> None:
    def edit(user: User) -> User:
        return replace(user, mode=mode, searches={"default": search})

    await users.save_profile(world.store, address, edit, now=world.now)


@pytest.mark.parametrize("name", ["B114", "B115", "B119", "B124"])
async def test_each_row_of_a_table_is_mailed_as_it_says(name: str, world: World) -> None:
    """B114, B115, B119, B124: a person for each row, all texts as jobs of one feed."""
    rows = [row for row in table(name) if "text" in row]
    await world.begin()
    titles = {text: f"Offer {n}" for n, text in enumerate(dict.fromkeys(row["text"] for row in rows))}
    for n, row in enumerate(rows):
        excluded = row.get("exclude", [])
        search = Search(
            keywords=tuple(row.get("keywords", [row.get("keyword", "offer")])),
            exclude=(excluded,) if isinstance(excluded, str) else tuple(excluded),
        )
        await looks_for(world, f"row{n}@example.com", search)
    await world.cron()
    world.feed(item("Gardener"), *(item(title, text=text) for text, title in titles.items()))
    await world.cron()
    sent = world.sent()
    assert max(sent.values()) == 1
    wrong = []
    for n, row in enumerate(rows):
        expected = row["match"] if "match" in row else not row["excluded"]
        expected = RULED[row["text"]] if isinstance(expected, str) else expected
        if bool(sent[(f"row{n}@example.com", titles[row["text"]])]) is not expected:
            wrong.append(row)
    assert wrong == []


async def test_blank_keywords_get_no_mail_and_blank_exclusions_exclude_nothing(world: World) -> None:
    """B117."""
    await world.begin()
    for n, row in enumerate(table("B117")):
        search = Search(keywords=tuple(row["keywords"] or ()), exclude=tuple(row.get("exclude", ())))
        await looks_for(world, f"row{n}@example.com", search)
    await world.cron()
    world.feed(item("Gardener"), item("Cook wanted", text="a (b"), item("Python dev"))
    await world.cron()
    assert world.sent() == {
        (f"row{n}@example.com", "Python dev"): 1
        for n, row in enumerate(table("B117"))
        if "python" in (row["keywords"] or ())
    }


async def test_budgets_are_stored_as_the_table_reads_them_and_mailed_as_the_board_states_them(world: World) -> None:
    """B120."""
    await world.begin()
    await world.user("a@example.com", "offer")
    await world.cron()
    rows = table("B120")
    world.feed(item("Gardener"), *(offer(f"Offer {n}", salary=row["text"]) for n, row in enumerate(rows)))
    await world.cron()
    found = {job.title: job for job in [decode(Job, s) async for s in every(world.store, JOBS, {})]}
    for n, row in enumerate(rows):
        job = found[f"Offer {n}"]
        stored = (job.pay_min, job.pay_max, job.currency or None, job.period or None)
        assert stored == (row["min"], row["max"], row["currency"], row["period"]), row
    (mail,) = world.mails()
    assert [row["text"] for row in rows if row["text"] not in mail.text] == []


async def test_gate_and_letter_show_figures_of_one_conversion(world: World) -> None:
    """B122: in an alert and in a digest; another currency passes as unknown, unless the person is strict."""
    case = table("B122")
    floor = converted(case["user_min"]["amount"], Period(case["user_min"]["period"]), Period.HOUR)
    assert floor is not None
    search = Search(keywords=("offer",), min_hourly=floor, currency=case["user_min"]["currency"])
    await world.begin()
    await looks_for(world, "now@example.com", search)
    await looks_for(world, "daily@example.com", search, Mode.DAILY)
    await looks_for(world, "euro@example.com", replace(search, currency="EUR"))
    await looks_for(world, "strict@example.com", replace(search, currency="EUR", strict=True))
    await world.cron()
    pays = [*case["jobs"], "$47/hr", "€46/hr"]
    world.feed(item("Gardener"), *(offer(f"Offer {n}", salary=pay) for n, pay in enumerate(pays)))
    await world.cron()
    world.after(days=1, hours=2)
    await world.cron()
    fine = [f"Offer {n}" for n in (0, 1, 2, 4)]
    expected = {(who, title): 1 for who in ("now@example.com", "daily@example.com") for title in fine}
    expected |= {("euro@example.com", f"Offer {n}"): 1 for n in range(4)}
    assert world.sent() == expected
    told = {mail.to: " ".join(mail.text.split()) for mail in world.mails()}
    for who in ("now@example.com", "daily@example.com"):
        assert "pays USD 50 an hour" in told[who]
        assert "pays USD 100,000 a year, which is USD 48.08 an hour" in told[who]
        assert "pays USD 8,500 a month, which is USD 49.04 an hour" in told[who]
        for pay in case["jobs"]:
            assert pay in told[who]
            assert parse_pay(pay) is not None


async def test_country_kind_of_work_and_language_decide_and_what_is_unknown_passes(world: World) -> None:
    german = (
        "Wir suchen für unser Team eine Person, die mit uns an der Plattform arbeitet und sich nicht auf das beschränkt"
    )
    await world.begin()
    await looks_for(world, "at@example.com", Search(keywords=("offer",), countries=("AT",)))
    await looks_for(world, "free@example.com", Search(keywords=("offer",), contracts=("freelance",)))
    await looks_for(world, "en@example.com", Search(keywords=("offer",), languages=("en",)))
    await looks_for(world, "all@example.com", Search(keywords=("offer",), countries=("AT",), strict=True))
    await world.cron()
    world.feed(
        item("Gardener"),
        offer("Offer of Europe", region="Europe", type="Full-Time"),
        offer("Offer of America", region="USA only", type="Contract"),
        offer("Offer of nowhere"),
        item("Offer auf Deutsch", text=german),
    )
    await world.cron()
    assert world.sent() == {
        ("at@example.com", "Offer of Europe"): 1,
        ("at@example.com", "Offer of nowhere"): 1,
        ("at@example.com", "Offer auf Deutsch"): 1,
        ("free@example.com", "Offer of America"): 1,
        ("free@example.com", "Offer of nowhere"): 1,
        ("free@example.com", "Offer auf Deutsch"): 1,
        ("en@example.com", "Offer of Europe"): 1,
        ("en@example.com", "Offer of America"): 1,
        ("en@example.com", "Offer of nowhere"): 1,
        ("all@example.com", "Offer of Europe"): 1,
    }


async def test_a_keyword_that_the_text_turns_down_is_told_in_the_letter(world: World) -> None:
    await world.begin()
    await world.user("a@example.com", "java")
    await world.cron()
    world.feed(item("Gardener"), item("Python developer", text="We are a small team, no Java needed."))
    await world.cron()
    (mail,) = world.mails()
    assert 'java in the text, but it says "no java needed"' in " ".join(mail.text.split())
