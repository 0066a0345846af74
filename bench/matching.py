"""Matching at size: 100,000 people with 8 keywords each, out of 20,000 terms, and gates of every kind, against 500
jobs of 3 KB.

The people are in a SQLite store before the clock starts and are read through the port by pages. All figures
come from one child process, so that its peak memory is that of the work and all ratios are of one run.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from bench import Line
from bench._crowd import JOBS_N, NOW, USERS_N, jobs, users
from bench._machine import peak_mib
from ledger.collections import USERS
from ledger.documents import decode, encode
from ledger.records import Job, User
from ledger.sqlite import SqliteStore
from ledger.store import every
from scan.gates import refused
from scan.match import Matcher
from scan.roster import Roster
from scan.rules import rules_of
from scan.tokens import pattern_of, read

LOOP_USERS, LOOP_JOBS = 2_000, 5  # the sample that the plain loop is measured on, then scaled
WRITE_DOCS = 5_000
CHILD_MAX_S = 600


def run() -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="scout-bench-") as folder:
        file = Path(folder) / "users.db"
        asyncio.run(_write(file))
        command = [sys.executable, "-m", "bench.matching", str(file)]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=CHILD_MAX_S).stdout)
    size = f"{USERS_N:,} people x {JOBS_N} jobs"
    return [
        Line("fits a job, mean", told["fits"] / JOBS_N, at_least=100, at_most=200),
        Line("reading and decoding the people", told["read_s"], "s"),
        Line("bare scan, the automaton over the texts", told["scan_s"], "s"),
        Line("build and match", told["match_s"], "s"),
        Line("read, decode, build, match everything", told["full_s"], "s", note=size),
        Line(
            "the whole against reading, decoding and the bare scan",
            told["full_s"] / (told["read_s"] + told["scan_s"]),
            "x",
            at_most=3,
        ),
        Line(
            "a plain loop over people and jobs against build and match",
            told["loop_s"] / told["match_s"],
            "x",
            at_least=100,
            note=f"loop measured on {LOOP_USERS:,} people x {LOOP_JOBS} jobs, scaled to {told['loop_s']:,.0f} s",
        ),
        Line("peak memory", told["peak_mib"], "MiB", at_most=300),
    ]


def _measure(file: Path) -> dict[str, float]:
    """The child: the whole first, so that the peak is its own; then its parts, then the loop."""
    all_jobs = list(jobs())
    start = time.perf_counter()
    roster = asyncio.run(_roster(file))
    built = Matcher(roster)
    fits = sum(len(built.match(job, now=NOW)) for job in all_jobs)
    full_s = time.perf_counter() - start
    held_mib = peak_mib()

    start = time.perf_counter()
    asyncio.run(_count(file))
    read_s = time.perf_counter() - start

    people = asyncio.run(_all(file))
    start = time.perf_counter()
    again = Matcher.of(people)
    assert fits == sum(len(again.match(job, now=NOW)) for job in all_jobs)
    match_s = time.perf_counter() - start

    lines = [read(job.title, job.text).line for job in all_jobs]
    automaton = built._automaton._long  # what "bare" means: not even our own loop over the hits
    start = time.perf_counter()
    for line in lines:
        automaton.find_matches_as_indexes(line, overlapping=True)
    scan_s = time.perf_counter() - start
    return {
        "fits": fits,
        "full_s": full_s,
        "read_s": read_s,
        "scan_s": scan_s,
        "match_s": match_s,
        "loop_s": _loop_s(people[:LOOP_USERS], all_jobs[:LOOP_JOBS]),
        "peak_mib": held_mib,
    }


async def _roster(file: Path) -> Roster:
    roster = Roster()
    async for user in _people(file):
        roster.add(user)
    return roster


async def _count(file: Path) -> None:
    count = 0
    async for _ in _people(file):
        count += 1
    assert count == USERS_N


async def _all(file: Path) -> list[User]:
    return [user async for user in _people(file)]


async def _people(file: Path) -> AsyncIterator[User]:
    store = SqliteStore(file, clock=lambda: NOW)
    try:
        async for snapshot in every(store, USERS, {"active": True}):
            yield decode(User, snapshot)
    finally:
        await store.close()


def _loop_s(sample: list[User], jobs: list[Job]) -> float:
    """Seconds that the plain loop would take for all: each keyword of each person looked for in each text.

    Keywords and texts are made comparable before the clock starts, and the first keyword found ends the
    search: the loop is given every advantage but the automaton.
    """
    wanted = [
        ([pattern_of(k) for k in s.keywords], [pattern_of(k) for k in s.exclude], rules_of(s))
        for s in (user.searches["default"] for user in sample)
    ]
    lines = [(job, read(job.title, job.text).line) for job in jobs]
    start = time.perf_counter()
    fits = 0
    for job, line in lines:
        for keywords, exclude, rules in wanted:
            if any(k in line for k in keywords) and not any(k in line for k in exclude):
                fits += refused(rules, job, NOW) is None
    took_s = time.perf_counter() - start
    return took_s * (USERS_N / LOOP_USERS) * (JOBS_N / LOOP_JOBS)


async def _write(file: Path) -> None:
    store = SqliteStore(file, clock=lambda: NOW)
    docs = {}
    for user in users():
        docs[user.uid] = encode(user)
        if len(docs) == WRITE_DOCS:
            await store.create(USERS, docs)
            docs = {}
    await store.create(USERS, docs)
    await store.close()


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]))))
