"""Tables at the widths that people have: nothing is cut off, and only the last column folds."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from app.cli.runs import _row
from app.report import Report
from app.shown import console as made_console
from app.shown import table
from tests.app import terminal
from tests.world import T0

HEADS = ("name", "health", "failures", "reason")
ROWS = [
    ("board", "ok", 0, None),
    ("other", "unreachable", 12, "connection refused: http://127.0.0.1:9/" + "feed-" * 8),
]


def drawn(width: int, heads: tuple[str, ...] = HEADS, rows: list[tuple[object, ...]] = ROWS) -> list[str]:  # type: ignore[assignment]
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, highlight=False, emoji=False).print(table(heads, rows))
    return out.getvalue().splitlines()


def test_where_all_fits_it_stands_side_by_side() -> None:
    head, rule, first, second = drawn(200)
    assert head == "name   health       failures  reason"
    assert first == "board  ok           0         -"
    assert second == f"other  unreachable  12        {ROWS[1][3]}"
    assert set(rule) == {"-"}


def test_only_the_last_column_folds() -> None:
    lines = drawn(70)
    assert lines[2] == "board  ok           0         -"
    assert lines[3] == "other  unreachable  12        connection refused:"
    assert all(line.startswith(" " * 30) for line in lines[4:])
    assert "".join(line[30:] for line in lines[3:]).replace("refused:", "refused: ") == ROWS[1][3]


def test_a_last_column_without_room_comes_below_its_row_and_a_dash_does_not() -> None:
    lines = drawn(50)
    assert lines[0] == "name   health       failures"
    assert lines[2:4] == ["board  ok           0", "other  unreachable  12"]
    assert lines[4].startswith("  connection refused:")


def test_what_fits_in_no_columns_is_told_in_words() -> None:
    assert drawn(24)[:5] == ["name", "-----", "board", "  health: ok; failures:", "  0"]


@pytest.mark.parametrize("width", [20, 24, 40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(width: int) -> None:
    wide = ("ann", "日本語" * 4, 3, "x" * 300)
    lines = drawn(width, rows=[*ROWS, wide])
    assert max(Console(width=width).render_str(line).cell_len for line in lines) <= width
    assert "".join(lines).replace(" ", "").count("x") == 300 + "".join(HEADS).count("x")
    assert "".join(lines).replace(" ", "").replace("-", "").count("日本語") == 4


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_run_is_readable_at_every_width_with_its_rows_and_the_reason(width: int) -> None:
    report = Report("r", T0, took_s=12.3, reason="mail is paused: auth: the mail server answered 535")
    report.mail.deferred, report.mail.unclear = 3, 1
    heads = ("started (UTC)", "status", "took", "read", "failed", "new", "fit", "alerts", "digests", "rows, why")
    lines = drawn(width, heads, [_row(report.as_json())])
    assert any(line.startswith("2026-11-30 07:00") for line in lines)
    said = " ".join(" ".join(lines).split())
    assert "rows: 3 deferred, 1 unclear; mail is paused: auth: the mail server answered 535" in said


@pytest.mark.parametrize("name", ["NO_COLOR", "TERM"])
def test_who_wants_no_colours_gets_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.colours import takes_colours

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for each in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(each, raising=False)
    assert takes_colours(Terminal())
    assert not takes_colours(io.StringIO())
    monkeypatch.setenv(name, "dumb")
    assert not takes_colours(Terminal())
    assert made_console().color_system is None


@pytest.mark.parametrize("command", ["doctor", "cron"])
def test_no_command_writes_an_escape_where_nobody_wants_colours(command: str, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text("[[source]]\nname='a'\nkind='feed'\nurl='http://127.0.0.1:1/'")
    env = {"SCOUT_SOURCES": "none.toml", "SCOUT_MAIL": "outbox:///outbox"}
    assert "\x1b[" in terminal.on_a_terminal(tmp_path, command, **env)
    assert "\x1b" not in terminal.on_a_terminal(tmp_path, command, NO_COLOR="1", **env)
