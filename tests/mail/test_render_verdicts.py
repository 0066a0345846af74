"""What a letter says of a model's verdict: as clean and as short as everything else from strangers."""

from __future__ import annotations

import pytest

from ledger.lifecycle import ALERT_CAP_JOBS
from mail.letter import LETTER_MAX_BYTES
from mail.render import render_alert
from tests.mail.samples import NOW, SITE, row, user


def letter_of(**fields: object):  # type: ignore[no-untyped-def]
    return render_alert(user(), [row(0, **fields)], outside_id="f" * 32, at=NOW, site=SITE)


def test_a_verdict_stands_in_place_of_the_keywords_with_its_score_and_its_caveat() -> None:
    letter = letter_of(verdict_score=82, verdict_reason="You build APIs in Python.", caveat="No pay is stated.")
    assert "   Fits (82 of 100): You build APIs in Python.\n   But: No pay is stated.\n" in letter.text
    assert "Fits (82 of 100): You build APIs in Python.<br>But: No pay is stated." in letter.html
    assert "python in the title" not in letter.text + letter.html


def test_a_row_without_one_says_why_if_one_was_wanted_and_nothing_otherwise() -> None:
    letter = letter_of(not_scored="no verdict came within two hours")
    assert "   Fits: python in the title\n   Not scored: no verdict came within two hours\n" in letter.text
    assert "Not scored: no verdict came within two hours" in letter.html
    assert "scored" not in letter_of().text + letter_of().html


@pytest.mark.parametrize("name", ["verdict_reason", "caveat", "not_scored"])
def test_what_a_model_says_is_one_escaped_line_without_links(name: str) -> None:
    letter = letter_of(**{"verdict_score": 1, name: "<b>Fits</b>\nBcc: x https://evil.example/x & more\u202e"})
    assert "<b>" not in letter.html
    assert "&lt;b&gt;Fits&lt;/b&gt; Bcc: x (link left out) &amp; more" in letter.html
    assert "evil.example" not in letter.html + letter.text
    assert "\u202e" not in letter.html + letter.text


@pytest.mark.parametrize("text", ["word " * 400, "求" * 2000, "&<>\"'" * 400])
def test_twenty_long_verdicts_fit_into_one_letter(text: str) -> None:
    said = {"verdict_score": 99, "verdict_reason": text, "caveat": text, "not_scored": text, "title": text}
    rows = [row(n, **said, company=text, place=text, pay=text, source=text) for n in range(ALERT_CAP_JOBS)]
    letter = render_alert(user(), rows, outside_id="f" * 32, at=NOW, site=SITE)
    assert letter.listed == ALERT_CAP_JOBS
    assert len(letter.text.encode()) + len(letter.html.encode()) < LETTER_MAX_BYTES
