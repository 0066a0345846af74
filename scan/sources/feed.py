"""A feed as a source: the generic one, for every board that nobody wrote a connector for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlsplit

from ledger.records import Health, SourceState
from scan.addresses import is_loopback_url
from scan.aside import AsideBusy, aside
from scan.exchange import Fetched
from scan.fetch import Fetcher
from scan.headers import WAIT_MAX_S
from scan.links import shown
from scan.posting import Answer, Failed, Items, NotModified, Posting
from scan.sources.document import read_document
from scan.sources.entries import Reading, Rules, read_entries
from scan.sources.identity import parse_rule
from scan.sources.item import Unreadable
from scan.sources.jsonfeed import NotAFeed
from scan.sources.kind import FLOOR_S, Kind, Secrets, SourceConfig

MIN_INTERVAL_S = FLOOR_S  # of a feed that says nothing else


Finish = Callable[[Posting], Posting]


def unchanged(posting: Posting) -> Posting:
    return posting


class FeedSource:
    """Source over one feed URL. Raises BadRule or BadForm for rules that cannot be read."""

    def __init__(
        self,
        name: str,
        url: str,
        *,
        fetcher: Fetcher,
        min_interval_s: int | None = None,
        id_rule: str = "auto",
        platform: str | None = None,
        attribution: str = "",
        title_form: str | None = None,
        finish: Finish = unchanged,
    ) -> None:
        """With a `min_interval_s` the operator has decided, and the feed's own ttl and max-age count no more.

        `finish` knows what is particular about a board's texts; it is pure.
        """
        self.name = name
        self.platform = platform or f"feed:{name}"
        self.min_interval_s = MIN_INTERVAL_S if min_interval_s is None else min_interval_s
        self.attribution = attribution
        self._heeds_ttl = min_interval_s is None
        self._url = url
        self._fetcher = fetcher
        self._finish = finish
        self._rules = Rules(self.platform, parse_rule(id_rule), title_form)

    async def poll(self, state: SourceState, *, now: datetime, deadline_s: float) -> Answer:
        """One conditional request, then the parser in a thread of its own, both inside `deadline_s`."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + deadline_s
        answer = await self._fetcher.fetch(
            self._url, now=now, deadline_s=deadline_s, etag=state.etag, last_modified=state.last_modified
        )
        match answer:
            case Failed():
                return answer
            case NotModified(wait_s=wait_s):
                return NotModified(wait_s=self._wait_s(wait_s))
            case Fetched(body_hash=body_hash, max_age_s=max_age_s) if body_hash == state.body_hash:
                return NotModified(wait_s=self._wait_s(max_age_s))
            case Fetched():
                return await self._items(answer, now=now, deadline_s=max(0.0, ends - loop.time()))

    async def _items(self, fetched: Fetched, *, now: datetime, deadline_s: float) -> Answer:
        where = shown(fetched.url)
        try:
            read = await aside(
                lambda: parse(fetched.body, fetched.content_type, rules=self._rules, base=fetched.url, now=now),
                deadline_s=deadline_s,
            )
        except TimeoutError:
            return Failed(Health.SLOW, f"could not be parsed in time: {where}")
        except AsideBusy as error:
            return Failed(Health.SLOW, f"{error}: {where}")
        if isinstance(read, Unreadable):
            return Failed(Health.MALFORMED, f"{read.reason}: {where}")
        reading, ttl_s = read
        return Items(
            tuple(map(self._finish, reading.postings)),
            reading.skipped,
            etag=fetched.etag,
            last_modified=fetched.last_modified,
            body_hash=fetched.body_hash,
            wait_s=self._wait_s(max(ttl_s, fetched.max_age_s)),
            has_own_ids=self._rules.id_rule.kind == "regex",
        )

    def _wait_s(self, wait_s: float) -> float:
        return min(wait_s, WAIT_MAX_S) if self._heeds_ttl else 0.0


def parse(
    body: bytes, content_type: str, *, rules: Rules, base: str, now: datetime
) -> tuple[Reading, float] | Unreadable:
    """The feed's items and its ttl in seconds, or why there are none. Pure; never raises, whatever the bytes.

    `base` is where the feed came from. Its query is not a part of it: a link that is only a fragment would
    take it over, and a secret may stand there.
    """
    try:
        document = read_document(body, content_type)
        place = urlsplit(base)._replace(query="", fragment="").geturl()
        return read_entries(document.entries, rules, base=place, now=now), document.ttl_s
    except NotAFeed as error:
        return Unreadable(str(error))
    except Exception as error:  # the edge to a parser that may raise anything; the outcome is the answer
        return Unreadable(f"the parser failed with {type(error).__name__}")


def feed_source(config: SourceConfig, fetcher: Fetcher, *, finish: Finish = unchanged) -> FeedSource:
    """The source of an entry of the list. A public feed is never asked more often than MIN_INTERVAL_S."""
    interval_s = config.min_interval_s
    if interval_s is not None and not is_loopback_url(config.url):
        interval_s = max(interval_s, MIN_INTERVAL_S)
    return FeedSource(
        config.name,
        config.url,
        fetcher=fetcher,
        min_interval_s=interval_s,
        id_rule=config.id_rule,
        platform=config.platform,
        attribution=config.attribution,
        title_form=config.title_form,
        finish=finish,
    )


def make(config: SourceConfig, fetcher: Fetcher, _: Secrets) -> FeedSource:
    return feed_source(config, fetcher)


KIND = Kind(
    "feed",
    make,
    ids="as id_rule says; auto: the guid where each item has its own, else the link, else title and date",
    id_rule="auto",
)
