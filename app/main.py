"""The entry point for uvicorn: `uvicorn app.main:app`. The one module whose import reads the environment."""

from __future__ import annotations

import sys

from app import logs
from app.environment import BadSetting
from app.settings import load
from app.web import make_app
from scan.sources.config import BadSources
from scan.sources.config import load as load_sources

try:
    settings = load()
    settings.require_secret()
    load_sources(settings.sources)
except (BadSetting, BadSources) as error:
    sys.exit(f"scout: {error}")

logs.set_up(settings.log)
app = make_app(settings)
