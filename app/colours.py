"""Whether a stream takes colours, by what terminals and people say: no-color.org, TERM=dumb."""

from __future__ import annotations

import os
from typing import TextIO


def takes_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")
