"""axe-core in the page: what its rules find serious. Fetched beforehand, never by a test:

npm pack axe-core@4.14.1 --pack-destination build
"""

from __future__ import annotations

import hashlib
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.e2e.pages.browser import is_ci

PACKAGE = Path(__file__).parents[3] / "build" / "axe-core-4.14.1.tgz"
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
GRAVE = ("serious", "critical")
RUN = "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"


@cache
def script() -> str:
    """The source of axe-core, checked; skips, in CI fails, where it was not fetched."""
    if not PACKAGE.exists():
        missing = f"axe-core is not here; fetch it: {(__doc__ or '').strip().splitlines()[-1]}"
        if is_ci():
            pytest.fail(missing)
        pytest.skip(missing)
    with tarfile.open(PACKAGE) as package:
        found = package.extractfile("package/axe.min.js")
        assert found is not None
        source = found.read()
    assert hashlib.sha256(source).hexdigest() == SHA256
    return source.decode()


async def grave_faults(page: Page) -> list[str]:
    """What axe finds serious or critical: rule, and the elements."""
    await page.evaluate(script())
    found: list[dict[str, Any]] = await page.evaluate(RUN)
    return [_told(fault) for fault in found if fault["impact"] in GRAVE]


def _told(fault: dict[str, Any]) -> str:
    places = [f"{node['html'][:120]} {str(node['failureSummary'])[:200]}" for node in fault["nodes"][:3]]
    return f"{fault['id']}: {places}"
