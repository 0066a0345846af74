"""What holds for the repository as a whole: its files, its locks, its arrows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("app", "ledger", "scan", "mail")
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^ ;\\]+)", re.MULTILINE)
HEAVY = ("google.cloud.firestore", "google.cloud.firestore_v1", "grpc", "anthropic", "sendgrid")
# Spelled in two halves, so that this file does not name them either.
REGISTRIES = [f"{host}.{top}" for host, top in
              [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("yarnpkg", "com"),
               ("deb.debian", "org"), ("proxy.golang", "org"), ("crates", "io"), ("rubygems", "org")]]  # fmt: skip


def tracked() -> list[Path]:
    """Every file that git knows, or skips where there is no git."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_package_registry() -> None:
    named = [(path.name, host) for path in tracked() for host in REGISTRIES if host.encode() in path.read_bytes()]
    assert named == []


def test_no_secret_and_no_store_is_tracked() -> None:
    names = [path.relative_to(ROOT).as_posix() for path in tracked()]
    assert [name for name in names if re.search(r"(^|/)\.env|\.db(-wal|-shm)?$|^outbox/|\.pem$", name)] == []
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {".env", "/scout.db*", "/outbox/", ".venv/"} <= set(ignored)


def test_no_module_has_a_name_that_attracts_anything() -> None:
    names = {"utils", "util", "helpers", "common", "service", "services", "manager", "misc"}
    assert [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.stem in names] == []


def test_imports_point_one_way_and_only_wiring_names_an_adapter() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_cold_start_imports_no_heavy_package(tmp_path: Path) -> None:
    code = f"import sys, app.main; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SCOUT_CRON_SECRET": "0123456789abcdef0123456789abcdef"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_has_its_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = re.split(r"(?m)^(?=[a-z0-9])", text)[1:]
    assert len(entries) == len(PIN.findall(text)) > 20
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text


def test_the_two_locks_agree_and_hold_every_dependency() -> None:
    run, dev = (dict(PIN.findall((ROOT / name).read_text())) for name in ("requirements.lock", "requirements-dev.lock"))
    assert run.items() <= dev.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {plain(need) for need in project["dependencies"]} <= run.keys()
    assert {plain(need) for need in project["optional-dependencies"]["dev"]} <= dev.keys()


def plain(requirement: str) -> str:
    return re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")
