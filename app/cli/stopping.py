"""What is said when the process is told to end and something is still under way."""

from __future__ import annotations

import sys

import click
import structlog

SAID = "stopping: waiting for what has begun (Ctrl-C again: stop at once)"

log = structlog.get_logger()


def say_stopping() -> None:
    """To whoever watches, else to the log."""
    if sys.stderr.isatty():
        click.echo(SAID, err=True)
    else:
        log.info("stopping")
