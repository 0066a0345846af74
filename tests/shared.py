"""Recorded facts that lie beside the repository, not in it."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "shared"


def shared(name: str) -> Path:
    """A file of the folder `../shared`; skips the test where the folder is absent."""
    if not FOLDER.is_dir():
        pytest.skip("the folder ../shared is not here")
    return FOLDER / name
