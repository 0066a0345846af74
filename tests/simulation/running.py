"""One call of /cron from its beginning to whatever end, by the real cycle."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from app.cycle import cycle
from app.deadline import Deadline
from app.parts import Parts
from app.report import Report, Status
from mail.letter import Site
from tests.simulation.fakes import Bench, Board, Provider
from tests.simulation.plan import Call
from tests.simulation.process import Killed, Process
from tests.simulation.wire import Wire
from tests.simulation.world import World

GARBAGE_MAX_OBJECTS = 50_000
SITE = Site("https://scout.example.com", "Scout <scout@example.com>")


async def call(world: World, what: Call) -> None:
    """Raises nothing that a run may raise; an error of scout's own is a broken promise."""
    process = Process(world, what)
    board = Board(process)
    parts = Parts(
        settings=world.settings,
        store=Wire(process),
        sources={board.name: board},
        transport=Provider(process),
        site=SITE,
        clock=world.now,
        judge=Bench(process) if world.has_model else None,
    )
    deadline = Deadline(world.settings.wall_s, clock=world.now, monotonic=world.clock_s)
    try:
        outcome = await cycle(parts, deadline=deadline)
    except (Killed, BaseExceptionGroup):
        if not process.is_dead:
            raise
        return
    if isinstance(outcome, Report) and outcome.status is Status.FAILED and "scout's own" in outcome.reason:
        world.break_("error", f"p{what.name}: {outcome.reason}")


@contextmanager
def swiftly() -> Iterator[None]:
    """For many simulations: no logs, which cost more than the runs they tell of, and garbage is collected seldom."""
    logs, collected = structlog.get_config(), gc.get_threshold()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    gc.set_threshold(GARBAGE_MAX_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*collected)
        structlog.configure(**logs)
