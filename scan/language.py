"""The language that an ad is written in: as its board says, or by its commonest words. Pure.

A wrong language would keep a job from somebody who can read it, so what is not clear stays unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.resources import files

TEXT_MAX_CHARS = 5000
WORDS_MIN = 4  # of a language's common words, before it is believed
DISTINCT_MIN = 3  # so many different ones
MIN_SHARE = 0.1  # of all words: a list of products has few in any language
OWN_MIN = 2  # words that another language does not have
LEAD_MIN = 3  # times as many of them, as the other has of its own

NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "pt": "Portuguese", "it": "Italian",
    "nl": "Dutch", "pl": "Polish", "sv": "Swedish", "da": "Danish", "no": "Norwegian", "fi": "Finnish",
    "cs": "Czech", "hu": "Hungarian", "ro": "Romanian", "tr": "Turkish", "uk": "Ukrainian", "ru": "Russian",
    "el": "Greek", "ar": "Arabic", "he": "Hebrew", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "zh": "Chinese",
    "vi": "Vietnamese", "id": "Indonesian", "th": "Thai",
}  # fmt: skip
_CODES = {name.lower(): code for code, name in NAMES.items()} | {
    "deutsch": "de", "français": "fr", "español": "es", "português": "pt", "italiano": "it", "nederlands": "nl",
    "polski": "pl", "svenska": "sv", "dansk": "da", "norsk": "no", "nb": "no", "suomi": "fi", "iw": "he",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"https?://\S+|\b\w+(?:[.@]\w+)+\S*")  # whose `com` is no Portuguese
_LETTER = re.compile(r"[^\W\d_]")
_DENSE = {name: re.compile(chars) for name, chars in (
    ("kana", "[\u3041-\u30ff]"), ("han", "[\u4e00-\u9fff]"), ("hangul", "[\uac00-\ud7a3]"))}  # fmt: skip
_SPELLED = {
    name: re.compile(chars)
    for name, chars in (
        ("cyrillic", "[\u0400-\u052f]"), ("greek", "[\u0370-\u03ff\u1f00-\u1fff]"), ("hebrew", "[\u05d0-\u05ea]"),
        ("arabic", "[\u0620-\u06ff]"), ("devanagari", "[\u0900-\u097f]"), ("thai", "[\u0e01-\u0e5b]"),
    )
}  # fmt: skip
DENSE_MIN_SHARE = 0.2  # of the letters: a word is one or two of them, beside names in ours
SPELLED_MIN_SHARE = 0.6
KANA_MIN_SHARE = 0.05  # of Japanese; Chinese has none
MARKS_MIN = 2  # letters that only one of the languages of a script has
MARKS_LEAD_MIN = 10
# What tells the languages of a script: letters of ours, letters of its neighbours.
_MARKS = {
    "uk": ("іїєґ", "ыэъёўәғқңөұүһјљњћђџ"),
    "ru": ("ыэё", "іїєґўәғқңөұүһјљњћђџ"),
    "ar": ("ةىأإي", "پچژگکیٹڈےۀۇې"),
}


def language_named(name: str) -> str:
    """The ISO 639-1 code of what a board or a person calls a language: `en-US`, `German`; empty: not known."""
    first = re.split(r"[-_ (,;]", name.strip().lower()[:40], maxsplit=1)[0]
    code = _CODES.get(first, first)
    return code if code in NAMES else ""


def language_of(text: str) -> str:
    """By its script, or its commonest words; empty if that is not clear."""
    start = text[:TEXT_MAX_CHARS].lower()
    code = _by_script(start)
    return _by_words(start) if code is None else code


def _by_script(text: str) -> str | None:
    """None: it is in Latin letters. Empty: several languages have these letters."""
    letters = len(_LETTER.findall(text))
    if text.isascii() or not letters:
        return None
    kana, han, hangul = (len(script.findall(text)) / letters for script in _DENSE.values())
    if hangul > DENSE_MIN_SHARE:
        return "ko"
    if kana + han > DENSE_MIN_SHARE:
        return "ja" if kana > KANA_MIN_SHARE * (kana + han) else "zh"
    shares = {name: len(script.findall(text)) / letters for name, script in _SPELLED.items()}
    script = max(shares, key=lambda name: shares[name])
    if shares[script] < SPELLED_MIN_SHARE:
        return None if sum(shares.values()) < DENSE_MIN_SHARE else ""
    match script:
        case "cyrillic":
            return _marked(text, "uk") or _marked(text, "ru")
        case "arabic":
            return _marked(text, "ar")
        case "devanagari":
            return "hi" if re.search(r"\bहै", text) and "ळ" not in text else ""
        case _:
            return {"greek": "el", "hebrew": "he", "thai": "th"}[script]


def _marked(text: str, code: str) -> str:
    ours, theirs = (sum(map(text.count, marks)) for marks in _MARKS[code])
    return code if ours >= MARKS_MIN and ours >= MARKS_LEAD_MIN * theirs else ""


def _by_words(text: str) -> str:
    words = Counter(_WORD.findall(_ADDRESS.sub(" ", text)))
    found = {code: {word: words[word] for word in words.keys() & common} for code, common in _common().items()}
    best = max(found, key=lambda code: sum(found[code].values()))
    most = sum(found[best].values())
    if most < WORDS_MIN or len(found[best]) < DISTINCT_MIN or most < MIN_SHARE * words.total():
        return ""
    return best if best in NAMES and all(_leads(found, best, other) for other in found if other != best) else ""


def _leads(found: dict[str, dict[str, int]], best: str, other: str) -> bool:
    """By the words that are of one of the two only."""
    own = sum(times for word, times in found[best].items() if word not in found[other])
    rival = sum(times for word, times in found[other].items() if word not in found[best])
    return own >= OWN_MIN and own >= LEAD_MIN * rival


@cache
def _common() -> dict[str, frozenset[str]]:
    """language -> its common words."""
    lines = files("scan").joinpath("languages.txt").read_text("utf-8").splitlines()
    return {
        code: frozenset(words.split()) for line in lines if line[:1] != "#" for code, _, words in [line.partition(" ")]
    }
