"""How answers look: tables for people, JSON for scripts. Text from outside is shown plain, one line each."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.colours import takes_colours
from app.columns import NOTHING, Columns
from scan.reasons import plain_line

PIPED_WIDTH = 100
TERMINAL_MAX_WIDTH = 120


def console() -> Console:
    """For standard output as it is now; without colours and PIPED_WIDTH wide when nobody watches."""
    if not sys.stdout.isatty():
        return Console(width=PIPED_WIDTH, color_system=None, highlight=False, emoji=False)
    seen = Console(highlight=False, emoji=False)
    colours: Literal["auto"] | None = "auto" if takes_colours(sys.stdout) else None
    width = min(seen.width, TERMINAL_MAX_WIDTH)
    return Console(width=width, color_system=colours, highlight=False, emoji=False)


def say(text: str, *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """One line, styled as click does it where the stream takes colours."""
    stream = sys.stderr if err else sys.stdout
    click.echo(click.style(text, **style) if takes_colours(stream) else text, err=err, nl=nl)


def show_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Columns:
    """A table of plain cells; None is a dash, an instant its minute in UTC. What is long belongs into the last one."""
    return Columns(heads, [[cell(value) for value in row] for row in rows])


def pairs(facts: Sequence[tuple[str, object]]) -> Table:
    """Name and value, a line each."""
    drawn = Table.grid(padding=(0, 2))
    drawn.add_column(style="dim", no_wrap=True)
    drawn.add_column()
    for name, value in facts:
        drawn.add_row(Text(name), cell(value))
    return drawn


def cell(value: object) -> Text:
    match value:
        case None | "":
            return Text(NOTHING)
        case datetime():
            return Text(minute(value))
        case Text():
            return value
        case _:
            return Text(plain_line(str(value)))


def minute(at: datetime | str) -> str:
    """`2026-11-30 07:00`, UTC."""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{moment:%Y-%m-%d %H:%M}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 letter`, `3 letters`."""
    return f"{count} {one if count == 1 else many or one + 's'}"
