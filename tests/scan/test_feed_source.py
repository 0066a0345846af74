"""A feed as a source: polls over real sockets, and whatever bytes a board may send."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from dataclasses import replace
from datetime import datetime

import pytest

from ledger.records import Health, SourceState
from scan.fetch import Fetcher
from scan.posting import Failed, Items, NotModified, Source
from scan.sources import feed as module
from scan.sources.feed import MIN_INTERVAL_S, FeedSource, feed_source
from scan.sources.kind import SourceConfig
from tests.boards import Board, Reply

ITEM = "<item><title>Go developer</title><link>/jobs/1</link><guid>1</guid><description>Remote.</description></item>"
FEED = f"<rss version='2.0'><channel><ttl>60</ttl>{ITEM}</channel></rss>"


async def test_a_poll_gives_postings_validators_and_the_feeds_own_pace(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    url = board.serve("/f", FEED, etag='"1"', last_modified="x", headers={"Cache-Control": "max-age=60"})
    answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=10)
    assert isinstance(answer, Items)
    (posting,) = answer.postings
    assert (posting.platform, posting.native_id, posting.title) == ("feed:board", "1", "Go developer")
    assert (posting.link, posting.text) == (board.url("/jobs/1"), "Remote.")
    assert (answer.etag, answer.last_modified, answer.wait_s) == ('"1"', "x", 3600.0)
    assert answer.body_hash == hashlib.sha256(FEED.encode()).hexdigest()


async def test_relative_links_are_resolved_against_where_the_redirects_ended(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    board.serve("/deep/er/f", FEED.replace("/jobs/1", "jobs/1"))
    url = board.redirect("/f", "/deep/er/f", status=301)
    answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=10)
    assert isinstance(answer, Items)
    assert answer.postings[0].link == board.url("/deep/er/jobs/1")


async def test_a_second_poll_sends_the_validators_and_is_not_modified(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    source: Source = FeedSource("board", board.serve("/f", FEED, etag='W/"1"'), fetcher=fetcher)
    first = await source.poll(new_state, now=now, deadline_s=10)
    assert isinstance(first, Items)
    state = replace(new_state, etag=first.etag, last_modified=first.last_modified, body_hash=first.body_hash)
    assert isinstance(await source.poll(state, now=now, deadline_s=10), NotModified)
    assert board.requests[1].headers["if-none-match"] == 'W/"1"'
    assert board.count("/f") == 2


async def test_the_same_bytes_are_not_modified_whatever_the_validators_say(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    url = board.replies("/f", Reply(FEED.encode(), etag='"1"'), Reply(FEED.encode(), etag='"2"'))
    source = FeedSource("board", url, fetcher=fetcher)
    first = await source.poll(new_state, now=now, deadline_s=10)
    assert isinstance(first, Items)
    state = replace(new_state, etag=first.etag, body_hash=first.body_hash)
    assert isinstance(await source.poll(state, now=now, deadline_s=10), NotModified)


@pytest.mark.parametrize(("min_interval_s", "wait_s", "interval_s"), [(None, 3600.0, MIN_INTERVAL_S), (5, 0.0, 5)])
async def test_the_operators_interval_comes_before_the_feeds_own(
    min_interval_s: int | None,
    wait_s: float,
    interval_s: int,
    board: Board,
    fetcher: Fetcher,
    new_state: SourceState,
    now: datetime,
) -> None:
    source = FeedSource("board", board.serve("/f", FEED), fetcher=fetcher, min_interval_s=min_interval_s)
    answer = await source.poll(new_state, now=now, deadline_s=10)
    assert isinstance(answer, Items)
    assert (answer.wait_s, source.min_interval_s) == (wait_s, interval_s)


async def test_a_feed_cannot_ask_to_be_left_alone_for_longer_than_a_day(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    url = board.serve("/f", FEED.replace("<ttl>60", "<ttl>9999"), headers={"Cache-Control": "max-age=99999999"})
    answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=10)
    assert isinstance(answer, Items)
    assert answer.wait_s == 24 * 3600


async def test_a_page_with_status_200_is_a_failure_and_no_empty_feed(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    page = "<!doctype html><html><title>Just a moment...</title></html>"
    board.serve("/login", page, content_type="text/html")
    for url in (board.url("/login?key=s3cret"), board.redirect("/f", "/login", status=301)):
        answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=10)
        assert answer == Failed(Health.MALFORMED, f"an HTML page, not a feed: {board.url('/login')}")


async def test_a_feed_without_items_is_an_answer(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    url = board.serve("/f", "<rss version='2.0'><channel><title>none</title></channel></rss>")
    answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=10)
    assert isinstance(answer, Items)
    assert (answer.postings, answer.skipped) == ((), ())


async def test_a_refusal_passes_through_with_its_wait(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    url = board.serve("/f", "", status=429, headers={"Retry-After": "90"})
    answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=10)
    assert isinstance(answer, Failed)
    assert (answer.health, answer.retry_after_s) == (Health.REFUSED, 90.0)


async def test_a_slow_board_does_not_delay_the_others(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    slow = FeedSource("slow", board.serve("/slow", FEED, drip_s=0.05), fetcher=fetcher)
    endless = FeedSource("endless", board.serve("/endless", FEED, endless=True), fetcher=fetcher)
    quick = [FeedSource(f"q{n}", board.serve(f"/{n}", FEED), fetcher=fetcher) for n in range(20)]
    answers = await asyncio.gather(
        slow.poll(new_state, now=now, deadline_s=1),
        *(source.poll(new_state, now=now, deadline_s=60) for source in (endless, *quick)),
    )
    assert [type(answer) for answer in answers] == [Failed, Failed] + [Items] * 20


async def test_a_parser_that_hangs_is_given_up(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()
    monkeypatch.setattr(module, "read_document", lambda *_: never.wait())
    source = FeedSource("board", board.serve("/f", FEED), fetcher=fetcher)
    answer = await source.poll(new_state, now=now, deadline_s=0.5)
    never.set()
    assert isinstance(answer, Failed)
    assert answer.health is Health.SLOW


async def test_what_makes_the_parser_raise_is_a_failure_that_names_the_exception(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    url = board.serve("/f", "<rss version='2.0'><channel><item><title>&#1114112;</title></item></channel></rss>")
    answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=10)
    assert answer == Failed(Health.MALFORMED, f"the parser failed with ValueError: {url}")


async def test_an_entity_bomb_expands_to_nothing(
    board: Board, fetcher: Fetcher, new_state: SourceState, now: datetime
) -> None:
    entities = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10 if n else 'x' * 100}'>" for n in range(9))
    outside = "<!ENTITY file SYSTEM 'file:///etc/passwd'>"
    item = "<item><title>t &e8;</title><guid>1</guid><description>d &file;</description></item>"
    url = board.serve("/f", f"<!DOCTYPE r [{entities}{outside}]><rss version='2.0'><channel>{item}</channel></rss>")
    answer = await FeedSource("board", url, fetcher=fetcher).poll(new_state, now=now, deadline_s=20)
    assert isinstance(answer, Items)
    assert all(len(p.title) < 500 and "root:" not in p.text for p in answer.postings)


def test_a_public_feed_is_never_asked_more_often_than_every_half_hour() -> None:
    fetcher = Fetcher(user_agent="t")

    def interval_s(url: str, min_interval_s: int | None) -> int:
        return feed_source(SourceConfig("x", "feed", url, min_interval_s), fetcher).min_interval_s

    assert interval_s("https://board.example/f", 60) == MIN_INTERVAL_S
    assert interval_s("https://board.example/f", 7200) == 7200
    assert interval_s("https://board.example/f", None) == MIN_INTERVAL_S
    assert interval_s("http://127.0.0.1:1/f", 0) == 0
    assert interval_s("file:///tmp/f.xml", 1) == 1
