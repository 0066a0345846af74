"""`scout demo`: the whole cycle on made-up people and jobs."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.errors import Mistake, Trouble
from app.shown import console


@click.command()
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=Path("demo"), show_default=True,
              help="Where everything goes; an earlier demo there is replaced.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep an earlier demo: write beside it, to DIR-2, DIR-3, ...")
def demo(folder: Path, keep: bool) -> None:
    """Show the whole cycle on made-up people and jobs.

    Five boards and twelve people, shaped like production and made from a seed; the cycle is run, and run again. The
    boards answer on loopback, letters go to a folder: no credential, no network, none of your settings. Exit code 1
    if a promise was broken.

    \b
    Examples:
      scout demo
      scout demo --dir /tmp/demo
    """
    from app.demo import run_demo
    from app.demo.folder import NotADemo

    try:
        broken = run_demo(folder, keep=keep, console=console())
    except NotADemo as error:
        raise Mistake(str(error)) from error
    if broken:
        raise Trouble(f"the demo broke a promise: {'; '.join(broken)}")
