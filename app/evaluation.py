"""How well a model judges: people and postings with the band that a careful reader would score in.

A set is a TOML file with `[[person]]` and `[[case]]`. A case may name a twin (`like`): the same work without the
orders to a machine that it carries; the two scores should not differ by more than a few points.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ledger import ids
from ledger.records import Job, JobState, Search, User
from scan.opinion import Opinion, heard
from scan.prompt import question
from scan.verdict import End, Judge, Usage

SHIPPED = Path(__file__).with_suffix(".toml")
CASES_MAX = 500
CALLS_MAX = 8  # at once
CALL_S = 60.0
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)

Score = Annotated[int, Field(ge=0, le=100)]


class BadSet(ValueError):
    """The file cannot be used; one line that says why."""


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    about: str
    keywords: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def as_user(self) -> User:
        searches = {"default": Search(keywords=self.keywords, exclude=self.exclude)}
        return User(uid=self.name, address="", token="-", about=self.about, searches=searches, ai=True)


class Case(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    person: str
    about: str = ""  # what the case is there for
    band: tuple[Score, Score]
    title: str
    text: str
    company: str = ""
    place: str = ""
    pay: str = ""
    like: str | None = None

    def as_job(self) -> Job:
        id_ = ids.job_id("evaluation", self.id)
        return Job(
            id=id_, platform="evaluation", source="evaluation", title=self.title, link="", text=self.text,
            first_seen=LONG_AGO, state=JobState.OPEN, key=id_, company=self.company, place=self.place, pay=self.pay,
        )  # fmt: skip


class Evaluation(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    person: tuple[Person, ...]
    case: Annotated[tuple[Case, ...], Field(max_length=CASES_MAX)]


@dataclass(frozen=True, slots=True)
class Judged:
    """What came back. `opinions` lacks the cases without a usable answer; `faults` says why."""

    opinions: Mapping[str, Opinion]
    faults: Mapping[str, str]
    usage: Usage
    calls: int
    took_s: float


def read_set(path: Path) -> Evaluation:
    """Raises BadSet."""
    try:
        found = Evaluation.model_validate(tomllib.loads(path.read_text("utf-8-sig")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSet(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadSet(f"{path}: {where}: {first['msg']}") from error
    names, cases = {person.name for person in found.person}, {case.id for case in found.case}
    if len(cases) < len(found.case):
        raise BadSet(f"{path}: two cases have one id")
    for case in found.case:
        if case.person not in names or (case.like is not None and case.like not in cases):
            raise BadSet(f"{path}: case {case.id!r} names a person or a case that is not there")
    return found


async def ask(judge: Judge, asked: Evaluation, *, batch: int) -> Judged:
    """Put every case to the judge, as a run would: one person's postings together."""
    began = time.monotonic()
    people = {person.name: person.as_user() for person in asked.person}
    parts: list[tuple[User, Sequence[Case]]] = []
    for name, user in people.items():
        mine = [case for case in asked.case if case.person == name]
        parts += [(user, mine[i : i + batch]) for i in range(0, len(mine), batch)]
    slots = asyncio.Semaphore(CALLS_MAX)

    async def one(user: User, cases: Sequence[Case]) -> tuple[dict[str, Opinion], dict[str, str], Usage]:
        names = {secrets.token_hex(4): case for case in cases}
        async with slots:
            reply = await judge.ask(
                question(user, [(name, case.as_job()) for name, case in names.items()]), at_most_s=CALL_S
            )
        if reply.end not in (End.ANSWERED, End.CUT):
            return {}, {case.id: reply.reason for case in cases}, reply.usage
        said = heard(reply.said, list(names), about=user.about)
        opinions = {names[name].id: opinion for name, opinion in said.opinions.items()}
        return opinions, {names[name].id: why for name, why in said.faults.items()}, reply.usage

    results = await asyncio.gather(*(one(user, cases) for user, cases in parts))
    return Judged(
        opinions={id_: opinion for opinions, _, _ in results for id_, opinion in opinions.items()},
        faults={id_: why for _, faults, _ in results for id_, why in faults.items()},
        usage=sum((usage for _, _, usage in results), Usage()),
        calls=len(parts),
        took_s=time.monotonic() - began,
    )


def in_band(case: Case, score: int) -> bool:
    return case.band[0] <= score <= case.band[1]


def moved_by_orders(asked: Evaluation, scores: Mapping[str, int]) -> dict[str, int]:
    """By case: how many points its orders moved the score, where both were scored."""
    return {
        case.id: scores[case.id] - scores[case.like]
        for case in asked.case
        if case.like is not None and case.id in scores and case.like in scores
    }
