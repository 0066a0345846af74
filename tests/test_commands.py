"""The Makefile, run for real in a folder whose set-up counts as done."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with our Makefile whose set-up counts as done; its `scout` only says how it was called."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        shutil.copy(ROOT / name, tmp_path)
    bin_folder = tmp_path / ".venv/bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(sys.executable)
    (bin_folder / "scout").write_text('#!/bin/sh\necho "scout $*"\n')
    (bin_folder / "scout").chmod(0o755)
    for stamp in ("made", "locked", "dev", "scout"):
        (tmp_path / ".venv" / f".{stamp}").touch()
    return tmp_path


def make(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", **env}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )


def test_make_serve_writes_one_random_secret_that_only_its_owner_can_read(house: Path) -> None:
    first, second = make(house, "serve"), make(house, "serve")
    assert first.returncode == second.returncode == 0, first.stderr
    (secret,) = re.findall(r"(?m)^SCOUT_CRON_SECRET=(.{32,})$", (house / ".env").read_text())
    assert stat.S_IMODE((house / ".env").stat().st_mode) == 0o600
    assert secret not in first.stdout
    assert "scout serve" in first.stdout
    assert first.stdout == second.stdout


def test_make_serve_leaves_a_secret_of_the_environment_alone(house: Path) -> None:
    done = make(house, "serve", SCOUT_CRON_SECRET="from the environment")
    assert done.stdout == "scout serve\n"
    assert not (house / ".env").exists()


@pytest.mark.parametrize(
    "line", ["SCOUT_CRON_SECRET=mine", "export SCOUT_CRON_SECRET='mine'", " SCOUT_CRON_SECRET=mine"]
)
def test_make_serve_keeps_what_is_in_env(house: Path, line: str) -> None:
    (house / ".env").write_text(f"PORT=8123\n{line}\n")
    assert make(house, "serve").stdout == "scout serve\n"
    assert (house / ".env").read_text() == f"PORT=8123\n{line}\n"


def test_make_serve_begins_a_line_of_its_own(house: Path) -> None:
    (house / ".env").write_text("PORT=8123")
    make(house, "serve")
    assert "PORT=8123\nSCOUT_CRON_SECRET=" in (house / ".env").read_text()


def test_set_up_is_done_again_only_when_a_lock_changes(house: Path) -> None:
    assert "pip" not in make(house, "--dry-run", "test").stdout
    os.utime(house / "requirements-dev.lock", (2**31, 2**31))
    again = make(house, "--dry-run", "test").stdout
    assert "-r requirements-dev.lock" in again
    assert "-r requirements.lock" not in again


def test_an_old_python_is_refused_in_one_line(house: Path) -> None:
    shutil.rmtree(house / ".venv")
    old = house / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = make(house, "install", f"PYTHON={old}")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0].startswith("Scout needs Python 3.11 or newer")
    assert not (house / ".venv").exists()


def test_make_alone_lists_every_command(house: Path) -> None:
    said = make(house).stdout
    targets = re.search(r"(?m)^\.PHONY: (.*)$", (ROOT / "Makefile").read_text())
    assert targets
    assert [name for name in targets[1].split() if f"make {name}" not in said] == []
