"""The drills. Each takes a stage, does its worst, lets everything settle, and counts."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.drill.count import Verdict, count, state_of
from app.drill.cutter import cutter_before
from app.drill.kills import KINDS, WHENS, Kill
from app.drill.mixture import mixed
from app.drill.stage import Stage, staged

Tell = Callable[[str], None]
HIT_SHARE_MIN = 0.75  # of the kills must fall inside a run, or the drill has drilled nothing
CALLERS = 20
SUSPENSIONS = 3
TROUBLED_SHARE_MIN = 0.5  # letters that meet trouble, for each run: fewer is no drill


@dataclass(frozen=True, slots=True)
class Options:
    seed: int = 1
    people: int = 60
    rounds: int = 12
    jobs: int = 4  # new ones at each step
    tell: Tell = lambda _: None  # progress, one line a step

    @property
    def instant(self) -> int:
        return self.people * 2 // 3

    @property
    def daily(self) -> int:
        return self.people - self.instant


async def twice(options: Options) -> Verdict:
    """Two runs back to back: the second sends nothing and leaves the same state."""
    verdict = Verdict("twice")
    async with staged(seed=options.seed, lock_s=600, wall_s=300, interval_s=900) as stage:
        await stage.sign_up(instant=options.instant, daily=options.daily)
        for step, move in (("alerts", timedelta(minutes=15)), ("digests", timedelta(days=1))):
            options.tell(f"twice: two runs with {step} due")
            stage.new_jobs(options.jobs)
            stage.move(move)
            server = await stage.start(judged=True)
            first = await stage.cron(server)
            before, letters = await state_of(stage.store), len(stage.sink.letters)
            second = await stage.cron(server)
            await server.end()
            if first is None or second is None or first["status"] != "completed":
                verdict.broke("a run completes", f"{first} then {second}")
                continue
            if not first["mail"]["sent"]:
                verdict.broke("the drill drills", f"the first run with {step} due sent nothing")
            nothing = {name: second["mail"][name] for name in second["mail"]} | {"new": second["jobs"]["new"]}
            nothing |= {"ai_calls": second["matches"]["ai_calls"]}
            if any(nothing.values()) or len(stage.sink.letters) != letters:
                verdict.broke("the second run does nothing", f"with {step} due it did {nothing}")
            if await state_of(stage.store) != before:
                verdict.broke("the second run leaves the same state", f"with {step} due the store changed")
            verdict.figures[f"letters, {step}"] = first["mail"]["sent"]
            verdict.figures[f"second run, {step}"] = second["mail"]["sent"]
        await _settle_and_count(stage, verdict)
    return verdict


async def overlap(options: Options) -> Verdict:
    """Many callers at once, some hang up and retry; two servers on one store; one sleeps over its lease."""
    verdict = Verdict("overlap")
    async with staged(seed=options.seed) as stage:
        await stage.sign_up(instant=options.instant, daily=options.daily)
        first, second = await stage.start(judged=True), await stage.start(judged=True)
        statuses: list[str] = []
        options.tell(f"overlap: {CALLERS} callers on two servers at once, GET and POST")
        stage.new_jobs(options.jobs)
        calls = [stage.cron((first, second)[n % 2], method=("GET", "POST")[n % 3 == 0]) for n in range(CALLERS)]
        statuses += [report["status"] for report in await asyncio.gather(*calls) if report]
        options.tell("overlap: callers that hang up and call again")
        stage.new_jobs(options.jobs)
        for _ in range(4):
            await stage.cron(first, hang_up_s=0.05)
        await stage.quiet(second)
        options.tell("overlap: a server suspended in its run until its lease is over, which then wakes")
        for _ in range(SUSPENSIONS):
            stage.new_jobs(options.jobs)
            letters = len(stage.sink.letters)
            sleeping = asyncio.create_task(stage.cron(first))
            while len(stage.sink.letters) == letters and not sleeping.done():
                await asyncio.sleep(0.005)
            first.send_signal(signal.SIGSTOP)
            stage.tell("the first server is suspended")
            await stage.lease_passes()
            await stage.quiet(second)
            first.send_signal(signal.SIGCONT)
            stage.tell("the first server wakes")
            await sleeping
        await first.end()
        await second.end()
        if statuses.count("completed") + statuses.count("partial") < 1:
            verdict.broke("somebody runs", f"of {CALLERS} callers at once: {statuses}")
        verdict.figures |= {"callers at once": CALLERS, "skipped": statuses.count("skipped")}
        await _settle_and_count(stage, verdict, kills=SUSPENSIONS)
    return verdict


async def kill(options: Options) -> Verdict:
    """SIGKILL at every kind of outside call, before, during and after, and at random times."""
    verdict = Verdict("kill")
    async with staged(seed=options.seed) as stage:
        await stage.sign_up(instant=options.instant, daily=options.daily)
        stage.new_jobs(options.jobs)
        server = await stage.start(judged=True)
        began = time.monotonic()
        await stage.cron(server)
        run_s = time.monotonic() - began
        counts = stage.counts()
        await stage.quiet(server)
        await server.end()
        planned = hit = 0
        for kind in KINDS:
            for when in WHENS:
                planned += 1
                nth = stage.rng.randint(1, max(1, counts.get(kind, 1) * 2 // 3))
                options.tell(f"kill: {when} {kind} call {nth}")
                hit += await _killed(stage, Kill(kind, when, nth), jobs=options.jobs, is_digest=planned % 2 == 0)
        for number in range(options.rounds):
            planned += 1
            options.tell(f"kill: at a random time, {number + 1} of {options.rounds}")
            hit += await _killed_at(
                stage, stage.rng.uniform(0.02, max(0.1, run_s)), jobs=options.jobs, is_digest=number % 3 == 0
            )
        verdict.figures |= {"kills": planned, "inside a run": hit}
        if hit < HIT_SHARE_MIN * planned:
            verdict.broke("the drill drills", f"only {hit} of {planned} kills fell inside a run")
        await _settle_and_count(stage, verdict, kills=hit)
    return verdict


async def _killed(stage: Stage, where: Kill, *, jobs: int, is_digest: bool) -> bool:
    stage.new_jobs(jobs)
    if is_digest:
        stage.move(timedelta(days=1))
    is_judged = where.kind == "model"
    server = await stage.start(where, judged=is_judged)
    await stage.cron(server)
    died = not server.is_alive or await _dies_soon(server.process.poll)
    stage.tell("killed" if died else "the run came to its end before the kill")
    await _recover(stage, server.end, judged=is_judged)
    return died


async def _killed_at(stage: Stage, after_s: float, *, jobs: int, is_digest: bool) -> bool:
    stage.new_jobs(jobs)
    if is_digest:
        stage.move(timedelta(days=1))
    server = await stage.start()
    run = asyncio.create_task(stage.cron(server))
    await asyncio.sleep(after_s)
    inside = not run.done()
    server.send_signal(signal.SIGKILL)
    stage.tell(f"killed {'inside' if inside else 'after'} a run, {after_s:.2f} s after the call")
    await run
    await _recover(stage, server.end)
    return inside


async def _recover(stage: Stage, end: Callable[[], Awaitable[None]], *, judged: bool = False) -> None:
    await end()
    await stage.lease_passes()
    server = await stage.start(judged=judged)
    await stage.quiet(server)
    await server.end()


async def _dies_soon(poll: Callable[[], int | None]) -> bool:
    for _ in range(100):
        if poll() is not None:
            return True
        await asyncio.sleep(0.01)
    return False


async def faults(options: Options) -> Verdict:
    """The mail server, a board and the store go wrong in every way, in random mixtures; then they recover."""
    verdict = Verdict("faults")
    # A wall long enough for the letters of many people, each of which may hang for a quarter of it.
    async with staged(seed=options.seed, lock_s=12, wall_s=10) as stage, _trouble(stage) as (store_host, set_share):
        await stage.sign_up(instant=options.instant, daily=options.daily)
        runs = max(4, options.rounds)
        server = await stage.start(judged=True, troubled=not store_host, store_host=store_host)
        ended: list[str] = []
        for number in range(runs):
            options.tell(f"faults: run {number + 1} of {runs}")
            mixture = mixed(stage.rng, number)
            stage.sink.plan, stage.boards.mood, stage.model.moods = mixture.letters, mixture.board, mixture.model
            set_share(mixture.store)
            stage.tell(str(mixture))
            stage.new_jobs(options.jobs)
            if number % 3 == 2:
                stage.move(timedelta(days=1))
            report = await stage.cron(server)
            ended.append(report["status"] if report else "no answer")
            await stage.lease_passes()
            stage.move(timedelta(minutes=stage.rng.choice((1, 20, 70))))
        await server.end()
        in_trouble = stage.sink.met.total() - stage.sink.met["accept"]
        stage.sink.plan, stage.boards.mood, stage.model.moods = (), "well", ()
        verdict.figures |= {"runs": runs, "failed runs": ended.count("failed"), "letters in trouble": in_trouble}
        if in_trouble < TROUBLED_SHARE_MIN * runs:
            verdict.broke("the drill drills", f"only {in_trouble} letters met trouble in {runs} runs")
        # A settle or a flip that was lost with the store is as good as a kill.
        await _settle_and_count(stage, verdict, kills=runs)
    return verdict


@asynccontextmanager
async def _trouble(stage: Stage) -> AsyncIterator[tuple[str, Callable[[float], None]]]:
    """(host, how to set the share): on Firestore a proxy that cuts real connections, else writes that go wrong."""
    if not stage.is_firestore:
        yield "", stage.trouble_store
        return
    async with cutter_before(os.environ["FIRESTORE_EMULATOR_HOST"], seed=stage.seed) as cutter:
        yield cutter.host, cutter.set_share


CHANGES_OF_THE_CLOCKS = (datetime(2027, 3, 27, 18, tzinfo=UTC), datetime(2027, 10, 30, 18, tzinfo=UTC))
CLOCK_STEPS = (
    ("on time", timedelta(minutes=15)),
    ("twice at once", timedelta()),
    ("over the change of the clocks", timedelta(hours=7)),
    ("an hour later", timedelta(hours=1)),
    ("late", timedelta(hours=5)),
    ("a host ten minutes ahead", timedelta(minutes=10)),
    ("and back", -timedelta(minutes=10)),
    ("a day later, early", timedelta(hours=23)),
    ("at an hour of digests", timedelta(hours=1)),
    ("a week without calls", timedelta(days=7)),
    ("ten minutes later", timedelta(minutes=10)),
)


async def clock(options: Options) -> Verdict:
    """Late callers, early callers, a week without any, both changes of the clocks, a host that is ten minutes off."""
    whole = Verdict("clock", {"changes of the clocks": len(CHANGES_OF_THE_CLOCKS), "steps": len(CLOCK_STEPS)})
    for begin in CHANGES_OF_THE_CLOCKS:
        verdict = Verdict("clock")
        async with staged(seed=options.seed, lock_s=600, wall_s=300) as stage:
            stage.set_clock(begin)
            await stage.sign_up(instant=options.instant // 2, daily=options.daily // 2 + 1, zones=True)
            server = await stage.start()
            for what, by in CLOCK_STEPS:
                options.tell(f"clock, {begin:%B}: {what}")
                stage.new_jobs(options.jobs)
                stage.move(by)
                await stage.cron(server)
                await stage.cron(server)
            for _ in range(6):
                stage.move(timedelta(hours=stage.rng.choice((1, 3, 7, 13))))
                await stage.cron(server)
            await server.end()
            await _settle_and_count(stage, verdict)
        _add(whole, verdict)
    return whole


def _add(whole: Verdict, part: Verdict) -> None:
    whole.violations += part.violations
    whole.timeline += part.timeline
    for name, value in part.figures.items():
        before = whole.figures.get(name)
        both = f"{before}; {value}" if isinstance(value, str) and before else value
        whole.figures[name] = before + value if isinstance(value, int) and isinstance(before, int) else both


async def _settle_and_count(stage: Stage, verdict: Verdict, *, kills: int = 0) -> None:
    try:
        await stage.settle_everything()
    except RuntimeError as error:
        verdict.broke("everything settles", str(error))
    await count(stage, verdict, kills=kills)
    verdict.timeline = stage.timeline


SCENES: dict[str, Callable[[Options], Awaitable[Verdict]]] = {
    "twice": twice,
    "overlap": overlap,
    "kill": kill,
    "faults": faults,
    "clock": clock,
}


async def perform(name: str, options: Options) -> Verdict:
    began = time.monotonic()
    verdict = await SCENES[name](options)
    verdict.took_s = time.monotonic() - began
    return verdict
