"""What a page's form sends: bounded, from our own pages only, and never more than text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import shorten
from urllib.parse import parse_qs, urlsplit

from fastapi import Request

from app.pages.words import sentence
from app.settings import Settings

FORM_MAX_BYTES = 512 * 1024  # three lists of 200 keywords of 100 characters, percent-encoded, and some room
FIELDS_MAX = 500
KEPT_MAX_CHARS = 200  # of one field that another window has changed


class Refused(Exception):
    """The request is not carried out; `reason` is one line for the person."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Form:
    fields: dict[str, list[str]]

    def text(self, name: str) -> str:
        """As typed; empty if it is not there."""
        return self.fields[name][-1] if name in self.fields else ""

    def all(self, name: str) -> list[str]:
        return self.fields.get(name, [])

    def has(self, name: str) -> bool:
        return name in self.fields


def told_wrong(said: str) -> str:
    """What is wrong with a field, as the sentence beside it."""
    return sentence(said) if said.endswith((".", "?", "!")) else f"{sentence(said)}."


def told_kept(kept: Mapping[str, str]) -> str:
    """What another window has saved, by the labels of the fields, where it is not what this one shows."""
    if not kept:
        return "It is what you see here."
    told = "; ".join(f"{label}: {shorten(value, KEPT_MAX_CHARS, placeholder=' …')}" for label, value in kept.items())
    return f"Kept now: {told}. Saving again replaces that by what you see here."


async def read_form(request: Request) -> Form:
    """The form of an unsafe request. Raises Refused for another site's, a too large and an unreadable one."""
    refuse_other_sites(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused(415, "This page takes a form, and something else came.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_MAX_BYTES:
            raise Refused(413, f"That is too much at once: a form may have {FORM_MAX_BYTES // 1024} KB.")
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError as error:
        raise Refused(400, "The form could not be read.") from error
    return Form({name.replace("\0", ""): [v.replace("\0", "") for v in values] for name, values in fields.items()})


def refuse_other_sites(request: Request) -> None:
    """Only our own pages may change anything: the browser itself says where a request comes from.

    `Sec-Fetch-Site`, which no page can forge; from a browser too old to send it, `Origin`. Raises Refused.
    """
    settings: Settings = request.app.state.settings
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        is_ours = site in ("same-origin", "none")
    else:
        is_ours = request.headers.get("origin") == origin_of(settings.base_url)
    if not is_ours:
        raise Refused(403, "This came from another site, so nothing was done. Open the page here and try again.")


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
