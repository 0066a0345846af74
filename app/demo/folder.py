"""The demo's folder: made anew each time, and never at the cost of anything that is not a demo's own."""

from __future__ import annotations

import shutil
from pathlib import Path

MARK = ".scout-demo"
BESIDE_MAX = 999


class NotADemo(ValueError):
    """The folder holds something else; one line that says what to do."""


def make_folder(wanted: Path, *, keep: bool) -> Path:
    """An empty folder with the mark in it, at `wanted` or, to keep what is there, beside it. Raises NotADemo."""
    folder = _beside(wanted) if keep else wanted
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise NotADemo(f"{folder} is not a folder; choose another with --dir")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MARK).is_file():
            raise NotADemo(f"{folder} is not empty and not an earlier demo; choose another with --dir")
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text("Made by `scout demo`, which replaces this folder without asking.\n")
    except OSError as error:
        raise NotADemo(f"{folder} cannot be written ({error.strerror}); choose another with --dir") from error
    return folder


def _beside(wanted: Path) -> Path:
    """`wanted` if it is free, else the first of DIR-2, DIR-3, ... that is. Raises NotADemo."""
    for number in range(1, BESIDE_MAX + 1):
        folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        if not folder.exists() and not folder.is_symlink():
            return folder
    raise NotADemo(f"there are {BESIDE_MAX} demos beside {wanted}; remove some, or choose another with --dir")
