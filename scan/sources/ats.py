"""Applicant tracking systems: one company's whole board in one answer, official and without a key.

One connector; what differs between the systems is an adapter. An entry names its board as `greenhouse:gitlab`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from urllib.parse import SplitResult, parse_qs, quote

from scan.fetch import Fetcher
from scan.posting import Posting
from scan.sources.ats_readers import ashby, greenhouse, lever, workable
from scan.sources.board import Ask, BoardSource, Page
from scan.sources.fields import reading
from scan.sources.item import Unreadable, items_at
from scan.sources.kind import Kind, Option, Secrets, SourceConfig

BODY_MAX_BYTES = 16 * 1024 * 1024  # whole boards with whole texts: 167 postings are 2.5 MB
LEVER_PAGE_ITEMS = 100
LEVER_PAGES_MAX = 10
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}"


@dataclass(frozen=True, slots=True)
class Adapter:
    """`path` leads from `root` (an entry's `url` replaces it) to a board, `list_at` to the jobs in its answer; a
    page of `page_items` has a successor when it is full."""

    root: str
    path: str
    read: Callable[..., Posting | str | None]
    list_at: tuple[str, ...] = ()
    page_items: int = 0


ADAPTERS: Mapping[str, Adapter] = {
    "greenhouse": Adapter(
        "https://boards-api.greenhouse.io", "/v1/boards/{board}/jobs?content=true&pay_transparency=true",
        greenhouse, ("jobs",),
    ),
    "lever": Adapter(
        "https://api.lever.co", f"/v0/postings/{{board}}?mode=json&limit={LEVER_PAGE_ITEMS}&skip={{skip}}",
        lever, (), LEVER_PAGE_ITEMS,
    ),
    "lever-eu": Adapter(
        "https://api.eu.lever.co", f"/v0/postings/{{board}}?mode=json&limit={LEVER_PAGE_ITEMS}&skip={{skip}}",
        lever, (), LEVER_PAGE_ITEMS,
    ),
    "ashby": Adapter(
        "https://api.ashbyhq.com", "/posting-api/job-board/{board}?includeCompensation=true", ashby, ("jobs",)
    ),
    "workable": Adapter(
        "https://apply.workable.com", "/api/v1/widget/accounts/{board}?details=true", workable, ("jobs",)
    ),
}  # fmt: skip


def parse(
    body: bytes, *, now: datetime, system: str = "greenhouse", board: str = "", root: str = "", skip: int = 0
) -> Page | Unreadable:
    adapter = ADAPTERS[system]
    items = items_at(body, *adapter.list_at)
    if isinstance(items, Unreadable):
        return items
    found = reading(items, lambda item: adapter.read(item, platform=f"{system}:{board}", board=board, now=now))
    if not adapter.page_items or len(items) < adapter.page_items:
        return Page(found)
    return Page(found, (_ask(system, board, root, now=now, skip=skip + adapter.page_items),))


def _ask(system: str, board: str, root: str, *, now: datetime, skip: int = 0) -> Ask:
    adapter = ADAPTERS[system]
    url = (root or adapter.root).rstrip("/") + adapter.path.format(board=quote(board, safe=""), skip=skip)
    return Ask(url, partial(parse, now=now, system=system, board=board, root=root, skip=skip))


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> BoardSource:
    system, board = config.options["board"].split(":", 1)
    return BoardSource(
        config,
        fetcher=fetcher,
        first=lambda now: _ask(system, board, config.url, now=now),
        platform=f"{system}:{board}",
        pages_max=LEVER_PAGES_MAX if ADAPTERS[system].page_items else 1,
        body_max_bytes=BODY_MAX_BYTES,
    )


def recognise(url: SplitResult) -> Mapping[str, str] | None:
    """A careers page of one of these systems, or its API, or the script that embeds it."""
    host = (url.hostname or "").removeprefix("www.")
    parts = [part for part in url.path.split("/") if part]
    system = next((name for name, hosts in HOSTS.items() if host in hosts), "")
    if not system:
        return None
    if system == "greenhouse" and (named := parse_qs(url.query).get("for")):
        parts = named  # /embed/job_board?for=firm
    elif host in API_STEPS:
        parts = parts[API_STEPS[host] :]
    elif system == "workable" and parts[:1] == ["api"]:
        parts = parts[4:]
    board = parts[0] if parts else ""
    return {"board": f"{system}:{board}"} if re.fullmatch(NAME, board) and board != "embed" else None


HOSTS: Mapping[str, tuple[str, ...]] = {
    "greenhouse": (
        "boards.greenhouse.io", "job-boards.greenhouse.io", "boards-api.greenhouse.io", "job-boards.eu.greenhouse.io",
        "boards.eu.greenhouse.io",
    ),
    "lever": ("jobs.lever.co", "api.lever.co"),
    "lever-eu": ("jobs.eu.lever.co", "api.eu.lever.co"),
    "ashby": ("jobs.ashbyhq.com", "api.ashbyhq.com"),
    "workable": ("apply.workable.com",),
}  # fmt: skip
API_STEPS = {"boards-api.greenhouse.io": 2, "api.lever.co": 2, "api.eu.lever.co": 2, "api.ashbyhq.com": 2}

KIND = Kind(
    "ats",
    make,
    ids="the system's own id of a posting, on that company's board",
    url="",
    min_interval_s=1800,
    terms="Boards that companies publish for this purpose; no key, and no attribution asked.",
    options={
        "board": Option(
            "SYSTEM:BOARD, such as greenhouse:gitlab; " + ", ".join(ADAPTERS),
            required=True,
            pattern=f"(?:{'|'.join(ADAPTERS)}):{NAME}",
        )
    },
    recognise=recognise,
)
