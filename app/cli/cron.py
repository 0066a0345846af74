"""`scout cron`: one run in this process."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from app import logs
from app.cli.errors import Mistake, Trouble
from app.cli.stopping import say_stopping
from app.ending import as_if_killed
from app.report import Status
from app.settings import Settings, load
from app.shown import console, pairs, say, show_json
from app.told import headline, lines
from app.wiring import wired

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@click.command()
@click.option("--budget", type=int, metavar="SECONDS", help="End within so many seconds; the next run does the rest.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def cron(budget: int | None, as_json: bool) -> None:
    """Run once: fetch, match, alert, digest, sweep.

    Needs no secret. Safe beside a running server and as often as you like. Ctrl-C stops between people; what has
    begun is settled. Exit code 1 if the run failed.

    \b
    Examples:
      scout cron
      scout cron --budget 25
      scout cron --json | jq .mail
    """
    from app.cron import BUDGET_MIN_S  # with it comes FastAPI, which the other commands need not wait for

    settings = load()
    if budget is not None and not BUDGET_MIN_S <= budget <= settings.wall_s:
        raise Mistake(f"--budget must be from {BUDGET_MIN_S} to {settings.wall_s} seconds (SCOUT_WALL_S)")
    is_watched = sys.stderr.isatty()
    logs.set_up(settings.log, level=logging.WARNING if is_watched else logging.INFO)
    watch = _say_stage if is_watched else None
    report = asyncio.run(_run(settings, wall_s=float(budget or settings.wall_s), watch=watch))
    if as_json:
        show_json(report)
    else:
        shown = console()
        shown.print(f"[bold]{report['status']}[/]", end="")
        shown.print(headline(report).removeprefix(report["status"]), markup=False)
        shown.print(pairs([*lines(report), ("run", report["run_id"])]))
    if report["status"] == Status.FAILED.value:
        raise Trouble(report["reason"])


async def _run(settings: Settings, *, wall_s: float, watch: Callable[[str], None] | None) -> dict[str, Any]:
    from app.cron import Runs, StoppedAtOnce

    runs = Runs()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        runs.cut()
        say_stopping()
        on_signals(at_once)

    def at_once() -> None:
        runs.cancel()
        for number in STOP_SIGNALS:  # a third one ends the process, whatever holds it
            loop.remove_signal_handler(number)
            signal.signal(number, as_if_killed)

    def on_signals(act: Callable[[], None]) -> None:
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, act)

    async with wired(settings) as parts:
        on_signals(stop)
        try:
            return await runs.run(replace(parts, watch=watch) if watch else parts, wall_s=wall_s)
        except StoppedAtOnce as error:
            raise Trouble(str(error)) from error


def _say_stage(stage: str) -> None:
    say(f"  {stage} ...", dim=True, err=True)
