"""What ended a connection, in our words: an exception's text may hold the other side's, or a key."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from collections.abc import Iterator
from types import MappingProxyType

UNKNOWN = "connection failed or lost"

_NO_NAME = frozenset({socket.EAI_NONAME, socket.EAI_NODATA})
_WORDS = MappingProxyType({errno.ECONNREFUSED: "connection refused", errno.ETIMEDOUT: "no answer in time"})
_ERRNO = re.compile(r"\[Errno (\d+)\]")


def what_ended(error: BaseException) -> str:
    """`connection refused`, `no route to host`, `the host name has no address`; UNKNOWN where nothing tells."""
    for cause in causes(error):
        if isinstance(cause, socket.gaierror):
            return "the host name has no address" if cause.errno in _NO_NAME else "the host name was not looked up"
        if isinstance(cause, TimeoutError):
            return _WORDS[errno.ETIMEDOUT]
        if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError) and (number := _errno(cause)):
            return _WORDS.get(number) or os.strerror(number).lower()
    return UNKNOWN


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and whatever led to it, the newest first."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from causes(one)
        error = error.__cause__ or error.__context__


def place(host: str, port: int | None) -> str:
    """`mail.example.com:587`, `[::1]:25`."""
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"


def _errno(error: OSError) -> int | None:
    """Of several addresses that were tried, the last one's: asyncio keeps those in the text only."""
    tried = _ERRNO.findall(str(error))
    return error.errno or (int(tried[-1]) if tried else None)
