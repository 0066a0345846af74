"""`scout sources`: what is said, what is written, and that a trial tells nobody."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from ledger.collections import SOURCES
from ledger.documents import encode
from ledger.records import Health, SourceState
from ledger.sqlite import SqliteStore
from scan.sources.config import load
from tests.boards import Board
from tests.world import item, rss


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SCOUT_")}
    monkeypatch.setattr(os, "environ", clean | {"SCOUT_ALLOW_LOOPBACK": "true"})
    return tmp_path


@pytest.fixture
def board() -> Iterator[Board]:
    with Board() as board:
        yield board


def scout(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, catch_exceptions=False, prog_name="scout")


def said(*arguments: str) -> str:
    done = scout(*arguments)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def own_list(folder: Path, text: str) -> Path:
    file = folder / "mine.toml"
    file.write_text(text)
    os.environ["SCOUT_SOURCES"] = str(file)
    return file


def test_a_feed_is_shown_and_added_to_a_list_of_ones_own(here: Path, board: Board) -> None:
    url = board.serve("/jobs.rss?key=s3cret", rss(*(item(f"Python developer {n}") for n in range(12))))
    told = said("sources", "add", url, "--name", "acme")
    assert "12 jobs, 0 skipped." in told
    assert told.count("Python developer") == 10
    assert "auto: the guid, of which each of the 12 items has its own" in told
    assert "Wrote acme to sources.toml. Its first poll is a silent baseline." in told
    assert "SCOUT_SOURCES=sources.toml" in told
    assert "s3cret" not in told
    added = load(here / "sources.toml")
    assert [source.name for source in added] == [*(source.name for source in load()), "acme"]
    assert (added[-1].kind, added[-1].url) == ("feed", url)
    assert len(board.requests) == 1


def test_the_other_lines_of_a_list_stay_as_they_are(here: Path, board: Board) -> None:
    before = '# mine\n[[source]]\nname = "a"   # the first\nkind = "feed"\nurl = "https://a.example/f"\n'
    file = own_list(here, before)
    file.chmod(0o640)
    url = board.serve("/jobs.rss", rss(item("Gardener", link="https://x.example/jobs/7")))
    told = said("sources", "add", url, "--id-rule", "regex:/jobs/([0-9]+)")
    assert "Wrote 127.0.0.1 to " in told
    text = file.read_text()
    assert text.startswith(before)
    assert load(file)[-1].id_rule == "regex:/jobs/([0-9]+)"
    assert file.stat().st_mode & 0o777 == 0o640
    assert " 7" in told.splitlines()[-2]
    assert [path.name for path in here.iterdir() if path.name.startswith(".mine")] == []


def test_a_dry_run_writes_nothing(here: Path, board: Board) -> None:
    url = board.serve("/jobs.rss", rss(item("Gardener")))
    assert said("sources", "add", url, "--dry-run").endswith("Nothing was written (--dry-run).\n")
    assert list(here.glob("*.toml")) == []


@pytest.mark.parametrize(
    ("path", "body", "code", "says"),
    [
        (
            "/page",
            "<html>Hello</html>",
            2,
            "scout: that URL cannot be read: an HTML page, not a feed, and it links none",
        ),
        ("/gone", None, 1, "/gone is not there (HTTP 404)"),
    ],
)
def test_what_cannot_be_read_is_not_added(
    path: str, body: str | None, code: int, says: str, here: Path, board: Board
) -> None:
    url = board.serve(path, body) if body else board.url(path)
    done = scout("sources", "add", url)
    assert done.exit_code == code
    assert done.stderr.strip().endswith(says)
    assert list(here.glob("*.toml")) == []


def test_a_name_that_is_taken_and_a_bad_rule_are_refused(here: Path, board: Board) -> None:
    url = board.serve("/jobs.rss", rss(item("Gardener")))
    done = scout("sources", "add", url, "--name", "remotive")
    assert (done.exit_code, done.stderr) == (2, "scout: --name: 'remotive' is taken; see: scout sources\n")
    done = scout("sources", "add", url, "--id-rule", "best")
    assert done.exit_code == 2
    assert "unknown id rule" in done.stderr


def test_a_test_shows_what_a_source_tells_and_stores_nothing(here: Path, board: Board) -> None:
    url = board.serve("/jobs.rss", rss(item("Gardener"), "<item><guid>2</guid></item>"))
    own_list(here, f'[[source]]\nname = "a"\nkind = "feed"\nurl = "{url}"\n')
    told = said("sources", "test", "a")
    assert "1 job, 1 skipped." in told
    assert "Gardener" in told
    assert "skipped: neither title nor text" in told
    assert json.loads(said("sources", "--json"))[0]["health"] is None
    assert said("sources", "list").split() == said("sources").split()
    done = scout("sources", "test", "b")
    assert (done.exit_code, done.stderr) == (2, "scout: there is no source 'b'; there are a\n")
    board.serve("/jobs.rss", "<html>Just a moment...</html>")
    done = scout("sources", "test", "a")
    assert (done.exit_code, done.stderr) == (1, "scout: a has no readable answer\n")
    assert "malformed: an HTML page, not a feed" in done.stdout


def test_the_list_tells_of_suspension_and_silence_and_a_suspended_source_can_be_resumed(here: Path) -> None:
    own_list(here, "".join(f'[[source]]\nname = "{n}"\nkind = "feed"\nurl = "https://{n}.example/f"\n' for n in "ab"))
    now = datetime.now(UTC)
    kept(here, SourceState("a", None, ok_at=now, health=Health.SUSPENDED, reason="every item new", failures=1))
    kept(here, SourceState("b", now, polled_at=now, ok_at=now - timedelta(days=3), health=Health.SLOW, failures=5))
    told = json.loads(said("sources", "--json"))
    assert [(source["health"], source["silent_since"] is None) for source in told] == [
        ("suspended", True),
        ("slow", False),
    ]
    assert "slow, silent for 3 days" in " ".join(said("sources").split())
    assert said("sources", "resume", "a") == "a is polled again at the next run, as if for the first time.\n"
    assert json.loads(said("sources", "--json"))[0]["health"] is None
    done = scout("sources", "resume", "a")
    assert (done.exit_code, done.stderr) == (2, "scout: 'a' is not suspended; see: scout sources\n")


def kept(folder: Path, state: SourceState) -> None:
    async def write() -> None:
        store = SqliteStore(folder / "scout.db", clock=lambda: datetime.now(UTC))
        await store.put(SOURCES, {state.name: encode(state)})
        await store.close()

    asyncio.run(write())


@pytest.mark.parametrize("typed", ["foo", "example.com/jobs", "localhost:8000/feed"])
def test_what_is_no_url_is_answered_with_how_one_is_written(here: Path, typed: str) -> None:
    done = scout("sources", "add", typed)
    assert (done.exit_code, done.stderr) == (2, f"scout: {typed!r} is no URL; write https://...\n")


@pytest.mark.parametrize("command", ["test", "resume"])
def test_a_name_that_no_source_has_is_answered_with_the_names(here: Path, command: str) -> None:
    own_list(here, "".join(f'[[source]]\nname = "{n}"\nkind = "feed"\nurl = "http://127.0.0.1/"\n' for n in "ab"))
    done = scout("sources", command, "nosuch")
    assert (done.exit_code, done.stderr) == (2, "scout: there is no source 'nosuch'; there are a, b\n")


def test_without_a_source_it_is_said_what_to_do(here: Path) -> None:
    own_list(here, "")
    assert said("sources").startswith("No source is configured. Add one: scout sources add URL")
    assert json.loads(said("sources", "--json")) == []
    assert "none is configured. Add one: " in scout("sources", "test", "a").stderr


def test_two_jobs_with_one_id_are_told_by_the_trial(here: Path, board: Board) -> None:
    url = board.serve("/f", rss(item("Python developer"), item("Go developer"), item("Go developer")))
    told = said("sources", "add", url, "--name", "acme", "--id-rule", r"regex:^https://(jobs)", "--dry-run")
    assert "1 job, 1 skipped." in told
    assert "skipped: its id is that of another item: give the feed another id_rule" in told
