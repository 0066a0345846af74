"""The fault matrix, told at the end of the session: a line for each fault that a transport was put to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ledger.lifecycle import Attempt

RecordProperty = Callable[[str, object], None]
FAULT_MAX_CHARS = 52


def fault_row(fault: str, attempt: Attempt, bodies: int) -> str:
    """For `record_property("fault_row", ...)`; `bodies` are the complete letters that reached the server."""
    return f"{fault[:FAULT_MAX_CHARS]:<{FAULT_MAX_CHARS}} {attempt.outcome:<9} {bodies}  {attempt.reason}"


def print_faults(terminal: pytest.TerminalReporter) -> None:
    """Fault, outcome, complete letters that arrived, reason."""
    reports = terminal.stats.get("passed", [])
    rows = [value for report in reports for name, value in report.user_properties if name == "fault_row"]
    if rows:
        terminal.section("one attempt, one fault: the outcome, and how many whole letters reached the server")
        for row in sorted(rows):
            terminal.write_line(row)
