"""Reading a file under a cap and a deadline: `file:` sources, in trials and tests only."""

from __future__ import annotations

import stat
from pathlib import Path

from scan.aside import aside
from scan.unpack import TooLarge


async def read_file(path: str, *, deadline_s: float, max_bytes: int) -> bytes:
    """The bytes of a regular file. Raises OSError, TooLarge, TimeoutError."""

    def read() -> bytes:
        place = Path(path)
        if not stat.S_ISREG(place.stat().st_mode):  # a pipe or a device would never end
            raise OSError("not a regular file")
        with place.open("rb") as file:
            body = file.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise TooLarge
        return body

    return await aside(read, deadline_s=deadline_s)
