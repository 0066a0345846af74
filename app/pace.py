"""How many letters are in flight, and when to stop: a provider in trouble burns a handful of alerts, not all.

The first letter of a run goes alone. Each time a whole window of letters was accepted the window doubles, up to
WINDOW_MAX; an answer that is neither ACCEPTED nor REJECTED halves it. The circuit opens (PAUSED: no further
claim in this run) when the provider says that the account is at fault, after UNCLEAR_FIRST_MAX unclear letters
before the first accepted one, or after BAD_STREAK_MAX unclear or rejected ones in a row, whether one was accepted
before or not: a provider that blocks us refuses everybody from the first letter on.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.lifecycle import Attempt, Outcome

WINDOW_MAX = 64
UNCLEAR_FIRST_MAX = 3
BAD_STREAK_MAX = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The window's and the circuit's limits; a trial may change them."""

    window_max: int = WINDOW_MAX
    unclear_first_max: int = UNCLEAR_FIRST_MAX
    bad_streak_max: int = BAD_STREAK_MAX


class Pace:
    """One run's window and circuit."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self.window = 1
        self.paused: str | None = None  # why, once the circuit is open
        self._accepted_in_window = 0
        self._any_accepted = False
        self._unclear_first = 0
        self._bad_streak = 0

    def room(self, in_flight: int) -> int:
        """How many more letters may begin now."""
        return 0 if self.paused else max(0, self.window - in_flight)

    def note(self, attempt: Attempt) -> None:
        match attempt.outcome:
            case Outcome.ACCEPTED:
                self._any_accepted, self._bad_streak = True, 0
                self._widen()
            case Outcome.REJECTED:
                self._bad(attempt)
            case Outcome.UNCLEAR:
                self._narrow()
                self._bad(attempt)
            case Outcome.DEFERRED:
                self._narrow()
            case Outcome.PAUSED:
                self._narrow()
                self.paused = self.paused or attempt.reason or "the mail account is at fault"

    def _widen(self) -> None:
        self._accepted_in_window += 1
        if self._accepted_in_window >= self.window:
            self.window, self._accepted_in_window = min(self._limits.window_max, self.window * 2), 0

    def _narrow(self) -> None:
        self.window, self._accepted_in_window = max(1, self.window // 2), 0

    def _bad(self, attempt: Attempt) -> None:
        self._bad_streak += 1
        if self._bad_streak >= self._limits.bad_streak_max:
            self._open(f"{self._bad_streak} letters in a row were unclear or rejected", attempt)
        if attempt.outcome is Outcome.UNCLEAR and not self._any_accepted:
            self._unclear_first += 1
            if self._unclear_first >= self._limits.unclear_first_max:
                self._open(f"the first {self._unclear_first} letters were unclear", attempt)

    def _open(self, what: str, attempt: Attempt) -> None:
        self.paused = self.paused or f"{what}; the last: {attempt.reason or attempt.outcome}"
