"""Matching at size: 100,000 people with 8 keywords each, out of 20,000 terms, against 500 jobs of 3 KB.

The people are in a SQLite store before the clock starts and are read through the port by pages. All figures
come from one child process, so that its peak memory is that of the work and all ratios are of one run.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import Line
from ledger.records import USERS, Job, JobState, Search, User, decode, encode
from ledger.sqlite import SqliteStore
from ledger.store import every
from scan.gates import refused, rules_of
from scan.match import Matcher
from scan.roster import Roster
from scan.tokens import pattern_of, read

USERS_N = 100_000
KEYWORDS_N = 8
TERMS_N = 20_000
JOBS_N = 500
TEXT_CHARS = 3_000
TERMS_IN_JOB = 5
LOOP_USERS, LOOP_JOBS = 2_000, 5  # the sample that the plain loop is measured on, then scaled
WRITE_DOCS = 5_000
CHILD_MAX_S = 600

FILLER = """We are looking for somebody who can help us, soon, with a product that people use every day. It\u2019s
built by a small team (R&D & support) \u2014 remote first, 40+ hours a week, C++17 or Go are welcome."""
NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)


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
    jobs = list(_jobs())
    start = time.perf_counter()
    roster = asyncio.run(_roster(file))
    built = Matcher(roster)
    fits = sum(len(built.match(job, now=NOW)) for job in jobs)
    full_s = time.perf_counter() - start
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    start = time.perf_counter()
    asyncio.run(_count(file))
    read_s = time.perf_counter() - start

    users = asyncio.run(_all(file))
    start = time.perf_counter()
    again = Matcher.of(users)
    assert fits == sum(len(again.match(job, now=NOW)) for job in jobs)
    match_s = time.perf_counter() - start

    lines = [read(job.title, job.text).line for job in jobs]
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
        "loop_s": _loop_s(users[:LOOP_USERS], jobs[:LOOP_JOBS]),
        "peak_mib": peak_mib,
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
    for user in _users():
        docs[user.uid] = encode(user)
        if len(docs) == WRITE_DOCS:
            await store.create(USERS, docs)
            docs = {}
    await store.create(USERS, docs)
    await store.close()


def _terms() -> list[str]:
    """Words of a made-up trade; some are phrases, some end in a sign."""
    dice = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words: dict[str, None] = {}
    while len(words) < TERMS_N:
        word = "q" + "".join(dice.choices(syllables, k=dice.choice((3, 4))))
        words[dice.choices((word, f"{word} {dice.choice(syllables)}", f"{word}.js", f"{word}++"), (85, 9, 4, 2))[0]] = (
            None
        )
    return list(words)


def _users() -> Iterator[User]:
    dice = random.Random(2)
    terms = _terms()
    for n in range(USERS_N):
        search = Search(keywords=tuple(dice.sample(terms, KEYWORDS_N)), max_age_h=dice.choice((None, None, 24, 168)))
        if n % 5 == 0:
            search = replace(search, exclude=(dice.choice(terms), "unpaid"))
        if n % 10 == 0:
            search = replace(search, sources=("upwork", "greenhouse"))
        yield User(f"uid{n:06}", f"person{n}@example.com", NOW, f"token{n}", {"default": search})


def _jobs() -> Iterator[Job]:
    dice = random.Random(3)
    terms = _terms()
    for n in range(JOBS_N):
        found = dice.sample(terms, TERMS_IN_JOB)
        words = dice.choices(FILLER.split(), k=TEXT_CHARS // 6)
        for term in found[1:]:
            words.insert(dice.randrange(len(words)), term.capitalize() + dice.choice((",", ".", " and")))
        yield Job(
            id=f"j1{n:032}",
            platform=dice.choice(("upwork", "greenhouse:gitlab", "remotive")),
            source="board",
            title=f"Senior {found[0].title()} developer",
            link="",
            text=" ".join(words)[:TEXT_CHARS].ljust(TEXT_CHARS, "."),
            first_seen=NOW - timedelta(hours=dice.choice((1, 1, 30))),
            state=JobState.OPEN,
            key=f"j1{n:032}",
        )


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]))))
