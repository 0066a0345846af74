"""What a letter says: the value that is rendered before a claim and handed to a transport after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

# Gmail hides what lies beyond about 100,000 bytes of a letter as it was sent: keep well below it.
LETTER_MAX_BYTES = 85_000
SUBJECT_MAX_CHARS = 150


@dataclass(frozen=True, slots=True)
class Site:
    """Who speaks, and where its pages are.

    `mail_from` may be `Name <a@b>`. `attribution` maps the name of a source or board to the text that its
    terms ask to be shown beside its jobs.
    """

    base_url: str
    mail_from: str
    attribution: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Letter:
    """One letter to one person; equal arguments make equal letters, and equal letters equal bytes.

    `to` is the address as typed. `outside_id` is 32 hex: the Message-ID and the provider's idempotency key.
    `unsubscribe_url` is None only for letters that nobody subscribed to (sign-in). `listed` says how many of
    the rows it was rendered from it shows.
    """

    kind: str  # "alert", "digest"
    to: str
    subject: str
    text: str
    html: str
    outside_id: str
    date: datetime  # aware
    mail_from: str
    unsubscribe_url: str | None = None
    listed: int = 0
