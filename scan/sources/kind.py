"""What a kind of source declares about itself, and what one entry of the list becomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import SplitResult

from ledger.secrets import HeldSecret
from scan.fetch import Fetcher
from scan.posting import Source

FLOOR_S = 1800  # a public source is never asked more often, unless its kind knows better


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One entry, its kind's own values filled in. `min_interval_s` None: as the feed itself says.

    `options` are what the kind takes besides, secrets among them; they are shown nowhere.
    """

    name: str
    kind: str
    url: str
    min_interval_s: int | None = None
    id_rule: str = "auto"
    platform: str | None = None
    attribution: str = ""
    terms: str = ""  # for the operator: what the board asks of those who read it
    title_form: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


class Secrets(Protocol):
    """Where a source keeps what its board hands out and takes back, such as a token that changes with each use."""

    async def get(self, name: str) -> HeldSecret | None:
        """What is kept under the name."""
        ...

    async def swap(self, name: str, old: HeldSecret | None, values: Mapping[str, str]) -> HeldSecret | None:
        """Replace what was read (None: nothing was there) and return it as kept; None: somebody else was first.

        Decided atomically by the store, so of two who renew a token one alone goes on. `values` hold a fresh nonce.
        """
        ...


@dataclass(frozen=True, slots=True)
class Option:
    """A field of an entry beyond the common ones. Its value may be written `env:NAME`."""

    about: str
    required: bool = False
    default: str = ""
    pattern: str = r"[^\x00-\x1f\x7f]{1,500}"


Make = Callable[[SourceConfig, Fetcher, Secrets], Source]
Recognise = Callable[[SplitResult], Mapping[str, str] | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One board, or one family of boards. A board that is more than a feed with rules brings its own `make`.

    `url`, `platform`, `min_interval_s`, `title_form`, `attribution` and `terms` hold unless an entry says
    otherwise. Without a `url` the entry must give one; an empty one the kind makes itself. `floor_s` holds
    against the entry, for public addresses. `id_rule` is a rule of identity.py, for feeds; `ids` says in words
    what a job's id is. `job_link` finds that id in a canonical link to one job, wherever it stands (an alert
    mail). `recognise` turns a URL that a person pasted into the fields of an entry.
    """

    name: str
    make: Make
    ids: str
    url: str | None = None
    platform: str | None = None
    min_interval_s: int | None = None
    floor_s: int = FLOOR_S
    id_rule: str | None = None
    title_form: str | None = None
    attribution: str = ""
    terms: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    schemes: tuple[str, ...] = ("http", "https", "file")
    hosts: tuple[str, ...] = ()
    job_link: re.Pattern[str] | None = None
    recognise: Recognise | None = None

    def defaults(self) -> dict[str, Any]:
        """The common fields that an entry of this kind need not give."""
        own = {
            "url": self.url,
            "platform": self.platform,
            "min_interval_s": self.min_interval_s,
            "id_rule": self.id_rule,
            "title_form": self.title_form,
            "attribution": self.attribution,
            "terms": self.terms,
        }
        return {name: value for name, value in own.items() if value not in (None, "")}

    def recognised(self, url: SplitResult) -> Mapping[str, str] | None:
        """The fields of an entry for a pasted URL, or None if it is not of this kind."""
        if self.recognise is not None:
            return self.recognise(url)
        host = (url.hostname or "").removeprefix("www.")
        return {} if host in self.hosts else None
