"""`scout verify`: does the ledger hold?"""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from app.cli.errors import Mistake, Trouble
from app.seen import BadEvents, Seen, in_events, in_outbox
from app.settings import load
from app.shown import console, counted, pairs, show_json, table
from app.verify import Verified
from app.verify import verify as verified_by
from app.wiring import wired

SHOWN_MAX = 200


@click.command()
@click.option("--events", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="SendGrid's events, as they were posted: a JSON array, or one a line.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_context
def verify(context: click.Context, events: Path | None, as_json: bool) -> None:
    """Hold the ledger against what left the building. Changes nothing.

    Reads the outbox where letters go there, or the provider's events from a file. Lists letters that left twice,
    jobs that nothing will ever send, unclear rows with the id that the provider knows them by, what is stuck, and
    whether the sum holds. The exit code is 1 if there is any of these.

    \b
    Examples:
      scout verify
      scout verify --events events.json
      scout verify --json
    """
    found = asyncio.run(_verified(events))
    if as_json:
        show_json(_as_json(found))
    else:
        _show(found)
    if found.findings:
        context.exit(1)


async def _verified(events: Path | None) -> Verified:
    async with wired(load()) as parts:
        try:
            seen = await asyncio.to_thread(_seen, events, parts.settings.outbox)
        except BadEvents as error:
            raise Mistake(str(error)) from error
        except OSError as error:
            raise Trouble(f"what left cannot be read: {error.strerror}") from error
        return await verified_by(parts.store, seen, now=parts.clock())


def _seen(events: Path | None, outbox: Path | None) -> Seen | None:
    if events is not None:
        return in_events(events)
    return in_outbox(outbox) if outbox is not None else None


def _show(found: Verified) -> None:
    out = console()
    out.print(pairs([
        ("rows", f"{found.queued} = " + " + ".join(f"{count} {state}" for state, count in found.rows.items())
         + (f" + {found.unreadable} unreadable" if found.unreadable else "")),
        ("letters that left", "not counted: no outbox, and no --events" if found.letters is None else found.letters),
        ("copies of digests", found.copies),
    ]))  # fmt: skip
    if not found.findings:
        click.echo("Everything holds.")
        return
    out.print()
    rows = [(finding.kind, finding.outside, finding.what) for finding in found.findings[:SHOWN_MAX]]
    out.print(table(("", "known outside as", "what"), rows))
    click.echo(f"{counted(len(found.findings), 'finding')}; docs/operating.md says what to do.")


def _as_json(found: Verified) -> dict[str, object]:
    return {
        "rows": dict(found.rows),
        "queued": found.queued,
        "unreadable": found.unreadable,
        "letters": found.letters,
        "copies": found.copies,
        "findings": [
            {"kind": finding.kind.value, "what": finding.what, "outside": finding.outside} for finding in found.findings
        ],
    }
