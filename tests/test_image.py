"""The container image, as far as it can be read: who runs in it, what it is made of, how it is asked for its health."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def instructions() -> list[str]:
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_runs_as_nobody_special() -> None:
    lines = instructions()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users
    assert users[-1] not in ("root", "0")
    assert lines.index(f"USER {users[-1]}") < next(i for i, line in enumerate(lines) if line.startswith("CMD "))


def test_the_image_names_its_base_to_the_patch_and_installs_by_hash_only() -> None:
    lines = instructions()
    assert re.fullmatch(r"FROM python:3\.\d+\.\d+-slim-bookworm(@sha256:[0-9a-f]{64})?", lines[0])
    installs = [line for line in lines if "pip install" in line]
    assert len(installs) == 2
    assert "--require-hashes -r requirements.lock" in installs[0]
    assert "--no-deps" in installs[1]
    assert "--no-build-isolation" in installs[1]


def test_the_image_hands_signals_to_scout_and_takes_its_port_from_outside() -> None:
    lines = instructions()
    (command,) = (json.loads(line.removeprefix("CMD ")) for line in lines if line.startswith("CMD "))
    assert command == ["scout", "serve", "--host", "0.0.0.0"]
    assert any(re.search(r"\bPORT=\d+", line) for line in lines if line.startswith("ENV "))


def test_the_health_check_of_the_image_asks_healthz_on_that_port() -> None:
    (line,) = (line for line in instructions() if line.startswith("HEALTHCHECK "))
    python, flag, code = json.loads(line.partition("CMD ")[2])
    assert (python, flag) == ("python", "-c")
    ast.parse(code)
    assert 'os.environ["PORT"]' in code
    assert "/healthz" in code


def test_the_image_is_built_from_code_alone() -> None:
    first, *kept = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert first == "*"
    copied = {name for line in instructions() if line.startswith("COPY ") for name in line.split()[1:-1]}
    assert copied == {line[1:] for line in kept if line.startswith("!")}
