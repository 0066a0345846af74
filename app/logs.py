"""Structured logs: one line an event, JSON unless a person is watching. Never an address, a secret or a token."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog

from app.colours import takes_colours


def set_up(style: str | None, *, stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """`json` or `text`; None: text on a terminal, else JSON. Goes to standard error."""
    out = stream or sys.stderr
    is_text = style == "text" or (style is None and out.isatty())
    # Tracebacks without the frames' variables: those hold addresses, and whatever else was at hand.
    text = structlog.dev.ConsoleRenderer(colors=takes_colours(out), exception_formatter=structlog.dev.plain_traceback)
    last = text if is_text else structlog.processors.JSONRenderer()
    tracebacks = structlog.processors.ExceptionRenderer(
        structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    )
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, *([] if is_text else [tracebacks]), last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    # Libraries log the addresses they ask (a source's key may stand in its query): warnings only.
    logging.basicConfig(level=logging.WARNING, stream=out, format="%(levelname)s %(name)s %(message)s", force=True)
