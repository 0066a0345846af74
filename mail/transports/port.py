"""What every transport owes: one call is one attempt with one outcome.

No retry, no redirect, no proxy from the environment, a total deadline. The outcome is honest: whatever
cannot be proven is UNCLEAR. Adding a transport takes one file here and one line in app/wiring.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ledger.lifecycle import Attempt
from mail.letter import Letter


class Transport(Protocol):
    @property
    def name(self) -> str:
        """For logs and the report: `outbox`, `smtp`, ..."""
        ...

    def longest_s(self, at_most_s: float) -> float:
        """The longest that one attempt takes when no single wait may exceed `at_most_s`.

        A claim is made only with this much time left.
        """
        ...

    @property
    def smtputf8(self) -> bool:
        """Whether a non-ASCII local part can be sent to."""
        ...

    async def send(self, letter: Letter, *, at_most_s: float = math.inf) -> Attempt:
        """One attempt to hand one letter to the provider, each wait its own deadline but at most `at_most_s`.

        Never raises for what the other side does.

        Cancellation passes through; the caller then treats the attempt as unclear.
        """
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Check:
    """What a transport found out about its credentials without sending. `ok` None: it cannot be told.

    `mend` says what to do; `server_time_s` is the other side's clock, as Unix time, if it told.
    """

    ok: bool | None
    what: str
    mend: str = ""
    server_time_s: float | None = None


@runtime_checkable
class Checkable(Protocol):
    """A transport that can try its credentials."""

    async def check(self, *, at_most_s: float) -> Check: ...
