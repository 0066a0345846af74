"""What ended a connection is said in our words, whatever wrapped it."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from mail.transports.causes import UNKNOWN, place, what_ended

REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 9)")


def wrapped(cause: BaseException) -> Exception:
    error = RuntimeError("ann@example.com said no")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (REFUSED, "connection refused"),
        (wrapped(REFUSED), "connection refused"),
        (wrapped(ExceptionGroup("all failed", [REFUSED])), "connection refused"),
        (OSError("Multiple exceptions: [Errno 111] Connect, [Errno 111] Connect"), "connection refused"),
        (wrapped(socket.gaierror(socket.EAI_NONAME, "x")), "the host name has no address"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "the host name was not looked up"),
        (wrapped(OSError(errno.ENETUNREACH, "x")), "network is unreachable"),
        (wrapped(TimeoutError()), "no answer in time"),
        (ssl.SSLEOFError(8, "EOF"), UNKNOWN),
        (wrapped(ValueError("secret")), UNKNOWN),
    ],
    ids=str,
)
def test_the_cause_is_found_and_no_text_of_another_is_repeated(error: Exception, said: str) -> None:
    assert what_ended(error) == said


def test_an_address_of_six_is_told_from_its_port() -> None:
    assert [place("mail.example.com", 25), place("::1", 25), place("api.example.com", None)] == [
        "mail.example.com:25",
        "[::1]:25",
        "api.example.com",
    ]
