"""The language that an ad is written in: as its board says, or by its commonest words. Pure."""

from __future__ import annotations

import re
from collections import Counter

TEXT_MAX_CHARS = 3000
WORDS_MIN = 8  # of a language's common words, before it is believed
LEAD_MIN = 3  # times as many as of the next language

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
# Common words that the neighbours do not have.
_COMMON = {
    "en": "the and of to with you your our are this that will have from their we be is",
    "de": "und der die das mit für wir sie ist ein eine auf nicht oder bei dein unser als zum zur",
    "fr": "les des vous nous avec pour dans une est sur votre notre aux sont être au du",
    "es": "los las una para con por nuestro como más del tu el y su ser",
    "pt": "os uma para com não são você nossa mais seu como dos das em",
    "it": "gli della per con sono nel che una di il più alla nostro essere",
    "nl": "het een van voor met je zijn wij onze aan bij niet ook wordt jouw",
    "pl": "się na do jest oraz dla nie z w jako lub praca naszej",
    "sv": "och att som för med är på av vi du till ett inom vår",
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _code, _words in _COMMON.items():
    for _word in _words.split():
        _LANGUAGES_OF.setdefault(_word, []).append(_code)

_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u4e00-\u9fff]")
_SCRIPTS = ((_KANA, "ja"), (_HANGUL, "ko"), (_HAN, "zh"))
SCRIPT_MIN_SHARE = 0.2  # of the letters


def language_named(name: str) -> str:
    """The ISO 639-1 code of what a board or a person calls a language: `en-US`, `German`; empty: not known."""
    first = re.split(r"[-_ (,;]", name.strip().lower()[:40], maxsplit=1)[0]
    code = _CODES.get(first, first)
    return code if code in NAMES else ""


def language_of(text: str) -> str:
    """By its commonest words, or its script; empty if that is not clear."""
    start = text[:TEXT_MAX_CHARS]
    for script, code in _SCRIPTS:
        if len(script.findall(start)) > SCRIPT_MIN_SHARE * len(start):
            return code
    counts: Counter[str] = Counter()
    for word, times in Counter(_WORD.findall(start.lower())).items():
        for code in _LANGUAGES_OF.get(word, ()):
            counts[code] += times
    (best, most), (_, next_most) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return best if most >= WORDS_MIN and most >= LEAD_MIN * next_most else ""
