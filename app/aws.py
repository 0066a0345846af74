"""The entry point for AWS Lambda, behind API Gateway or a Function URL: `app.aws.handler`.

The parts are made per invocation, inside its lifespan: Lambda may use another event loop for each.
"""

from __future__ import annotations

from mangum import Mangum

from app.main import app

handler = Mangum(app, lifespan="auto")
