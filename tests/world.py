"""A scout under test: the real app with its real lifespan, a clock that moves, a board and an outbox of its own.

    async with World(tmp_path) as world:
        await world.user("a@example.com", "python")
        world.feed(item("Python developer"))
        report = await world.cron()
        assert world.sent() == {("a@example.com", "Python developer"): 1}

`mails()` is what left the building; `sent()` counts it per person and job.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from typing import Any, Self

import httpx2
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from app.parts import Parts
from app.settings import Settings, load
from app.web import make_app
from ledger import ids, users
from ledger.collections import DELIVERIES, DIGESTS, LOCKS
from ledger.documents import decode
from ledger.lease import LOCK_ID
from ledger.records import Delivery, Digest, Mode, Search, User
from ledger.store import Store, every
from tests.boards import Board
from tests.faults import Hook, Intercepted, Spied, Watch, nothing
from tests.mailbox import Mail, read_mail
from tests.sinks import ScriptedSmtp

SECRET = "0123456789abcdef-cron"
T0 = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
FEED = "/feed.xml"
KEPT = ("users", "jobs", "aliases", "fingerprints", "deliveries", "matches", "digests", "sources")  # no locks, no runs


def item(title: str, *, guid: str | None = None, link: str | None = None, text: str = "Remote.", date: str = "") -> str:
    """An RSS item; guid and link come from the title unless given."""
    name = re.sub(r"\W+", "-", title.lower())
    parts = {"title": title, "link": link or f"https://jobs.example.com/{name}", "guid": guid or name}
    parts |= {"description": text} | ({"pubDate": date} if date else {})
    return "<item>" + "".join(f"<{tag}>{escape(value)}</{tag}>" for tag, value in parts.items()) + "</item>"


def rss(*items: str) -> str:
    body = "".join(items)
    return f'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>x</title>{body}</channel></rss>'


class World:
    """`store` is a SCOUT_STORE, by default a file in the folder; `sink` takes the mail instead of an outbox.

    `sources` maps a name to its URL, by default one named `board` at FEED; `min_interval_s` is theirs. Keywords
    that begin with SCOUT_ are settings.
    """

    def __init__(
        self,
        folder: Path,
        *,
        store: str | None = None,
        sink: ScriptedSmtp | None = None,
        sources: dict[str, str] | None = None,
        min_interval_s: int = 0,
        now: datetime = T0,
        board: Board | None = None,
        **settings: str | None,
    ) -> None:
        self.now = now
        self.folder = folder
        self.sink = sink
        self._own_board = board is None
        self.board = board or Board()
        self._sources = sources
        self._min_interval_s = min_interval_s
        environ = {
            "SCOUT_CRON_SECRET": SECRET,
            "SCOUT_STORE": store or f"sqlite:///{folder / 'scout.db'}",
            "SCOUT_MAIL": sink.url if sink is not None else f"outbox:///{folder / 'outbox'}",
            "SCOUT_ALLOW_LOOPBACK": "true",
            "SCOUT_SOURCES": str(folder / "sources.toml"),
            "SCOUT_BASE_URL": "http://scout.test",
            **settings,
        }
        self._environ = {name: value for name, value in environ.items() if value is not None}

    async def __aenter__(self) -> Self:
        self._stack = contextlib.AsyncExitStack()
        if self._own_board:
            self._stack.enter_context(self.board)
        self.write_sources(self._sources or {"board": self.board.url(FEED)}, min_interval_s=self._min_interval_s)
        self.settings: Settings = load(self._environ)
        self.app = await self._stack.enter_async_context(self.another())
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.aclose()

    def clock(self) -> datetime:
        return self.now

    def after(self, **time: float) -> datetime:
        """Move the clock on; returns where it stands now."""
        self.now += timedelta(**time)
        return self.now

    @contextlib.asynccontextmanager
    async def another(self, settings: Settings | None = None) -> AsyncIterator[FastAPI]:
        """Another scout on the same data, as another process would be."""
        app = make_app(settings or self.settings, clock=self.clock)
        async with app.router.lifespan_context(app):
            yield app

    @contextlib.contextmanager
    def served(self, app: ASGIApp | None = None) -> Iterator[str]:
        """The URL of another scout on the same data, behind a real server in a thread and loop of its own."""
        served = app or make_app(self.settings, clock=self.clock)
        config = uvicorn.Config(served, log_config=None, access_log=False, ws="none", lifespan="on")
        server = uvicorn.Server(config)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen(128)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="server", daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True
                thread.join(30)
                assert not thread.is_alive(), "the server did not end"

    @property
    def parts(self) -> Parts:
        parts: Parts = self.app.state.parts
        return parts

    @property
    def store(self) -> Store:
        return self.parts.store

    def intercept(self, hook: Hook, *, app: FastAPI | None = None) -> Intercepted:
        """Let every letter of the app pass the hook."""
        state = (app or self.app).state
        transport = Intercepted(state.parts.transport, hook)
        state.parts = replace(state.parts, transport=transport)
        return transport

    def spy(self, before: Watch = nothing, after: Watch = nothing, *, app: FastAPI | None = None) -> None:
        """Await `before(operation, collection)` ahead of every call of the app's store, and `after` behind it."""
        state = (app or self.app).state
        state.parts = replace(state.parts, store=Spied(state.parts.store, before, after))

    async def steal_lock(self) -> None:
        """As if the lease of whoever holds it were over."""
        await self.store.delete(LOCKS, [LOCK_ID])

    def write_sources(self, sources: dict[str, str], *, min_interval_s: int = 0) -> None:
        entry = '[[source]]\nname = {}\nkind = "feed"\nurl = {}\nmin_interval_s = {}\n'
        rows = [entry.format(json.dumps(name), json.dumps(url), min_interval_s) for name, url in sources.items()]
        (self.folder / "sources.toml").write_text("\n".join(rows))

    def feed(self, *items: str, path: str = FEED, **how: Any) -> str:
        """Serve these items from now on; returns the URL."""
        return self.board.serve(path, rss(*items), **how)

    async def user(self, address: str, *keywords: str, mode: Mode = Mode.INSTANT, **fields: Any) -> str:
        """Save a profile, as its page would; returns the uid."""
        search = Search(keywords=keywords or ("python",))

        def edit(user: User) -> User:
            return replace(user, mode=mode, searches={"default": search}, **fields)

        return (await users.save_profile(self.store, address, edit, now=self.now)).user.uid

    async def call(
        self,
        path: str = "/cron",
        *,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        app: FastAPI | None = None,
    ) -> httpx2.Response:
        """One request, with the secret unless other headers are given."""
        told = {"Authorization": f"Bearer {SECRET}"} if headers is None else headers
        transport = httpx2.ASGITransport(app=app or self.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://scout.test", timeout=60) as client:
            return await client.request(method, path, headers=told)

    async def cron(self, path: str = "/cron", *, app: FastAPI | None = None) -> dict[str, Any]:
        """GET /cron with the secret; the report of an answer that must be 200."""
        answer = await self.call(path, app=app)
        assert answer.status_code == 200, answer.text
        report: dict[str, Any] = answer.json()
        return report

    async def begin(self, *items: str) -> dict[str, Any]:
        """The first poll of the board: a silent baseline with these items, after which everything new is news."""
        self.feed(*(items or (item("Gardener"),)))
        report = await self.cron()
        assert (report["status"], report["sources"]["failed"], report["mail"]["sent"]) == ("completed", [], 0), report
        return report

    def mails(self) -> list[Mail]:
        """Every letter that left the building so far, an attempt each, in the order of their names or arrival."""
        if self.sink is not None:
            return [read_mail(received.data) for received in self.sink.received]
        return [read_mail(path.read_bytes()) for path in sorted((self.folder / "outbox" / "new").glob("*"))]

    def sent(self, kind: str | None = None) -> Counter[tuple[str, str]]:
        """How often each job was mailed to each person."""
        return Counter((m.to, job) for m in self.mails() if kind in (None, m.kind) for job in m.jobs)

    def letters(self) -> Counter[tuple[str, str]]:
        """How many letters of each kind went to each person."""
        return Counter((m.to, m.kind) for m in self.mails())

    async def rows(self, address: str | None = None) -> dict[str, Delivery]:
        """The delivery rows by the job's title, of one person or of all."""
        where = {"uid": ids.uid_of(address)} if address else {}
        found = [decode(Delivery, s) async for s in every(self.store, DELIVERIES, where)]
        return {row.title: row for row in found}

    async def digests(self) -> list[Digest]:
        return [decode(Digest, s) async for s in every(self.store, DIGESTS, {})]

    async def dump(self, *collections: str) -> dict[str, dict[str, Any]]:
        """Whole collections, by default all but locks and runs: {"collection/id": document}."""
        wanted = collections or KEPT
        return {f"{c}/{s.id}": s.data for c in wanted async for s in every(self.store, c, {})}
