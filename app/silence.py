"""Sources that people rely on and that have been silent for a day: told at the head of their digests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.parts import Run
from ledger import sources
from ledger.records import SourceState, User
from mail.dates import moment
from scan.posting import Source

NAMED_MAX = 3  # in one note; the rest is counted


async def silent_sources(run: Run) -> list[SourceState]:
    """The configured ones that had no readable answer for a day. Raises StoreError."""
    return await sources.silent(run.store, list(run.parts.sources), now=run.now)


def notes_for(user: User, silent: Sequence[SourceState], configured: Mapping[str, Source]) -> tuple[str, ...]:
    """What the user's digest says about them, in one line or none. It holds instants, so a repeat reads the same."""
    missed = [state for state in silent if _relies_on(user, configured[state.name])]
    if not missed:
        return ()
    named = [
        f"{state.name} since {moment(state.ok_at, user.zone)}"
        for state in missed[:NAMED_MAX]
        if state.ok_at is not None
    ]
    more = f" and {len(missed) - NAMED_MAX} more" if len(missed) > NAMED_MAX else ""
    return (f"Silent for a day or longer: {', '.join(named)}{more}. Jobs there may be missing here.",)


def _relies_on(user: User, source: Source) -> bool:
    """By the source's name, its board or the kind of its board, as searches name them; no name means all."""
    names = {name.casefold() for name in (source.name, source.platform, source.platform.partition(":")[0])}
    return any(
        not search.sources or any(name.strip().casefold() in names for name in search.sources)
        for search in user.searches.values()
    )
