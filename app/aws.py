"""The entry point for AWS Lambda, behind API Gateway or a Function URL: `app.aws.handler`."""

from __future__ import annotations

import asyncio
from typing import Any

from mangum import Mangum

from app.main import app


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """One invocation, on an event loop of its own that ends with it; the parts live no longer.

    The adapter takes whatever loop it finds, and after an `asyncio.run` elsewhere in the process finds none.
    """
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        try:
            return Mangum(app, lifespan="on")(event, context)
        finally:
            asyncio.set_event_loop(None)
