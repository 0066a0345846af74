"""The list of sources: TOML in, checked entries out. Errors name the entry and the field."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from scan.sources.entries import title_pattern
from scan.sources.identity import parse_rule
from scan.sources.kind import Kind, Option, SourceConfig
from scan.sources.registry import NAMES, kind_of

SHIPPED = Path(__file__).parent.parent / "sources.toml"
SOURCES_MAX = 500
FILE_MAX_BYTES = 1024 * 1024
INTERVAL_MAX_S = 7 * 24 * 3600

_ENV = "env:"
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class BadSources(ValueError):
    """The list cannot be used; one line that says where and why."""


def load(path: Path | str | None = None, *, environ: Mapping[str, str] | None = None) -> tuple[SourceConfig, ...]:
    """The entries of a file, or of the shipped list; values written `env:NAME` are filled in. Raises BadSources."""
    file = SHIPPED if path is None else Path(path)
    try:
        with file.open("rb") as opened:
            data = opened.read(FILE_MAX_BYTES + 1)
    except OSError as error:
        raise BadSources(f"{file.name}: cannot be read ({type(error).__name__})") from error
    if len(data) > FILE_MAX_BYTES:
        raise BadSources(f"{file.name}: larger than {FILE_MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")  # some editors write a mark in front
    except UnicodeDecodeError as error:
        raise BadSources(f"{file.name}: not UTF-8") from error
    return parse(text, where=file.name, environ=environ)


def parse(text: str, *, where: str, environ: Mapping[str, str] | None = None) -> tuple[SourceConfig, ...]:
    """The entries of a list, in its order. Raises BadSources."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSources(f"{where}: {error}") from error
    if unknown := sorted(set(document) - {"source"}):
        raise BadSources(f"{where}: unknown table {unknown[0]!r}; entries are written [[source]]")
    entries = document.get("source", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadSources(f"{where}: 'source' must be a list of tables, written [[source]]")
    if len(entries) > SOURCES_MAX:
        raise BadSources(f"{where}: more than {SOURCES_MAX} sources")
    found: dict[str, SourceConfig] = {}
    for position, entry in enumerate(entries, start=1):
        config = _config(entry, where=where, position=position, environ=os.environ if environ is None else environ)
        if config.name in found:
            raise BadSources(f"{where}: source {config.name!r}: name: used twice")
        found[config.name] = config
    return tuple(found.values())


def _config(entry: Mapping[str, Any], *, where: str, position: int, environ: Mapping[str, str]) -> SourceConfig:
    name = entry.get("name")
    label = f"{where}: source {name!r}" if isinstance(name, str) and name else f"{where}: source number {position}"
    kind = _kind(entry.get("kind"), label=label)
    common = {key: value for key, value in entry.items() if key not in kind.options}
    try:
        checked = _Entry.model_validate({**{k: v for k, v in kind.defaults().items() if v != ""}, **common})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]  # an input may be a URL with a key in it
        field = ".".join(map(str, first["loc"]))
        raise BadSources(f"{label}: {field}: {first['msg'].removeprefix('Value error, ')}") from error
    if checked.url is None and kind.url is None:
        raise BadSources(f"{label}: url: Field required")
    if checked.url is not None and urlsplit(checked.url).scheme not in kind.schemes:
        raise BadSources(f"{label}: url: an absolute {_either(kind.schemes)} URL")
    if kind.id_rule is None and {"id_rule", "title_form"} & entry.keys():
        raise BadSources(f"{label}: id_rule: {kind.name} has ids of its own ({kind.ids})")
    fields = checked.model_dump() | {"url": checked.url or ""}
    options = {key: _option(entry.get(key), option, f"{label}: {key}", environ) for key, option in kind.options.items()}
    return SourceConfig(**fields, options=options)


def _kind(name: object, *, label: str) -> Kind:
    if not isinstance(name, str) or name not in NAMES:
        raise BadSources(f"{label}: kind: one of {', '.join(NAMES)}, not {name!r}")
    return kind_of(name)


def _option(value: object, option: Option, label: str, environ: Mapping[str, str]) -> str:
    """The value of a field of a kind's own; never repeated in an error, for it may be a secret."""
    if value is None:
        if option.required:
            raise BadSources(f"{label}: missing: {option.about}")
        return option.default
    if not isinstance(value, str):
        raise BadSources(f"{label}: must be text: {option.about}")
    text = value
    if value.startswith(_ENV):
        named = value.removeprefix(_ENV)
        if not _ENV_NAME.fullmatch(named):
            raise BadSources(f"{label}: after env: comes the name of an environment variable")
        text = environ.get(named, "").strip()
        if not text:
            raise BadSources(f"{label}: the environment variable {named} is not set")
    if not re.fullmatch(option.pattern, text):
        raise BadSources(f"{label}: not usable: {option.about}")
    return text


def _either(schemes: tuple[str, ...]) -> str:
    public = [scheme for scheme in schemes if scheme != "file"]
    return " or ".join(public) + (" (file: for trials)" if "file" in schemes else "")


def _is_name(text: str) -> str:
    # It becomes a document id, a platform and a line in the report.
    if (
        not text.isprintable()
        or "/" in text
        or text in (".", "..")
        or text != text.strip()
        or text.startswith(("__", "~"))
    ):
        raise ValueError("printable, without slashes, outer blanks and a ~ in front")
    return text


def _is_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise ValueError("not a URL") from error
    if not text.isprintable() or " " in text:
        raise ValueError("not a URL")
    if not parts.scheme or (parts.scheme != "file" and not parts.hostname):
        raise ValueError("an absolute http or https URL (file: for trials)")
    return text


def _is_rule(text: str) -> str:
    parse_rule(text)
    return text


def _is_form(text: str) -> str:
    title_pattern(text)
    return text


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_is_name)]
    kind: str
    url: Annotated[str, Field(max_length=2000), AfterValidator(_is_url)] | None = None
    min_interval_s: Annotated[int, Field(ge=0, le=INTERVAL_MAX_S)] | None = None
    id_rule: Annotated[str, AfterValidator(_is_rule)] = "auto"
    platform: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_is_name)] | None = None
    attribution: Annotated[str, Field(max_length=200)] = ""
    terms: Annotated[str, Field(max_length=1000)] = ""
    title_form: Annotated[str, Field(max_length=200), AfterValidator(_is_form)] | None = None
