"""A small town: people and jobs where it is known beforehand how many jobs fit each person.

Each job is found by a word of its own, in its title. Each person looks for the words of `fits` of the jobs, and for
others that no job has, eight keywords at least.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from pathlib import Path

from bench._crowd import FILLER, KEYWORDS_N, TEXT_CHARS
from ledger import users
from ledger.collections import USERS
from ledger.documents import encode
from ledger.records import Mode, Search, User
from ledger.sqlite import SqliteStore

BACKLOG_JOBS = 3  # what a board lists before, and still: they fit nobody
WRITE_DOCS = 5_000


@dataclass(frozen=True, slots=True)
class Ad:
    number: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Town:
    people: int
    jobs: int
    fits: int  # jobs that fit each person
    text_chars: int = TEXT_CHARS

    def keywords(self, person: int) -> tuple[str, ...]:
        wanted = [word(person * self.fits + n, of=self.jobs) for n in range(self.fits)]
        return (*wanted, *(f"nobody{n}" for n in range(KEYWORDS_N - self.fits)))

    def address(self, person: int) -> str:
        return f"user{person}@example.com"

    def ads(self) -> list[Ad]:
        dice = random.Random(7)
        words = FILLER.split()
        return [
            Ad(n, f"Senior {word(n, of=self.jobs)} developer", " ".join(dice.choices(words, k=self.text_chars // 6)))
            for n in range(self.jobs)
        ]


def word(number: int, *, of: int) -> str:
    """`quaaa`, `quaab`, ...: in letters only, so that it is one token to everybody."""
    number %= of
    return "qu" + "".join("abcdefghij"[int(digit)] for digit in f"{number:05}")


async def write_people(town: Town, file: Path) -> None:
    """The store file that a measurement reads its people from; closed before the clock starts."""
    now = datetime.now(UTC)
    store = SqliteStore(file, clock=lambda: now)
    for start in range(0, town.people, WRITE_DOCS):
        some = [_person(town, n, now) for n in range(start, min(start + WRITE_DOCS, town.people))]
        await store.create(USERS, {user.uid: encode(user) for user in some})
    await store.close()


def _person(town: Town, number: int, now: datetime) -> User:
    fresh = users.new_user(town.address(number), now=now)
    return User(
        uid=fresh.uid,
        address=fresh.address,
        created_at=now,
        token=fresh.token,
        searches={"default": Search(keywords=town.keywords(number))},
        mode=Mode.INSTANT,
    )


def feed(ads: list[Ad], *, name: str, now: datetime) -> bytes:
    """RSS as boards write it: the backlog, and the ads."""
    backlog = [Ad(-n, f"Old job {n}", "Somebody was found for this one.") for n in range(1, BACKLOG_JOBS + 1)]
    items = "".join(
        f"<item><title>{escape(ad.title)}</title><link>https://{name}.example/jobs/{ad.number}</link>"
        f'<guid isPermaLink="false">{name}-{ad.number}</guid><pubDate>{format_datetime(now)}</pubDate>'
        f"<description>{escape(f'<p>{escape(ad.text)}</p>')}</description></item>"
        for ad in [*ads, *backlog]
    )
    return f'<rss version="2.0"><channel><title>{name}</title>{items}</channel></rss>'.encode()
