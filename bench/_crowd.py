"""Made-up people and jobs in the shape of real ones, the same in every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.records import Client, Job, JobState, Search, User

USERS_N = 100_000
KEYWORDS_N = 8
TERMS_N = 20_000
JOBS_N = 500
TEXT_CHARS = 3_000
TERMS_IN_JOB = 5

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
FILLER = """We are looking for somebody who can help us, soon, with a product that people use every day. It\u2019s
built by a small team (R&D & support) \u2014 remote first, 40+ hours a week, C++17 or Go are welcome."""


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


def users() -> Iterator[User]:
    dice, more_dice = random.Random(2), random.Random(4)
    terms = _terms()
    for n in range(USERS_N):
        search = Search(keywords=tuple(dice.sample(terms, KEYWORDS_N)), max_age_h=dice.choice((None, None, 24, 168)))
        if n % 5 == 0:
            search = replace(search, exclude=(dice.choice(terms), "unpaid"))
        if n % 10 == 0:
            search = replace(search, sources=("upwork", "greenhouse"))
        search = _with_gates(search, more_dice)
        yield User(f"uid{n:06}", f"person{n}@example.com", NOW, f"token{n}", {"default": search})


def _with_gates(search: Search, dice: random.Random) -> Search:
    """Half ask nothing more; the others a few things each, one in ten strictly."""
    if dice.random() < 0.5:
        return search
    return replace(
        search,
        min_hourly=dice.choice((None, float(dice.randrange(15, 90)))),
        min_fixed=dice.choice((None, None, 250.0, 500.0, 1000.0)),
        currency=dice.choice(("USD", "USD", "EUR", "GBP")),
        countries=dice.choice(((), ("US",), ("DE", "AT"), ("GB",), ("EUROPE",), ("IN",), ("LATAM",))),
        contracts=dice.choice(((), (), ("freelance",), ("freelance", "part-time"))),
        languages=dice.choice(((), (), ("en",), ("en", "de"))),
        min_client_rating=dice.choice((None, None, None, 4.0, 4.5)),
        payment_verified_only=dice.random() < 0.1,
        strict=dice.random() < 0.1,
    )


def _facts(dice: random.Random) -> dict[str, Any]:
    low = float(dice.randrange(20, 80))
    pay = {"pay_min": low, "pay_max": low + 20, "currency": dice.choice(("USD", "USD", "EUR")), "period": "hour"}
    client = Client(rating=round(dice.uniform(3, 5), 1), hires=dice.randrange(50), payment_verified=dice.random() < 0.8)
    return dice.choice((pay, pay, {})) | {
        "countries": dice.choice(((), ("WORLD",), ("WORLD",), ("US",), ("US", "CA"), ("EMEA",), ("DE",))),
        "contracts": dice.choice(((), ("freelance",), ("full-time",))),
        "language": dice.choice(("en", "en", "en", "de", "")),
        "client": dice.choice((None, client)),
    }


def jobs() -> Iterator[Job]:
    dice, more_dice = random.Random(3), random.Random(5)
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
            **_facts(more_dice),
        )
