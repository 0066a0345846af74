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
ROUNDS = 2
AT_LEAST = {20: 0.8, 64: 0.35}  # connections -> share of the bare client's rate


def run() -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder, web(Path(folder), delay_s=DELAY_S) as port:
        for connections, share in AT_LEAST.items():
            yield _share(port, connections, fits=1, at_least=share)
        yield _share(port, 64, fits=5, at_least=None)


def _share(port: int, connections: int, *, fits: int, at_least: float | None) -> Line:
    """Both in turn, twice; the better of each counts."""
    whole_s, bare_s = [], []
    for _ in range(ROUNDS):
        whole_s.append(asyncio.run(_whole_s(port, connections, fits=fits)))
        bare_s.append(asyncio.run(_bare_s(port, _taken(port), connections)))
        assert len(_taken(port)) == PEOPLE
    rates = f"{PEOPLE / min(whole_s):,.0f} letters a second, the bare client {PEOPLE / min(bare_s):,.0f}"
    name = f"rate at {connections} connections, by the bare client's ({fits} {'job' if fits == 1 else 'jobs'} a letter)"
    return Line(name, min(bare_s) / min(whole_s), at_least=at_least, note=rates)


def _taken(port: int) -> list[str]:
    """The letters posted since the last time."""
    with httpx2.Client(trust_env=False, timeout=60) as client:
        letters: list[str] = client.get(f"http://127.0.0.1:{port}/taken").json()
    return letters


async def _whole_s(port: int, connections: int, *, fits: int) -> float:
    """The seconds of a cycle that finds so many jobs for everybody."""
    town = Town(people=PEOPLE, jobs=fits, fits=fits)
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
