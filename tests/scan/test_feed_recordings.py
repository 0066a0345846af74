"""Recorded feeds, well-formed and not, to postings: nothing raises, nothing is lost without a reason."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from scan.sources.document import Document, read_document
from scan.sources.entries import Reading, Rules, read_entries
from scan.sources.identity import parse_rule
from scan.sources.jsonfeed import NotAFeed
from scan.sources.registry import kind_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BASE = "https://board.example/x/feed.xml"

# Counted on the files by their elements: items; postings; of these without a link, a date, a text.
COUNTS = {
    "boards/himalayas_rss_2026-07-27_first_item.xml": (1, 1, 0, 0, 0),
    "boards/weworkremotely_2026-07.xml": (4, 4, 0, 0, 0),
    "nasty_feeds/feedparser/encoding__bozo_double-encoded-html.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/encoding__bozo_linenoise.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/encoding__demoronize-2.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/encoding__demoronize-3.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/encoding__double-encoded-html.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/encoding__encoding_attribute_crash_2.xml": (1, 0, 0, 0, 0),  # one image, no words
    "nasty_feeds/feedparser/encoding__euc-kr-attribute.xml": (1, 0, 0, 0, 0),  # the same
    "nasty_feeds/feedparser/encoding__euc-kr-item.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/encoding__http_encoding_attribute_crash.xml": (1, 0, 0, 0, 0),  # the same
    "nasty_feeds/feedparser/illformed__chardet__eucjp.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/illformed__chardet__euckr.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/illformed__chardet__gb2312.xml": (1, 1, 1, 1, 1),
    "nasty_feeds/feedparser/illformed__chardet__shiftjis.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/illformed__chardet__tis620.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/illformed__chardet__windows1255.xml": (1, 1, 1, 1, 0),
    "nasty_feeds/feedparser/illformed__rdf_channel_empty_textinput.xml": (1, 1, 0, 1, 1),
    "nasty_feeds/feedparser/illformed__rss_incomplete_cdata.xml": (1, 0, 0, 0, 0),  # its only text is cut off
    "nasty_feeds/miniflux/encoding_ISO-8859-1.xml": (40, 40, 0, 0, 0),
    "nasty_feeds/miniflux/encoding_WINDOWS-1251.xml": (50, 50, 0, 0, 0),
    "nasty_feeds/miniflux/koi8r.xml": (2, 2, 0, 0, 0),
    "nasty_feeds/miniflux/rdf_UTF8.xml": (60, 60, 0, 60, 0),
    "nasty_feeds/miniflux/small_atom.xml": (20, 20, 0, 0, 0),
    "nasty_feeds/miniflux/utf8-incorrect-prolog.xml": (1, 1, 1, 1, 1),
    "upwork/rss_raw_20240513.xml": (30, 30, 0, 0, 0),
    "upwork/rss_raw_20240514.xml": (30, 30, 0, 0, 0),
    "upwork/rss_raw_20240516.xml": (30, 30, 0, 0, 0),
}
NO_FEED = {"nasty_feeds/feedparser/illformed__rss_empty_document.xml"}
FILES = ("boards/*.xml", "nasty_feeds/*/*.xml", "upwork/*.xml")


def _read(document: Document, kind: str = "feed") -> Reading:
    own = kind_of(kind)
    rules = Rules("p", parse_rule(own.id_rule or "auto"), own.title_form)
    return read_entries(document.entries, rules, base=BASE, now=NOW)


def test_every_item_of_every_recorded_feed_is_a_posting_or_has_a_reason(recordings: Path) -> None:
    paths = sorted(path for pattern in FILES for path in recordings.glob(pattern))
    assert len(paths) == 53
    for path in paths:
        name = str(path.relative_to(recordings))
        try:
            document = read_document(path.read_bytes(), "")
        except NotAFeed:
            assert name in NO_FEED
            continue
        reading = _read(document)
        postings = reading.postings
        assert len(document.entries) == len(postings) + len(reading.skipped), name
        counts = (
            len(document.entries),
            len(postings),
            sum(not posting.link for posting in postings),
            sum(posting.published_at is None for posting in postings),
            sum(not posting.text for posting in postings),
        )
        assert counts == COUNTS.get(name, (0, 0, 0, 0, 0)), name
        assert all(posting.title and posting.native_id for posting in postings), name
        assert all("<" not in posting.title or posting.title == "’<>”\ufffd" for posting in postings), name
        assert all(skipped.reason == "neither title nor text" for skipped in reading.skipped), name


def test_odd_encodings_are_read_as_what_they_are(recordings: Path) -> None:
    folder = recordings / "nasty_feeds"

    def first_title(name: str) -> str:
        return _read(read_document((folder / name).read_bytes(), "")).postings[0].title

    assert first_title("feedparser/encoding__euc-kr-item.xml") == "년"
    assert first_title("miniflux/encoding_WINDOWS-1251.xml") == "Цитата #17703"
    assert first_title("miniflux/koi8r.xml") == "Первая новость"
    assert first_title("miniflux/encoding_ISO-8859-1.xml").startswith(
        "Red Dead Redemption 2: Hinweise auf PC-Umsetzung"
    )
    assert first_title("miniflux/utf8-incorrect-prolog.xml") == "Café"


def test_wwrs_own_elements_are_read(recordings: Path) -> None:
    document = read_document((recordings / "boards" / "weworkremotely_2026-07.xml").read_bytes(), "text/xml")
    posting = _read(document, "weworkremotely").postings[0]
    assert (posting.company, posting.title, posting.place) == ("Mathmo", "Maths Coach", "Anywhere in the World")
    assert (posting.native_id, posting.aliases) == ("mathmo-maths-coach", ())
    assert posting.tags == ("All Other Remote", "Contract")
    assert posting.published_at == datetime(2026, 7, 10, 22, 45, 30, tzinfo=UTC)
    assert posting.text.startswith("Headquarters: London\nURL: http://www.mathmo.com\nWe're looking")
    assert document.ttl_s == 3600


def test_a_feed_with_undeclared_namespaces_is_read(recordings: Path) -> None:
    name = "himalayas_rss_2026-07-27_first_item.xml"
    (posting,) = _read(read_document((recordings / "boards" / name).read_bytes(), "application/rss+xml")).postings
    assert (posting.company, posting.place) == ("ESource Corp", "")
    assert posting.link == "https://himalayas.app/companies/esource-corp/jobs/instructional-designer-contractor"
