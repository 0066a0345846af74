"""Whatever bytes a board may send."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.records import Health, SourceState
from scan.exchange import Fetched
from scan.posting import Failed, Items
from scan.sources.feed import FeedSource

PIECES = st.sampled_from(
    [
        b"<rss version='2.0'><channel>",
        b"<feed xmlns='http://www.w3.org/2005/Atom'>",
        b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>",
        b"<item>",
        b"</item>",
        b"<entry>",
        b"</entry>",
        b"<title>a</title>",
        b"<title>",
        b"<link>http://[x</link>",
        b"<link href='%%'/>",
        b"<guid>1</guid>",
        b"<pubDate>\xff</pubDate>",
        b"<description><![CDATA[",
        b"]]>",
        b"&#1114112;",
        b"&#xD800;",
        b"&nbsp;",
        b"<!DOCTYPE a [<!ENTITY b '\\'>]>",
        b"<?xml version='1.0' encoding='x'?>",
        b"<ttl>99999999999999999999</ttl>",
        b"<content type='base64'>%%</content>",
        b"\x00",
        b'{"version": "https://jsonfeed.org/version/1", "items": [{"id": 1e999, "title": "\\ud800"}]}',
    ]
)


class _Bytes:
    """In place of a fetcher: these bytes came."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def fetch(self, url: str, **_: object) -> Fetched:
        return Fetched(url, self._body, "application/xml", hashlib.sha256(self._body).hexdigest())


@settings(max_examples=500, deadline=None, derandomize=True)
@given(
    st.one_of(st.binary(max_size=200), st.lists(st.one_of(PIECES, st.binary(max_size=6)), max_size=12).map(b"".join))
)
def test_any_bytes_give_a_list_or_a_reason(body: bytes) -> None:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    fetcher: Any = _Bytes(body)
    source = FeedSource("board", "https://board.example/f", fetcher=fetcher)
    answer = asyncio.run(source.poll(SourceState("board", next_poll_at=now), now=now, deadline_s=60))
    if isinstance(answer, Failed):
        assert answer.health is Health.MALFORMED
        assert answer.reason
        return
    assert isinstance(answer, Items)
    assert all(posting.title and posting.native_id for posting in answer.postings)
    assert all(skipped.reason for skipped in answer.skipped)
