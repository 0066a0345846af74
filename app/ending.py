"""What a run has begun, when it ends before its time: nothing of it goes on behind it, and no lease is forgotten."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Collection, Coroutine, Iterable
from types import FrameType
from typing import Any, NoReturn


async def ended(tasks: Collection[asyncio.Task[Any]]) -> bool:
    """Wait for the end of each, whatever happens to the caller. Returns whether it was cancelled meanwhile.

    A cancellation is swallowed: who asks this has to heed the answer.
    """
    was_cancelled = False
    while left := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(left)
        except asyncio.CancelledError:
            was_cancelled = True
    return was_cancelled


async def end(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel each, and wait until it has ended; what they raise is nobody's any more."""
    for task in tasks:
        task.cancel()
    await ended(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # asked for, so that asyncio does not report it as forgotten


async def to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """What must not be broken off. Cancelled meanwhile, it is done first; then that is raised."""
    task = asyncio.create_task(work)
    was_cancelled = await ended([task])
    task.result()
    if was_cancelled:
        raise asyncio.CancelledError


async def all_of(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all at once. Cancelled, it ends when each of them has: a gather alone would end with the first."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    except asyncio.CancelledError:
        await ended(tasks)  # not cancelled twice: that would break off what they do about the first time
        raise


def as_if_killed(number: int, _frame: FrameType | None = None) -> NoReturn:
    """A signal's handler: the process ends here, by that signal, and nothing is waited for or written."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    os._exit(128 + number)  # the first process of a container: the kernel spares it a signal that it does not handle
