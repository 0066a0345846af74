"""Alerts through a SendGrid that answers after 50 ms, rendering and ledger included, against the bare HTTP client.

The bare client posts the same bodies over as many connections, and does nothing else.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx2

from app.pace import Limits
from bench import Finding, Line, sized
from bench._town import Town
from bench._world import web, with_news

PEOPLE = sized(2_000, least=128)
DELAY_S = 0.05
AT_LEAST = {20: 0.8, 64: 0.35}  # connections -> share of the bare client's rate


def run() -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder, web(Path(folder), delay_s=DELAY_S) as port:
        for connections, share in AT_LEAST.items():
            _taken(port)
            whole_s = asyncio.run(_whole_s(port, connections))
            bodies = _taken(port)
            bare_s = asyncio.run(_bare_s(port, bodies, connections))
            note = f"{PEOPLE / whole_s:,.0f} letters a second, the bare client {PEOPLE / bare_s:,.0f}"
            name = f"rate at {connections} connections, by the bare client's"
            yield Line(name, bare_s / whole_s, at_least=share, note=note)


def _taken(port: int) -> list[str]:
    """The letters posted since the last time."""
    with httpx2.Client(trust_env=False, timeout=60) as client:
        letters: list[str] = client.get(f"http://127.0.0.1:{port}/taken").json()
    return letters


async def _whole_s(port: int, connections: int) -> float:
    """The seconds of a cycle that finds one job for everybody."""
    town = Town(people=PEOPLE, jobs=1, fits=1)
    mail = {
        "SCOUT_MAIL": "sendgrid:",
        "SENDGRID_API_KEY": "SG.x",
        "SCOUT_SENDGRID_URL": f"http://127.0.0.1:{port}",
    }
    limits = Limits(window_max=connections)
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder:
        async with with_news(Path(folder), town, mail=mail, limits=limits) as world:
            report, took_s = await world.run()
            assert report.mail.sent == PEOPLE, report.as_json()
    return took_s


async def _bare_s(port: int, bodies: Sequence[str], connections: int) -> float:
    assert len(bodies) == PEOPLE
    waiting = iter(bodies)
    headers = {"Authorization": "Bearer SG.x", "Content-Type": "application/json"}
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)

    async def post(client: httpx2.AsyncClient) -> None:
        for body in waiting:
            answer = await client.post(f"http://127.0.0.1:{port}/v3/mail/send", content=body, headers=headers)
            assert answer.status_code == 202

    async with httpx2.AsyncClient(limits=limits, trust_env=False) as client:
        began = time.perf_counter()
        await asyncio.gather(*(post(client) for _ in range(connections)))
        return time.perf_counter() - began
