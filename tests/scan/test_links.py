"""Links: what is the same, what may be opened, what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scan.links import absolute, canonical, shown

GOLDEN = [
    ("HTTPS://WWW.Example.com:443/Jobs/7/", "https://example.com/Jobs/7"),
    ("http://example.com:80/", "http://example.com"),
    ("http://example.com:8080/a", "http://example.com:8080/a"),
    ("https://example.com/a#apply", "https://example.com/a"),
    ("https://example.com/a?b=2&a=1", "https://example.com/a?a=1&b=2"),
    ("https://example.com/a?utm_source=x&utm_medium=y&id=5", "https://example.com/a?id=5"),
    ("https://example.com/a?mc_cid=1&mc_eid=2&gclid=3&fbclid=4&ref=5&source=6", "https://example.com/a"),
    ("https://boards.example.com/o/jobs?gh_jid=4&gh_src=abc", "https://boards.example.com/o/jobs?gh_jid=4"),
    ("https://jobs.example.com/x?lever-source=LinkedIn", "https://jobs.example.com/x"),
    ("https://example.com/?p=12&jk=9", "https://example.com?jk=9&p=12"),
    ("https://www.upwork.com/jobs/A-Job_%7E01ab?source=rss", "https://upwork.com/jobs/A-Job_~01ab"),
    ("https://www.upwork.com/jobs/~01ab?referrer_url_path=%2Fnx", "https://upwork.com/jobs/~01ab"),
    ("https://münchen.example/ü", "https://xn--mnchen-3ya.example/%C3%BC"),
    ("https://example.com/a%2fb", "https://example.com/a%2Fb"),
    ("http://[::1]:80/x", "http://[::1]/x"),
]


@pytest.mark.parametrize(("link", "form"), GOLDEN)
def test_the_canonical_form_of_a_link(link: str, form: str) -> None:
    assert canonical(link) == form


@pytest.mark.parametrize("form", [form for _, form in GOLDEN])
def test_a_canonical_link_is_its_own_canonical_form(form: str) -> None:
    assert canonical(form) == form


@pytest.mark.parametrize(
    ("link", "base", "result"),
    [
        ("jobs/123", "https://h.example/x/feed.xml", "https://h.example/x/jobs/123"),
        ("/jobs/7", "https://h.example/x/feed.xml", "https://h.example/jobs/7"),
        ("//other.example/a", "https://h.example/", "https://other.example/a"),
        (" https://h.example/a\n", "", "https://h.example/a"),
        ("https://h.example/a b", "", "https://h.example/a%20b"),
        ("javascript:alert(1)", "https://h.example/", ""),
        ("data:text/html,x", "https://h.example/", ""),
        ("java\nscript:alert(1)", "https://h.example/", ""),
        ("https://bank.example@evil.example/", "", ""),
        ("http://h.example:99999/", "", ""),
        ("http://[bad", "", ""),
        ("jobs/1", "", ""),
        ("", "https://h.example/", ""),
        ("https://h.example/" + "a" * 5000, "", ""),
    ],
)
def test_only_absolute_http_links_survive(link: str, base: str, result: str) -> None:
    assert absolute(link, base) == result


def test_a_shown_url_holds_no_user_name_and_no_query() -> None:
    assert shown("https://user:secret@h.example/feed.xml?key=secret#secret") == "https://h.example/feed.xml"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(max_size=80), st.sampled_from(["", "https://h.example/feed"]))
def test_no_link_raises(link: str, base: str) -> None:
    read = absolute(link, base)
    assert read == "" or read.startswith(("http://", "https://"))
    assert isinstance(canonical(read or link), str)
    assert isinstance(shown(link), str)
