"""Which browser somebody signed in with, in a few words: known again in a list, and nobody can be tracked by it."""

from __future__ import annotations

# Each also names those below it in its User-Agent, so the first that is found counts.
_FAMILIES = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("FxiOS", "Firefox"),
    ("Firefox", "Firefox"), ("CriOS", "Chrome"), ("Chrome", "Chrome"), ("Safari", "Safari"),
)  # fmt: skip
_SYSTEMS = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


def browser_named(user_agent: str) -> str:
    """`Firefox on Windows`; empty if neither is known. Nothing else of the header is kept."""
    family = next((name for sign, name in _FAMILIES if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), "")
    return f"{family or 'A browser'} on {system}" if system else family
