"""`scout`: a file a command group, and no logic of its own."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from app.cli.errors import OneLine
from app.dotenv import adopt

NAMES = ("cron", "demo", "doctor", "drill", "mail", "runs", "serve", "sources", "users", "verdict", "verify")


class Commands(OneLine):
    """Each command lies in a file of its name, imported when it is asked for: a server's start waits for no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # the same in every context
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in NAMES:
            return None
        command: click.Command = getattr(import_module(f"app.cli.{cmd_name}"), cmd_name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="scout", prog_name="scout")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Watches job boards and emails each person only the jobs that fit.

    Settings come from the environment; a file .env in this folder fills in what the environment lacks. The README
    lists them all.

    \b
    Examples:
      scout demo                    see the whole cycle on made-up people and jobs
      scout users add ann@example.com --keywords 'python, fastapi'
      scout cron                    one run, here and now
      scout serve                   wait for callers of /cron
    """
    if ctx.invoked_subcommand != "demo":  # it has settings of its own
        adopt(Path(".env"))
