"""The templates of letters: HTML escapes what it is given, and a name that is missing is an error."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template


@cache
def template(name: str) -> Template:
    """Made at the first letter, once; templates hold no state between letters."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(lambda name: files("mail").joinpath("templates", name).read_text("utf-8")),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
