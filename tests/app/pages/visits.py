"""A visitor without a browser: cookies, headers as a browser sends them, and links out of the mailbox."""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from tests.world import World

BASE = "http://127.0.0.1:8000"
OURS = {"sec-fetch-site": "same-origin", "accept": "text/html"}
ANN = "ann@example.com"


@contextlib.asynccontextmanager
async def visiting(
    world: World, *, base: str = BASE, client: tuple[str, int] = ("9.9.9.9", 5000), **headers: str
) -> AsyncIterator[httpx2.AsyncClient]:
    """One browser of its own; what it sends besides is given by headers with `_` for `-`."""
    told = OURS | {name.replace("_", "-"): value for name, value in headers.items()}
    transport = httpx2.ASGITransport(app=world.app, client=client)
    async with httpx2.AsyncClient(transport=transport, base_url=base, headers=told, timeout=60) as made:
        yield made


async def ask(client: httpx2.AsyncClient, address: str = ANN, **more: str) -> httpx2.Response:
    return await client.post("/login", data={"email": address, **more})


def links(world: World, path: str = "login", to: str | None = None) -> list[str]:
    """Every link of this kind that was mailed, as a path."""
    found = [(mail.to, re.search(rf"/{path}/\S+", mail.text)) for mail in world.mails()]
    return [match[0] for address, match in found if match is not None and to in (None, address)]


async def signed_in(client: httpx2.AsyncClient, world: World, address: str = ANN) -> httpx2.AsyncClient:
    """The same client, signed in the way a person does it."""
    before = links(world, to=address)
    assert (await ask(client, address)).status_code == 200
    (link,) = set(links(world, to=address)) - set(before)
    assert (await client.get(link)).status_code == 200
    answer = await client.post(link)
    assert answer.status_code == 303, answer.text
    return client


def field(page: str, name: str) -> str:
    """The value of a hidden or text field."""
    found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', page)
    assert found, f"no field {name}"
    return html.unescape(found[1])


def text(page: str) -> str:
    """What a person reads, in one line."""
    body = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", " ", page)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


async def save_search(client: httpx2.AsyncClient, name: str = "My search", *, was: str = "", **typed: Any) -> Any:
    """Open the form of a search, type, and press Save."""
    form = await client.get("/me/search", params={"name": was} if was else {})
    fields = {"was": was, "mark": field(form.text, "mark"), "name": name, "do": "save"}
    fields |= {"keywords": "python", "must": "", "exclude": ""} | typed
    return await client.post("/me/search", data=fields)


async def save_letters(client: httpx2.AsyncClient, **typed: str) -> httpx2.Response:
    """Open the form of the mail, type, and press Save."""
    form = (await client.get("/me/letters")).text
    return await client.post("/me/letters", data={"mark": field(form, "mark"), "mode": "instant"} | typed)
