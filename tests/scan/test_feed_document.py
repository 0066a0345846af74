"""Bytes of real and broken feeds to postings: nothing raises, nothing is lost without a reason."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scan.encoding import mended
from scan.sources.document import Document, read_document
from scan.sources.entries import Reading, Rules, read_entries
from scan.sources.identity import parse_rule
from scan.sources.jsonfeed import NotAFeed
from scan.sources.registry import kind_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BASE = "https://board.example/x/feed.xml"


def _read(document: Document, kind: str = "feed") -> Reading:
    own = kind_of(kind)
    rules = Rules("p", parse_rule(own.id_rule or "auto"), own.title_form)
    return read_entries(document.entries, rules, base=BASE, now=NOW)


def _case(folder: Path, name: str, content_type: str = "application/rss+xml") -> Reading:
    return _read(read_document((folder / name).read_bytes(), content_type))


def test_skills_written_as_a_sentence_are_tags() -> None:
    item = "<title>x</title><skills>Go, SQL, and Research and Development</skills><type>Contract</type>"
    body = f"<rss version='2.0'><channel><item>{item}</item></channel></rss>".encode()
    assert _read(read_document(body, "")).postings[0].tags == ("Go", "SQL", "Research and Development", "Contract")


def test_a_control_character_loses_itself_and_nothing_else(cases: Path) -> None:  # B31
    titles = [p.title for p in _case(cases, "B31_feed.xml").postings]
    assert titles == ["Python developer", "Django developer", "Flask developer"]


def test_a_bad_byte_becomes_one_replacement_character_and_titles_stay(cases: Path) -> None:  # B33
    first, second = _case(cases, "B33_feed.xml").postings
    assert (first.title, first.text, second.title) == ("Développeur Python", "Paris \ufffd", "Průvodce API")


def test_an_encoding_that_the_header_contradicts_is_no_failure(cases: Path) -> None:  # B35
    assert [p.title for p in _case(cases, "B35_feed.xml", "text/xml").postings] == ["Entwickler für München"]


def test_titles_escaped_twice_are_read_once_more(cases: Path) -> None:  # B36
    assert [p.title for p in _case(cases, "B36_feed.xml").postings] == [
        "Senior C++ & Rust dev <remote>",
        "Don't miss: Java lead",
        "Fix & entity handling (single escape, about entities)",
    ]


def test_odd_dates_are_read_or_left_out(cases: Path) -> None:  # B43
    assert [p.published_at for p in _case(cases, "B43_feed.xml").postings] == [
        datetime(2026, 11, 30, 12, 0, 33, tzinfo=UTC),
        datetime(2026, 11, 30, 21, 3, 47, tzinfo=UTC),
        None,
        None,
        None,
        None,
    ]


def test_relative_links_are_resolved_and_guids_are_not(cases: Path) -> None:  # B47
    (atom,) = _case(cases, "B47_feed.atom.xml", "application/atom+xml").postings
    (rss,) = _case(cases, "B47_feed.rss.xml").postings
    assert (atom.link, atom.native_id) == ("https://board.example/x/jobs/123", "j-123")
    assert (rss.link, rss.native_id) == ("https://board.example/jobs/7", "7")


def test_xml_base_comes_before_the_feeds_url() -> None:
    head = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://other.example/a/'>"
    body = f"{head}<entry><id>1</id><title>x</title><link href='b'/></entry></feed>".encode()
    assert _read(read_document(body, "")).postings[0].link == "https://other.example/a/b"


def test_titles_stay_on_one_line(cases: Path) -> None:  # B68
    titles = [p.title for p in _case(cases, "B68_feed.xml").postings]
    assert titles[:2] == ["Senior Dev Bcc: victim@example.com", "Multi line title"]
    assert all(len(t) <= 300 and t.isprintable() for t in titles)


def test_a_guid_that_is_no_link_is_not_taken_for_one() -> None:
    body = b"<rss version='2.0'><channel><item><title>x</title><guid>12345</guid></item></channel></rss>"
    (posting,) = _read(read_document(body, "")).postings
    assert (posting.native_id, posting.link) == ("12345", "")


def test_a_guid_that_is_a_link_is_the_link_where_there_is_no_other() -> None:
    body = b"<rss version='2.0'><channel><item><title>x</title><guid>https://a.example/1</guid></item></channel></rss>"
    assert _read(read_document(body, "")).postings[0].link == "https://a.example/1"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"<!DOCTYPE html><html><title>Just a moment...</title></html>", "HTML page"),
        (b"\n<html><body>Please log in</body></html>", "HTML page"),
        (b"just words", "not a feed"),
        (b"<jobs><job/></jobs>", "not a feed"),
        (b'{"jobs": []}', "no JSON Feed"),
        (b"[1]", "no JSON Feed"),
        (b"{broken", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"version": "https://jsonfeed.org/version/1.1"}', "without items"),
    ],
)
def test_what_is_no_feed_says_what_it_is(body: bytes, reason: str) -> None:
    with pytest.raises(NotAFeed, match=reason):
        read_document(body, "text/html")


def test_a_json_feed_is_read_with_numbers_as_ids() -> None:
    body = b"""{"version": "https://jsonfeed.org/version/1", "items": [
      {"id": 7, "url": "/jobs/7", "title": "Go &amp; SQL", "content_html": "<p>Remote<p>EU", "tags": ["go", 3, null],
       "date_published": "2026-11-30T10:00:00+02:00", "authors": [{"name": "Firm"}]},
      {"id": 8.0, "external_url": "https://a.example/8", "content_text": "a <b>\\n\\nc", "author": {"name": "Old"}},
      {"id": true, "summary": "Only words", "date_published": 5, "authors": "x", "tags": "y"},
      {}, 5, null]}"""
    reading = _read(read_document(b"\xef\xbb\xbf" + body, "application/json"))
    seven, eight, words = reading.postings
    assert (seven.native_id, seven.link, seven.title) == ("7", "https://board.example/jobs/7", "Go & SQL")
    assert (seven.text, seven.company, seven.tags) == ("Remote\nEU", "Firm", ("go", "3"))
    assert seven.published_at == datetime(2026, 11, 30, 8, tzinfo=UTC)
    assert (eight.native_id, eight.title, eight.text, eight.company) == ("8", "a <b>", "a <b>\nc", "Old")
    assert (words.title, words.published_at) == ("Only words", None)
    assert Counter(s.reason for s in reading.skipped) == {"neither title nor text": 3}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be", "shift_jis", "iso2022_jp", "cp037"])
def test_bytes_are_not_touched_where_low_bytes_are_not_controls(encoding: str) -> None:
    body = f"<?xml version='1.0' encoding='{encoding}'?><rss>日\x18</rss>"
    data = body.encode(encoding, "ignore")
    assert mended(data, f"text/xml; charset={encoding}") == (
        data.replace(b"\x18", b"") if encoding == "shift_jis" else data
    )


def test_latin_text_that_claims_to_be_utf8_is_left_to_the_parser() -> None:
    data = "<rss>Café für Özil</rss>".encode("latin-1")
    assert mended(data, "text/xml; charset=utf-8") == data
