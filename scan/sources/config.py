"""The list of sources: TOML in, checked entries out. Errors name the entry and the field."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from scan.sources.entries import title_pattern
from scan.sources.identity import parse_rule

SHIPPED = Path(__file__).parent.parent / "sources.toml"
SOURCES_MAX = 500
FILE_MAX_BYTES = 1024 * 1024
INTERVAL_MAX_S = 7 * 24 * 3600

# What a kind knows by itself; an entry's own fields come before it. A kind that is more than a feed with
# rules brings its own module, and a line here.
KINDS: Mapping[str, Mapping[str, Any]] = {
    "feed": {},
    "weworkremotely": {
        "url": "https://weworkremotely.com/remote-jobs.rss",
        "min_interval_s": 3600,
        "platform": "weworkremotely",
        "id_rule": r"regex:/remote-jobs/([^/?#]+)$",
        "title_form": "{company}: {title}",
        "attribution": "We Work Remotely",
    },
    # Retired by Upwork in 2024, kept for archives and for bridges that write the same format. `~02` and
    # 19 digits is the uid that the API uses; `~01` and 16 hex cannot be mapped to one.
    "upwork_rss": {
        "min_interval_s": 3600,
        "platform": "upwork",
        "id_rule": r"regex:~(?:02(?=[0-9]{19}(?![0-9])))?(01[0-9a-f]{16}|[0-9]{19})",
        "title_form": "{title} - Upwork",
        "attribution": "Upwork",
    },
}


class BadSources(ValueError):
    """The list cannot be used; one line that says where and why."""


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One entry, its kind's own values filled in. `min_interval_s` None: as the feed itself says."""

    name: str
    kind: str
    url: str
    min_interval_s: int | None = None
    id_rule: str = "auto"
    platform: str | None = None
    attribution: str = ""
    terms: str = ""  # for the operator: what the board asks of those who read it
    title_form: str | None = None


def load(path: Path | str | None = None) -> tuple[SourceConfig, ...]:
    """The entries of a file, or of the shipped list. Raises BadSources."""
    file = SHIPPED if path is None else Path(path)
    try:
        with file.open("rb") as opened:
            data = opened.read(FILE_MAX_BYTES + 1)
    except OSError as error:
        raise BadSources(f"{file.name}: cannot be read ({type(error).__name__})") from error
    if len(data) > FILE_MAX_BYTES:
        raise BadSources(f"{file.name}: larger than {FILE_MAX_BYTES} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadSources(f"{file.name}: not UTF-8") from error
    return parse(text, where=file.name)


def parse(text: str, *, where: str) -> tuple[SourceConfig, ...]:
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
        config = _config(entry, where=where, position=position)
        if config.name in found:
            raise BadSources(f"{where}: source {config.name!r}: name: used twice")
        found[config.name] = config
    return tuple(found.values())


def _config(entry: Mapping[str, Any], *, where: str, position: int) -> SourceConfig:
    name = entry.get("name")
    label = f"{where}: source {name!r}" if isinstance(name, str) and name else f"{where}: source number {position}"
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadSources(f"{label}: kind: one of {', '.join(KINDS)}, not {kind!r}")
    try:
        checked = _Entry.model_validate({**KINDS[kind], **entry})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]  # an input may be a URL with a key in it
        field = ".".join(map(str, first["loc"]))
        raise BadSources(f"{label}: {field}: {first['msg'].removeprefix('Value error, ')}") from error
    return SourceConfig(**checked.model_dump())


def _is_name(text: str) -> str:
    # It becomes a document id, a platform and a line in the report.
    if not text.isprintable() or "/" in text or text in (".", "..") or text != text.strip() or text.startswith("__"):
        raise ValueError("printable, without slashes and outer blanks")
    return text


def _is_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise ValueError("not a URL") from error
    if not text.isprintable() or " " in text:
        raise ValueError("not a URL")
    if parts.scheme not in ("http", "https", "file") or (parts.scheme != "file" and not parts.hostname):
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
    url: Annotated[str, Field(max_length=2000), AfterValidator(_is_url)]
    min_interval_s: Annotated[int, Field(ge=0, le=INTERVAL_MAX_S)] | None = None
    id_rule: Annotated[str, AfterValidator(_is_rule)] = "auto"
    platform: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_is_name)] | None = None
    attribution: Annotated[str, Field(max_length=200)] = ""
    terms: Annotated[str, Field(max_length=1000)] = ""
    title_form: Annotated[str, Field(max_length=200), AfterValidator(_is_form)] | None = None
