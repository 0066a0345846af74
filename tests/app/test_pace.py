"""The window and the circuit: a provider in trouble burns a handful of alerts, not all."""

from __future__ import annotations

from app.pace import BAD_STREAK_MAX, WINDOW_MAX, Pace
from ledger.lifecycle import Attempt, Outcome

ACCEPTED, REJECTED, DEFERRED = (Attempt(o) for o in (Outcome.ACCEPTED, Outcome.REJECTED, Outcome.DEFERRED))
UNCLEAR = Attempt(Outcome.UNCLEAR, "500")


def noted(*attempts: Attempt) -> Pace:
    pace = Pace()
    for attempt in attempts:
        pace.note(attempt)
    return pace


def test_the_first_letter_of_a_run_goes_alone() -> None:
    assert Pace().room(in_flight=0) == 1
    assert Pace().room(in_flight=1) == 0


def test_a_whole_window_of_accepted_letters_doubles_it_up_to_the_limit() -> None:
    sizes = []
    pace = Pace()
    for _ in range(7):
        for _ in range(pace.window):
            pace.note(ACCEPTED)
        sizes.append(pace.window)
    assert sizes == [2, 4, 8, 16, 32, 64, WINDOW_MAX]


def test_deferred_and_unclear_halve_the_window_and_rejected_does_not() -> None:
    eight = [ACCEPTED] * 7
    assert noted(*eight).window == 8
    assert noted(*eight, DEFERRED).window == 4
    assert noted(*eight, UNCLEAR).window == 4
    assert noted(*eight, REJECTED).window == 8


def test_three_unclear_before_the_first_accepted_open_the_circuit() -> None:
    assert noted(UNCLEAR, UNCLEAR).paused is None
    assert "unclear" in (noted(UNCLEAR, UNCLEAR, UNCLEAR).paused or "")


def test_a_few_bad_addresses_before_the_first_accepted_do_not_open_it_and_twenty_do() -> None:
    assert noted(*[REJECTED] * (BAD_STREAK_MAX - 1)).paused is None
    assert noted(*[REJECTED] * BAD_STREAK_MAX).paused is not None


def test_twenty_bad_ones_in_a_row_open_it_and_one_accepted_starts_the_count_anew() -> None:
    most = [REJECTED, UNCLEAR] * (BAD_STREAK_MAX // 2)
    assert noted(ACCEPTED, *most[:-1]).paused is None
    assert noted(ACCEPTED, *most[:-1], ACCEPTED, *most[:-1]).paused is None
    assert noted(ACCEPTED, *most).paused is not None


def test_an_account_at_fault_opens_it_at_once_and_leaves_no_room() -> None:
    pace = noted(*[ACCEPTED] * 7, Attempt(Outcome.PAUSED, "401 credits exceeded"))
    assert pace.paused == "401 credits exceeded"
    assert pace.room(in_flight=0) == 0
