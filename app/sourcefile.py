"""Adding an entry to the list of sources: a file of the operator's, whose other lines stay as they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

from scan.sources.config import SHIPPED, BadSources, parse

OWN = Path("sources.toml")  # where the list goes of a scout that watched the shipped one so far


def file_of(configured: Path | None) -> Path:
    """Where an entry is written: the configured file; else one of one's own, here."""
    return configured or OWN


def text_of(file: Path) -> str:
    """The list that an entry is added to; the shipped one where there is no file yet. Raises BadSources."""
    try:
        return (file if file.exists() else SHIPPED).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSources(f"{file.name}: cannot be read ({type(error).__name__})") from error


def with_entry(text: str, entry: Mapping[str, Any], *, where: str) -> str:
    """The list with the entry at its end. Raises BadSources if that is no list that can be read."""
    written = tomlkit.document()
    tables = tomlkit.aot()
    tables.append(tomlkit.item(dict(entry)))
    written.append("source", tables)
    whole = f"{text.rstrip()}\n\n{tomlkit.dumps(written).strip()}\n".lstrip()
    parse(whole, where=where)
    return whole


def write(file: Path, text: str) -> None:
    """All of it or nothing: a run that reads the file meanwhile reads the old one. Raises BadSources."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                opened.write(text)
            mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
            Path(name).chmod(mode)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadSources(f"{file.name}: cannot be written ({type(error).__name__})") from error
