"""A process that is called as AWS Lambda calls one: `lambda_calls.py [between]`, the events on standard input.

Prints the answers as JSON. With `between` another event loop begins and ends before each call.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from typing import Any

warnings.simplefilter("error")

from app.aws import handler  # noqa: E402 - warnings are errors while it is imported, too


class Context:
    function_name = "scout"
    memory_limit_in_mb = 512
    aws_request_id = "00000000-0000-0000-0000-000000000000"
    invoked_function_arn = "arn:aws:lambda:eu-central-1:000000000000:function:scout"


async def something_else() -> None:
    await asyncio.sleep(0)


def main() -> None:
    context: Any = Context()
    answers = []
    for event in json.load(sys.stdin):
        if "between" in sys.argv:
            asyncio.run(something_else())
        answers.append(handler(event, context))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
