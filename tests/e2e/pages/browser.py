"""A real Chromium in front of a real server; the scout behind it is a World, on the address that its letters name."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.async_api import Browser, Page, async_playwright

from tests.world import World

CHROMIUM = shutil.which("chromium")
ARGS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
WAIT_MS = 30_000


def is_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true"}


@contextlib.asynccontextmanager
async def served_world(folder: Path, **settings: Any) -> AsyncIterator[World]:
    """A world whose app is served on loopback, at SCOUT_BASE_URL."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with World(folder, SCOUT_BASE_URL=url, **settings) as world:
            server = uvicorn.Server(uvicorn.Config(world.app, log_config=None, ws="none", lifespan="off"))
            task = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                yield world
            finally:
                server.should_exit = True
                await task


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        missing = "chromium is not installed"
        if is_ci():
            pytest.fail(missing)
        pytest.skip(missing)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGS))
        try:
            yield browser
        finally:
            await browser.close()


async def new_page(browser: Browser, world: World, *, width: int = 1280, **context: Any) -> Page:
    """A page of a fresh visitor; any error of a page's own fails the test that closes it."""
    opened = await browser.new_context(
        base_url=world.settings.base_url, viewport={"width": width, "height": 800}, **context
    )
    opened.set_default_timeout(WAIT_MS)
    return await opened.new_page()


def link_in(world: World, to: str, path: str = "login") -> str:
    """The newest link to this path that was mailed to somebody."""
    letters = [mail for mail in world.mails() if mail.to == to]
    links = [found[0] for mail in letters if (found := re.search(rf"https?://\S+/{path}/\S+", mail.text))]
    assert links, f"no /{path}/ link among {[mail.subject for mail in letters]}"
    return str(links[-1])


async def sign_in(page: Page, world: World, address: str = "ann@example.com") -> None:
    await page.goto("/")
    await page.get_by_label("Your e-mail address").fill(address)
    await page.get_by_role("button", name="Send me a link").click()
    await page.get_by_role("heading", name="Look into your mailbox").wait_for()
    await page.goto(link_in(world, address))
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/me**")
