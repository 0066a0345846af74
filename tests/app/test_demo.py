"""The demo, as a stranger runs it: everything it tells is true, and it says so when a promise breaks."""

from __future__ import annotations

import asyncio
import io
import logging
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
from click.testing import CliRunner
from rich.console import Console

from app.cli import main
from app.demo import run_demo
from app.demo.feeds import BOARDS
from app.demo.folder import MARK, NotADemo, make_folder
from app.demo.letters import Mail, read_outbox
from app.demo.people import PEOPLE
from app.demo.promises import JOB_LINK, Seen, is_silent
from app.demo.stage import Stage
from ledger import runs
from ledger.sqlite import SqliteStore
from tests.app import terminal


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The demo in a process of its own, in a folder where a person's own settings are no good."""
    folder = tmp_path_factory.mktemp("stranger")
    (folder / ".env").write_text("not a setting\n")
    done = terminal.run(
        folder, "demo", SCOUT_STORE="firestore://elsewhere", SCOUT_TYPO="1", http_proxy="http://127.0.0.1:9"
    )
    return folder / "demo", done


@pytest.fixture
def logs_as_before() -> Iterator[None]:
    """The demo logs to a file; afterwards this process logs as it did."""
    before, handlers, level = structlog.get_config(), logging.root.handlers[:], logging.root.level
    yield
    structlog.configure(**before)
    logging.root.handlers[:], logging.root.level = handlers, level


Played = tuple[Path, subprocess.CompletedProcess[str]]


def kept_reports(place: Path) -> list[dict[str, Any]]:
    """The reports of the five runs, in their order."""

    async def read() -> list[dict[str, Any]]:
        store = SqliteStore(place / "scout.db", clock=lambda: datetime.now(UTC))
        try:
            return [dict(report) for report in await runs.latest(store, limit=10)]
        finally:
            await store.close()

    # The third and the fourth began at the same time by the demo's clock; only the third sent anything.
    return sorted(asyncio.run(read()), key=lambda report: (report["started_at"], -report["mail"]["sent"]))


def test_it_succeeds_without_a_credential_and_whatever_the_settings_are(played: Played) -> None:
    _, done = played
    assert (done.returncode, done.stderr) == (0, "")
    assert "BROKEN" not in done.stdout
    assert done.stdout.count("\nkept ") == len(promises_in(done.stdout)) == 9


def promises_in(told: str) -> list[str]:
    return re.findall(r"(?m)^(?:kept|BROKEN) +(.+)$", told)


def test_piped_it_is_plain_text_of_a_hundred_columns(played: Played) -> None:
    _, done = played
    assert "\x1b" not in done.stdout
    told = done.stdout.partition("Look at it, and go on")[0]  # beyond are lines to be copied
    assert max(len(line) for line in told.splitlines()) <= 100


def test_the_letters_it_tells_of_are_those_in_the_outbox(played: Played) -> None:
    place, done = played
    mails = read_outbox(place / "outbox")
    assert {mail.kind for mail in mails} == {"alert", "digest"}
    told = " ".join(done.stdout.split())
    assert f"{len(mails)} letters in demo/outbox/new" in told
    assert f"{len(mails)} -> {len(mails)}" in told
    assert [mail.to for mail in mails if f"{mail.to} {mail.kind} {mail.subject[:40]}" not in told] == []
    assert len(list((place / "letters").glob("*.html"))) == len(mails)
    first = re.search(r"(?m)^  less (\S+)$", done.stdout)
    assert first
    assert (place.parent / first[1]).is_file()


def test_no_person_is_mailed_a_job_twice_and_a_twin_is_one_job_with_two_links(played: Played) -> None:
    place, _ = played
    links = Counter(
        (mail.to, link) for mail in read_outbox(place / "outbox") for link in set(JOB_LINK.findall(mail.text))
    )
    assert set(links.values()) == {1}
    (letter,) = (mail for mail in read_outbox(place / "outbox") if mail.to == "ana.silva@example.com")
    assert "https://lantern.example/jobs/52000" in letter.text
    assert "https://orchard.example/59001" in letter.text


