"""`scout mail`: letters, without sending any."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.errors import Trouble
from app.parts import utc_now
from app.preview import samples, write
from app.settings import load
from app.shown import counted
from app.wiring import site_of
from mail.envelope import Unsendable
from scan.sources.config import load as load_sources


@click.group()
def mail() -> None:
    """Look at the letters before anybody gets one."""


@mail.command()
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR",
              help="Where the samples go; made if it is not there.")  # fmt: skip
def preview(folder: Path) -> None:
    """Write a sample of every letter: as a page, as text and as it would leave.

    Jobs and addresses are made up; sender, links and attributions are those of your settings. Nothing is sent.

    \b
    Examples:
      scout mail preview --to letters
    """
    settings = load()
    configs = load_sources(settings.sources)
    made = samples(site_of(settings, configs), sources=tuple(config.name for config in configs), now=utc_now())
    try:
        index, *_ = write(made, folder)
    except OSError as error:
        raise Trouble(f"{folder} cannot be written: {error.strerror}") from error
    except Unsendable as error:
        raise Trouble(f"no letter can leave with these settings: {error}") from error
    click.echo(f"{counted(len(made), 'letter')} in {folder}; open {index}")
