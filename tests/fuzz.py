"""Any bytes through every parser of outside data: `python -m tests.fuzz [EXAMPLES]`, 10,000 each by default.

A parser's answer is a list or a reason, never an exception, within a second. The examples are pieces of what
boards send, put together at random, cut, and plain noise.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from scan.posting import Posting, Skipped
from scan.sources import (
    adzuna,
    alertmail,
    arbeitnow,
    ats,
    feed,
    freelancer,
    hackernews,
    himalayas,
    jobicy,
    remoteok,
    remotive,
    upwork,
    upwork_rss,
    weworkremotely,
    workingnomads,
)
from scan.sources.board import Page
from scan.sources.entries import Reading, Rules
from scan.sources.identity import parse_rule
from scan.sources.item import Unreadable
from scan.sources.registry import kind_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
EXAMPLES = 10_000
ONE_MAX_S = 1.0  # of processor time, for inputs of a few KB
Parser = Callable[[bytes], Reading | Unreadable]


def api(parse: Callable[..., Page | Unreadable], **more: str) -> Parser:
    def read(body: bytes) -> Reading | Unreadable:
        found = parse(body, now=NOW, **more)
        return found.reading if isinstance(found, Page) else found

    return read


def a_feed(kind: str, content_type: str = "") -> Parser:
    own = kind_of(kind)
    finish = weworkremotely.finished if kind == "weworkremotely" else upwork_rss.finished
    rules = Rules(kind, parse_rule(own.id_rule or "auto"), own.title_form)

    def read(body: bytes) -> Reading | Unreadable:
        found = feed.parse(body, content_type, rules=rules, base="https://x.example/f?key=s3cret", now=NOW)
        if isinstance(found, Unreadable):
            return found
        return Reading(tuple(map(finish, found[0].postings)), found[0].skipped)

    return read


def a_mail(body: bytes) -> Reading | Unreadable:
    return alertmail.parse(body, platform="mailbox:x", senders=frozenset("*"), now=NOW)


PARSERS: dict[str, Parser] = {
    "feed": a_feed("feed"),
    "feed with a charset": a_feed("feed", "text/xml; charset=utf-16"),
    "weworkremotely": a_feed("weworkremotely"),
    "upwork_rss": a_feed("upwork_rss"),
    "adzuna": api(adzuna.parse, country="gb"),
    "arbeitnow": api(arbeitnow.parse, root="https://x.example/"),
    "greenhouse": api(ats.parse, system="greenhouse", board="x"),
    "lever": api(ats.parse, system="lever", board="x"),
    "ashby": api(ats.parse, system="ashby", board="x"),
    "workable": api(ats.parse, system="workable", board="x"),
    "freelancer": api(freelancer.parse),
    "hackernews": api(hackernews.parse, root="https://x.example/"),
    "hackernews comments": api(hackernews.parse_comments),
    "himalayas": api(himalayas.parse, root="https://x.example/"),
    "jobicy": api(jobicy.parse),
    "remoteok": api(remoteok.parse),
    "remotive": api(remotive.parse),
    "upwork": api(upwork.parse),
    "workingnomads": api(workingnomads.parse),
    "mailbox": a_mail,
}

NAMES = [
    "jobs", "data", "results", "result", "projects", "hits", "id", "title", "url", "description", "guid", "slug",
    "position", "company", "company_name", "text", "comment_text", "objectID", "story_id", "parent_id",
    "salary_min", "minSalary", "salaryRange", "min", "max", "tags", "location", "categories", "allLocations",
    "created_at", "pubDate", "createdAt", "links", "next", "nextCursor", "edges", "node",
    "marketplaceJobPostingsSearch", "hourlyBudgetMin", "rawValue", "client", "compensation", "lists", "content",
    "errors", "jobTitle", "jobType", "budget", "currency", "seo_url", "status", "pay_input_ranges", "min_cents",
    "shortcode", "isListed", "secondaryLocations",
]  # fmt: skip
TEXTS = [
    "", "Python developer", "<p>Hello <b>there</b></p>", "&lt;p&gt;x&lt;/p&gt;",
    "https://himalayas.app/companies/a/jobs/b", "https://www.workingnomads.com/job/go/17/", "1899999999999999999",
    "2026-11-29T10:00:00Z", "1e999", "NaN", "-1", "\ud800", "\u202e\x00", "&#1114112;", "SEEKING WORK",
    "Acme | Dev | $90k", "Ask HN: Who is hiring? (x)", "https://[", "javascript:alert(1)", "error",
    "\ufffd\xc3\xa1\xc2", "2091081", "companies", "yearly", "per-year-salary",
    "<" * 400, "<div>" * 200, "a" * 3000,
]  # fmt: skip
XML = [
    b'<?xml version="1.0" encoding="utf-8"?>', b'<rss version="2.0"><channel>', b"<item>", b"</item>",
    b"</channel></rss>", b'<feed xmlns="http://www.w3.org/2005/Atom">', b"<entry>", b"</entry>",
    b"<title>Go: Dev - Upwork</title>", b"<link>https://weworkremotely.com/remote-jobs/a</link>",
    b"<link href='x?y=1'/>", b"<guid>1</guid>", b"<![CDATA[", b"]]>",
    b"<description>&lt;b&gt;Budget&lt;/b&gt;: $5\nPosted On: x\nSkills: a, b</description>", b"&#1114112;",
    b"<description>Headquarters: Remote - US, or Ulm\nURL: x\ny</description>",
    b"&nbsp;", b"<pubDate>Mon, 30 Nov 2026 09:00:00 GMT</pubDate>", b"<!DOCTYPE a [<!ENTITY b 'c'>", b"\\", b"\x00",
    b"\xff\xfe", b"<x:y>", b"<!--", b'{"version": "https://jsonfeed.org/version/1.1", "items": [',
    b'{"id": 1, "title": "x"}', b"]}",
    b"<a " * 50,
]  # fmt: skip
MAIL = [
    b"From: Upwork <a@upwork.com>\r\n", b"Subject: =?utf-8?q?x=", b"Subject: New jobs\r\n",
    b"Message-ID: <1@x>\r\n", b"Content-Type: text/html; charset=klingon\r\n",
    b"Content-Type: multipart/alternative; boundary=b\r\n", b"\r\n--b\r\n", b"Content-Type: text/html\r\n",
    b"Content-Transfer-Encoding: base64\r\n", b"\r\n\r\n", b"--b--", b"PGE+", b"Date: yesterday\r\n",
    b"<a href='https://www.upwork.com/jobs/~021899999999999999999?x=1'>Build a bot</a>", b"<a href=", b"</a>",
    b"=\r\n", b"https://www.linkedin.com/jobs/view/3812345678/ ", b"<a href='https://[x'>", b"\xff",
    b"From: =?x?b?=\r\n",
]  # fmt: skip


class Maker:
    """Bodies out of a number; the same number makes the same body. Much quicker than nested strategies."""

    def __init__(self, number: int) -> None:
        self._random = Random(number)

    def body(self, name: str) -> bytes:
        """What that parser is likely to trip over."""
        if name == "mailbox":
            made = self._pieces(MAIL)
        elif name.startswith("feed") or name in ("weworkremotely", "upwork_rss"):
            start = b"" if self._random.random() < 0.3 else b"<rss version='2.0'><channel><item>"
            made = start + self._pieces(XML)
        else:
            made = json.dumps(self._answer()).encode()
        return made[: self._random.randrange(len(made) + 1)] if self._random.random() < 0.2 else made

    def _pieces(self, parts: list[bytes]) -> bytes:
        count = self._random.randrange(40)
        return b"".join(
            self._random.choice(parts) if self._random.random() < 0.85 else self._random.randbytes(6)
            for _ in range(count)
        )

    def _answer(self) -> Any:
        jobs = [self._object(3) for _ in range(self._random.randrange(4))]
        match self._random.randrange(6):
            case 0:
                return self._value(4)
            case 1:
                return jobs
            case 2:
                return {"data": {"marketplaceJobPostingsSearch": {"edges": [{"node": job} for job in jobs]}}}
            case _:
                return {"jobs": jobs, "data": jobs, "results": jobs, "hits": jobs, "result": {"projects": jobs},
                        "nextCursor": self._leaf(), "links": self._object(1)}  # fmt: skip

    def _object(self, depth: int) -> dict[str, Any]:
        return {self._random.choice(NAMES): self._value(depth - 1) for _ in range(self._random.randrange(16))}

    def _value(self, depth: int) -> Any:
        kind = self._random.random()
        if depth <= 0 or kind < 0.6:
            return self._leaf()
        if kind < 0.8:
            return [self._value(depth - 1) for _ in range(self._random.randrange(4))]
        return self._object(depth)

    def _leaf(self) -> Any:
        odd = (None, True, False, 0, -1, 10**30, 10**400, 1e308, float("nan"), float("inf"), 1796000000, 1.5)
        return self._random.choice(odd) if self._random.random() < 0.3 else self._random.choice(TEXTS)


def bodies_for(name: str) -> st.SearchStrategy[bytes]:
    made = st.integers(0, 2**63).map(lambda number: Maker(number).body(name))
    return made | made | st.binary(max_size=300)


def check(name: str, body: bytes) -> None:
    began = time.thread_time()
    found = PARSERS[name](body)
    assert time.thread_time() - began < ONE_MAX_S, "slower than a second"
    if isinstance(found, Unreadable):
        assert found.reason
        return
    assert all(isinstance(posting, Posting) and posting.title and posting.native_id for posting in found.postings)
    assert all(isinstance(skipped, Skipped) and skipped.reason for skipped in found.skipped)
    assert all(posting.link == "" or posting.link.startswith(("http://", "https://")) for posting in found.postings)
    assert "s3cret" not in repr(found)


def run(name: str, examples: int) -> None:
    """Raises AssertionError, or what a parser raised, with the bytes that did it."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a body made from a number does not get simpler with it
        suppress_health_check=list(HealthCheck),
    )
    @given(bodies_for(name))
    def every(body: bytes) -> None:
        try:
            check(name, body)
        except Exception as error:
            error.add_note(repr(body))
            raise

    every()


def main(examples: int) -> None:
    for name in PARSERS:
        began = time.monotonic()
        run(name, examples)
        sys.stdout.write(f"{name}: {examples} inputs, {time.monotonic() - began:.0f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES)
