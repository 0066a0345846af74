"""The cycle against the naive loop and against the bare writes of its ledger, and how it grows.

Mail goes to a server that answers each body after 50 ms. A cycle is the whole of one: the lease, the poll over HTTP,
the parsing, the matching, the claims, the letters, the settling, the report. The naive loop is measured on a few people
and scaled to all by their number, which is what its cost grows with.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app.parts import utc_now
from app.report import Report
from bench import Curve, Finding, Line, Series, number, sized
from bench._naive import seconds_a_person
from bench._town import Town
from bench._world import smtp_sink, with_news
from ledger.collections import DELIVERIES
from ledger.sqlite import SqliteStore
from ledger.store import Doc, every

DELAY_S = 0.05
NAIVE_PEOPLE = 6  # the part that the naive loop is measured on
USUAL = Town(people=sized(1_000, least=20), jobs=50, fits=5)

USERS = tuple(sized(n, least=8) for n in (100, 300, 1_000, 3_000, 10_000))
FITS = (1, 2, 5, 10, 20)  # 20 fill a letter
FITS_PEOPLE = sized(500, least=16)
JOBS = (10, 30, 100, 300, 1_000)  # 1,000 are matched in one cycle at most
JOBS_BOARDS = 4  # one answer is read up to 1,000 items
JOBS_PEOPLE = sized(300, least=16)


@dataclass(frozen=True, slots=True)
class Measured:
    town: Town
    report: Report
    took_s: float
    naive_s: float  # scaled to all people
    writes_s: float  # of the same ledger rows, by the store alone


def run() -> Iterator[Finding]:
    with smtp_sink(delay_s=DELAY_S) as port:
        usual = _measured(USUAL, port)
        yield from _lines(usual)
        yield from _growth([_measured(replace(USUAL, people=n), port) for n in sorted(set(USERS))])
        fits = [_measured(replace(USUAL, people=FITS_PEOPLE, fits=n), port) for n in FITS]
        yield _curve("fits", f"Fits a person ({FITS_PEOPLE:,} people, {USUAL.jobs} jobs)", "fits a person", fits)
        jobs = [
            _measured(replace(USUAL, people=JOBS_PEOPLE, jobs=n, text_chars=1_500), port, boards=JOBS_BOARDS)
            for n in JOBS
        ]
        yield _curve("jobs", f"New jobs ({JOBS_PEOPLE:,} people, {USUAL.fits} fits each)", "new jobs", jobs)


def _lines(usual: Measured) -> Iterator[Finding]:
    town, cost = usual.town, usual.report.cost
    size = f"{town.people:,} people, {town.jobs} jobs, {town.fits} fits each"
    yield Line("the cycle", usual.took_s, "s", note=size)
    yield Line(
        "a letter of the cycle", usual.took_s / town.people * 1000, "ms", note="all that a cycle does, shared out"
    )
    yield Line("a person of the naive loop", usual.naive_s / town.people * 1000, "ms")
    yield Line(
        "the naive loop against the cycle",
        usual.naive_s / usual.took_s,
        "x",
        at_least=40,
        note=f"loop measured on {NAIVE_PEOPLE} people, scaled to {number(usual.naive_s)} s",
    )
    yield Line(
        "the cycle against its ledger's writes alone",
        usual.took_s / usual.writes_s,
        "x",
        note="the same rows created and swapped in full batches",
    )
    yield Line("documents read by the cycle", cost.reads, note=f"{cost.reads / town.people:.2f} a person")
    yield Line("documents written", cost.writes, note=f"{cost.writes / (town.people * town.fits):.2f} a delivery row")
    yield Line("round trips", cost.round_trips, note=f"{cost.round_trips / town.people:.2f} a letter")


def _growth(measured: list[Measured]) -> Iterator[Finding]:
    title = f"People ({USUAL.jobs} jobs, {USUAL.fits} fits each)"
    curve = _curve("users", title, "people", measured)
    alone = Series("its ledger's writes alone", tuple((float(m.town.people), m.writes_s) for m in measured))
    yield replace(curve, series=(*curve.series, alone))
    costs = {
        "documents written": [m.report.cost.writes for m in measured],
        "documents read": [m.report.cost.reads for m in measured],
        "round trips": [m.report.cost.round_trips for m in measured],
    }
    people = [float(m.town.people) for m in measured]
    series = tuple(Series(name, tuple(zip(people, map(float, ys), strict=True))) for name, ys in costs.items())
    yield Curve("cost", "What a cycle costs in the store", "people", "of one cycle", series)


def _curve(file: str, title: str, across: str, measured: list[Measured]) -> Curve:
    of = {"users": lambda m: m.town.people, "fits": lambda m: m.town.fits, "jobs": lambda m: m.town.jobs}[file]
    return Curve(
        file,
        title,
        across,
        "seconds",
        (
            Series("naive loop", tuple((float(of(m)), m.naive_s) for m in measured), is_scaled=True),
            Series("Scout's cycle", tuple((float(of(m)), m.took_s) for m in measured)),
        ),
    )


def _measured(town: Town, port: int, *, boards: int = 1) -> Measured:
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as name:
        folder = Path(name)
        report, took_s, writes_s = asyncio.run(_cycle(town, folder, port, boards=boards))
        part = min(NAIVE_PEOPLE, town.people)
        naive_s = seconds_a_person(town, folder, people=part, smtp_port=port) * town.people
    return Measured(town, report, took_s, naive_s, writes_s)


async def _cycle(town: Town, folder: Path, port: int, *, boards: int) -> tuple[Report, float, float]:
    mail = {"SCOUT_MAIL": f"smtp://127.0.0.1:{port}"}
    async with with_news(folder, town, mail=mail, boards=boards) as world:
        report, took_s = await world.run()
        assert report.mail.sent == town.people, report.as_json()
        assert report.matches.fit == town.people * town.fits
        rows: dict[str, Doc] = {s.id: s.data async for s in every(world.parts.store, DELIVERIES, {})}
        assert len(rows) == town.people * town.fits
        world.later()
        again, _ = await world.run()
        assert again.mail.sent == again.jobs.new == 0
        return report, took_s, await _writes_alone(rows, folder)


async def _writes_alone(rows: dict[str, Doc], folder: Path) -> float:
    store = SqliteStore(folder / "bare.db", clock=utc_now)
    await store.ping()
    began = time.perf_counter()
    made = await store.create(DELIVERIES, {id_: {**row, "state": "claimed"} for id_, row in rows.items()})
    settled = await store.swap(DELIVERIES, {id_: (version, rows[id_]) for id_, version in made.items()})
    took_s = time.perf_counter() - began
    assert len(settled) == len(rows)
    await store.close()
    return took_s
