"""The command line: what it says and keeps, and one line for every mistake."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from ledger import deliveries, ids, users
from ledger.collections import DELIVERIES
from ledger.documents import decode, encode
from ledger.lifecycle import State, Via
from ledger.records import Delivery, Mode, Search, Stop, User
from ledger.sqlite import SqliteStore
from ledger.store import Store, every
from tests.app import terminal
from tests.sinks import refused_port

T = TypeVar("T")
ANN = "ann@example.com"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {k: v for k, v in os.environ.items() if not k.startswith("SCOUT_")})
    return tmp_path


def scout(*arguments: str, typed: str | None = None) -> Result:
    """A command in this process; an exception that nobody foresaw is raised."""
    return CliRunner().invoke(main, arguments, input=typed, catch_exceptions=False, prog_name="scout")


def said(*arguments: str) -> str:
    done = scout(*arguments)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def mistake(*arguments: str) -> str:
    """The one line of a command that was refused with exit code 2 and printed nothing else."""
    done = scout(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("scout: ")
    return line.removeprefix("scout: ")


def with_store(folder: Path, work: Callable[[Store], Awaitable[T]]) -> T:
    async def opened() -> T:
        store = SqliteStore(folder / "scout.db", clock=lambda: datetime.now(UTC))
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(opened())


def person(folder: Path, address: str = ANN) -> User:
    async def read(store: Store) -> User:
        found = await users.read(store, ids.uid_of(address))
        assert found is not None
        return found.record

    return with_store(folder, read)


def edited(folder: Path, edit: Callable[[User], User], address: str = ANN) -> None:
    with_store(folder, lambda store: users.change(store, ids.uid_of(address), edit))


def row(title: str, state: State, via: Via = Via.ALERT, **fields: Any) -> Delivery:
    now = datetime.now(UTC)
    id_ = ids.job_id("board", title)
    plain = Delivery(
        ids.uid_of(ANN), id_, id_, state, via, now, now, title, "https://a.example/", 2, "python in the title"
    )
    return replace(plain, **fields)


def keep(folder: Path, *rows: Delivery) -> None:
    documents = {deliveries.row_id(one): encode(one) for one in rows}
    with_store(folder, lambda store: store.create(DELIVERIES, documents))


def rows_of(folder: Path) -> dict[str, Delivery]:
    async def read(store: Store) -> dict[str, Delivery]:
        found = [decode(Delivery, snapshot) async for snapshot in every(store, DELIVERIES, {})]
        return {one.title: one for one in found}

    return with_store(folder, read)


def test_a_person_who_is_added_is_kept_as_given_and_caught_up_by_the_next_run(here: Path) -> None:
    told = said("users", "add", " Ann@Example.com", "--keywords", 'python, "machine learning"', "--not", "php",
                "--must", "remote", "--max-age-h", "48", "--mode", "daily", "--at", "7:30", "--zone", "Europe/Berlin",
                "--sources", "Remotive, himalayas")  # fmt: skip
    assert told.startswith("Added Ann@Example.com\n")
    ann = person(here)
    assert ann.searches == {
        "default": Search(("python", "machine learning"), ("remote",), ("php",), 48, ("Remotive", "himalayas"))
    }
    assert (ann.address, ann.mode, ann.at, ann.zone) == ("Ann@Example.com", Mode.DAILY, "07:30", "Europe/Berlin")
    assert ann.catch_up is not None


def test_adding_again_changes_only_what_is_given_and_says_what(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python", "--not", "php", "--max-age-h", "48")
    edited(here, lambda user: replace(user, catch_up=None, wake_at=None))
    before = person(here)
    told = said("users", "add", "ANN@example.com", "--keywords", "go", "--mode", "weekly", "--max-age-h", "0")
    assert [line.strip() for line in told.splitlines()[:4]] == [
        f"Changed {ANN}", "keywords: go (was: python)", "max age: - (was: 48 h)", "mode: weekly (was: instant)",
    ]  # fmt: skip
    after = person(here)
    assert after.catch_up is not None
    assert after == replace(
        before,
        mode=Mode.WEEKLY,
        searches={"default": Search(("go",), exclude=("php",))},
        catch_up=after.catch_up,
        wake_at=after.wake_at,
    )


def test_other_searches_of_a_person_are_left_as_they_are(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    edited(here, lambda user: replace(user, searches=user.searches | {"evenings": Search(("cobol",))}))
    said("users", "add", ANN, "--keywords", "go")
    assert person(here).searches == {"default": Search(("go",)), "evenings": Search(("cobol",))}


def test_jobs_that_wait_for_a_digest_follow_a_change_of_mode_and_hour(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python", "--mode", "weekly", "--at", "08:00")
    now = datetime.now(UTC)
    far = now + timedelta(days=7)
    keep(
        here,
        row("waits", State.QUEUED, Via.DIGEST, wake_at=far),
        row("in a digest", State.QUEUED, Via.DIGEST, period="2026-W49"),
        row("at once", State.QUEUED, wake_at=far),
    )
    said("users", "add", ANN, "--mode", "daily", "--at", f"{(now - timedelta(minutes=2)):%H:%M}")
    rows = rows_of(here)
    assert rows["waits"].wake_at == (now + timedelta(days=1, minutes=-2)).replace(second=0, microsecond=0)
    assert rows["in a digest"].wake_at is None
    assert rows["at once"].wake_at == far


def test_a_zone_alone_means_the_default_hour_in_that_zone(here: Path) -> None:
    os.environ["SCOUT_DIGEST_AT"] = "06:15"
    said("users", "add", ANN, "--keywords", "python", "--zone", "Asia/Tokyo")
    ann = person(here)
    assert (ann.at, ann.zone) == ("06:15", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nobody"], "'nobody' is not an e-mail address"),
        (["a b@example.com"], "'a b@example.com' is not an e-mail address"),
        (["Ann <ann@example.com>"], "'Ann <ann@example.com>' is not an e-mail address"),
        ([f"{'x' * 65}@example.com"], "is not an e-mail address"),
        ([ANN, "--keywords", ""], "give --keywords"),
        ([ANN, "--keywords", "---"], "--keywords: '---' has no letter or digit"),
        ([ANN, "--keywords", '"open'], '--keywords: the quotes do not enclose the whole keyword: "open'),
        ([ANN, "--not", "x" * 101], "--not: a keyword has at most 100 characters"),
        ([ANN, "--must", "!!"], "--must: '!!' has no letter or digit"),
        ([ANN, "--zone", "Europe/Bonn"], "--zone: unknown time zone 'Europe/Bonn'"),
        ([ANN, "--at", "25:00"], "--at: not a time of day: '25:00'"),
        ([ANN, "--mode", "hourly"], "'hourly' is not one of"),
        ([ANN, "--max-age-h", "-1"], "'--max-age-h': -1 is not in the range"),
        ([ANN, "--max-age-h", "two"], "'two' is not a valid integer"),
        ([ANN, "--sources", "remotive,monster"], "--sources: unknown source 'monster'; known: arbeitnow, "),
        ([ANN, "--colour", "red"], "No such option"),
        ([], "Missing argument 'EMAIL'; see: scout users add --help"),
    ],
)
def test_a_bad_value_is_refused_in_one_line_that_names_it_and_nobody_is_kept(
    here: Path, arguments: list[str], named: str
) -> None:
    given = arguments if "--keywords" in arguments or not arguments else [*arguments, "--keywords", "python"]
    assert named in mistake("users", "add", *given)
    assert json.loads(said("users", "list", "--json")) == []


def test_letters_before_the_at_sign_beyond_ascii_need_a_transport_that_can_carry_them(here: Path) -> None:
    os.environ["SCOUT_MAIL"] = "smtp://mail.example.com"
    assert "'zoë@example.com' has letters before the @" in mistake(
        "users", "add", "zoë@example.com", "--keywords", "go"
    )
    said("users", "add", "zoe@bücher.example", "--keywords", "go")
    os.environ["SCOUT_MAIL"] = "outbox:///outbox"
    said("users", "add", "zoë@example.com", "--keywords", "go")
    assert [user["address"] for user in json.loads(said("users", "list", "--json"))] == [
        "zoe@bücher.example", "zoë@example.com",
    ]  # fmt: skip


def test_who_unsubscribed_comes_back_only_when_told_so(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    with_store(here, lambda store: users.stop(store, ids.uid_of(ANN), Stop.UNSUBSCRIBED, now=datetime.now(UTC)))
    stopped = person(here)
    assert "unsubscribed" in (refusal := mistake("users", "add", ANN, "--keywords", "go"))
    assert refusal.endswith("add --resume")
    assert person(here) == stopped
    told = scout("users", "add", ANN, "--keywords", "go", "--resume")
    assert (told.exit_code, told.stderr) == (0, "")
    ann = person(here)
    assert (ann.active, ann.stopped, ann.searches["default"].keywords) == (True, None, ("go",))


def test_a_bounce_is_told_when_a_person_is_resumed(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    stop = lambda store: users.stop(store, ids.uid_of(ANN), Stop.BOUNCED, detail="no such user", now=datetime.now(UTC))  # noqa: E731
    with_store(here, stop)
    assert "bounced" in said("users", "show", ANN)
    told = scout("users", "add", ANN, "--resume")
    assert told.exit_code == 0
    assert "scout: this address had bounced" in told.stderr
    assert "(no such user)" in told.stderr
    assert person(here).active


def test_who_was_deleted_after_a_bounce_comes_back_with_an_address_and_a_new_token(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    token = person(here).token
    with_store(here, lambda store: users.stop(store, ids.uid_of(ANN), Stop.BOUNCED, now=datetime.now(UTC)))
    said("users", "delete", ANN, "--yes")
    assert "bounced" in mistake("users", "add", ANN, "--keywords", "go")
    assert scout("users", "add", ANN, "--keywords", "go", "--resume").exit_code == 0
    ann = person(here)
    assert (ann.address, ann.active) == (ANN, True)
    assert ann.token not in ("", token)


def test_a_pause_sleeps_until_its_end_and_catches_up_then(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    earlier = person(here).catch_up
    assert "paused until" in said("users", "pause", ANN, "--days", "14")
    ann = person(here)
    assert ann.paused_until is not None
    assert timedelta(days=13, hours=23) < ann.paused_until - datetime.now(UTC) < timedelta(days=14, hours=1)
    assert ann.wake_at == ann.paused_until
    assert ann.catch_up not in (None, earlier)


def test_a_pause_until_a_day_ends_at_its_start_where_the_person_lives(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python", "--zone", "America/New_York")
    day = (datetime.now(UTC) + timedelta(days=400)).date().replace(month=1, day=7)
    said("users", "pause", ANN, "--until", day.isoformat())
    assert person(here).paused_until == datetime(day.year, 1, 7, 5, tzinfo=UTC)


def test_ending_a_pause_wakes_what_slept_until_its_end_and_nothing_else(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    said("users", "pause", ANN, "--days", "14")
    end = person(here).paused_until
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    keep(here, row("asleep", State.QUEUED, wake_at=end), row("due tomorrow", State.QUEUED, wake_at=tomorrow))
    assert said("users", "pause", ANN, "--resume") == f"{ANN}: active\n"
    rows, now = rows_of(here), datetime.now(UTC)
    ann = person(here)
    assert ann.paused_until is None
    assert ann.wake_at is not None
    assert ann.wake_at <= now
    assert rows["asleep"].wake_at is not None
    assert rows["asleep"].wake_at <= now
    assert rows["due tomorrow"].wake_at == tomorrow


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "give one of --until DATE, --days N and --resume"),
        (["--days", "3", "--resume"], "give one of"),
        (["--until", "christmas"], "--until: not a date: 'christmas'"),
        (["--until", "2020-01-01"], "--until: 2020-01-01 does not lie within"),
        (["--days", "0"], "0 is not in the range"),
    ],
)
def test_a_pause_that_cannot_be_is_refused_in_one_line(here: Path, arguments: list[str], named: str) -> None:
    said("users", "add", ANN, "--keywords", "python")
    assert named in mistake("users", "pause", ANN, *arguments)
    assert person(here).paused_until is None


def test_who_stopped_is_not_paused(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    with_store(here, lambda store: users.stop(store, ids.uid_of(ANN), Stop.COMPLAINED, now=datetime.now(UTC)))
    assert "complained" in mistake("users", "pause", ANN, "--days", "3")


@pytest.mark.parametrize("command", [["show"], ["pause", "--days", "3"], ["delete", "--yes"]])
def test_a_person_whom_nobody_knows_is_named(here: Path, command: list[str]) -> None:
    assert mistake("users", *command, ANN) == f"no such person: {ANN}; see: scout users list"
    assert mistake("users", *command, "nonsense") == "not an e-mail address: 'nonsense'"


def test_deleting_asks_first(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    assert "add --yes" in mistake("users", "delete", ANN)
    keep(here, row("old", State.SENT, final_at=datetime.now(UTC), created_at=datetime.now(UTC) - timedelta(days=9)))
    assert said("users", "delete", ANN, "--yes") == f"Deleted {ANN}: the profile and 1 delivery\n"
    assert json.loads(said("users", "list", "--json")) == []
    assert rows_of(here) == {}


def test_a_list_names_everybody_and_never_the_token(here: Path) -> None:
    assert "Nobody yet" in said("users", "list")
    said("users", "add", ANN, "--keywords", "python, go", "--mode", "daily", "--zone", "Europe/Rome")
    said("users", "add", "ben@example.com", "--keywords", "cobol", "--not", "java")
    plain, as_json = said("users", "list"), said("users", "list", "--json")
    assert "ann@example.com  daily, 08:00 Europe/Rome  active  python, go" in plain
    assert [(u["address"], u["searches"]["default"]["keywords"]) for u in json.loads(as_json)] == [
        (ANN, ["python", "go"]), ("ben@example.com", ["cobol"]),
    ]  # fmt: skip
    assert person(here).token not in plain + as_json


def test_show_counts_the_rows_by_state_and_lists_the_last_letters(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python")
    now = datetime.now(UTC)
    sent: dict[str, Any] = {"final_at": now, "outside": "1" * 32}
    keep(here, row("best", State.SENT, score=9, **sent), row("second", State.SENT, **sent), row("lost", State.UNCLEAR),
         row("waits", State.QUEUED, Via.DIGEST, wake_at=now + timedelta(hours=3)))  # fmt: skip
    told = json.loads(said("users", "show", ANN, "--json"))
    assert told["deliveries"] == {"queued": 1, "sent": 2, "unclear": 1}
    assert [(letter["kind"], letter["jobs"], letter["best"]) for letter in told["letters"]] == [("alert", 2, "best")]
    plain = said("users", "show", ANN)
    assert "1 queued, 2 sent, 1 unclear" in plain
    assert person(here).token not in plain + json.dumps(told)


def test_every_command_has_a_help_text_with_an_example() -> None:
    commands = [["serve"], ["cron"], ["demo"], ["runs"], ["sources"]]
    commands += [["users", name] for name in ("add", "show", "pause", "delete")]
    for command in commands:
        told = said(*command, "--help")
        assert f"scout {' '.join(command)}" in told.partition("Example")[2], command


def test_an_unknown_command_is_a_mistake_in_one_line(here: Path) -> None:
    assert mistake("user", "list").startswith("No such command 'user'")


@pytest.mark.parametrize(
    "command", [["users", "list"], ["users", "add", ANN, "--keywords", "go"], ["runs"], ["sources"]]
)
def test_a_store_that_cannot_be_reached_is_told_in_one_line(here: Path, command: list[str]) -> None:
    os.environ["SCOUT_STORE"] = "sqlite:///nowhere/scout.db"
    done = scout(*command)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"scout: the store cannot be used: cannot open {here}/nowhere/scout.db: No such file")


@pytest.mark.parametrize("store", ["sqlite:///nowhere/scout.db", "firestore://project"])
def test_a_run_without_a_store_fails_with_one_line(tmp_path: Path, store: str) -> None:
    nobody = {"FIRESTORE_EMULATOR_HOST": f"127.0.0.1:{refused_port()}"} if store.startswith("firestore") else {}
    done = terminal.run(tmp_path, "cron", "--json", SCOUT_STORE=store, **nobody)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("scout: the store cannot be used: ")
    assert json.loads(done.stdout)["status"] == "failed"


def test_what_nobody_foresaw_is_shown_as_it_is(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(sys.modules["app.cli.runs"], "load", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        scout("runs")


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """A folder with one good source, one that fails, and an .env that names them."""
    item = "<item><title>Python developer</title><guid>1</guid><link>https://a.example/1</link></item>"
    feed = f"<rss version='2.0'><channel><title>x</title>{item}</channel></rss>"
    (tmp_path / "feed.xml").write_text(feed)
    entry = '[[source]]\nname = "{}"\nkind = "feed"\nurl = "file://{}/{}"\nmin_interval_s = 0\n'
    both = entry.format("good", tmp_path, "feed.xml") + entry.format("gone", tmp_path, "absent.xml")
    (tmp_path / "sources.toml").write_text(both)
    (tmp_path / ".env").write_text("SCOUT_SOURCES=sources.toml\nSCOUT_ALLOW_LOOPBACK='true' # a trial\n")
    return tmp_path


def test_a_run_is_reported_kept_and_listed_and_the_sources_show_their_health(trial: Path, here: Path) -> None:
    never = json.loads(said("sources", "--json"))
    assert [(s["name"], s["configured"], s["health"]) for s in never] == [("good", True, None), ("gone", True, None)]
    assert "No run yet" in said("runs")
    report = json.loads(terminal.run(trial, "cron", "--json").stdout)
    assert report["status"] == "completed"
    assert report["sources"]["ok"] == 1
    assert json.loads(said("runs", "--json")) == [report]
    assert report["started_at"][:16].replace("T", " ") in said("runs")
    (trial / "sources.toml").write_text((trial / "sources.toml").read_text().replace('"good"', '"better"'))
    seen = {s["name"]: s for s in json.loads(said("sources", "--json"))}
    assert seen["better"]["health"] is None
    assert (seen["good"]["configured"], seen["good"]["health"]) == (False, "ok")
    assert (seen["gone"]["failures"], seen["gone"]["health"]) == (1, "unreachable")
    assert "cannot be read" in seen["gone"]["reason"]
    plain = said("sources")
    assert all(word in plain for word in ("never polled", "not configured", "unreachable", "at the next run"))


def test_on_a_terminal_a_run_names_its_stages_and_reads_well_without_log_lines(trial: Path) -> None:
    seen = terminal.on_a_terminal(trial, "cron")
    stages = [seen.index(f"  {stage} ...") for stage in ("fetch", "match", "alerts", "digests", "sweep")]
    assert stages == sorted(stages)
    assert "1 read, 0 unchanged, 0 not due, 1 failed" in seen
    assert "source read" not in seen


def test_a_run_that_is_piped_has_no_colours_and_logs_to_standard_error(trial: Path) -> None:
    done = terminal.run(trial, "cron")
    assert done.returncode == 0
    assert done.stdout.startswith("completed in ")
    assert "\x1b" not in done.stdout
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()][-1] == "run"


def test_a_budget_outside_its_bounds_is_refused(here: Path) -> None:
    for budget in ("4", "301"):
        assert mistake("cron", "--budget", budget) == "--budget must be from 5 to 300 seconds (SCOUT_WALL_S)"


@pytest.mark.parametrize(
    ("keywords", "excluded", "never"),
    [
        ("python, go", "Python", "'python' never fits: whatever has it has 'Python', which is excluded"),
        ("senior python developer", "python", "'senior python developer' never fits: whatever has it has 'python', "),
        ("go", "GO", "'go' never fits: whatever has it has 'GO', which is excluded"),
    ],
)
def test_a_keyword_that_rules_itself_out_is_said(here: Path, keywords: str, excluded: str, never: str) -> None:
    done = scout("users", "add", ANN, "--keywords", keywords, "--not", excluded)
    assert done.exit_code == 0
    assert done.stderr.startswith(f"scout: {never}")
    assert len(done.stderr.splitlines()) == 1
    assert never in scout("users", "show", ANN).stderr


@pytest.mark.parametrize(
    ("keywords", "excluded"), [("javascript", "java"), ("go developer", "go"), ("python", "python 2"), ("c", "c++")]
)
def test_a_keyword_that_can_do_without_what_is_excluded_is_none(here: Path, keywords: str, excluded: str) -> None:
    assert scout("users", "add", ANN, "--keywords", keywords, "--not", excluded).stderr == ""


def test_a_source_that_is_gone_is_marked(here: Path) -> None:
    said("users", "add", ANN, "--keywords", "python", "--sources", "remotive, himalayas")
    (here / "mine.toml").write_text('[[source]]\nname = "remotive"\nkind = "remotive"\n')
    os.environ["SCOUT_SOURCES"] = "mine.toml"
    assert "remotive, himalayas (not configured)" in said("users", "show", ANN)
