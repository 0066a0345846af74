"""Work in a thread that nobody waits for."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from scan import aside as module
from scan.aside import AsideBusy, aside


async def test_a_result_and_an_exception_come_back() -> None:
    assert await aside(lambda: 6 * 7, deadline_s=10) == 42
    with pytest.raises(ZeroDivisionError):
        await aside(lambda: 1 // 0, deadline_s=10)
    with pytest.raises(RuntimeError):
        await aside(lambda: next(iter(())), deadline_s=10)


async def test_a_thread_that_overruns_is_given_up_and_told_to_stop() -> None:
    left = threading.Event()

    def spin() -> None:
        try:
            while True:
                pass
        finally:
            left.set()

    with pytest.raises(TimeoutError):
        await aside(spin, deadline_s=0.1)
    assert await asyncio.to_thread(left.wait, 30)


async def test_cancelling_the_caller_stops_the_thread_too() -> None:
    left = threading.Event()

    def spin() -> None:
        try:
            while True:
                pass
        finally:
            left.set()

    task = asyncio.create_task(aside(spin, deadline_s=60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(left.wait, 30)


async def test_stuck_threads_cannot_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ASIDE_MAX_THREADS", 2)
    monkeypatch.setattr(module, "_threads", [])
    release = threading.Event()
    stuck = [asyncio.create_task(aside(release.wait, deadline_s=60)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(AsideBusy):
        await aside(lambda: None, deadline_s=1)
    release.set()
    assert await asyncio.gather(*stuck) == [True, True]


def test_a_stuck_thread_does_not_keep_the_process_from_ending() -> None:
    code = (
        "import asyncio, threading\n"
        "from scan.aside import aside\n"
        "async def main():\n"
        "    try:\n"
        "        await aside(threading.Event().wait, deadline_s=0.1)\n"
        "    except TimeoutError:\n"
        "        print('gave up')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "gave up\n"
    assert done.stderr == ""
