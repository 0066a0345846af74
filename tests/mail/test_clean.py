from __future__ import annotations

import html
import sys
import unicodedata

import pytest

from mail.clean import ELLIPSIS, host_of, line, reason_line, web_link


def test_no_character_that_cannot_be_seen_survives() -> None:
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    everything = [chr(n) for n in range(sys.maxunicode + 1) if unicodedata.category(chr(n)) in bad]
    assert len(everything) > 100_000
    for start in range(0, len(everything), 5_000):
        kept = line("a" + "".join(everything[start : start + 5_000]) + "b", 10_000)
        assert kept.replace(" ", "") == "ab"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Senior Dev\r\nBcc: victim@example.com", "Senior Dev Bcc: victim@example.com"),
        ("Multi\nline\ttitle", "Multi line title"),
        ("a\u2028b\u2029c\x00d", "a b cd"),
        ("\u202egnp.exe\u202c", "gnp.exe"),
        ("pa\u200by\u2060pal\ufeff", "paypal"),
        ("  Köln — 東京  ", "Köln — 東京"),
        ("\xa0\u3000", ""),
        (
            "👨\u200d👩\u200d👧 and 👩🏽\u200d💻 and ❤\ufe0f\u200d🔥",
            "👨\u200d👩\u200d👧 and 👩🏽\u200d💻 and ❤\ufe0f\u200d🔥",
        ),
        ("برنامه\u200cنویس", "برنامه\u200cنویس"),
        ("क्\u200dष क्\u200cष", "क्\u200dष क्\u200cष"),
        ("py\u200dthon я\u200cя", "python яя"),
        ("\u200c👨\u200d \u200d\u200c👩\u200d\u200d👧\u200d", "👨 👩👧"),
        ("a\u200d👩 👩\u200db", "a👩 👩b"),
    ],
)
def test_hostile_text_becomes_one_plain_line(raw: str, shown: str) -> None:
    assert line(raw, 200) == shown


def test_the_limit_counts_bytes_with_escapes() -> None:
    for character in ("a", "ü", "東", "💼", "&", "<", '"'):
        cut = line(character * 5_000, 100)
        assert cut.endswith(ELLIPSIS)
        assert 85 <= len(html.escape(cut).encode()) <= 100


def test_a_cut_prefers_a_space_and_never_splits_an_accent_from_its_letter() -> None:
    assert line("Senior Developer for distributed systems", 26) == "Senior Developer for…"
    accents = "e\u0301" * 100
    for room in range(50, 56):
        cut = line(accents, room).removesuffix(ELLIPSIS)
        assert accents.startswith(cut)
        assert not unicodedata.combining(accents[len(cut)])


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://jobs.example.com/ok?a=1&b=2#top", "https://jobs.example.com/ok?a=1&b=2#top"),
        ("HTTP://Example.com", "http://example.com/"),
        ("https://example.com:8443/x", "https://example.com:8443/x"),
        ('https://jobs.example.com/"onmouseover=x', "https://jobs.example.com/%22onmouseover=x"),
        ("https://bücher.example/größe?q=ß", "https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe?q=%C3%9F"),
        ("https://example.com/a%20b%zz", "https://example.com/a%20b%25zz"),
        ("https://example.com/it's<b>", "https://example.com/it%27s%3Cb%3E"),
        ("https://[2001:db8::1]/x", "https://[2001:db8::1]/x"),
    ],
)
def test_a_web_link_is_ascii_that_needs_no_quoting(url: str, link: str) -> None:
    assert web_link(url, 500) == link


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "JaVaScRiPt://example.com/%0aalert(1)",
        "java\nscript:alert(1)",
        "ftp://example.com/x",
        "//example.com/x",
        "/relative",
        "https://",
        "https://google.com@evil.example/",
        "https://exa mple.com/",
        "https://example.com\\@evil.example/",
        "https://example.com/\u202egnp",
        "https://example.com:99999/",
        "https://[::1/",
        "https://exam<b>ple.com/",
        "https://example.com/" + "x" * 500,
    ],
)
def test_what_is_not_a_plain_web_link_is_none(url: str) -> None:
    assert web_link(url, 500) is None


def test_a_reason_carries_no_web_address() -> None:
    assert (
        reason_line("Good fit, see https://evil.example/x now or www.evil.example", 200)
        == "Good fit, see (link left out) now or (link left out)"
    )


def test_a_sentence_around_a_web_address_stays_whole() -> None:
    assert reason_line("See https://evil.example/a?b=c. It fits (www.evil.example).", 200) == (
        "See (link left out). It fits ((link left out))."
    )


def test_a_cut_never_ends_inside_a_joined_emoji() -> None:
    family = "👨\u200d👩\u200d👧"
    for room in range(len(ELLIPSIS.encode()), 60):
        assert line(family * 9, room).removesuffix(ELLIPSIS) in {family * n for n in range(10)}


def test_the_host_is_shown_without_www() -> None:
    assert host_of("https://www.example.com/x") == "example.com"
