"""A joiner is part of how a title looks and of nothing else: not of an id, a twin, a suspicion, or a match."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.steps.suspect import title_hash
from ledger.joiners import only_shaping, without
from scan.fingerprint import fingerprint
from scan.posting import Posting
from scan.sources.entries import Rules, read_entries
from scan.sources.identity import parse_rule
from scan.sources.jsonfeed import RawEntry
from scan.text import title_of_html
from scan.tokens import read

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WITH = "برنامه\u200cنویس Python 👩\u200d💻"
TEXT = "We build things. " * 20


def posting(title: str, **names: str) -> Posting:
    entry = RawEntry(**({"title": title, "date_text": "Monday"} | names))  # type: ignore[arg-type]
    (found,) = read_entries([entry], Rules("feed:x", parse_rule("auto")), base="https://b.example/", now=NOW).postings
    return found


@pytest.mark.parametrize("names", [{}, {"link": "https://b.example/1", "guid": "g1"}])
def test_a_title_is_kept_as_it_is_written_and_its_job_is_the_same_without_joiners(names: dict[str, str]) -> None:
    one, other = posting(WITH, **names), posting(without(WITH), **names)
    assert (one.title, other.title) == (WITH, without(WITH))
    assert one.title != other.title
    assert (one.native_id, one.aliases) == (other.native_id, other.aliases)


def test_twins_suspicions_and_matches_do_not_see_them() -> None:
    prints = {fingerprint(company=f"{name} Ltd", title=name, text=TEXT) for name in (WITH, without(WITH))}
    assert len(prints) == 1
    assert title_hash(WITH) == title_hash(without(WITH))
    assert read(WITH, TEXT) == read(without(WITH), TEXT)


def test_a_title_in_html_keeps_those_that_shape_something() -> None:
    assert title_of_html("<b>👩&#x200d;💻</b> d\u200dev &zwnj;") == "👩\u200d💻 dev"
    assert only_shaping("a\u200cb \u200d👩\u200d\u200d💻") == "ab 👩💻"
