"""The whole way in a real browser: sign up, say what fits, get mail, click through, leave."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import Page, expect

from ledger import ids, sessions, users
from ledger.records import Mode
from tests.e2e.pages.browser import chromium, link_in, new_page, served_world, sign_in
from tests.world import item

ANN = "ann@example.com"
FOCUSED = """(() => {
  const e = document.activeElement, r = e.getBoundingClientRect();
  return {name: e.name || e.tagName, html: e.outerHTML.slice(0, 80), 
          shown: r.width > 0 && getComputedStyle(e).outlineStyle !== 'none'};
})()"""


async def test_a_person_signs_up_gets_a_job_unsubscribes_comes_back_and_leaves(tmp_path: Path) -> None:
    async with served_world(tmp_path) as world, chromium() as browser:
        await world.begin()
        page = await new_page(browser, world)
        await page.goto("/")
        await page.get_by_label("Your e-mail address").fill(ANN)
        await page.get_by_role("button", name="Send me a link").click()
        await page.get_by_role("heading", name="Look into your mailbox").wait_for()

        scanner = await new_page(browser, world)  # a mail scanner opens the link, runs what scripts there are, twice
        for _ in range(2):
            await scanner.goto(link_in(world, ANN))
            await scanner.wait_for_load_state("networkidle")
        await scanner.context.close()

        await page.goto(link_in(world, ANN))
        await expect(page.get_by_text(ANN)).to_be_visible()
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url("**/me/search")
        await page.get_by_label("Keywords, any of them").fill("python")
        await page.get_by_role("button", name="Save", exact=True).last.click()
        await page.wait_for_url("**/me?saved=*")

        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"), item("Python and PHP"))
        report = await world.cron()
        assert report["mail"]["alerts"] == 1
        assert world.sent() == {(ANN, "Python developer"): 1, (ANN, "Python and PHP"): 1}
        letter = next(mail for mail in world.mails() if mail.kind == "alert")

        opinion = re.search(r"https?://\S+/me/jobs/\w+", letter.text)
        assert opinion
        await page.goto(opinion[0])
        await page.get_by_role("button", name="Good one").click()
        await expect(page.get_by_role("status")).to_have_text("Noted.")
        await page.goto("/me/history")
        assert await page.get_by_role("button", name="Good one", pressed=True).count() == 1

        leave = re.search(r"https?://\S+/unsubscribe/\S+", letter.text)
        assert leave
        await page.goto(leave[0])
        await page.get_by_role("button").click()
        await page.get_by_role("heading", name="You are unsubscribed").wait_for()
        await page.goto("/me")
        await expect(page.get_by_text("you unsubscribed")).to_be_visible()
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"), item("Python and PHP"), item("Python two"))
        assert (await world.cron())["mail"]["sent"] == 0
        await page.get_by_role("button", name="Send me mail again").click()
        await page.wait_for_url("**/me?changed=1")

        await page.get_by_role("link", name="Account").click()
        await page.get_by_role("link", name="Delete everything").click()
        await page.get_by_role("button", name="Delete everything").click()
        await page.get_by_role("heading", name="Goodbye").wait_for()
        await page.goto("/me")
        await page.wait_for_url("**/login?then=/me")
        assert await world.dump("users", "sessions", "feedback") == {}


async def test_the_preview_follows_the_typing_and_chips_can_be_taken_away(tmp_path: Path) -> None:
    async with served_world(tmp_path) as world, chromium() as browser:
        await world.begin()
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"), item("Python and PHP"), item("Rust developer"))
        await world.cron()
        page = await new_page(browser, world)
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        await sign_in(page, world)
        keywords, preview = page.get_by_label("Keywords, any of them"), page.locator("#preview")
        await keywords.fill("python, rust")
        await expect(preview).to_contain_text("3 of the 3 jobs of the last 7 days fit")
        await page.get_by_label("None of these").fill("php")
        await expect(preview).to_contain_text("it has php in the title, which is excluded")
        await page.get_by_role("button", name="Remove rust").focus()
        await page.keyboard.press("Enter")
        await expect(keywords).to_have_value("python")
        await expect(preview).to_contain_text("1 of the 3 jobs of the last 7 days fits")
        await keywords.fill('python, "<img src=x onerror=alert(1)>"')
        await expect(page.get_by_role("button", name="Remove <img")).to_be_visible()
        await expect(preview).to_contain_text("Python developer")
        await keywords.fill(", ".join(f"keyword {n}" for n in range(201)))
        await expect(preview).to_contain_text("At most 200 keywords")
        await page.get_by_role("button", name="Save", exact=True).last.click()
        await expect(page.locator("#keywords-error")).to_contain_text("one too many from here: keyword 200")
        assert len((await keywords.input_value()).split(", ")) == 201
        assert dialogs == []
        assert (await world.dump("users"))[f"users/{ids.uid_of(ANN)}"]["searches"] == {}


async def test_the_keyboard_alone_is_enough(tmp_path: Path) -> None:
    async with served_world(tmp_path) as world, chromium() as browser:
        page = await new_page(browser, world)
        await page.goto("/")
        await _tab_to(page, "email")
        await page.keyboard.type(ANN)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Look into your mailbox").wait_for()
        await page.goto(link_in(world, ANN))
        await expect(page.get_by_role("button", name="Sign in")).to_be_focused()  # a frame after the load, not with it
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/me/search")
        await _tab_to(page, "keywords")
        await page.keyboard.type("python")
        await _tab_to(page, "SUMMARY")
        await page.keyboard.press("Enter")
        await _tab_to(page, "max_age_h")
        await page.keyboard.type("48")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/me?saved=*")
        await page.goto("/me/letters")
        await _tab_to(page, "mode")
        await page.keyboard.press("ArrowDown")
        await _tab_to(page, "ai_threshold")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/me?changed=1")
        found = await users.read(world.store, ids.uid_of(ANN))
        assert found is not None
        assert found.record.mode is Mode.DAILY
        assert [search.max_age_h for search in found.record.searches.values()] == [48]


async def _tab_to(page: Page, name: str) -> None:
    """Press Tab until the field has the focus, and see it each time."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        focused = await page.evaluate(FOCUSED)
        assert focused["shown"], f"the focus cannot be seen on the way to {name}: {focused}"
        if focused["name"] == name:
            return
    raise AssertionError(f"Tab does not come to {name}")


