"""The gates of a search as options of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from app.gates import GATES

F = TypeVar("F", bound=Callable[..., Any])


def gate_options(command: F) -> F:
    """Adds an option for each gate, named by its field of Search; None where it is not given."""
    for gate in reversed(GATES):
        decorate = click.option(gate.option, gate.field, default=None, help=gate.help, metavar=gate.metavar or None)
        command = decorate(command)
    return command
