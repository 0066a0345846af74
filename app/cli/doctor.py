"""`scout doctor`: is everything in place?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict

import click

from app.doctor import examine
from app.domain import Level, Line, system_txt
from app.environment import BadSetting
from app.settings import load
from app.shown import counted, say, show_json
from app.wiring import wired
from scan.reasons import plain_line
from scan.sources.config import BadSources

NAME_WIDTH = 22
COLOURS = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red", Level.SKIP: "bright_black"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the lines as JSON.")
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check settings, store, clock, sources and mail, and say how to mend what is wrong.

    Sends nothing. The mail account is asked about its credentials; DNS about SPF, DKIM and DMARC. The exit code is 1
    if a line says fail.

    \b
    Examples:
      scout doctor
      scout doctor --json
    """
    lines = asyncio.run(_examined(_say if not as_json else _say_nothing))
    if as_json:
        show_json([asdict(line) for line in lines])
    failed = sum(line.level is Level.FAIL for line in lines)
    if not as_json:
        click.echo(f"{counted(failed, 'thing')} to mend." if failed else "Nothing is in the way.")
    if failed:
        context.exit(1)


async def _examined(tell: Callable[[Line], None]) -> list[Line]:
    lines: list[Line] = []
    try:
        async with wired(load()) as parts:
            async for line in examine(parts, txt=system_txt):
                tell(line)
                lines.append(line)
    except (BadSetting, BadSources) as error:
        name = "settings" if isinstance(error, BadSetting) else "sources"
        lines.append(Line(Level.FAIL, name, str(error), "mend it and ask again: the rest could not be looked at"))
        tell(lines[-1])
    return lines


def _say(line: Line) -> None:
    say(f"{line.level:<5} ", nl=False, fg=COLOURS[line.level])
    click.echo(f"{line.name:<{NAME_WIDTH}} {plain_line(line.what)}")
    if line.mend:
        click.echo(f"{'':<{NAME_WIDTH + 6}} -> {plain_line(line.mend)}")


def _say_nothing(_line: Line) -> None:
    """The lines are printed together, as JSON."""