async def test_everything_works_without_javascript(tmp_path: Path) -> None:
    async with served_world(tmp_path) as world, chromium() as browser:
        await world.begin()
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"))
        await world.cron()
        page = await new_page(browser, world, java_script_enabled=False)
        await sign_in(page, world)
        await page.get_by_label("Keywords, any of them").fill("python, go")
        await page.get_by_role("button", name="Try it").click()
        await page.get_by_role("button", name="Remove go").click()
        await expect(page.locator("#preview")).to_contain_text("1 of the 1 job of the last 7 days fits")
        await expect(page.get_by_label("Keywords, any of them")).to_have_value("python")
        await page.get_by_role("button", name="Save", exact=True).last.click()
        await page.wait_for_url("**/me?saved=*")
        await page.get_by_role("link", name="Mail").click()
        await page.get_by_label("Once a day").check()
        await page.get_by_role("button", name="Save").click()
        await page.wait_for_url("**/me?changed=1")
        await page.get_by_role("link", name="Why not?").click()
        await page.get_by_label("Link of the job").fill("https://jobs.example.com/gardener")
        await page.get_by_role("button", name="Look").click()
        await expect(page.get_by_label("Answer")).to_contain_text("none of the keywords")
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_url(re.compile(r"/$"))


async def test_without_javascript_a_telephone_shows_what_a_button_did(tmp_path: Path) -> None:
    async with served_world(tmp_path) as world, chromium() as browser:
        await world.begin()
        world.after(minutes=15)
        world.feed(item("Gardener"), item("Python developer"))
        await world.cron()
        page = await new_page(browser, world, width=360, java_script_enabled=False)
        await sign_in(page, world)
        await page.get_by_label("Keywords, any of them").fill("python, go")
        await page.get_by_role("button", name="Try it").click()
        await expect(page.get_by_role("heading", name="With this you would have got")).to_be_in_viewport()
        await page.get_by_role("button", name="Remove go").click()
        await expect(page.get_by_label("Keywords, any of them")).to_be_in_viewport()
        await expect(page.get_by_label("Keywords, any of them")).to_have_value("python")


async def test_a_session_that_ends_while_somebody_types_is_told_and_what_was_typed_can_be_saved(tmp_path: Path) -> None:
    async with served_world(tmp_path) as world, chromium() as browser:
        page = await new_page(browser, world)
        await sign_in(page, world)
        other = await page.context.new_page()
        await other.goto("/me/account")
        await other.get_by_role("button", name="Sign out everywhere").click()
        await other.wait_for_url(re.compile(r"/$"))
        await page.get_by_label("Keywords, any of them").fill("python")
        await expect(page.locator("#preview")).to_contain_text("You are signed out")
        async with page.context.expect_page() as opened:
            await page.get_by_role("link", name="Sign in in another window").click()
        await (await opened.value).wait_for_url("**/login")
        key = await sessions.begin(world.store, ids.uid_of(ANN), now=world.now)  # as the link of a second letter would
        await page.context.add_cookies([{"name": "scout", "value": key, "url": world.settings.base_url}])
        await page.get_by_role("button", name="Save", exact=True).last.click()
        await page.wait_for_url("**/me?saved=*")


async def test_the_second_of_two_windows_is_told_and_keeps_what_was_typed(tmp_path: Path) -> None:
    async with served_world(tmp_path) as world, chromium() as browser:
        await world.user(ANN, "python")
        one = await new_page(browser, world)
        await sign_in(one, world)
        two = await one.context.new_page()
        for page in (one, two):
            await page.goto("/me/search?name=default")
        await one.get_by_label("Keywords, any of them").fill("rust")
        await one.get_by_role("button", name="Save", exact=True).last.click()
        await one.wait_for_url("**/me?saved=*")
        await two.get_by_label("Keywords, any of them").fill("go")
        await two.get_by_role("button", name="Save", exact=True).last.click()
        await expect(two.get_by_role("alert")).to_contain_text("changed in another window")
        await expect(two.get_by_role("alert")).to_contain_text("Kept now: Keywords: rust.")
        await expect(two.get_by_label("Keywords, any of them")).to_have_value("go")
        await two.get_by_role("button", name="Save", exact=True).last.click()
        await two.wait_for_url("**/me?saved=*")
        found = await users.read(world.store, ids.uid_of(ANN))
        assert found is not None
        assert found.record.searches["default"].keywords == ("go",)
