"""The demo: a Monday morning in seconds, on boards, people and a clock of its own.

The boards answer on loopback, the ledger is a file, letters go to a folder. Everything that is told is read back:
from the run reports, from the ledger, from the letters as they lie in the outbox.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from app import logs, profile
from app.demo import tell
from app.demo.boards import Boards, open_boards
from app.demo.feeds import BOARDS, page_of
from app.demo.folder import make_folder
from app.demo.jobs import Ad, arrivals, backlog
from app.demo.letters import Mail, read_outbox, write_html
from app.demo.people import PEOPLE
from app.demo.promises import Seen, promises
from app.demo.stage import HandClock, Stage, settings_of, sources_toml
from app.settings import Settings
from app.wiring import wired

SEED = 20261130
FIRST_POLL = datetime(2026, 11, 30, 5, 30, tzinfo=UTC)  # a Monday: weekly letters are due too
NEW_JOBS = FIRST_POLL.replace(minute=45)
DIGEST_HOUR = FIRST_POLL.replace(hour=8, minute=5)
QUARTER_LATER = FIRST_POLL.replace(hour=8, minute=20)


def run_demo(folder: Path, *, keep: bool, console: Console) -> list[str]:
    """Play it, and tell it on `console`. Returns the promises that were broken. Raises NotADemo."""
    place = make_folder(folder, keep=keep)
    settings = settings_of(place)
    with (place / "scout.log").open("w", encoding="utf-8") as log_file, open_boards() as boards:
        (place / "sources.toml").write_text(sources_toml(boards), encoding="utf-8")
        logs.set_up("json", stream=log_file)
        try:
            return asyncio.run(_play(settings, place, boards, console))
        finally:
            logs.set_up(None)


async def _play(settings: Settings, place: Path, boards: Boards, console: Console) -> list[str]:
    clock = HandClock(FIRST_POLL)
    async with wired(settings, clock=clock) as parts:
        stage = Stage(parts, clock)
        seen = Seen()
        tell.opening(console, place, clock())
        await _sign_up(stage)

        _list(boards, ads := backlog(SEED, at=FIRST_POLL))
        tell.heading(console, clock(), "The first poll: what is there already is stored, and nobody is told")
        seen.note("first", await stage.run(), mails := read_outbox(place / "outbox"))
        tell.report(console, seen.reports["first"])
        tell.sources(console, await stage.sources())

        clock.move_to(NEW_JOBS)
        _list(boards, [*arrivals(SEED, at=NEW_JOBS), *ads])
        tell.heading(console, clock(), "New jobs: instant people are mailed, the others' jobs wait for their hour")
        seen.note("new", await stage.run(), now := read_outbox(place / "outbox"))
        tell.report(console, seen.reports["new"])
        tell.sources(console, await stage.sources())
        tell.matched(console, await stage.matched())
        tell.mailed(console, _added(now, mails))
        mails = now

        clock.move_to(DIGEST_HOUR)
        tell.heading(console, clock(), "Eight o'clock has passed in Europe: daily and weekly digests are due there")
        seen.note("digests", await stage.run(), now := read_outbox(place / "outbox"))
        tell.report(console, seen.reports["digests"])
        tell.mailed(console, _added(now, mails))
        tell.waiting(console, await stage.waiting())

        tell.heading(console, clock(), "The same again, twice: at once, and a quarter of an hour later")
        asked = boards.requests()
        seen.note("again", await stage.run(), read_outbox(place / "outbox"))
        asked_again = boards.requests() - asked
        clock.move_to(QUARTER_LATER)
        seen.note("later", await stage.run(), mails := read_outbox(place / "outbox"))
        asked_later = boards.requests() - asked - asked_again
        tell.twice(console, seen, asked=(asked_again, asked_later))

    kept = promises(seen)
    tell.ending(console, place, mails, write_html(mails, place / "letters"), kept)
    return [promise.text for promise in kept if not promise.is_kept]


async def _sign_up(stage: Stage) -> None:
    default_at, now = stage.parts.settings.digest_at, stage.clock()
    for person in PEOPLE:
        await profile.save(stage.parts.store, person.address, person.changes, default_at=default_at, now=now)


def _list(boards: Boards, ads: list[Ad]) -> None:
    """From now on the boards list these."""
    for board in BOARDS:
        boards.pages[board.path] = page_of(board, ads)


def _added(now: list[Mail], before: list[Mail]) -> list[Mail]:
    known = {mail.file for mail in before}
    return [mail for mail in now if mail.file not in known]
