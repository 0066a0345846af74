from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from ledger.lifecycle import ALERT_CAP_JOBS
from mail.dates import period_name
from mail.envelope import as_bytes
from mail.letter import LETTER_MAX_BYTES, SUBJECT_MAX_CHARS, Letter, Site
from mail.render import render_alert, render_digest
from mail.shown import age_of
from tests.mail.samples import NOW, SITE, row, user

OUTSIDE = "ab" * 16


def alert(*rows, site: Site = SITE) -> Letter:
    return render_alert(user(), rows, outside_id=OUTSIDE, at=NOW, site=site)


def digest(*rows, more: int = 0, period: str = "2026-11-30", notes=()) -> Letter:
    return render_digest(user(), rows, more=more, period=period, outside_id=OUTSIDE, at=NOW, site=SITE, notes=notes)


class Seen(HTMLParser):
    """What a reader sees: links, tags, text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.tags if tag == "a"]


def test_rendering_twice_gives_equal_bytes() -> None:
    rows = [row(n) for n in range(7)]
    assert as_bytes(alert(*rows)) == as_bytes(alert(*rows))
    assert as_bytes(digest(*rows, more=3)) == as_bytes(digest(*rows, more=3))


def test_the_subject_has_the_count_and_the_best_title() -> None:
    assert alert(row(1)).subject == "1 job fits: Senior Python Developer 1"
    assert alert(row(1), row(2), row(3)).subject == "3 jobs fit: Senior Python Developer 1 +2"
    assert digest(row(1), row(2), more=13).subject == "15 jobs fit, Mon 30 Nov 2026: Senior Python Developer 1 +14"
    assert digest(row(1), period="2026-W49").subject == "1 job fits, week to Mon 30 Nov: Senior Python Developer 1"


def test_a_long_title_gives_way_to_count_and_date() -> None:
    subject = digest(row(title="x" * 5_000), row(2), more=13).subject
    assert len(subject) <= SUBJECT_MAX_CHARS
    assert subject.endswith("…" + " +14")


@pytest.mark.parametrize("skip", range(12))
def test_a_title_of_joined_emoji_can_be_cut_and_sent(skip: int) -> None:
    long = digest(row(title="x" * (90 + skip) + "👩\u200d💻" * 200), more=13)
    assert len(long.subject) <= SUBJECT_MAX_CHARS
    assert "\u200d…" not in long.subject
    assert b"=?utf-8?" in as_bytes(long)


def test_both_parts_hold_the_same_facts() -> None:
    one = row(
        company="Acme & Söhne",
        place="Köln",
        pay="€50/h",
        reason="python in the title",
        source="board",
        published_at=NOW - timedelta(hours=5),
        twin_links=("https://www.other.example/9",),
    )
    site = Site(SITE.base_url, SITE.mail_from, {"board": "via The Board, theboard.example"})
    letter = render_alert(user(), [one], outside_id=OUTSIDE, at=NOW, site=site)
    seen = Seen(letter.html)
    for fact in (
        "1 job fits",
        "Senior Python Developer 0",
        "Acme & Söhne",
        "Köln",
        "€50/h",
        "posted 5 h ago",
        "via The Board, theboard.example",
        "Fits: python in the title",
        "Also on other.example",
        "You get this because",
        "Change what I get",
        "Unsubscribe",
    ):
        assert fact in letter.text, fact
        assert fact in seen.text, fact
    for link in (
        "https://jobs.example.com/0",
        "https://www.other.example/9",
        "https://scout.example.com/me/letters",
        "https://scout.example.com/unsubscribe/t0ken-of-ann",
    ):
        assert link in letter.text, link
        assert link in seen.links, link


def test_pay_is_shown_only_if_stated() -> None:
    assert "·" not in re.sub(r"first seen.*", "", alert(row(company="Acme", place="", pay="")).text)


def test_age_is_by_the_boards_word_or_by_our_first_sight() -> None:
    assert age_of(row(published_at=NOW - timedelta(minutes=5)), NOW) == "posted 5 min ago"
    assert age_of(row(published_at=NOW + timedelta(hours=5)), NOW) == "posted just now"
    assert age_of(row(first_seen=NOW - timedelta(hours=47)), NOW) == "first seen 47 h ago"
    assert age_of(row(first_seen=NOW - timedelta(days=9)), NOW) == "first seen 9 days ago"


def test_periods_read_like_dates() -> None:
    assert period_name("2026-01-01") == "Thu 1 Jan 2026"
    assert period_name("2026-W49") == "week to Mon 30 Nov"
    assert period_name("2027-W01") == "week to Mon 4 Jan"


def test_a_digest_says_how_many_more_wait_and_why() -> None:
    letter = digest(row(1), more=13, notes=["Two letters waited for today's quota."])
    for part in (letter.text, Seen(letter.html).text):
        assert "14 jobs fit" in part
        assert "and 13 more" in part
        assert "Two letters waited for today's quota." in part
    assert letter.listed == 1


def test_nothing_is_loaded_from_elsewhere_and_nothing_runs() -> None:
    seen = Seen(digest(*(row(n) for n in range(20)), more=2).html)
    assert not {tag for tag, _ in seen.tags} & {"img", "script", "link", "iframe", "object", "video", "form", "svg"}
    assert "url(" not in digest(row(1)).html
    assert "@import" not in digest(row(1)).html


def test_unsubscribe_stands_near_the_top_and_at_the_end() -> None:
    letter = digest(*(row(n) for n in range(20)), more=2)
    link = letter.unsubscribe_url
    assert link is not None
    assert letter.html.index(f'href="{link}"') < letter.html.index("<h1")
    assert letter.html.rindex(f'href="{link}"') > letter.html.rindex("in your history")


def test_a_job_without_a_usable_link_is_shown_without_one() -> None:
    letter = alert(row(link="javascript:alert(1)", twin_links=("data:text/html,x", "https://ok.example/1")))
    assert Seen(letter.html).links.count("https://ok.example/1") == 1
    assert "javascript" not in letter.html + letter.text
    assert "data:text" not in letter.html + letter.text
    assert "Senior Python Developer 0" in letter.text


def test_a_link_that_is_too_long_for_the_letter_opens_on_the_page_of_its_job() -> None:
    long = "https://jobs.example.com/?" + "a" * 600
    rows = [row(n, link=long, title="W" * 300, reason="W" * 900, source="board " * 20) for n in range(ALERT_CAP_JOBS)]
    tight, roomy = alert(*rows), alert(row(link=long))
    assert long not in tight.html + tight.text
    assert long in roomy.html
    assert long in roomy.text
    for number, one in enumerate(rows):
        page = f"https://scout.example.com/me/jobs/{one.key}"
        assert Seen(tight.html).links.count(page) == 1, number
        assert f"   Its link is too long for a mail; open it here: {page}\n" in tight.text
    assert "No usable link" not in tight.html + tight.text
    assert "No usable link came with it." in alert(row(link="javascript:" + "a" * 600)).text


def test_a_person_with_several_searches_is_told_which_one_a_job_fits() -> None:
    letter = alert(row(1, search='Side gig & "co"'), row(2))
    assert '   Fits Side gig & "co": python in the title\n' in letter.text
    assert 'Fits Side gig & "co": python in the title' in Seen(letter.html).text
    assert "   Fits: python in the title\n" in letter.text
    assert (
        "   Fits Side gig (82 of 100): You build APIs.\n"
        in alert(row(search="Side gig", verdict_score=82, verdict_reason="You build APIs.")).text
    )


def preheader(letter: Letter) -> str:
    found = re.search(r'<div style="display:none[^>]*>(.*?)(?:&#8199;|</div>)', letter.html)
    assert found is not None
    return found[1]


def test_the_preheader_goes_on_where_the_subject_ends() -> None:
    rows = [row(1, pay="€50/h"), row(2, title="Gardener"), row(3, title="Baker & Son"), row(4, title="Cook")]
    assert preheader(alert(*rows)) == "Acme · €50/h · python in the title. Also: Gardener; Baker &amp; Son"
    assert preheader(alert(row(company="", verdict_score=70, verdict_reason="You bake."))) == "You bake"
    assert len(preheader(alert(row(company="é" * 900, pay="é" * 900, reason="é" * 900), *rows)).encode()) <= 220


def test_the_link_to_a_jobs_page_promises_a_note_and_no_more() -> None:
    letter = alert(row(1))
    page = f"https://scout.example.com/me/jobs/{row(1).key}"
    assert f"   A note for yourself: {page}\n" in letter.text
    assert f'href="{page}"' in letter.html
    assert "A note for yourself</a>" in letter.html


WORST = {
    "ascii": "W" * 6_000,
    "escapes": "&<\"'>" * 1_200,
    "wide": "💼" * 6_000,
    "accents": "é" * 6_000,
    "words": "Инженер-программист " * 300,
}


@pytest.mark.parametrize("text", WORST.values(), ids=WORST.keys())
@pytest.mark.parametrize("link_bytes", [60, 390, 2_000, 5_000])
@pytest.mark.parametrize("tail", ["a", "a=&"])
@pytest.mark.parametrize("said", ["caveat", "not_scored"])
def test_twenty_jobs_always_fit_whatever_their_fields_hold(text: str, link_bytes: int, tail: str, said: str) -> None:
    link = ("https://jobs.example.com/?" + tail * 5_000)[:link_bytes]
    worst = dict.fromkeys(
        ("title", "company", "place", "pay", "source", "reason", "verdict_reason", "search", said), text
    )
    extra = {"link": link, "twin_links": (link + "1", link + "2"), "verdict_score": 100}
    rows = [row(n, **worst, **extra) for n in range(ALERT_CAP_JOBS)]
    site = Site("https://" + "scout." * 30 + "example.com", SITE.mail_from, {text: text})
    notes = [text] * 9
    letters = [
        render_alert(user(token="t" * 200), rows, outside_id=OUTSIDE, at=NOW, site=site),
        render_digest(
            user(token="t" * 200),
            rows,
            more=10**6,
            period="2026-11-30",
            outside_id=OUTSIDE,
            at=NOW,
            site=site,
            notes=notes,
        ),
    ]
    for letter in letters:
        assert letter.listed == ALERT_CAP_JOBS
        assert len(as_bytes(letter)) <= LETTER_MAX_BYTES


def test_a_digest_that_would_be_clipped_lists_fewer_and_counts_the_rest() -> None:
    rows = [row(n, title="💼" * 500, reason="é" * 900) for n in range(150)]
    letter = digest(*rows, more=7)
    assert 20 <= letter.listed < 150
    assert len(as_bytes(letter)) <= LETTER_MAX_BYTES
    assert f"and {157 - letter.listed} more" in letter.text
    assert "157 jobs fit" in letter.subject


def test_an_alert_never_drops_a_row_silently() -> None:
    with pytest.raises(ValueError, match="1 to 20"):
        alert(*(row(n) for n in range(21)))
    with pytest.raises(ValueError, match="1 to 20"):
        alert()
    with pytest.raises(ValueError, match="not sent"):
        digest()


def test_every_coloured_element_sets_both_colours() -> None:
    letter = digest(row(1, twin_links=("https://b.example/",)), row(2, link=""), more=3, notes=["A note."])
    for tag, attrs in Seen(letter.html).tags:
        style = attrs.get("style") or ""
        names = {rule.split(":")[0].strip() for rule in style.split(";")}
        assert ("color" in names) == ("background-color" in names), (tag, style)
    dark = re.findall(r"\.\w \{ (background-color: #\w+|color: #\w+)[^}]*\}", letter.html)
    assert len(dark) == 6
    assert '<meta name="color-scheme" content="light dark">' in letter.html
    assert "prefers-color-scheme: dark" in letter.html


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_every_text_has_enough_contrast_in_both_schemes() -> None:
    html = digest(row(1, twin_links=("https://b.example/",)), more=3).html
    pairs = re.findall(r"background-color:\s*(#\w{6})(?: !important)?;\s*color:\s*(#\w{6})", html)
    assert len(pairs) > 10
    for background, colour in pairs:
        light, dark = sorted((_luminance(background), _luminance(colour)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (background, colour)
