"""A `.env` file: KEY=VALUE lines for people who start scout by hand. It never overrides the environment."""

from __future__ import annotations

import os
import re
from pathlib import Path

from app.environment import BadSetting

FILE_MAX_BYTES = 64 * 1024

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_QUOTED = re.compile(r"""(["'])(.*)\1\s*(?:#.*)?""")


def adopt(file: Path) -> None:
    """Put into the environment what the file has and the environment has not. No file: nothing. Raises BadSetting."""
    if file.is_file():
        for name, value in read(file).items():
            os.environ.setdefault(name, value)


def read(file: Path) -> dict[str, str]:
    """The file's values; a later line wins. Quotes around a value are taken off, `#` begins a comment as in a shell.

    Raises BadSetting, which names the line and never repeats it: a secret may stand there.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(FILE_MAX_BYTES + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file.name} cannot be read ({type(error).__name__})") from error
    if len(text) > FILE_MAX_BYTES:
        raise BadSetting(f"{file.name} is larger than {FILE_MAX_BYTES} bytes")
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None:
            raise BadSetting(f"{file.name} line {number} is not KEY=VALUE")
        values[found[1]] = _value(found[2])
    return values


def _value(written: str) -> str:
    quoted = _QUOTED.fullmatch(written)
    return quoted[2] if quoted else re.split(r"\s#", written, maxsplit=1)[0].strip()
