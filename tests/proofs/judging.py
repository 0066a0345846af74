"""A judge for proofs: knows each job's score, counts who was asked about what, and stops with its process."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ledger.collections import JOBS, MATCHES
from ledger.ids import pair_id
from ledger.store import Store, every
from scan.verdict import End, Question, Reply, Usage
from tests.proofs.stopping import Stops

POSTING = re.compile(r'<posting name="(\w+)">\ntitle: ([^\n]+)')
WHO = re.compile(r"I am (\S+)\.")  # what a person of the scene says about themselves


@dataclass
class Bench:
    """What all processes' judges have said so far. `scores` by the last word of the title; else 50."""

    store: Store
    scores: Mapping[str, int] = field(default_factory=dict)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)  # (uid, job) -> calls that carried it
    calls: int = 0
    wrong: list[str] = field(default_factory=list)  # pairs asked about that had a verdict, or no document
    unanswered: set[tuple[str, str]] = field(default_factory=set)  # pairs whose call was answered by one of `answers`
    answers: list[Reply] = field(default_factory=list)  # instead of the truth, for as many calls

    def judge(self, stops: Stops) -> _Judge:
        return _Judge(self, stops)

    async def take(self, question: Question) -> Reply:
        who = WHO.search(question.profile)
        assert who is not None
        named = {name: title.rsplit(" ", 1)[-1] for name, title in POSTING.findall(question.postings)}
        self.calls += 1
        await self._look(who[1], named.values())
        self.asked.update((who[1], job) for job in named.values())
        if self.answers:
            self.unanswered.update((who[1], job) for job in named.values())
            return self.answers.pop(0)
        said = [
            {
                "name": name,
                "score": self.scores.get(job, 50),
                "reason": f"Because of {job}.",
                "caveat": None,
                "tags": [],
            }
            for name, job in named.items()
        ]
        return Reply(End.ANSWERED, {"verdicts": said}, Usage(100 * len(said), 10 * len(said)))

    async def _look(self, uid: str, jobs: object) -> None:
        keys = {s.data["title"].rsplit(" ", 1)[-1]: s.data["key"] async for s in every(self.store, JOBS, {})}
        for job in jobs:  # type: ignore[attr-defined]
            id_ = pair_id(uid, keys[job])
            found = (await self.store.get(MATCHES, [id_])).get(id_)
            if found is None or found.data["state"] != "pending" or not found.data.get("nonce"):
                self.wrong.append(f"{job} was asked about while its document was {found and found.data['state']}")


@dataclass
class _Judge:
    bench: Bench
    stops: Stops
    model: str = "bench-1"

    async def ask(self, question: Question, *, at_most_s: float) -> Reply:
        lost = self.stops.begin("ask")
        reply = await self.bench.take(question)
        self.stops.end()
        return Reply(End.UNCLEAR, reason="the answer was lost") if lost else reply

    async def close(self) -> None:
        return None
