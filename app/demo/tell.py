"""The demo in words. It tells what it is given and knows no expectation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from app.demo.letters import Mail
from app.demo.promises import Promise, Seen
from app.demo.stage import MatchSeen, SourceSeen
from app.shown import counted, pairs, table
from app.told import headline, lines
from ledger.lifecycle import State
from ledger.records import Delivery, Mode, User

JOBS_SHOWN = 3  # of one person in one table


def opening(console: Console, place: Path, at: datetime) -> None:
    told = (
        "Five boards and twelve people, made up from a seed. The boards answer on this machine, the ledger is a file, "
        "letters go to a folder: nothing leaves, nothing of yours is read.\n"
        f"The clock is the demo's own, moved by hand from {at:%A %d %B %Y, %H:%M} UTC: so a morning takes seconds.\n"
        f"All that follows is read back from the run reports, the ledger and the letters. Everything is in {place}/."
    )
    console.print(Panel(Text(told), title="Scout, a demo", title_align="left"))


def heading(console: Console, at: datetime, title: str) -> None:
    console.print()
    console.rule(Text(f"{at:%H:%M} UTC  {title}", style="bold"), align="left")


def report(console: Console, answer: Mapping[str, Any]) -> None:
    console.print(Text(headline(answer)))
    console.print(pairs(lines(answer)))


def sources(console: Console, seen: Sequence[SourceSeen]) -> None:
    heads = ("fetched: source", "format", "health", "jobs known", "first seen now")
    console.print()
    console.print(table(heads, [(s.name, s.format, s.health, s.known, s.new) for s in seen]))


def matched(console: Console, seen: Sequence[MatchSeen]) -> None:
    rows: list[tuple[object, ...]] = []
    for one in seen:
        shown, left = one.rows[:JOBS_SHOWN], len(one.rows) - JOBS_SHOWN
        who = _who(one.user)
        if not shown:
            rows.append((who, "nothing fits", "", ""))
        for row in shown:
            rows.append((who, f"{row.title}{f', {row.company}' if row.company else ''}", row.reason, _became(row)))
            who = Text()
        if left > 0:
            rows.append((Text(), f"and {left} more", "", ""))
    console.print()
    console.print(table(("matched: who", "job", "why", "what became of it"), rows))


def mailed(console: Console, mails: Sequence[Mail]) -> None:
    console.print()
    console.print(table(("mailed: to", "kind", "subject"), [(mail.to, mail.kind, mail.subject) for mail in mails]))


def waiting(console: Console, seen: Sequence[MatchSeen]) -> None:
    rows = [
        (one.user.address, _hour(one.user), len(one.rows), min(row.wake_at for row in one.rows if row.wake_at))
        for one in seen
    ]
    if rows:
        console.print()
        console.print(table(("still waiting: who", "letters", "jobs", "until (UTC)"), rows))


def twice(console: Console, seen: Seen, *, asked: tuple[int, int]) -> None:
    """Both runs side by side: the reports' figures, and the outbox before and after."""
    again, later = seen.reports["again"], seen.reports["later"]
    named = [
        ("jobs new", "jobs", "new"), ("pairs that fit", "matches", "fit"), ("letters sent", "mail", "sent"),
        ("rows queued", "mail", "queued"), ("rows failed", "mail", "failed"), ("rows deferred", "mail", "deferred"),
        ("rows unclear", "mail", "unclear"), ("rows expired", "mail", "expired"),
        ("sources unchanged", "sources", "not_modified"), ("sources not due", "sources", "not_due"),
        ("store reads", "cost", "reads"), ("store writes", "cost", "writes"),
    ]  # fmt: skip
    rows: list[tuple[object, ...]] = [("requests to the boards", *asked)]
    rows += [(label, again[group][name], later[group][name]) for label, group, name in named]
    files = [len(seen.mails[run]) for run in ("digests", "again", "later")]
    rows.append(("files in the outbox, before -> after", f"{files[0]} -> {files[1]}", f"{files[1]} -> {files[2]}"))
    heads = ("the run", f"at once: {again['status']}", f"a quarter later: {later['status']}")
    console.print(table(heads, rows))
    console.print(Text("The store is read and written for the lock, the sources' next polls and the report itself."))


def ending(
    console: Console, place: Path, mails: Sequence[Mail], pages: Sequence[Path], promises: Sequence[Promise]
) -> None:
    console.print()
    console.rule(Text("What was promised, and what came of it", style="bold"), align="left")
    for promise in promises:
        mark = Text("kept    ", style="green") if promise.is_kept else Text("BROKEN  ", style="bold red")
        console.print(mark + Text(promise.text))
    console.print()
    console.rule(Text("Look at it, and go on", style="bold"), align="left")
    # Printed as they are: what is meant to be copied is never wrapped.
    told = [f"{counted(len(mails), 'letter')} in {place}/outbox/new, and as pages for a browser in {place}/letters:"]
    if mails and pages:
        told += [f"  less {mails[0].file}", f"  open {pages[0]}    (or xdg-open)"]
    told += [
        f"The log is {place}/scout.log, the ledger {place}/scout.db.",
        "Your own Scout:",
        "  make serve                          writes a secret to .env, prints the curl line",
        "  .venv/bin/scout users add you@example.com --keywords 'python, fastapi' --mode daily --at 08:00",
        "  README.md                           settings, callers, what is promised",
    ]
    for line in told:
        console.print(Text(line), soft_wrap=True)


def _who(user: User) -> Text:
    return Text(f"{user.address}, {_hour(user)}")


def _hour(user: User) -> str:
    return user.mode.value if user.mode is Mode.INSTANT else f"{user.mode.value} {user.at} {user.zone}"


def _became(row: Delivery) -> str:
    if row.state is State.QUEUED and row.wake_at is not None:
        return f"digest at {row.wake_at:%H:%M} UTC"
    return f"{row.via.value}: {row.state.value}"
