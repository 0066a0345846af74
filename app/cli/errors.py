"""How a command fails: one line on standard error that says what to do. What nobody foresaw is shown as it is.

exit code 2   a person's mistake: a bad argument, a bad setting
exit code 1   the run failed, or the store could not be reached
"""

from __future__ import annotations

from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from app.environment import BadSetting
from app.profile import BadProfile
from ledger.documents import BadRecord
from ledger.store import StoreError
from ledger.users import Contended
from scan.sources.config import BadSources


class Trouble(click.ClickException):
    """Something failed that the person did not do."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        click.echo(f"scout: {self.format_message()}", file=file, err=True)


class Mistake(Trouble):
    """The person can mend it at once."""

    exit_code = 2


class OneLine(click.Group):
    """A group whose errors are one line each."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise _one_line(error) from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise _one_line(error) from error
        except (BadSetting, BadSources, BadProfile) as error:
            raise Mistake(str(error)) from error
        except StoreError as error:
            raise Trouble(f"the store cannot be used: {error}") from error
        except (Contended, BadRecord) as error:
            raise Trouble(str(error)) from error


def _one_line(error: click.UsageError) -> Mistake:
    message = " ".join(error.format_message().split()).rstrip(".")
    where = error.ctx.command_path if error.ctx is not None else "scout"
    return Mistake(f"{message}; see: {where} --help")
