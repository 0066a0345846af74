"""Work that may hang, in a thread that nobody waits for."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

ASIDE_MAX_THREADS = 128  # at once, name look-ups and parsers; stuck ones count, so that they cannot pile up

T = TypeVar("T")

_lock = threading.Lock()
_threads: list[threading.Thread] = []


class AsideBusy(RuntimeError):
    """Too many threads are still at work, most likely stuck."""


class _Overrun(BaseException):
    """Raised inside a thread that overran its deadline. BaseException: parsers catch Exception."""


async def aside(work: Callable[[], T], *, deadline_s: float) -> T:
    """The result of `work`, computed in a daemon thread of its own.

    Raises what `work` raises, TimeoutError after `deadline_s`, AsideBusy. A thread that overran is told to
    stop at its next Python instruction; if it is stuck inside C it stays, but neither the loop nor the end
    of the process waits for it, which is what an executor's thread would do.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    thread = threading.Thread(target=_run, args=(work, loop, future), daemon=True, name="scout-aside")
    _start(thread)
    try:
        async with asyncio.timeout(deadline_s):
            return await future
    finally:
        if not future.done() or future.cancelled():
            _stop(thread)


def _start(thread: threading.Thread) -> None:
    with _lock:
        # Counted by who is alive and not by who gave a place back: a thread told to stop may not get to it.
        _threads[:] = [other for other in _threads if other.is_alive()]
        if len(_threads) >= ASIDE_MAX_THREADS:
            raise AsideBusy(f"{ASIDE_MAX_THREADS} threads are still at work")
        thread.start()
        _threads.append(thread)


def _run(work: Callable[[], T], loop: asyncio.AbstractEventLoop, future: asyncio.Future[T]) -> None:
    # An overrun may come while the answer is on its way, and the loop may be closed by then: nobody is
    # there to be told, in both.
    with suppress(_Overrun, RuntimeError):
        try:
            result = work()
        except _Overrun:
            return
        except BaseException as error:  # whatever it is, the caller is told
            loop.call_soon_threadsafe(_settle, future, None, error)
        else:
            loop.call_soon_threadsafe(_settle, future, result, None)


def _settle(future: asyncio.Future[Any], result: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # a future refuses it
        future.set_exception(RuntimeError("StopIteration"))
    else:
        future.set_exception(error)


def _stop(thread: threading.Thread) -> None:
    if thread.ident is not None and thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Overrun))
