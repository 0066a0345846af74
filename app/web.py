"""The application: routes, lifespan, and what every answer owes."""

from __future__ import annotations

import asyncio
import contextlib
import math
import multiprocessing
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import structlog
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import cron, health, unsubscribe, webhooks
from app.ending import as_if_killed
from app.pages.install import install
from app.pages.week import LastWeek
from app.parts import Clock, Parts, utc_now
from app.settings import Settings
from app.wiring import wired

log = structlog.get_logger()

AT_ONCE = 2  # the time of being told to end that stops runs where they are; the next one ends the process
PASSED_ON_S = 1.0  # a supervisor tells its workers what their whole group has heard already


def as_wired(parts: Parts) -> Parts:
    return parts


def make_app(settings: Settings, *, clock: Clock = utc_now, rewire: Callable[[Parts], Parts] = as_wired) -> FastAPI:
    """The app for these settings; everything that needs a loop is made in its lifespan, once per loop.

    `rewire` may put something between the cycle and its parts: a drill kills the process there.
    """
    started_at = clock()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        runs = cron.Runs()
        with _told_to_end(runs):
            async with wired(settings, clock=clock) as parts:
                app.state.parts = rewire(parts)
                app.state.runs = runs
                app.state.week = LastWeek()
                yield
                await runs.drain()

    app = FastAPI(title="Scout", lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.settings = settings
    app.state.started_at = started_at
    app.include_router(cron.router)
    app.include_router(health.router)
    app.include_router(unsubscribe.router)
    app.include_router(webhooks.router)
    install(app)
    app.add_middleware(NoStore)
    return app


@contextlib.contextmanager
def _told_to_end(runs: cron.Runs) -> Any:
    """SIGTERM and Ctrl-C count as the wall reached, before the server begins to wait for its requests.

    Told a second time, the runs end where they are, and the server still answers who waits for them. The third time,
    and the second if there is no run, the process ends as if killed, under any server: theirs wait for requests and
    for us, and heed SIGTERM only once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    loop = asyncio.get_running_loop()
    has_supervisor = multiprocessing.parent_process() is not None
    times, told_s = 0, -math.inf

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal times, told_s
        if has_supervisor and time.monotonic() - told_s < PASSED_ON_S:
            return
        times, told_s = times + 1, time.monotonic()
        if times > AT_ONCE or (times == AT_ONCE and not runs.is_busy):
            as_if_killed(number)
        if times == AT_ONCE:
            loop.call_soon_threadsafe(runs.cancel)
            return
        runs.wind_down()
        old = before[signal.Signals(number)]
        if callable(old):
            old(number, frame)
        elif old == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, old in before.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, old)


class NoStore:
    """Cache-Control: no-store on every answer that is not a static file: a cached run is a run that never was."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                if scope["path"].startswith("/static/") and message["status"] == 200:
                    await send(message)
                    return
                headers = [(k, v) for k, v in message.get("headers", []) if k.lower() != b"cache-control"]
                message = {**message, "headers": [*headers, (b"cache-control", b"no-store")]}
            await send(message)

        await self._app(scope, receive, sent if scope["type"] == "http" else send)
