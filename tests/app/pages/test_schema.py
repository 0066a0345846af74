"""Requests made up from the app's own description, by a tool that looks for what breaks: no answer is a 500."""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from ledger import ids, sessions
from tests.app.pages.visits import ANN, OURS
from tests.world import World, item

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the tool imports is its own
    import schemathesis
    from schemathesis import GenerationMode

EXAMPLES_MAX = 5  # of each operation, good and bad ones each
WAIT_MAX_S = 30
LAST = ("/logout", "/me/sign-out-everywhere", "/me/delete")  # they end what the others need


async def test_no_request_that_the_description_allows_or_forbids_is_answered_with_500(world: World) -> None:
    await world.begin()
    await world.user(ANN)
    world.after(minutes=15)
    world.feed(item("Gardener"), item("Python developer"))
    await world.cron()
    key = await sessions.begin(world.store, ids.uid_of(ANN), now=world.now)
    with world.served() as url:
        codes = await asyncio.to_thread(_tried, world.app.openapi(), url, key)
    assert codes[500] == 0, codes
    assert codes[200] >= 8, codes
    assert sum(codes.values()) > 100


def _tried(description: dict[str, object], url: str, key: str) -> Counter[int]:
    schema = schemathesis.openapi.from_dict(description)
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
    codes: Counter[int] = Counter()
    for operation in sorted(operations, key=lambda one: one.path in LAST):
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            _try_one(operation, mode, url, key, codes)
    return codes


def _try_one(operation: object, mode: GenerationMode, url: str, key: str, codes: Counter[int]) -> None:
    @settings(
        max_examples=EXAMPLES_MAX, database=None, deadline=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))  # type: ignore[attr-defined]
    def attempt(case: schemathesis.Case) -> None:
        headers = {**OURS, "Cookie": f"scout={key}"}
        answer = case.call(base_url=url, headers=headers, timeout=WAIT_MAX_S, allow_redirects=False)
        codes[answer.status_code] += 1
        assert answer.status_code != 500, f"{case.method} {case.formatted_path}"

    try:
        attempt()
    except Exception as error:
        if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):  # nothing bad can be made of a bare GET
            raise
