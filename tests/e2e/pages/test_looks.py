"""Every page at the width of a telephone and of a desk, in the dark and in the light."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from ledger import ids, users
from ledger.records import Search
from tests.e2e.pages.axe import grave_faults
from tests.e2e.pages.browser import chromium, link_in, new_page, served_world, sign_in
from tests.world import World, item

OPERATOR = "ops@example.com"
LONG = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft"
MANY = (*(f"keyword {n}" for n in range(197)), "python", LONG, "http://x")
PAGE_MAX_BYTES = 60_000
STRANGER = ("/", "/login?then=/me", "/login?then=/me&lost=1", "/nope", "/login/wrong", "/confirm/wrong")
PERSON = ("/me", "/me/search", "/me/search?name=Many", "/me/letters", "/me/history",
          "/me/why?link=jobs.example.com/python-0", "/me/why?link=x%20y", "/me/account",
          "/me/delete", "/me/rescore", "/me/search/remove?name=Many", "/status")  # fmt: skip
SHIFT_WATCH = """window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
async def test_no_page_overflows_shifts_weighs_too_much_or_has_a_grave_fault(
    tmp_path: Path, width: int, scheme: str
) -> None:
    async with served_world(tmp_path, SCOUT_OPERATOR=OPERATOR) as world, chromium() as browser:
        await _lived_in(world)
        faults: list[str] = []
        stranger = await _visitor(browser, world, width, scheme)
        for path in STRANGER:
            faults += await _faults(stranger, path)
        person = await _visitor(browser, world, width, scheme)
        await sign_in(person, world, OPERATOR)
        for path in PERSON:
            faults += await _faults(person, path)
        await stranger.goto("/")
        await stranger.get_by_label("Your e-mail address").fill("new@example.com")
        await stranger.get_by_role("button", name="Send me a link").click()
        await stranger.get_by_role("heading", name="Look into your mailbox").wait_for()
        faults += await grave_faults(stranger)
        faults += await _faults(stranger, link_in(world, "new@example.com"))
    assert faults == []


async def _lived_in(world: World) -> None:
    await world.begin()
    searches = {"Many": Search(keywords=MANY, exclude=("php",)), LONG: Search(keywords=("python",), must=("remote",))}
    await world.user(OPERATOR)
    await users.change(world.store, ids.uid_of(OPERATOR), lambda user: replace(user, searches=searches))
    titles = [f"Python {n}" for n in range(5)] + [f"{LONG} {LONG}", "Python and PHP", "\u202eright to left python"]
    world.after(minutes=15)
    world.feed(item("Gardener"), *(item(title, text="Remote python.") for title in titles))
    await world.cron()
    assert len(await world.rows(OPERATOR)) >= 6


async def _visitor(browser: Browser, world: World, width: int, scheme: str) -> Page:
    page = await new_page(browser, world, width=width, color_scheme=scheme)
    await page.add_init_script(SHIFT_WATCH)
    return page


async def _faults(page: Page, path: str) -> list[str]:
    weights: list[int] = []
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if "Refused" in message.text else None)
    answer = await page.goto(path)
    assert answer is not None
    weights.append(len(await answer.body()))
    await page.wait_for_load_state("networkidle")
    found = [f"{path}: {fault}" for fault in (*said, *await grave_faults(page))]
    over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if over > 0:
        found.append(f"{path}: {over} px wider than the window")
    if shifted := await page.evaluate("window.shifted"):
        found.append(f"{path}: shifted by {shifted}")
    extra = await page.evaluate(
        "performance.getEntriesByType('resource').reduce((sum, e) => sum + e.decodedBodySize, 0)"
    )
    if weights[0] + extra > PAGE_MAX_BYTES:
        found.append(f"{path}: {weights[0] + extra} bytes")
    outside = await page.evaluate(
        "performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin))"
    )
    return found + [f"{path}: loads {name}" for name in outside]
