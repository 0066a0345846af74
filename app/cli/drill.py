"""`scout drill`: run it twice on purpose, and check whether anyone outside can tell."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from app.cli.errors import Mistake, Trouble
from app.drill.count import Verdict
from app.shown import console, table

NAMES = ("twice", "overlap", "kill", "faults", "clock", "all")
SHOWN_MAX = 10
FIGURES = ("letters", "alerts twice", "digest copies", "unclear, listed")  # those with a column
STEPS = 20  # about so often new jobs appear in a drill


@click.command()
@click.argument("which", type=click.Choice(NAMES), default="all")
@click.option("--seed", type=int, help="Repeats a schedule as exactly as processes allow. Default: a new one, told.")
@click.option("--users", type=click.IntRange(6, 5000), default=60, show_default=True, help="People on the stage.")
@click.option(
    "--jobs", type=click.IntRange(10, 2000), default=60, show_default=True, help="Jobs, over the steps of a drill."
)
@click.option("--rounds", type=click.IntRange(1, 500), default=12, show_default=True, help="Kills at random times.")
@click.option(
    "--report", "report_file", type=click.Path(dir_okay=False, path_type=Path), help="Write a page for people."
)
@click.option("--json", "as_json", is_flag=True, help="The verdict as JSON on standard output.")
def drill(
    which: str, seed: int | None, users: int, jobs: int, rounds: int, report_file: Path | None, as_json: bool
) -> None:
    """Prove the guarantees here and now: the real server, a fresh store, and mail that is counted.

    \b
      twice    two runs back to back: the second sends nothing and leaves the same state
      overlap  many callers, two servers, one that sleeps over its lease
      kill     SIGKILL before, during and after every kind of outside call, and at random
      faults   the mail server and a board answer with everything that can go wrong
      clock    late and early callers, a week without calls, a clock that is off

    Nothing of yours is touched: the store is a new one (SQLite, or the Firestore emulator at
    FIRESTORE_EMULATOR_HOST), the mail server and the boards are its own, all on loopback. Exit code 1 if a
    promise was broken.

    \b
    Examples:
      scout drill                         everything, a minute or two
      scout drill kill --rounds 50 --seed 7 --report drill.html
    """
    from app.drill.page import page  # the drill is not needed by any other command
    from app.drill.scenes import SCENES, Options, perform

    if report_file is not None:
        _check(report_file)
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    err = Console(stderr=True, highlight=False)
    names = list(SCENES) if which == "all" else [which]
    verdicts: list[Verdict] = []
    with err.status(f"drill, seed {seed}") as status:

        def tell(step: str) -> None:
            if err.is_terminal:
                status.update(step)
            elif not as_json:
                err.print(step)

        options = Options(seed=seed, people=users, jobs=max(1, jobs // STEPS), rounds=rounds, tell=tell)
        verdicts += [asyncio.run(perform(name, options)) for name in names]
    same = f"--seed {seed} --users {users} --jobs {jobs} --rounds {rounds}"
    if as_json:
        click.echo(json.dumps({"seed": seed, "verdicts": [_plain(verdict) for verdict in verdicts]}))
    else:
        _show(verdicts, seed=seed, same=same)
    if report_file is not None:
        text = page(verdicts, seed=seed, again=f"scout drill {which} {same}", made_at=datetime.now(UTC))
        try:
            report_file.write_text(text, "utf-8")
        except OSError as error:
            raise Trouble(f"{report_file} cannot be written: {error.strerror}") from error
        click.echo(f"The page: {report_file}", err=as_json)
    sys.exit(0 if all(verdict.is_kept for verdict in verdicts) else 1)


def _check(report_file: Path) -> None:
    """Whether the page can be written, before minutes are spent on it. Raises Mistake."""
    try:
        report_file.open("a").close()
    except OSError as error:
        raise Mistake(f"--report: {report_file} cannot be written: {error.strerror}; name another file") from error


def _plain(verdict: Verdict) -> dict[str, object]:
    broken = [{"promise": v.promise, "what": v.what, "who": v.who, "job": v.job} for v in verdict.violations]
    return {"name": verdict.name, "kept": verdict.is_kept, "figures": verdict.figures, "violations": broken}


def _row(verdict: Verdict) -> tuple[object, ...]:
    figures = verdict.figures
    kept = Text("kept", "green") if verdict.is_kept else Text(f"{len(verdict.violations)} broken", "red")
    rest = ", ".join(f"{value} {name}" for name, value in figures.items() if name not in FIGURES)
    return verdict.name, kept, *(figures.get(name) for name in FIGURES), rest


def _show(verdicts: list[Verdict], *, seed: int, same: str) -> None:
    out = console()
    out.print(f"The drill, seed {seed}")
    out.print(table(("drill", "verdict", *FIGURES, "what"), [_row(verdict) for verdict in verdicts]))
    for verdict in verdicts:
        for violation in verdict.violations[:SHOWN_MAX]:
            job = f", job {violation.job}" if violation.job is not None else ""
            out.print(
                f"[red]{verdict.name}: {violation.promise}[/]: {violation.who}{job}: {violation.what}", soft_wrap=True
            )
        if len(verdict.violations) > SHOWN_MAX:
            out.print(f"{verdict.name}: and {len(verdict.violations) - SHOWN_MAX} more; see --report")
    for verdict in verdicts:
        if not verdict.is_kept:
            out.print(f"Repeat it with: scout drill {verdict.name} {same}", soft_wrap=True)
