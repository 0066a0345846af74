"""The rest of the world as one process reaches it: a mail provider, a board and a model, each of its moods."""

from __future__ import annotations

from functools import cache
from typing import Any

from ledger.lifecycle import Attempt, Outcome
from ledger.records import Health, SourceState
from ledger.store import Unreachable
from mail.letter import Letter
from scan.posting import Answer, Failed, Items, Posting
from scan.verdict import End, Question, Reply, Usage
from tests.proofs.judging import POSTING, WHO
from tests.simulation import watch
from tests.simulation.process import Process
from tests.simulation.world import TWIN_TEXT

Moods = tuple[tuple[str, int], ...]
RENAMED_AFTER_S = 300.0
FIT_MIN_SCORE = 50


class Provider:
    """The mail provider: every outcome of the table, and letters that take their time."""

    name = "provider"
    smtputf8 = True

    def __init__(self, process: Process) -> None:
        self._process = process

    def longest_s(self, at_most_s: float) -> float:
        return min(15.0, at_most_s)

    async def send(self, letter: Letter, *, at_most_s: float = 15.0) -> Attempt:
        del at_most_s
        process, world = self._process, self._process.world
        what = _mood(process, world.outcomes, usual="accepted")
        watch.begins(process, letter)

        async def take() -> str:
            if what in ("accepted", "unclear-taken"):
                world.take(letter, is_clean=lambda: what == "accepted" and not process.befallen)
            world.tell(f"p{process.call.name} {letter.kind} to {letter.to}: {what}")
            await process.dawdle()
            return what

        process.in_flight += 1
        try:
            answer = await process.operate(f"send {letter.kind}", take, "lost")
        except Unreachable:
            answer = "no answer"
        process.in_flight -= 1
        process.is_paused |= answer == "paused" and not process.has_accepted  # then nothing else was under way
        process.has_accepted |= answer == "accepted"
        world.answers_heard[letter.outside_id] = answer
        match answer:
            case "accepted":
                return Attempt(Outcome.ACCEPTED, receipt="r")
            case "rejected":
                return Attempt(Outcome.REJECTED, "550")
            case "deferred":
                return Attempt(Outcome.DEFERRED, "451", retry_after_s=process.rng.choice((None, 5.0, 900.0)))
            case "paused":
                return Attempt(Outcome.PAUSED, "401")
        return Attempt(Outcome.UNCLEAR, "timeout")

    async def close(self) -> None:
        return None


class Board:
    """What is listed now, as one board tells it."""

    name = platform = "board"
    min_interval_s = 60
    attribution = ""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def poll(self, state: SourceState, *, now: object, deadline_s: float) -> Answer:
        del state, now, deadline_s

        async def do() -> Answer:
            world = self._process.world
            half = "b" if world.clock_s() > RENAMED_AFTER_S else "a"
            return Items(tuple(_posting(job, world.has_twins, half * world.are_renamed) for job in world.listed()))

        try:
            return await self._process.operate("poll", do)
        except Unreachable:
            return Failed(Health.UNREACHABLE, "simulated")


@cache
def _posting(job: int, has_twins: bool, half: str) -> Posting:
    link = f"https://jobs.example.com/{job}"
    if has_twins:
        group = job // 2 * 2
        return Posting("board", str(job), f"Python {group}", link, f"{TWIN_TEXT} {group}", company="Firm")
    aliases = (f"guid {job}", f"link {job}") if half else ()
    return Posting("board", f"{job}{half}", f"Python {job}", link, "python", aliases=aliases)


class Bench:
    """The model: every third job is not for these people."""

    model = "bench-1"

    def __init__(self, process: Process) -> None:
        self._process = process

    async def ask(self, question: Question, *, at_most_s: float) -> Reply:
        del at_most_s
        process, world = self._process, self._process.world
        who = WHO.search(question.profile)
        assert who is not None
        named = {name: int(title.rsplit(" ", 1)[-1]) for name, title in POSTING.findall(question.postings)}
        what = _mood(process, world.answers, usual="answered")
        for group in named.values():
            watch.asked(process, who[1], group)
            world.ask(who[1], group, is_clean=lambda: what == "answered" and not process.befallen)

        async def take() -> str:
            world.tell(f"p{process.call.name} asked about {sorted(named.values())}: {what}")
            return what

        try:
            answer = await process.operate("ask", take, "lost")
        except Unreachable:
            return Reply(End.UNCLEAR, reason="no answer")
        usage = Usage(100 * len(named), 10 * len(named))
        match answer:
            case "answered":
                return Reply(End.ANSWERED, {"verdicts": [_said(*pair) for pair in named.items()]}, usage)
            case "cut":
                return Reply(End.CUT, {"verdicts": [_said(*pair) for pair in named.items()][:1]}, usage)
            case "declined":
                return Reply(End.DECLINED, usage=usage, reason="declined")
            case "busy":
                return Reply(End.BUSY, reason="429", retry_after_s=2.0)
        return Reply(End.UNCLEAR, reason="timeout")

    async def close(self) -> None:
        return None


def score(group: int) -> int:
    return 10 if group % 3 == 2 else 90 - group % 7


def _said(name: str, group: int) -> dict[str, Any]:
    return {"name": name, "score": score(group), "reason": f"Because of {group}.", "caveat": None, "tags": []}


def _mood(process: Process, moods: Moods, *, usual: str) -> str:
    if process.world.is_quiet or len(moods) == 1:
        return usual if process.world.is_quiet else moods[0][0]
    names, weights = zip(*moods, strict=True)
    found: str = process.rng.choices(names, weights)[0]
    return found
