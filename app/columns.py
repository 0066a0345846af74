"""Rows of plain cells under their heads, laid out for the width that there is. Only the last column may fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

GAP = 2
INDENT = 2
LAST_MIN = 30  # a column that is narrower is a ladder of words: then it gets lines of its own
HEAD = "bold"
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Columns:
    """In columns; where they do not fit, the last one below its row; where that does not fit, row by row in words."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        widths = [
            max(cell_len(head), *(cell_len(row[i].plain) for row in self.rows), 0) for i, head in enumerate(self.heads)
        ]
        fixed = sum(widths[:-1]) + GAP * (len(widths) - 1)
        if fixed + min(widths[-1], LAST_MIN) <= width:
            yield from self._beside(console, widths, width - fixed)
        elif fixed - GAP <= width:
            yield from self._below(console, widths, width)
        else:
            yield from _headed(self.heads[:1], [min(widths[0], width)])
            yield from self._in_words(console, width)

    def _beside(self, console: Console, widths: Sequence[int], room: int) -> Iterator[Text]:
        last = min(room, widths[-1])
        yield from _headed(self.heads, [*widths[:-1], last])
        for row in self.rows:
            first, *more = _folded(row[-1], console, room)
            yield _line([*row[:-1], first], [*widths[:-1], last])
            for part in more:
                yield _indented(part, sum(widths[:-1]) + GAP * (len(widths) - 1))

    def _below(self, console: Console, widths: Sequence[int], width: int) -> Iterator[Text]:
        yield from _headed(self.heads[:-1], widths[:-1])
        for row in self.rows:
            yield _line(row[:-1], widths[:-1])
            if row[-1].plain != NOTHING:
                yield from _wrapped(row[-1], console, width)

    def _in_words(self, console: Console, width: int) -> Iterator[Text]:
        for row in self.rows:
            if row[0].plain:  # else it goes on with what the row before is about
                yield from _folded(row[0], console, width)
            named = [
                Text(f"{head}: " if head else "", HEAD).append_text(cell)
                for head, cell in zip(self.heads[1:], row[1:], strict=True)
                if cell.plain != NOTHING
            ]
            yield from _wrapped(Text("; ").join(named), console, width)


def _headed(heads: Sequence[str], widths: Sequence[int]) -> Iterator[Text]:
    yield _line([Text(head, HEAD) for head in heads], widths)
    yield Text("-" * (sum(widths) + GAP * (len(widths) - 1)))


def _line(cells: Sequence[Text], widths: Sequence[int]) -> Text:
    line = Text(no_wrap=True)
    for cell, width in zip(cells, widths, strict=True):
        line.append_text(cell).append(" " * (width - cell_len(cell.plain) + GAP))
    line.rstrip()
    return line


def _wrapped(text: Text, console: Console, width: int) -> Iterator[Text]:
    for part in _folded(text, console, width - INDENT):
        yield _indented(part, INDENT)


def _folded(text: Text, console: Console, width: int) -> list[Text]:
    parts = list(text.wrap(console, width, overflow="fold"))
    for part in parts:
        part.rstrip()
    return parts or [Text()]


def _indented(text: Text, columns: int) -> Text:
    return Text(" " * columns, no_wrap=True).append_text(text)
