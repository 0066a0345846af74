"""The list of skills that a marketplace shows beside an ad: often filled in by a form, not said by the client."""

from __future__ import annotations

from scan.fingerprint import BESIDE

FIRST_SKILLS = 3  # the client's own, mostly; what follows is offered by the form


def apart(text: str) -> tuple[str, str, str]:
    """A job's text without the list that it ends with, the first skills, and the others."""
    said, beside, listed = f"\n{text}".rpartition(BESIDE)
    if not beside or "\n" in listed:
        return text, "", ""
    skills = listed.split(", ")
    return said[1:], ", ".join(skills[:FIRST_SKILLS]), ", ".join(skills[FIRST_SKILLS:])
