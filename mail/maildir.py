"""Reading the outbox back: what left the building, an attempt a file."""

from __future__ import annotations

from dataclasses import dataclass
from email import message_from_bytes, policy
from email.utils import parseaddr, parsedate_to_datetime
from pathlib import Path

HEAD_MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Head:
    """What a letter's headers say. `kind` is None for one that nobody subscribed to (signing in)."""

    to: str
    kind: str | None
    date_s: float


def names(path: Path) -> dict[str, Path]:
    """Every letter in the Maildir, read or not, by its name without flags. Raises OSError.

    No folder at all is an outbox that never took a letter.
    """
    if not path.exists():
        return {}
    found = {file.name.partition(":")[0]: file for part in ("new", "cur") for file in (path / part).iterdir()}
    return dict(sorted(found.items()))


def outside_of(name: str) -> str:
    """The letter's id outside, as the outbox writes it first in the name; some other text for a foreign file."""
    return name.partition(".")[0]


def head_of(file: Path) -> Head:
    """Raises OSError, and ValueError for a file that is no letter."""
    with file.open("rb") as opened:
        message = message_from_bytes(opened.read(HEAD_MAX_BYTES), policy=policy.compat32)
    to, date, listed = (str(message.get(name, "")) for name in ("To", "Date", "List-Id"))
    if "@" not in to or not date:
        raise ValueError("not a letter")
    kind = listed.partition("<")[2].partition(".")[0]
    return Head(parseaddr(to)[1], kind or None, parsedate_to_datetime(date).timestamp())
