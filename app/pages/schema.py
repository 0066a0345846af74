"""What a form holds, for the description of the interface."""

from __future__ import annotations

from typing import Any


def form_of(*names: str) -> dict[str, Any]:
    """A form with these fields; all of them may be left out."""
    fields = {name: {"type": "string"} for name in names}
    content = {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": fields}}}
    return {"requestBody": {"content": content}}
