"""Recorded boards poll by poll through a loopback feed and the whole cycle, with every letter counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import escape, unescape
from pathlib import Path
from typing import Any

from ledger.lifecycle import State
from ledger.records import Mode
from tests.shared import shared
from tests.world import World

WEEK = timedelta(days=7)
PRINTED_MIN_CHARS = 200
TITLE_FREE_MIN_CHARS = 400
# One of them is in what every recorded ad says itself.
WORDS = ("the", "and", "for", "data", "need", "with", "you", "looking", "expert", "developer")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in shared(f"data/{name}").read_text().splitlines()]


def feed(items: Iterable[dict[str, str]]) -> str:
    parts = ("".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in item.items()) for item in items)
    listed = "".join(f"<item>{part}</item>" for part in parts)
    return f'<rss version="2.0"><channel><title>x</title>{listed}</channel></rss>'


def words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+[+#]*", re.sub(r"<[^>]*>", " ", unescape(unescape(text))).casefold()))


def write_source(world: World, kind: str, path: str) -> None:
    entry = f'[[source]]\nname = "replay"\nkind = "{kind}"\nurl = "{world.board.url(path)}"\nmin_interval_s = 0\n'
    (world.folder / "sources.toml").write_text(entry)


def links(world: World, pattern: str) -> Counter[str]:
    """How often each job was mailed, by what its links are named after."""
    return Counter(
        re.findall(pattern, link)[0] for mail in world.mails() for link in mail.links if re.search(pattern, link)
    )


async def replayed(world: World, polls: list[tuple[datetime, str]], path: str) -> list[dict[str, Any]]:
    """Each poll at its time, run twice, and the digests of the days between."""
    reports = []
    for number, (at, body) in enumerate(polls):
        world.now = at
        world.board.serve(path, body)
        reports += [await world.cron(), await world.cron()]
        until = polls[number + 1][0] if number + 1 < len(polls) else at + timedelta(days=4)
        while (morning := world.now.replace(hour=8, minute=5) + timedelta(days=1)) < until:
            world.now = morning
            reports.append(await world.cron())
            if (morning - at).days > 3:
                break
    assert {report["status"] for report in reports} == {"completed"}
    assert [report["sources"]["failed"] for report in reports if report["sources"]["failed"]] == []
    return reports


async def test_of_1209_upwork_jobs_in_41_polls_each_is_mailed_once_and_reposts_are_merged(
    tmp_path: Path,
) -> None:
    recorded = rows("upwork/rss_items_2024-05_to_2024-08.jsonl")
    days = sorted({day for row in recorded for day in row["seen_in"]})
    jobs = {row["ciphertext"] for row in recorded}
    assert (len(recorded), len(days), len(jobs)) == (1211, 41, 1209)
    polls = []
    for day in days:
        listed = sorted((row for row in recorded if day in row["seen_in"]), key=lambda row: row["pos"])
        items = ({k: row[k] for k in ("title", "link", "guid", "pubDate", "description")} for row in listed)
        polls.append((datetime.strptime(day, "%Y%m%d").replace(hour=12, tzinfo=UTC), feed(items)))
    merged = reposts(recorded, days)
    assert len(merged) == 12
    async with World(tmp_path, now=polls[0][0] - timedelta(hours=1)) as world:
        write_source(world, "upwork_rss", "/replay.xml")
        async with world.another() as app:
            world.app = app
            start = {"title": "Gardener - Upwork", "link": "https://www.upwork.com/jobs/x_~01" + "0" * 16}
            world.board.serve("/replay.xml", feed([start]))  # the baseline: from here on everything is news
            await world.cron()
            await world.user("a@example.com", *WORDS, mode=Mode.INSTANT)
            await world.cron()
            reports = await replayed(world, polls, "/replay.xml")
            mailed = links(world, r"(?:~|%7E)(01[0-9a-f]{16})")
            assert set(mailed.values()) == {1}
            once = Counter(merged.get(f"~{name}", f"~{name}") for name in mailed)
            assert set(once) == jobs - merged.keys()
            assert set(once.values()) == {1}
            assert sum(report["jobs"]["new"] for report in reports) == 1209
            assert sum(report["jobs"]["twins"] for report in reports) == len(merged)


def reposts(recorded: list[dict[str, Any]], days: list[str]) -> dict[str, str]:
    """{job: the one whose words, but for the facts at the end, came from that country within 7 days before}.

    Of a short text the title counts too. Read plainly.
    """
    since: dict[str, tuple[datetime, str]] = {}
    known: set[str] = set()
    merged = {}
    for day in days:
        at = datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC)
        for row in sorted((row for row in recorded if day in row["seen_in"]), key=lambda row: row["pos"]):
            if row["ciphertext"] in known:
                continue
            known.add(row["ciphertext"])
            body = words(re.split(r"<b>(?:Hourly Range|Budget|Posted On)</b>", row["description"], maxsplit=1)[0])
            title = words(row["title"]) if len(body) < TITLE_FREE_MIN_CHARS else ""
            country = re.findall(r"<b>Country</b>:([^<]*)", row["description"])[-1:]
            print_ = f"{country}\n{title}\n{body}"
            if len(body) < PRINTED_MIN_CHARS:
                continue
            if print_ in since and at - since[print_][0] <= WEEK:
                merged[row["ciphertext"]] = since[print_][1]
            else:
                since[print_] = at, row["ciphertext"]
    return merged


async def test_of_410_listings_in_five_days_edits_and_renewals_mail_nothing_and_twins_are_counted(
    tmp_path: Path,
) -> None:
    recorded = rows("boards/weworkremotely_timeline_2026-08-03_to_08.jsonl")
    moments = sorted(
        {version[name] for row in recorded for version in row["versions"] for name in ("first_seen", "last_seen")}
    )
    assert len(recorded) == 410
    polls = []
    for moment in moments:
        listed = [version | {"url": row["url"]} for row in recorded for version in row["versions"]
                  if version["first_seen"] <= moment <= version["last_seen"]]  # fmt: skip
        polls.append((datetime.fromisoformat(moment), feed(map(listing, listed))))
    posted = {row["url"]: parsedate_to_datetime(row["versions"][0]["postedAt"]) for row in recorded}
    first = {row["url"] for row in recorded if row["versions"][0]["first_seen"] == moments[0]}
    fresh = {url for url in first if polls[0][0] - posted[url] < timedelta(hours=24)}  # for the person's first letter
    merged = twins(recorded)
    assert (len(first), len(fresh), len(merged)) == (169, 1, 1)
    async with World(tmp_path, now=polls[0][0]) as world:
        write_source(world, "weworkremotely", "/wwr.rss")
        async with world.another() as app:
            world.app = app
            await world.user("a@example.com", "headquarters", mode=Mode.INSTANT)
            reports = await replayed(world, polls, "/wwr.rss")
            later = {row["url"] for row in recorded} - first
            mailed = links(world, r"^(https://weworkremotely\.com/remote-jobs/.*)$")
            assert set(mailed.values()) == {1}
            once = Counter(merged.get(url, url) for url in mailed)
            assert set(once.values()) == {1}
            ledger = (await world.dump("deliveries")).values()
            assert len(ledger) == len({merged.get(url, url) for url in later | fresh})
            assert Counter(row["state"] for row in ledger) == {
                State.SENT.value: len(once),
                State.EXPIRED.value: len(ledger) - len(once),  # two digests had no room for them, and counted them
            }
            assert len(once) > 100
            assert len(await world.dump("jobs")) == 410
            assert sum(report["jobs"]["twins"] for report in reports) == len(merged)
            assert sum(report["jobs"]["new"] for report in reports) == len(later)


def listing(version: dict[str, Any]) -> dict[str, str]:
    description = f"<p>{version['description_head']}</p><p>{version['description_sha256']}</p>"
    return {"title": f"{version['company']}: {version['title']}", "region": version["location"], "link": version["url"],
            "guid": version["url"], "pubDate": version["postedAt"], "description": description}  # fmt: skip


def twins(recorded: list[dict[str, Any]]) -> dict[str, str]:
    """{url: the url that had the same company, title and words first}, in the order of their first sight."""
    began: dict[tuple[str, ...], str] = {}
    found = {}
    for row in sorted(recorded, key=lambda row: row["versions"][0]["first_seen"]):
        version = row["versions"][0]
        name = (words(version["company"]), words(version["title"]), version["description_sha256"])
        if name in began:
            found[row["url"]] = began[name]
        else:
            began[name] = row["url"]
    return found
