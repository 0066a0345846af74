"""The drill in its CI form: the real server in processes of its own, killed and restarted, and the mail counted."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.drill import drill
from app.drill.count import Verdict, Violation, count, state_of
from app.drill.page import page
from app.drill.scenes import SCENES, Options, perform
from app.drill.stage import staged

SMALL = Options(seed=11, people=12, rounds=3)
MANY = replace(SMALL, people=36)  # enough letters to meet trouble in few runs


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SCENES)
async def test_every_promise_is_kept_on_sqlite(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    options = MANY if name == "faults" else SMALL
    verdict = await perform(name, options)
    assert verdict.violations == [], verdict.timeline[-40:]
    assert verdict.figures["letters"] > options.people / 2
    assert verdict.figures["alerts twice"] == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["twice", "overlap"])
async def test_every_promise_is_kept_on_firestore(name: str, firestore_project: str) -> None:
    verdict = await perform(name, SMALL)
    assert verdict.violations == [], verdict.timeline[-40:]
    assert firestore_project
    assert verdict.figures["letters"] > SMALL.people / 2


@pytest.mark.timeout(120)
async def test_an_alert_that_came_twice_a_lost_digest_and_a_missing_row_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The drill itself can fail: what left the building is tampered with before it is counted."""
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    async with staged(seed=3, lock_s=600, wall_s=300) as stage:
        await stage.sign_up(instant=10, daily=8)
        stage.new_jobs(12)
        server = await stage.start()
        await stage.quiet(server)
        await server.end()
        before = await state_of(stage.store)
        await stage.settle_everything()
        assert await state_of(stage.store) != before
        sound = Verdict("sound")
        await count(stage, sound)
        assert sound.is_kept

        alert = next(letter for letter in stage.sink.letters if stage.people[letter.to] == "instant")
        digest = next(letter for letter in stage.sink.letters if stage.people[letter.to] == "daily")
        stage.sink.letters += [replace(alert), replace(digest)]
        twice = Verdict("tampered")
        await count(stage, twice)
        assert {v.promise for v in twice.violations} == {
            "alerts never twice",
            "digests repeat only where nobody could tell",
        }

        stage.sink.letters = [letter for letter in stage.sink.letters if letter.to not in (digest.to, alert.to)]
        lost = Verdict("tampered")
        await count(stage, lost)
        assert {v.promise for v in lost.violations} == {
            "digest rows are never lost",
            "alerts are lost only where listed as unclear",
        }

        stage.new_jobs(8)
        starved = Verdict("tampered")
        await count(stage, starved)
        assert "nobody is starved" in {v.promise for v in starved.violations}


def test_the_page_tells_each_violation_with_what_happened_around_it() -> None:
    verdict = Verdict("kill", {"kills": 3})
    verdict.timeline = [(0.0, "2 jobs appear"), (1.0, "killed"), (2.0, "3 jobs appear"), (3.0, "killed <again>")]
    verdict.violations = [Violation("alerts never twice", "came 2 times", "a@drill.example", 3)]
    html = page([verdict], seed=9, again="scout drill kill --seed 9", made_at=datetime(2026, 11, 30, 8, tzinfo=UTC))
    assert "a promise was broken" in html
    assert "a@drill.example, job 3: came 2 times" in html
    assert "killed &lt;again&gt;" in html
    assert "--seed 9" in html
    assert "http" not in html


@pytest.mark.timeout(120)
def test_the_command_prints_a_table_and_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    file = tmp_path / "drill.html"
    asked = ["twice", "--seed", "4", "--users", "8", "--json", "--report", str(file)]
    done = CliRunner().invoke(drill, asked)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["seed"], told["verdicts"][0]["kept"]) == (4, True)
    assert "every promise was kept" in file.read_text()


def test_a_page_that_cannot_be_written_is_said_before_the_drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.drill.scenes.SCENES", {})  # a drill that begins ends with a KeyError
    done = CliRunner().invoke(drill, ["twice", "--report", str(tmp_path / "none" / "drill.html")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("scout: --report: ")
    assert "No such file or directory" in done.stderr


@pytest.mark.timeout(120)
def test_a_page_that_cannot_be_written_any_more_leaves_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "drill.html"

    async def kept(name: str, _options: Options) -> Verdict:
        file.unlink()
        file.mkdir()
        return Verdict(name, {"letters": 7})

    monkeypatch.setattr("app.drill.scenes.perform", kept)
    done = CliRunner().invoke(drill, ["twice", "--seed", "4", "--report", str(file)])
    assert done.exit_code == 1
    assert "kept" in done.stdout
    assert "7" in done.stdout
    assert done.stderr.splitlines()[-1] == f"scout: {file} cannot be written: Is a directory"
