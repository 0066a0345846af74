"""The kinds of sources there are. A new board is a module here with a KIND in it, and its name in this list."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from urllib.parse import SplitResult, urlsplit

from scan.fetch import Fetcher
from scan.posting import Source
from scan.sources.kind import Kind, Secrets, SourceConfig

# Each is imported when an entry asks for it: a scout that reads two boards need not load fifteen.
NAMES = (
    "feed",
    "weworkremotely",
    "remoteok",
    "remotive",
    "himalayas",
    "jobicy",
    "arbeitnow",
    "workingnomads",
    "hackernews",
    "freelancer",
    "adzuna",
    "ats",
    "upwork",
    "upwork_rss",
    "mailbox",
)


def kind_of(name: str) -> Kind:
    """The kind of that name. Raises KeyError."""
    if name not in NAMES:
        raise KeyError(name)
    kind: Kind = import_module(f"scan.sources.{name}").KIND
    return kind


def kinds() -> Iterator[Kind]:
    return map(kind_of, NAMES)


def source_of(config: SourceConfig, fetcher: Fetcher, secrets: Secrets) -> Source:
    """The source of one entry of the list."""
    return kind_of(config.kind).make(config, fetcher, secrets)


def recognised(url: str) -> tuple[Kind, dict[str, str]] | None:
    """The board that a pasted URL belongs to, and the fields of an entry for it."""
    try:
        parts: SplitResult = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    for kind in kinds():
        fields = kind.recognised(parts)
        if fields is not None:
            return kind, dict(fields)
    return None


def job_named_by(link: str) -> tuple[str, str] | None:
    """(platform, native id) of the job that a canonical link leads to, if it is a board's that we know."""
    for kind in kinds():
        if kind.job_link is not None and kind.platform and (found := kind.job_link.search(link)):
            return kind.platform, next(group for group in found.groups() if group)
    return None
