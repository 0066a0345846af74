"""Prepared starts: what simulations begin with, made once by the real code and then shared."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache

from app.settings import Settings, load
from tests.simulation import loop
from tests.simulation.fakes import FIT_MIN_SCORE
from tests.simulation.memory import Frozen
from tests.simulation.plan import Edit, Plan
from tests.simulation.stage import BEFORE, NOON, Modes, Stage
from tests.simulation.world import UIDS, World, edit, sign_up

MONDAY_S = (datetime(2026, 11, 30, 7, 59, 40, tzinfo=UTC) - NOON).total_seconds()  # just before the weekly one
HOUR_S = 3600.0
SETTINGS = {"SCOUT_WALL_S": "300", "SCOUT_LOCK_S": "600"}

Script = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scene:
    script: Script
    environment: Mapping[str, str] = field(default_factory=dict)
    has_model: bool = False
    has_twins: bool = False
    are_renamed: bool = False
    around: tuple[str, ...] = ()  # operations around which troubles matter most here
    is_archive: bool = False  # its own jobs are old news to its people: at most one letter of them


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scene as it stands when the plan's time begins. `jobs` are those that everybody is to have in the end."""

    scene: Scene
    settings: Settings
    frozen: Frozen
    begin: datetime
    listed: tuple[int, ...]
    jobs: tuple[int, ...]
    sent: World

    def world(self, plan: Plan) -> World:
        """Its clock stands still until a loop has it."""
        return World(
            self.begin,
            lambda: 0.0,
            self.settings,
            self.frozen,
            seed=plan.seed,
            is_slow=plan.slow,
            outcomes=plan.outcomes,
            answers=plan.answers,
            has_model=self.scene.has_model,
            has_twins=self.scene.has_twins,
            are_renamed=self.scene.are_renamed,
            listed_before=self.listed,
            job_times_s=plan.jobs,
        )


@cache
def prepared(name: str, modes: Modes) -> Prepared:
    """Deterministic: nothing is slow, and one thing happens after another."""
    scene = SCENES[name]
    settings = load({**SETTINGS, **scene.environment})

    async def play() -> Stage:
        clock = asyncio.get_running_loop().time
        world = World(
            NOON, clock, settings, has_model=scene.has_model, has_twins=scene.has_twins, are_renamed=scene.are_renamed
        )
        stage = Stage(world, modes)
        await scene.script(stage)
        return stage

    stage = loop.run(play, random.Random(0))
    world = stage.world
    begin = NOON + timedelta(seconds=stage.ended_s)
    jobs = tuple(job for job in stage.listed if job != BEFORE)
    return Prepared(scene, settings, world.store.frozen(), begin, tuple(stage.listed), jobs, world)


async def _alerts(stage: Stage) -> None:
    await stage.open()


async def _fresh(stage: Stage) -> None:
    """Everybody has just signed up, and some jobs are a few minutes old."""
    await stage.call()
    stage.appear(2)
    await stage.sleep(900)
    await stage.call()
    await stage.sleep(300)
    await stage.people()


async def _archive(stage: Stage) -> None:
    """The same with more than one letter holds."""
    await stage.call()
    stage.appear(26)
    await stage.sleep(900)
    await stage.call()
    await stage.sleep(300)
    await stage.people()


async def _digest(stage: Stage) -> None:
    await stage.open()
    stage.appear(2)
    await stage.call()
    await stage.until(20 * HOUR_S - 20)


async def _full_digest(stage: Stage) -> None:
    await stage.open()
    stage.appear(23)
    await stage.call(provider="paused")
    for person in range(len(stage.modes)):
        await edit(stage.world, Edit(0.0, person, "mode:daily"), "daily")
    await stage.sleep(900)
    await stage.call()
    await stage.until(20 * HOUR_S - 20)


async def _weekly(stage: Stage) -> None:
    await _digest(stage)
    await stage.sleep(60)
    await stage.call()
    await stage.until(MONDAY_S)


async def _unclear_digest(stage: Stage) -> None:
    await _digest(stage)
    await stage.sleep(30)
    await stage.call(provider="unclear-taken")
    await stage.sleep(HOUR_S - 5)


async def _dead_digest(stage: Stage) -> None:
    """A digest was taken, and its process died before it wrote that down."""
    await _digest(stage)
    await stage.sleep(30)
    await stage.call(("send digest", "kill-after"))
    await stage.sleep(590)


async def _half_flipped(stage: Stage) -> None:
    await _digest(stage)
    await stage.sleep(30)
    await stage.call(("swap deliveries", "kill-after"))
    await stage.sleep(590)


async def _dead_alert(stage: Stage) -> None:
    await stage.open()
    stage.appear(2)
    await stage.call(("send alert", "kill-after"))
    await stage.sleep(590)


async def _dead_claim(stage: Stage) -> None:
    await stage.open()
    stage.appear(2)
    await stage.call(("create deliveries", "kill-after"))
    await stage.sleep(590)


