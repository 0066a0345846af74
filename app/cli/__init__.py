"""`scout`: a file a command group, and no logic of its own."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.cron import cron
from app.cli.demo import demo
from app.cli.doctor import doctor
from app.cli.drill import drill
from app.cli.errors import OneLine
from app.cli.mail import mail
from app.cli.runs import runs
from app.cli.serve import serve
from app.cli.sources import sources
from app.cli.users import users
from app.cli.verdict import verdict
from app.cli.verify import verify
from app.dotenv import adopt


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


for command in (serve, cron, demo, users, sources, runs, verdict, drill, verify, doctor, mail):
    main.add_command(command)
