"""Which name is the job's own, and which further names are kept."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scan.posting import ITEMS_MAX, Skipped
from scan.sources.document import read_document
from scan.sources.entries import BadForm, Reading, Rules, read_entries
from scan.sources.identity import BadRule, IdRule, Names, parse_rule
from scan.sources.jsonfeed import RawEntry
from scan.sources.registry import kind_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BASE = "https://board.example/feed.xml"


def _entry(n: int, **more: str) -> RawEntry:
    values = {"guid": f"g{n}", "link": f"https://board.example/{n}", "title": f"Job {n}", "date_text": f"day {n}"}
    return RawEntry(**(values | more))  # type: ignore[arg-type]


def _read(*entries: RawEntry, rule: str = "auto") -> Reading:
    return read_entries(entries, Rules("feed:x", parse_rule(rule)), base=BASE, now=NOW)


def _ids(*entries: RawEntry, rule: str = "auto") -> list[str]:
    return [posting.native_id for posting in _read(*entries, rule=rule).postings]


def _case(folder: Path, name: str) -> Reading:
    document = read_document((folder / name).read_bytes(), "application/rss+xml")
    return _read(*document.entries)


def test_auto_takes_the_guid_then_the_link_then_title_and_date() -> None:
    assert _ids(_entry(1)) == ["g1"]
    assert _ids(_entry(1, guid="")) == ["https://board.example/1"]
    assert _ids(_entry(1, guid=" ", link="")) == ["Job 1\nday 1"]
    assert _ids(_entry(1, guid="", link="", date_text="")) == ["Job 1\n"]


def test_a_guid_or_link_that_two_items_share_names_neither() -> None:
    assert _ids(_entry(1, guid="same"), _entry(2, guid="same"), _entry(3)) == [
        "https://board.example/1",
        "https://board.example/2",
        "g3",
    ]
    shared = {"guid": "same", "link": "https://board.example/"}
    assert _ids(_entry(1, **shared), _entry(2, **shared)) == ["Job 1\nday 1", "Job 2\nday 2"]


@pytest.mark.parametrize(
    ("rule", "shared"),
    [
        ("guid", {"guid": "same"}),
        ("link", {"link": "https://board.example/jobs"}),
        ("title+date", {"title": "Job", "date_text": "today"}),
        (r"regex:^https://(board\.example)/", {}),
    ],
)
def test_a_rule_that_gives_two_jobs_one_id_says_so_and_keeps_the_first(rule: str, shared: dict[str, str]) -> None:
    entries = [_entry(n, **shared) for n in (1, 2, 3)]
    reading = _read(*entries, rule=rule)
    assert [posting.title for posting in reading.postings] == [entries[0].title]
    reason = "its id is that of another item: give the feed another id_rule"
    assert reading.skipped == (Skipped(entries[1].title, reason), Skipped(entries[2].title, reason))


def test_an_item_that_is_repeated_is_one_item_and_no_fault() -> None:
    again = _entry(1, guid="other", date_text="another day")
    assert _read(_entry(1), again, _entry(2), rule="link").skipped == ()
    assert _ids(_entry(1), again, _entry(2), rule="link") == ["https://board.example/1", "https://board.example/2"]


def test_the_same_item_twice_keeps_the_id_that_it_has_alone() -> None:
    assert _ids(_entry(1), _entry(2), _entry(1)) == _ids(_entry(1), _entry(2)) == ["g1", "g2"]


def test_the_operators_rule_decides() -> None:
    entries = (_entry(1, guid="same"), _entry(2, guid="same"))
    assert _ids(*entries, rule="guid") == ["same"]
    assert _ids(*entries, rule="link") == ["https://board.example/1", "https://board.example/2"]
    assert _ids(*entries, rule="title+date") == ["Job 1\nday 1", "Job 2\nday 2"]
    assert _ids(_entry(1), rule=r"regex:example/([0-9]+)$") == ["1"]


def test_of_two_items_with_one_id_the_first_wins() -> None:
    reading = _read(_entry(1, guid="same"), _entry(2, guid="same"), rule="guid")
    assert [posting.title for posting in reading.postings] == ["Job 1"]


def test_an_item_that_the_pattern_does_not_find_falls_back_to_auto_with_its_aliases() -> None:
    reading = _read(_entry(1), _entry(2, link="https://board.example/about"), rule=r"regex:example/([0-9]+)$")
    assert [(p.native_id, len(p.aliases)) for p in reading.postings] == [("1", 0), ("g2", 2)]


def test_an_id_does_not_depend_on_tracking_in_the_link_or_on_the_text() -> None:
    plain = _entry(1, guid="", markup="<p>a b</p>")
    tracked = _entry(1, guid="", link="https://WWW.board.example/1/?utm_source=x#top", markup="<p>changed</p>")
    assert _ids(plain) == _ids(tracked)


def test_a_date_out_of_sight_is_part_of_an_id_as_it_is_written() -> None:
    entry = _entry(1, guid="", link="", date_text="Fri, 01 Jan 2027 00:00:00 GMT")
    later = datetime(2027, 1, 5, tzinfo=UTC)
    rules = Rules("feed:x", parse_rule("auto"))
    ids = {read_entries([entry], rules, base=BASE, now=now).postings[0].native_id for now in (NOW, later)}
    assert len(ids) == 1


def test_aliases_are_the_guid_and_the_link_with_the_title() -> None:
    (posting,) = _read(_entry(1, title="Python  DEV")).postings
    assert posting.aliases == ("guid\ng1", "link\nhttps://board.example/1\npython dev")


def test_an_alias_that_two_items_share_is_dropped_from_both() -> None:
    first, second = _read(_entry(1, guid="same"), _entry(2, guid="same")).postings
    assert first.aliases == ("link\nhttps://board.example/1\njob 1",)
    assert second.aliases == ("link\nhttps://board.example/2\njob 2",)


def test_items_beyond_the_limit_are_counted() -> None:
    reading = _read(*(_entry(n) for n in range(ITEMS_MAX + 5)))
    assert (len(reading.postings), len(reading.skipped)) == (ITEMS_MAX, 5)


@pytest.mark.parametrize(
    "text", ["", "id", "regex", "regex:(", "regex:no group", "regex:(a)(b)", "regex:(" + "a" * 300 + ")"]
)
def test_a_rule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadRule):
        parse_rule(text)


@pytest.mark.parametrize("form", ["{company}", "{title} {title}", "no field", "{company}{company}{title}"])
def test_a_title_form_that_cannot_be_read_is_refused(form: str) -> None:
    with pytest.raises(BadForm):
        Rules("feed:x", IdRule("auto"), form)


@pytest.mark.parametrize(
    ("form", "whole", "company", "role"),
    [
        ("{company}: {title}", "Qase: Developer Advocate", "Qase", "Developer Advocate"),
        ("{company}: {title}", "A: B: C", "A", "B: C"),
        ("{company}: {title}", "No colon", "", "No colon"),
        ("{title} - Upwork", "Spss data analysis  - Upwork", "", "Spss data analysis"),
        ("{title} at {company}", "Cook at Home", "Home", "Cook"),
        (None, "A: B", "", "A: B"),
    ],
)
def test_a_title_form_tells_company_and_role_apart(form: str | None, whole: str, company: str, role: str) -> None:
    rules = Rules("p", parse_rule("auto"), form)
    (posting,) = read_entries([_entry(1, title=whole)], rules, base=BASE, now=NOW).postings
    assert (posting.company, posting.title) == (company, role)


def test_new_guids_on_every_build_leave_an_alias_that_is_known(cases: Path) -> None:  # B06
    day1, day2 = _case(cases, "B06_day1.xml").postings, _case(cases, "B06_day2.xml").postings
    assert not {p.native_id for p in day1} & {p.native_id for p in day2}
    assert all(set(old.aliases) & set(new.aliases) for old, new in zip(day1, day2, strict=True))


def test_a_moved_date_is_the_same_job(cases: Path) -> None:  # B08
    (first,), (second,) = (_case(cases, f"B08_fetch{n}.xml").postings for n in (1, 2))
    assert (first.native_id, first.aliases) == (second.native_id, second.aliases)
    assert first.published_at != second.published_at


def test_invisible_changes_change_nothing(cases: Path) -> None:  # B10
    assert _case(cases, "B10_fetch1.xml") == _case(cases, "B10_fetch2.xml")


def test_items_without_a_guid_keep_their_id_when_others_come(cases: Path) -> None:  # B45
    first = {p.native_id for p in _case(cases, "B45_fetch1.xml").postings}
    second = {p.native_id for p in _case(cases, "B45_fetch2.xml").postings}
    assert first < second
    assert second - first == {"https://jobs.example.com/3", "No link either\nMon, 23 Nov 2026 10:00:00 GMT"}


def test_long_guids_stay_apart(cases: Path) -> None:  # B49
    guids = json.loads((cases / "B49_ids.json").read_text())
    assert _ids(*(_entry(n, guid=guid) for n, guid in enumerate(guids))) == guids


def test_the_upwork_rule_sees_one_job_behind_an_edited_title(recordings: Path) -> None:
    lines = (recordings / "upwork" / "rss_items_2024-05_to_2024-08.jsonl").read_text().splitlines()
    links = [json.loads(line)["link"] for line in lines]
    rule = str(kind_of("upwork_rss").id_rule)
    ids = {_ids(RawEntry(link=link, title="x"), rule=rule)[0] for link in links}
    assert (len(links), len(set(links)), len(ids)) == (1211, 1210, 1209)
    assert all(re.fullmatch(r"01[0-9a-f]{16}", id_) for id_ in ids)


def test_an_upwork_link_of_the_new_kind_gives_the_uid_of_the_api() -> None:
    rule = str(kind_of("upwork_rss").id_rule)
    link = "https://www.upwork.com/jobs/A-Title_%7E021899999999999999999/?referrer_url_path=x"
    assert _ids(RawEntry(link=link, title="x"), rule=rule) == ["1899999999999999999"]


def test_the_wwr_rule_keeps_the_listings_of_the_field_apart(recordings: Path) -> None:
    lines = (recordings / "boards" / "weworkremotely_timeline_2026-08-03_to_08.jsonl").read_text().splitlines()
    urls = [json.loads(line)["url"] for line in lines]
    rule = str(kind_of("weworkremotely").id_rule)
    assert len({_ids(RawEntry(link=url, title="x"), rule=rule)[0] for url in urls}) == len(urls) == 410


def test_names_are_compared_whole() -> None:
    assert Names("a", "b", "c", "d") != Names("a", "b", "c", "e")
