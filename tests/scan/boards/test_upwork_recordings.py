"""Recorded Upwork pages, scrapes and feeds: one number names a job wherever it stands."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from scan.links import canonical
from scan.posting import Posting
from scan.sources import feed, upwork, upwork_rss
from scan.sources.board import Page
from scan.sources.entries import Rules
from scan.sources.identity import parse_rule
from scan.sources.registry import job_named_by

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_every_recorded_page_is_known_by_the_number_that_the_api_uses(recordings: Path) -> None:
    links = [row["url"] for row in rows(recordings / "upwork/job_pages_2025-03.csv") if row["url"]]
    names = {job_named_by(canonical(link)) for link in links}
    assert (len(links), len(names)) == (1419, 1316)
    for platform, number in filter(None, names):
        assert platform == "upwork"
        created = datetime.fromtimestamp(((int(number) >> 22) + upwork.UID_EPOCH_MS) / 1000, UTC)
        assert created.year in (2024, 2025)
    assert None not in names


def test_a_renewed_and_retitled_job_of_two_scrapes_keeps_its_id_and_a_paging_overlap_is_one_job(
    recordings: Path,
) -> None:
    scraped = rows(recordings / "upwork/search_snapshots_2023-01.csv")
    by_snapshot: dict[str, list[Posting]] = {}
    for snapshot in sorted({row["snapshot"] for row in scraped}):
        found: list[Posting] = []
        own = [row for row in scraped if row["snapshot"] == snapshot]
        for start in range(0, len(own), 900):
            page = upwork.parse(answer(own[start : start + 900]), now=NOW)
            assert isinstance(page, Page)
            found += page.reading.postings
        by_snapshot[snapshot] = found
        uids = {row["uid"] for row in own if row["title"].strip()}
        assert {posting.native_id for posting in found} == uids
    titles: dict[str, set[str]] = {}
    for found in by_snapshot.values():
        for posting in found:
            titles.setdefault(posting.native_id, set()).add(posting.title)
    assert sum(len(known) > 1 for known in titles.values()) == 6


def answer(scraped: list[dict[str, str]]) -> bytes:
    """Scraped rows in the shape of the published schema."""
    nodes = [{"id": row["uid"], "title": row["title"], "createdDateTime": row["created_on"],
              "amount": {"rawValue": row["amount_amount"], "currency": "USD"} if row["amount_amount"] else None,
              "hourlyBudgetMin": {"rawValue": row["hourly_rate"], "currency": "USD"} if row["hourly_rate"] else None}
             for row in scraped]  # fmt: skip
    return json.dumps({"data": {"marketplaceJobPostingsSearch": {"edges": [{"node": n} for n in nodes]}}}).encode()


def test_the_time_in_a_number_is_the_time_of_the_job(recordings: Path) -> None:
    near = far = 0
    for row in rows(recordings / "upwork/search_snapshots_2023-01.csv"):
        told = datetime.fromtimestamp(((int(row["uid"]) >> 22) + upwork.UID_EPOCH_MS) / 1000, UTC)
        stated = datetime.fromisoformat(row["created_on"])
        if abs(told - stated) <= timedelta(seconds=2):
            near += 1
        else:
            far += 1
    assert near > 0.85 * (near + far)  # the scraper slipped by a time zone in most of the others


def test_the_facts_at_the_end_of_a_recorded_item_stand_where_they_belong(recordings: Path) -> None:
    body = (recordings / "upwork/rss_raw_20240513.xml").read_bytes()
    own = upwork_rss.KIND
    rules = Rules("upwork", parse_rule(own.id_rule or ""), own.title_form)
    read = feed.parse(body, "text/xml", rules=rules, base="", now=NOW)
    assert isinstance(read, tuple)
    found = [upwork_rss.finished(posting) for posting in read[0].postings]
    assert len({posting.native_id for posting in found}) == 30
    assert all(posting.native_id.startswith("01") and not posting.title.endswith("Upwork") for posting in found)
    assert all("Posted On" not in posting.text and "click to apply" not in posting.text for posting in found)
    assert all(posting.tags and posting.place.startswith("client in ") for posting in found)
    paid = {posting.pay: posting.period for posting in found if posting.pay}
    assert paid
    assert {period for pay, period in paid.items() if "-" in pay} == {"hour"}
    assert any("\nSkills: " in posting.text for posting in found)
