"""Alerts through a mail server that answers after 200 ms: all at the pace's window, against one after the other."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.pace import Limits
from bench import Finding, Line, sized
from bench._town import Town
from bench._world import smtp_sink, with_news

PEOPLE = sized(2_000, least=64)
ONE_BY_ONE = 25
DELAY_S = 0.2


def run() -> Iterator[Finding]:
    with smtp_sink(delay_s=DELAY_S) as port:
        alone_s = asyncio.run(_seconds_a_letter(port, people=ONE_BY_ONE, limits=Limits(window_max=1)))
        paced_s = asyncio.run(_seconds_a_letter(port, people=PEOPLE, limits=Limits()))
    yield Line("one user after the other", alone_s * 1000, "ms a letter", note=f"{ONE_BY_ONE} users")
    yield Line("at the pace's window", paced_s * 1000, "ms a letter", note=f"{PEOPLE:,} users, one fit each")
    yield Line("speed-up", alone_s / paced_s, "x", at_least=20)


async def _seconds_a_letter(port: int, *, people: int, limits: Limits) -> float:
    town = Town(people=people, jobs=1, fits=1)
    mail = {"SCOUT_MAIL": f"smtp://127.0.0.1:{port}"}
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder:
        async with with_news(Path(folder), town, mail=mail, limits=limits) as world:
            report, took_s = await world.run()
            assert report.mail.sent == people, report.as_json()
            world.later()
            assert (await world.run())[0].mail.sent == 0
    return took_s / people
