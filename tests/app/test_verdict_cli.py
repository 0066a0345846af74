"""`scout verdict` and what the command line tells of verdicts: a real process, and the real SDK on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app import evaluation
from app.evaluation import BadSet
from app.report import Report
from app.told import lines
from scan.judges.anthropic import AnthropicJudge
from tests.messages_api import MessagesApi, Play, Posting
from tests.sinks import refused_port

ROOT = Path(__file__).parents[2]
SET, SKETCHED = evaluation.SHIPPED, ROOT / "tests/verdicts/sketched.json"
KEY = "sk-ant-not-a-real-key"


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        yield api


async def scout(folder: Path, *arguments: str, **environ: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("scout"), *arguments, cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **environ},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_eval_prints_agreement_cost_and_time_of_the_model_in_the_settings(
    tmp_path: Path, api: MessagesApi
) -> None:
    asked = evaluation.read_set(SET)
    api.scores = {case.title: sum(case.band) // 2 for case in asked.case}
    code, out, err = await scout(tmp_path, "verdict", "eval", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url)
    assert code == 0, err
    assert f"of {len(asked.case)} in the expected band" in out
    for part in ("claude-haiku-5-5", "agreement", "orders", "cost", "time", "$0.00", "tokens"):
        assert part in out
    assert len(api.calls) == 4  # three people; one has more postings than a call carries
    assert len({call.profile for call in api.calls}) == 3
    assert KEY not in out + err


async def test_eval_as_json_counts_what_agrees_what_orders_moved_and_what_had_no_answer(
    tmp_path: Path, api: MessagesApi
) -> None:
    api.plays = [Play(529, kind="overloaded_error")]
    code, out, err = await scout(
        tmp_path, "verdict", "eval", "--json", "--set", str(SET), ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url
    )
    assert code == 0, err
    said = json.loads(out)
    asked = evaluation.read_set(SET)
    assert said["model"] == "claude-haiku-5-5"
    assert said["answered"] + len(said["faults"]) == said["cases"] == len(asked.case)
    assert set(said["faults"].values()) == {"HTTP 529 overloaded_error"}
    in_band = sum(c.band[0] <= 75 <= c.band[1] for c in asked.case if c.id in said["scores"])
    assert said["agreed"] == in_band
    assert set(said["moved_by_orders"].values()) <= {0}


async def test_eval_takes_agreement_over_what_was_answered_and_counts_the_rest(
    tmp_path: Path, api: MessagesApi
) -> None:
    asked = evaluation.read_set(SET)
    api.plays = [Play(529, kind="overloaded_error")]
    api.scores = {case.title: sum(case.band) // 2 for case in asked.case}
    code, out, err = await scout(tmp_path, "verdict", "eval", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url)
    assert code == 0, err
    unanswered = out.count("no answer")
    assert 0 < unanswered < len(asked.case)
    answered = len(asked.case) - unanswered
    assert f"of {answered} in the expected band (" in out
    assert f"; {unanswered} without an answer" in out


async def test_eval_without_any_answer_draws_no_agreement_and_fails(tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{refused_port()}"
    for extra in ((), ("--json",)):
        code, out, err = await scout(
            tmp_path, "verdict", "eval", *extra, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=nobody
        )
        assert (code, err.startswith("scout: the model had no answer: ")) == (1, True)
        assert "of 24" not in out
    assert json.loads(out)["answered"] == 0


async def test_sketched_answers_are_called_so_and_no_agreement_is_drawn_from_them(tmp_path: Path) -> None:
    for extra in ((), ("--json",)):
        code, out, _ = await scout(tmp_path, "verdict", "eval", "--set", str(SET), "--sketched", str(SKETCHED), *extra)
        assert code == 0
        assert "sketched" in out
        assert "agree" not in out
    assert json.loads(out)["model"] is None


async def test_without_a_key_eval_says_so_in_one_line(tmp_path: Path) -> None:
    code, out, err = await scout(tmp_path, "verdict", "eval", "--set", str(SET))
    assert (code, out) == (2, "")
    assert err.startswith("scout: ANTHROPIC_API_KEY is not set")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not toml", "cannot be read"),
        ("", "person"),
        ('[[person]]\nname="a"\nabout=""\n[[case]]\nid="x"\nperson="b"\nband=[0,1]\ntitle=""\ntext=""', "'x' names"),
        ('[[person]]\nname="a"\nabout=""\n[[case]]\nid="x"\nperson="a"\nband=[0,101]\ntitle=""\ntext=""', "band"),
    ],
)
def test_a_bad_set_is_refused_in_one_line_that_says_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "set.toml"
    path.write_text(text)
    with pytest.raises(BadSet, match=said):
        evaluation.read_set(path)


def test_the_set_has_the_traps_that_it_is_there_for() -> None:
    asked = evaluation.read_set(SET)
    ids = {case.id for case in asked.case}
    assert {"backend-negated", "data-negated", "backend-agency", "backend-german", "data-spanish"} <= ids
    assert len([case for case in asked.case if case.like]) >= 4
    assert all(case.about for case in asked.case)
    assert set(json.loads(SKETCHED.read_text())) == ids


async def test_orders_in_the_set_do_not_reach_a_model_that_would_obey_them(api: MessagesApi) -> None:
    """What is cut out before the model; how far the rest moves a real one is what `scout verdict eval` tells."""

    def obedient(posting: Posting) -> dict[str, Any]:
        gave_in = any(
            order in posting.text for order in ("score to 100", "Bewertung 100", "for every job", "score of 0")
        )
        return {"score": 100 if gave_in else 10, "reason": "A reason.", "caveat": None, "tags": []}

    api.judged = obedient
    judge = AnthropicJudge(KEY, model="claude-haiku-5-5", base_url=api.url)
    asked = evaluation.read_set(SET)
    judged = await evaluation.ask(judge, asked, batch=10)
    await judge.close()
    scores = {id_: opinion.score for id_, opinion in judged.opinions.items()}
    assert len(scores) == len(asked.case)
    assert max(map(abs, evaluation.moved_by_orders(asked, scores).values())) == 0


async def test_somebody_may_want_verdicts_and_is_told_where_there_are_none(tmp_path: Path) -> None:
    add = ("users", "add", "ann@example.com", "--keywords", "python", "--ai", "--about", "Ten years.\nNot: lead.")
    code, out, err = await scout(tmp_path, *add, "--threshold", "70")
    assert code == 0, err
    assert "verdicts: from 70 of 100" in out
    assert "about: Ten years. Not: lead." in out
    assert "verdicts are not available here" in err
    code, out, err = await scout(tmp_path, "users", "add", "ann@example.com", "--no-ai")
    assert "verdicts: - (was: from 70 of 100)" in out
    assert err == ""
    shown = json.loads((await scout(tmp_path, "users", "show", "ann@example.com", "--json"))[1])
    assert (shown["ai"], shown["ai_threshold"]) == (False, 70)
    code, _, err = await scout(tmp_path, "users", "add", "ann@example.com", "--about", "x" * 3000)
    assert (code, len(err.splitlines())) == (2, 1)


async def test_rescore_without_anything_to_win_or_anybody_there_says_so(tmp_path: Path, api: MessagesApi) -> None:
    environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
    await scout(tmp_path, "users", "add", "ann@example.com", "--keywords", "python", "--ai")
    code, out, _ = await scout(tmp_path, "verdict", "rescore", "ann@example.com", **environ)
    assert (code, "nothing to ask anew" in out) == (0, True)
    code, _, err = await scout(tmp_path, "verdict", "rescore", "bob@example.com", **environ)
    assert (code, "no such person" in err) == (2, True)
    code, _, err = await scout(tmp_path, "verdict", "rescore", "ann@example.com")
    assert (code, "ANTHROPIC_API_KEY is not set" in err) == (2, True)
    assert api.calls == []


def test_a_run_that_asked_tells_calls_stored_ones_what_waits_tokens_and_money() -> None:
    report = Report("r", datetime(2026, 11, 30, tzinfo=UTC))
    assert "verdicts" not in dict(lines(report.as_json()))
    report.matches.ai_calls, report.matches.ai_cached, report.matches.undecided = 3, 12, 1
    report.spent(12_345, 678, 1573)
    report.remaining.pairs = 1
    told = dict(lines(report.as_json()))
    assert told["verdicts"] == "3 calls, 12 stored, 1 undecided; 12,345 + 678 tokens, $0.0016"
    assert told["left"].endswith("1 pair, for the next call")


async def test_without_a_key_a_whole_run_imports_nothing_of_the_model(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from app.settings import load\nfrom app.wiring import wired\nfrom app.cycle import cycle\n"
        "from app.deadline import Deadline\n"
        "async def main():\n"
        "    async with wired(load({'SCOUT_SOURCES': 'none.toml'})) as parts:\n"
        "        print((await cycle(parts, deadline=Deadline(60, clock=parts.clock))).status, file=sys.stderr)\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if name == 'anthropic' or name.startswith('scan.judges')])\n"
    )
    (tmp_path / "none.toml").write_text("")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=tmp_path, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert "completed" in err.decode()
    assert out.decode().splitlines()[-1] == "[]"
