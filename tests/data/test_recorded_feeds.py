"""Recorded feeds, served on loopback and read by the whole cycle: every item becomes a job or is told of."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import feedparser
import pytest

from ledger.documents import decode
from ledger.records import Job, JobState
from ledger.store import Snapshot
from tests.boards import Board
from tests.shared import FOLDER, shared
from tests.world import World

REAL = (
    "upwork/rss_raw_20240513.xml",
    "upwork/rss_raw_20240514.xml",
    "upwork/rss_raw_20240516.xml",
    "boards/weworkremotely_2026-07.xml",
    "boards/himalayas_rss_2026-07-27_first_item.xml",
)


def nasty() -> list[str]:
    folder = FOLDER / "data" / "nasty_feeds"
    return sorted(path.relative_to(FOLDER / "data").as_posix() for path in folder.rglob("*.xml")) or ["absent"]


@pytest.fixture(scope="module")
def board() -> Iterator[Board]:
    with Board() as one:
        yield one


async def read(folder: Path, board: Board, *names: str, now: datetime) -> tuple[dict, dict[str, list[Job]]]:
    """The report of one cycle over these files, each a source of its own, and the jobs by file."""
    urls = {}
    for name in names:
        path = shared(f"data/{name}")
        urls[name.replace("/", ":")] = board.serve(f"/{name}", path.read_bytes(), content_type="application/xml")
    async with World(folder, board=board, sources=urls, now=now) as world:
        report = await world.cron()
        found: dict[str, list[Job]] = {name: [] for name in names}
        for id_, data in (await world.dump("jobs")).items():
            job = decode(Job, Snapshot(id_, data, "", 0.0))
            found[job.source.replace(":", "/")].append(job)
    return report, found


@pytest.mark.parametrize("name", REAL)
async def test_every_item_of_a_real_feed_becomes_a_job_with_title_link_text_and_date(
    name: str, board: Board, tmp_path: Path
) -> None:
    body = shared(f"data/{name}").read_bytes()
    report, found = await read(tmp_path, board, name, now=datetime(2026, 11, 30, 7, tzinfo=UTC))
    jobs = found[name]
    items = feedparser.parse(body).entries
    assert (report["status"], report["sources"]["ok"], report["errors"]) == ("completed", 1, [])
    assert len(jobs) == len({entry.link for entry in items}) > 0
    assert report["jobs"]["seen"] == len(jobs)
    for job in jobs:
        assert job.title.strip()
        assert job.link.startswith("https://")
        assert len(job.text) > 40
        assert job.published_at is not None
        assert "<p>" not in job.text
        assert "&lt;" not in job.title
        assert job.state is JobState.SEEN  # a first poll is a silent baseline


@pytest.mark.parametrize("name", REAL[:4])
async def test_dates_and_titles_are_those_of_the_file_as_another_parser_reads_it(
    name: str, board: Board, tmp_path: Path
) -> None:
    items = ET.fromstring(shared(f"data/{name}").read_bytes()).findall("./channel/item")
    _, found = await read(tmp_path, board, name, now=datetime(2026, 11, 30, 7, tzinfo=UTC))
    dates = {at.astimezone(UTC) for item in items if (at := parsedate_to_datetime(item.findtext("pubDate") or ""))}
    assert {job.published_at for job in found[name]} == dates
    titles = {" ".join((item.findtext("title") or "").split()) for item in items}
    same = [job for job in found[name] if job.title in titles]
    assert len(same) >= len(found[name]) * 0.8  # the others have an entity in their title that is decoded once more


async def test_three_polls_of_one_search_alert_what_is_new_in_each_and_nothing_twice(
    board: Board, tmp_path: Path
) -> None:
    names = [f"upwork/rss_raw_2024051{day}.xml" for day in (3, 4, 6)]
    bodies = [shared(f"data/{name}").read_bytes() for name in names]
    links = [{entry.link for entry in feedparser.parse(body).entries} for body in bodies]
    url = board.url("/search.xml")
    began = datetime(2024, 5, 13, 12, tzinfo=UTC)
    async with World(tmp_path, board=board, sources={"upwork": url}, now=began) as world:
        board.serve("/search.xml", bodies[0])
        await world.cron()
        await world.user("a@example.com", "a", "the", "and", "data", "python", "web", "developer", "need", "looking")
        await world.cron()
        first = world.sent()
        for polls, days in ((2, 1), (3, 3)):
            world.now = began + timedelta(days=days)
            board.serve("/search.xml", bodies[polls - 1])
            reports = [await world.cron(), await world.cron()]
            new = links[polls - 1].difference(*links[: polls - 1])
            assert [report["jobs"]["new"] for report in reports] == [len(new), 0]
            assert len(await world.dump("jobs")) == len(set().union(*links[:polls]))
        for days in (4, 5):
            world.now = began + timedelta(days=days)
            await world.cron()
        mailed = [link for mail in world.mails() for link in mail.links]
        assert len(mailed) == len(set(mailed)) > len(first)


@pytest.mark.parametrize("part", range(4))
async def test_every_nasty_feed_is_read_or_failed_with_a_reason_and_nothing_raises(
    part: int, board: Board, tmp_path: Path
) -> None:
    names = nasty()[part::4]
    shared("data")
    report, found = await read(tmp_path, board, *names, now=datetime(2026, 11, 30, 7, tzinfo=UTC))
    failed = {source["name"].replace(":", "/"): source["reason"] for source in report["sources"]["failed"]}
    assert report["status"] == "completed"
    assert report["sources"]["ok"] + len(failed) == len(names)
    assert all(failed.values())
    assert "raised" not in str(report["errors"]) + str(failed)
    assert sum(map(len, found.values())) + report["jobs"]["skipped"] == report["jobs"]["seen"]
    for name in names:
        items = [] if name in failed else feedparser.parse(shared(f"data/{name}").read_bytes()).entries
        for job in found[name]:
            assert job.title
            assert "\0" not in job.title + job.text
        told = sum(error.startswith(f"source {name.replace('/', ':')}") for error in report["errors"])
        assert len(found[name]) + told >= min(1, len(items)), name


def test_no_nasty_file_is_forgotten() -> None:
    shared("data")
    assert len(nasty()) == 48
