"""Upwork's RSS, which Upwork retired in August 2024: for archives, and for bridges that write the same format."""

from __future__ import annotations

from scan.sources.feed import make
from scan.sources.kind import Kind

# `~02` and 19 digits is the number that the API uses; `~01` and 16 hex cannot be mapped to one.
JOB_LINK = r"~(?:02(?=[0-9]{19}(?![0-9])))?(01[0-9a-f]{16}|[0-9]{19})"

KIND = Kind(
    "upwork_rss",
    make,
    ids="the code after ~ in the link; the rest of the link changes with the title",
    platform="upwork",
    min_interval_s=3600,
    id_rule="regex:" + JOB_LINK,
    title_form="{title} - Upwork",
    attribution="Upwork",
    terms="Upwork no longer serves it.",
)
