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
from rich.table import Table

from app.drill.count import Verdict

NAMES = ("twice", "overlap", "kill", "faults", "clock", "all")
SHOWN_MAX = 10
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
    if report_file is not None:
        report_file.write_text(
            page(verdicts, seed=seed, again=f"scout drill {which} {same}", made_at=datetime.now(UTC))
        )
    if as_json:
        click.echo(json.dumps({"seed": seed, "verdicts": [_plain(verdict) for verdict in verdicts]}))
    else:
        _show(verdicts, seed=seed, same=same, report_file=report_file)
    sys.exit(0 if all(verdict.is_kept for verdict in verdicts) else 1)


def _plain(verdict: Verdict) -> dict[str, object]:
    broken = [{"promise": v.promise, "what": v.what, "who": v.who, "job": v.job} for v in verdict.violations]
    return {"name": verdict.name, "kept": verdict.is_kept, "figures": verdict.figures, "violations": broken}


def _show(verdicts: list[Verdict], *, seed: int, same: str, report_file: Path | None) -> None:
    out = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    table = Table(title=f"The drill, seed {seed}", title_justify="left", show_lines=False)
    for column in ("drill", "verdict", "letters", "alerts twice", "digest copies", "unclear", "what"):
        table.add_column(column)
    for verdict in verdicts:
        figures = verdict.figures
        told = {"letters", "alerts twice", "digest copies", "unclear, listed"}
        rest = ", ".join(f"{value} {name}" for name, value in figures.items() if name not in told)
        table.add_row(
            verdict.name,
            "[green]kept[/]" if verdict.is_kept else f"[red]{len(verdict.violations)} broken[/]",
            *(str(figures.get(name, "-")) for name in ("letters", "alerts twice", "digest copies", "unclear, listed")),
            rest,
        )
    out.print(table)
    for verdict in verdicts:
        for violation in verdict.violations[:SHOWN_MAX]:
            job = f", job {violation.job}" if violation.job is not None else ""
            out.print(
                f"[red]{verdict.name}: {violation.promise}[/]: {violation.who}{job}: {violation.what}", soft_wrap=True
            )
        if len(verdict.violations) > SHOWN_MAX:
            out.print(f"{verdict.name}: and {len(verdict.violations) - SHOWN_MAX} more; see --report")
    if report_file is not None:
        out.print(f"The page: {report_file}")
    for verdict in verdicts:
        if not verdict.is_kept:
            out.print(f"Repeat it with: scout drill {verdict.name} {same}", soft_wrap=True)
