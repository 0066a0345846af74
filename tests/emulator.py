"""The Firestore emulator for a test session: one for all its processes, ended with the last of them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SCRIPT = "platform/cloud-firestore-emulator/cloud_firestore_emulator"
SDK_ROOTS = (
    "/usr/lib/google-cloud-sdk",
    "/usr/share/google-cloud-sdk",
    "/opt/google-cloud-sdk",
    "/snap/google-cloud-cli/current",
)
READY_TIMEOUT_S = 90


def find_emulator() -> Path | None:
    """The start script: on PATH, in the usual folders, or where gcloud says that its SDK is."""
    on_path = shutil.which("cloud_firestore_emulator")
    candidates = [Path(on_path)] if on_path else []
    candidates += [Path(root) / SCRIPT for root in SDK_ROOTS]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None and (gcloud := shutil.which("gcloud")):
        asked = [gcloud, "info", "--format=value(installation.sdk_root)"]
        root = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=30).stdout.strip()
        found = next((path for path in [Path(root) / SCRIPT] if root and path.is_file()), None)
    return found if found and shutil.which("java") else None


@contextmanager
def shared_emulator(script: Path, folder: Path) -> Iterator[str]:
    """`host:port` of the one emulator of all processes that name the same `folder`."""
    with _state(folder) as state:
        if not state.get("users"):
            state.update(_start(script, folder))
        state["users"] = [*state.get("users", []), os.getpid()]
        host = str(state["host"])
    try:
        yield host
    finally:
        with _state(folder) as state:
            # A worker that crashed did not take itself off the list.
            state["users"] = [pid for pid in state["users"] if pid != os.getpid() and _alive(pid)]
            if not state["users"]:
                _stop(int(state["group"]))


@contextmanager
def _state(folder: Path) -> Iterator[dict[str, Any]]:
    with (folder / "emulator.lock").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        state: dict[str, Any] = json.loads(file.read() or "{}")
        yield state
        file.seek(0)
        file.truncate()
        file.write(json.dumps(state))


def _start(script: Path, folder: Path) -> dict[str, Any]:
    port = free_port()
    host = f"127.0.0.1:{port}"
    env = {**os.environ, "JAVA_TOOL_OPTIONS": "-Xmx768m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"}
    with (folder / "emulator.log").open("ab") as log:
        started = subprocess.Popen(
            [script, "--host=127.0.0.1", f"--port={port}"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=env,
            start_new_session=True,  # the script forks java: end the group, not the script
        )
    ends = time.monotonic() + READY_TIMEOUT_S
    while not _answers(host):
        if started.poll() is not None or time.monotonic() > ends:
            _stop(started.pid)
            raise RuntimeError(f"the Firestore emulator did not start; see {folder / 'emulator.log'}")
        time.sleep(0.1)
    started.returncode = 0  # it outlives this process object on purpose; the last user of the session ends it
    return {"host": host, "group": started.pid}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(host: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{host}/", timeout=2) as answer:
            return bool(answer.read().strip() == b"Ok")
    except OSError:
        return False


def _stop(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)  # it keeps nothing, so there is nothing to end gently
    with suppress(ChildProcessError):
        os.waitpid(group, 0)  # only the worker that started it is its parent


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