def test_the_figures_told_are_those_of_the_reports_that_were_kept(played: Played) -> None:
    place, done = played
    reports = kept_reports(place)
    assert len(reports) == 5
    told = done.stdout
    for report in reports[:3]:
        assert f"{report['jobs']['seen']} seen, {report['jobs']['new']} new" in told
        assert f"{report['matches']['fit']} fit of {report['matches']['pairs']} pairs" in told
        assert f"{report['mail']['queued']} queued, 0 failed" in told
    assert sum(report["mail"]["sent"] for report in reports) == len(read_outbox(place / "outbox"))
    assert [report["mail"]["sent"] for report in reports[3:]] == [0, 0]


def test_it_shows_a_board_that_is_down_a_broken_item_and_somebody_for_whom_nothing_fits(played: Played) -> None:
    _, done = played
    assert re.search(r"night-owl-gigs.+\(HTTP\s+500\)", done.stdout, re.DOTALL)
    assert "neither title nor text" in done.stdout
    assert "nothing fits" in done.stdout


def test_it_is_shaped_like_production() -> None:
    assert len(BOARDS) == 5
    assert {board.format for board in BOARDS} == {"RSS 2.0", "Atom", "JSON Feed"}
    assert len(PEOPLE) == 12
    assert {person.mode.value for person in PEOPLE} == {"instant", "daily", "weekly"}
    assert len({person.zone for person in PEOPLE}) > 5


def test_a_letter_too_many_in_the_second_run_is_a_broken_promise_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logs_as_before: None
) -> None:
    real, count = Stage.run, 0

    async def run(self: Stage) -> dict[str, Any]:
        nonlocal count
        count += 1
        report = await real(self)
        if count == 4:
            some = next((tmp_path / "demo/outbox/new").iterdir())
            (some.with_name("copy")).write_bytes(some.read_bytes())
        return report

    monkeypatch.setattr(Stage, "run", run)
    done = CliRunner().invoke(main, ["demo", "--dir", str(tmp_path / "demo")], catch_exceptions=False)
    assert done.exit_code == 1
    assert "BROKEN  a second run did nothing" in done.stdout
    assert "BROKEN  nobody was mailed a job twice" in done.stdout
    assert "a second run did nothing" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_second_run_with_any_figure_is_not_silent() -> None:
    quiet: dict[str, Any] = {"mail": dict.fromkeys(("sent", "queued"), 0), "jobs": {"new": 0}, "matches": {"fit": 0}}
    mail = Mail(Path("a"), "a@example.com", "", "alert", "", "")
    seen = Seen()
    seen.note("before", quiet, [mail])
    seen.note("after", quiet, [mail])
    assert is_silent(seen, "after", before="before")
    for loud in ({"mail": {"sent": 0, "queued": 1}}, {"jobs": {"new": 1}}, {"matches": {"fit": 1}}):
        seen.note("after", quiet | loud, [mail])
        assert not is_silent(seen, "after", before="before")
    seen.note("after", quiet, [replace(mail, file=Path("b"))])
    assert not is_silent(seen, "after", before="before")


def test_an_earlier_demo_is_replaced_and_the_same_seed_tells_the_same(tmp_path: Path, logs_as_before: None) -> None:
    place = tmp_path / "demo"
    subjects = []
    for _ in range(2):
        assert run_demo(place, keep=False, console=Console(file=io.StringIO(), width=100)) == []
        subjects.append([(mail.to, mail.subject) for mail in read_outbox(place / "outbox")])
    assert subjects[0] == subjects[1]
    assert subjects[0]


def test_a_folder_that_is_not_a_demos_own_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    theirs = tmp_path / "photos"
    theirs.mkdir()
    (theirs / "cat.jpg").write_text("a cat")
    done = CliRunner().invoke(main, ["demo", "--dir", str(theirs)], catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"scout: {theirs} is not empty and not an earlier demo; choose another with --dir\n"
    assert [path.name for path in theirs.iterdir()] == ["cat.jpg"]


def test_a_link_to_an_earlier_demo_is_not_followed(tmp_path: Path) -> None:
    real = make_folder(tmp_path / "real", keep=False)
    (tmp_path / "link").symlink_to(real)
    with pytest.raises(NotADemo, match="not a folder"):
        make_folder(tmp_path / "link", keep=False)
    with pytest.raises(NotADemo, match=r"cannot be written|not a folder"):
        make_folder(real / MARK / "demo", keep=False)
    assert (real / MARK).is_file()


def test_with_keep_an_earlier_demo_stays_and_the_new_one_lies_beside_it(tmp_path: Path) -> None:
    made = [make_folder(tmp_path / "demo", keep=True).name for _ in range(3)]
    assert made == ["demo", "demo-2", "demo-3"]
