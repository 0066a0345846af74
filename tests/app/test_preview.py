"""`scout mail preview`: a sample of every letter, as it would leave."""

from __future__ import annotations

import email
import email.policy
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import main
from app.preview import samples
from mail.envelope import as_bytes
from mail.letter import LETTER_MAX_BYTES, Site

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
SITE = Site("https://scout.example.dev", "Scout <scout@example.dev>", {"board": "Jobs by Board"})
MADE = {sample.name: sample.letter for sample in samples(SITE, sources=("board",), now=NOW)}


def test_every_kind_of_letter_is_there() -> None:
    kinds = {letter.kind for letter in MADE.values()}
    assert kinds == {"alert", "digest", "sign-in", "confirm-address", "goodbye", "operator"}


@pytest.mark.parametrize("name", MADE)
def test_a_sample_is_a_whole_letter_under_the_cap_that_loads_nothing_from_elsewhere(name: str) -> None:
    data = as_bytes(MADE[name])
    assert len(data) <= LETTER_MAX_BYTES
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    html = MADE[name].html
    assert not re.search(r"<(img|script|link|iframe|object)\b|url\(|@import", html)
    assert (message["List-Unsubscribe"] is not None) == (MADE[name].kind in ("alert", "digest"))


def test_equal_arguments_make_equal_letters() -> None:
    again = {sample.name: as_bytes(sample.letter) for sample in samples(SITE, sources=("board",), now=NOW)}
    assert again == {name: as_bytes(letter) for name, letter in MADE.items()}


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, **environ: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("SCOUT_")}
    result = CliRunner().invoke(main, ["mail", "preview", *arguments], env=env | environ)
    return result.exit_code, result.output


def test_the_command_writes_page_text_and_letter_of_each_and_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = run(tmp_path, monkeypatch, "--to", "letters", SCOUT_BASE_URL="https://scout.example.dev")
    assert (code, said.count("\n")) == (0, 1)
    written = {file.name for file in (tmp_path / "letters").iterdir()}
    assert written == {f"{name}.{suffix}" for name in MADE for suffix in ("html", "txt", "eml")} | {"index.html"}
    linked = set(re.findall(r'href="([^"]+)"', (tmp_path / "letters" / "index.html").read_text()))
    assert linked <= written
    assert "https://scout.example.dev/me" in (tmp_path / "letters" / "digest-daily.txt").read_text()
    assert {file.name for file in tmp_path.iterdir()} == {"letters"}  # no store, no outbox


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    code, said = run(tmp_path, monkeypatch, "--to", "file/letters")
    assert (code, said.count("\n")) == (1, 1)
    code, said = run(tmp_path, monkeypatch)
    assert (code, said.count("\n")) == (2, 1)
