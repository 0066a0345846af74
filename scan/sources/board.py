"""A board with an API of its own as a source: a few polite requests, each read by a pure parser in a thread.

All of it or nothing: if one page fails the poll has failed, because a page that is lost while its neighbours
are stored as seen would never be asked for again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from ledger import ids
from ledger.records import Health, SourceState
from scan.addresses import is_loopback_url
from scan.aside import AsideBusy, aside
from scan.exchange import Fetched
from scan.fetch import BODY_MAX_BYTES, Fetcher
from scan.links import shown
from scan.posting import ITEMS_MAX, Answer, Failed, Items, NotModified, Posting, Skipped
from scan.sources.entries import Reading
from scan.sources.item import Unreadable
from scan.sources.kind import FLOOR_S, Make, Secrets, SourceConfig


@dataclass(frozen=True, slots=True)
class Page:
    """What one answer lists, and what to ask next because of it."""

    reading: Reading
    more: tuple[Ask, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, and the parser of its answer. `headers` may hold a secret, `content` makes it a POST."""

    url: str
    read: Callable[[bytes], Page | Unreadable]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes | None = None


class BoardSource:
    """Source over a board's API."""

    def __init__(
        self,
        config: SourceConfig,
        *,
        fetcher: Fetcher,
        first: Callable[[datetime], Ask],
        platform: str | None = None,
        floor_s: int = FLOOR_S,
        pages_max: int = 1,
        newest_first: bool = False,
        body_max_bytes: int = BODY_MAX_BYTES,
    ) -> None:
        """`first` makes the first request of a poll at a time. `newest_first`: the pages that follow one with a
        job of the last poll hold nothing new, and are not asked for."""
        self.name = config.name
        self.platform = platform or config.platform or config.kind
        self.min_interval_s = polite_interval_s(config, floor_s)
        self.attribution = config.attribution
        self._fetcher = fetcher
        self._first = first
        self._pages_max = pages_max
        self._newest_first = newest_first
        self._body_max_bytes = body_max_bytes

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        """At most `pages_max` requests inside `deadline_s`; a single page is asked for conditionally."""
        ends = asyncio.get_running_loop().time() + deadline_s
        waiting = deque([self._first(now)])
        is_single = self._pages_max == 1
        readings: list[Reading] = []
        bodies = hashlib.sha256()
        last: Fetched | None = None
        for _ in range(self._pages_max):
            if not waiting:
                break
            ask = waiting.popleft()
            answer = await self._asked(ask, state if is_single else None, now=now, ends=ends)
            if not isinstance(answer, Fetched):
                return answer
            last = answer
            bodies.update(answer.body_hash.encode())
            if is_single and bodies.hexdigest() == state.body_hash:
                return NotModified()
            page = await self._read(ask, answer, ends=ends)
            if isinstance(page, Failed):
                return page
            readings.append(page.reading)
            if not (self._newest_first and _has_known(page.reading.postings, state)):
                waiting.extend(page.more)
            else:
                waiting.clear()
        if bodies.hexdigest() == state.body_hash:
            return NotModified()
        return _items(
            readings, last if is_single else None, bodies.hexdigest(), unread=bool(waiting) and bool(state.seen)
        )

    async def _asked(
        self, ask: Ask, state: SourceState | None, *, now: datetime, ends: float
    ) -> Fetched | NotModified | Failed:
        return await self._fetcher.fetch(
            ask.url,
            now=now,
            deadline_s=_left_s(ends),
            etag=state.etag if state is not None and ask.content is None else None,
            last_modified=state.last_modified if state is not None and ask.content is None else None,
            headers=ask.headers,
            content=ask.content,
            body_max_bytes=self._body_max_bytes,
        )

    async def _read(self, ask: Ask, answer: Fetched, *, ends: float) -> Page | Failed:
        where = shown(answer.url)
        try:
            page = await aside(lambda: ask.read(answer.body), deadline_s=_left_s(ends))
        except TimeoutError:
            return Failed(Health.SLOW, f"could not be parsed in time: {where}")
        except AsideBusy as error:
            return Failed(Health.SLOW, f"{error}: {where}")
        except Exception as error:  # the edge to a parser of outside data; the outcome is the answer
            return Failed(Health.MALFORMED, f"the parser failed with {type(error).__name__}: {where}")
        return Failed(Health.MALFORMED, f"{page.reason}: {where}") if isinstance(page, Unreadable) else page


def in_one_answer(parse: Callable[..., Page | Unreadable], *, platform: str, floor_s: int = FLOOR_S) -> Make:
    """The maker of a source whose board lists all of its jobs at the configured URL."""

    def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> BoardSource:
        def first(now: datetime) -> Ask:
            return Ask(config.url, partial(parse, now=now))

        return BoardSource(config, fetcher=fetcher, first=first, platform=platform, floor_s=floor_s)

    return make


def polite_interval_s(config: SourceConfig, floor_s: int) -> int:
    """The entry's interval; for public addresses never below what the board, or good manners, ask for."""
    interval_s = floor_s if config.min_interval_s is None else config.min_interval_s
    return interval_s if is_loopback_url(config.url) else max(interval_s, floor_s)


def _items(readings: list[Reading], only: Fetched | None, body_hash: str, *, unread: bool) -> Items:
    postings: dict[tuple[str, str], Posting] = {}
    skipped: list[Skipped] = []
    for reading in readings:
        for posting in reading.postings:  # pages overlap while a board grows
            postings.setdefault((posting.platform, posting.native_id), posting)
        skipped += reading.skipped
    taken = tuple(postings.values())
    if len(taken) > ITEMS_MAX:
        skipped.append(Skipped(f"{len(taken) - ITEMS_MAX} items", f"more than {ITEMS_MAX} items in one answer"))
    if unread:
        skipped.append(Skipped("further pages", "more new items than the pages that are read in one poll"))
    return Items(
        taken[:ITEMS_MAX],
        tuple(skipped),
        etag=only.etag if only is not None else None,
        last_modified=only.last_modified if only is not None else None,
        body_hash=body_hash,
    )


def _has_known(postings: tuple[Posting, ...], state: SourceState) -> bool:
    known = set(state.seen)
    return any(ids.source_hash(posting.native_id) in known for posting in postings)


def _left_s(ends: float) -> float:
    return max(0.0, ends - asyncio.get_running_loop().time())
