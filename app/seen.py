"""What left the building by somebody else's account: the outbox, or the provider's events. Held against the ledger."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ledger.records import Delivery
from mail import maildir

EVENTS_MAX_BYTES = 1024 * 1024 * 1024
TAKEN = frozenset({"processed", "delivered", "deferred", "bounce"})

_OUTBOX_RECEIPT = re.compile(r"[0-9a-f]{32}\.\d+\.\d+_\d+")


class BadEvents(ValueError):
    """The file is not what the provider sent; one line that says what it should be."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Letters by their id outside, and the provider's own names of them.

    `since` and `until` bound what the account covers; None: everything. `stray` are outbox files by id.
    """

    where: str
    letters: Counter[str]
    receipts: frozenset[str]
    since: datetime | None = None
    until: datetime | None = None
    files: dict[str, Path] | None = None

    def lacks(self, row: Delivery) -> bool:
        """Whether a SENT row's letter should be in this account and is not."""
        if row.receipt is None or row.final_at is None:
            return False
        if self.files is not None:  # other receipts are another transport's, from before
            return bool(_OUTBOX_RECEIPT.fullmatch(row.receipt)) and row.receipt not in self.receipts
        covered = self.since is not None and self.until is not None and self.since <= row.final_at <= self.until
        return covered and _message(row.receipt) not in self.receipts


def in_outbox(path: Path) -> Seen:
    """Raises OSError."""
    found = maildir.names(path)
    letters = Counter(maildir.outside_of(name) for name in found)
    by_id = {maildir.outside_of(name): file for name, file in found.items()}
    return Seen("the outbox", letters, frozenset(found), files=by_id)


def in_events(file: Path) -> Seen:
    """SendGrid's events as it posted them: a JSON array, or an array or an event a line. Raises BadEvents, OSError."""
    if file.stat().st_size > EVENTS_MAX_BYTES:
        raise BadEvents(f"{file.name} is larger than {EVENTS_MAX_BYTES} bytes")
    messages: set[tuple[str, str]] = set()
    times: list[float] = []
    for event in _events(file.read_text("utf-8", "replace"), file.name):
        outside, message, at = event.get("delivery_id"), event.get("sg_message_id"), event.get("timestamp")
        if isinstance(at, int | float):
            times.append(at)
        if event.get("event") in TAKEN and isinstance(outside, str) and isinstance(message, str) and message:
            messages.add((outside, _message(message)))
    letters = Counter(outside for outside, _ in messages)
    receipts = frozenset(message for _, message in messages)
    if not times:
        return Seen("the events", letters, receipts)
    since, until = (datetime.fromtimestamp(at, UTC) for at in (min(times), max(times)))
    return Seen("the events", letters, receipts, since=since, until=until)


def _message(name: str) -> str:
    """SendGrid's name of a letter: what X-Message-Id says, and what `sg_message_id` begins with."""
    return name.partition(".")[0]


def _events(text: str, name: str) -> Iterator[dict[str, Any]]:
    try:
        values = [json.loads(text)]
    except ValueError:
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise BadEvents(f"{name} holds no JSON: give it the provider's events as they were posted") from error
    for value in values:
        for event in value if isinstance(value, list) else [value]:
            if isinstance(event, dict):
                yield event