async def _retry(stage: Stage) -> None:
    await stage.open()
    stage.appear(2)
    await stage.call(provider="deferred")
    await stage.sleep(595)


async def _last_try(stage: Stage) -> None:
    await stage.open()
    stage.appear(2)
    for wait_s in (1000, 1795):
        await stage.call(provider="deferred")
        await stage.sleep(wait_s)


async def _old(stage: Stage) -> None:
    """The provider was closed for nearly a day."""
    await stage.open()
    stage.appear(2)
    await stage.call(provider="paused")
    await stage.sleep(24 * HOUR_S - 300)


async def _cut(stage: Stage) -> None:
    """Jobs found and matched by nobody, for nearly a day."""
    await stage.open()
    stage.appear(2)
    await stage.call(("create deliveries", "kill-before"))
    await stage.sleep(24 * HOUR_S - 300)


async def _paused(stage: Stage) -> None:
    await stage.open()
    stage.appear(2)
    await stage.call(provider="paused")
    for person in range(len(stage.modes)):
        await edit(stage.world, Edit(0.0, person, "pause:1"), "daily")
    await stage.sleep(900)
    await stage.call()
    await stage.sleep(HOUR_S - 905)


async def _quiet_hours(stage: Stage) -> None:
    await stage.open(quiet_from="12:10", quiet_to="13:30")
    stage.appear(2)
    await stage.call()
    await stage.until(1.5 * HOUR_S - 30)


async def _model(stage: Stage) -> None:
    await stage.call()
    for person, mode in enumerate(stage.modes):
        about = f"I am {UIDS[person]}."
        await sign_up(stage.world, person, mode, ai=True, about=about, ai_threshold=FIT_MIN_SCORE)
    await stage.sleep(900)
    await stage.call()
    await stage.sleep(900)


async def _dead_question(stage: Stage) -> None:
    await _model(stage)
    stage.appear(3)
    await stage.call(("ask", "kill-after"))
    await stage.sleep(590)


async def _untold_verdict(stage: Stage) -> None:
    """Verdicts came late, were stored, and their rows were not."""
    await _model(stage)
    stage.appear(3)
    stage.world.answers = (("unclear", 1),)
    await stage.call()
    stage.world.answers = (("answered", 1),)
    await stage.sleep(700)
    await stage.call(("swap matches", "stop 1"), ("create deliveries", "kill-before"))
    await stage.sleep(590)


ALERT = ("create deliveries", "get deliveries", "send alert", "swap deliveries", "swap jobs", "swap users", "get users")
AGAIN = ("swap deliveries", "swap deliveries", "get deliveries", "send alert", "find deliveries", "get users")
DIGEST = ("commit", "get digests", "swap digests", "send digest", "swap deliveries", "get users", "find digests")
NAMES = ("create jobs", "create jobs", "create aliases", "create fingerprints", "swap sources", "poll", "swap jobs")
MODEL = ("create matches", "get matches", "swap matches", "ask", "create deliveries", "swap jobs", "find matches")
QUOTA = ("create locks", "swap locks", "get locks", "send alert", "send digest", "create deliveries")

SCENES: Mapping[str, Scene] = {
    "alerts": Scene(_alerts, around=ALERT),
    "fresh": Scene(_fresh, around=ALERT),
    "archive": Scene(_archive, around=ALERT, is_archive=True),
    "digest": Scene(_digest, around=DIGEST),
    "full digest": Scene(_full_digest, around=DIGEST),
    "weekly": Scene(_weekly, around=DIGEST),
    "unclear digest": Scene(_unclear_digest, around=DIGEST),
    "dead digest": Scene(_dead_digest, around=DIGEST),
    "half flipped": Scene(_half_flipped, around=DIGEST),
    "dead alert": Scene(_dead_alert, around=ALERT),
    "dead claim": Scene(_dead_claim, around=ALERT),
    "retry": Scene(_retry, around=AGAIN),
    "last try": Scene(_last_try, around=AGAIN),
    "old": Scene(_old, around=AGAIN),
    "cut": Scene(_cut, around=ALERT),
    "paused": Scene(_paused, around=AGAIN),
    "quiet hours": Scene(_quiet_hours, around=AGAIN),
    "twins": Scene(_alerts, has_twins=True, around=NAMES),
    "renamed": Scene(_alerts, are_renamed=True, around=NAMES),
    "verdicts": Scene(_model, has_model=True, around=MODEL),
    "small batches": Scene(_model, environment={"SCOUT_AI_BATCH": "1"}, has_model=True, around=MODEL),
    "dead question": Scene(_dead_question, has_model=True, around=MODEL),
    "untold verdict": Scene(_untold_verdict, has_model=True, around=MODEL),
    "quota": Scene(_digest, environment={"SCOUT_MAIL_DAILY_MAX": "3"}, around=QUOTA),
}
