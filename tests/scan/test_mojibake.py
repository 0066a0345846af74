"""Text that was read in a wrong encoding is put right; good text of any language stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.mojibake import mended
from scan.text import one_line, plain, squeezed
from tests.scan.match.people import PATIENT

BROKEN = [
    ("MecÃ¡nico", "Mecánico"),
    ("weâ€™re hiring â€” now", "we’re hiring — now"),
    ("Â£75", "£75"),
    ("ÐŸÑ€Ð¸Ð²ÐµÑ‚", "Привет"),
    ("ï‚· one", "\uf0b7 one"),
    ("dataâ€¯", "data\u202f"),
    ("â€œyesâ€\x9d", "“yes”"),
    ("Ã©cole", "école"),
    ("MÃœNCHEN", "MÜNCHEN"),
    ("ATENÃ‡ÃƒO", "ATENÇÃO"),
    ("WrocÅ‚aw", "Wrocław"),
    ("bÄ™dzie", "będzie"),
    ("Viá»‡t", "Việt"),
    ("æ—¥æœ¬", "日本"),
    ("ðŸ˜€", "😀"),
    ("â—‹ one", "○ one"),
    ("50â‚¬", "50€"),
    ("end.Â\u00a0And", "end.\u00a0And"),
    ("dataÂ\u00a0science", "data\u00a0science"),
    ("Ã¢â‚¬â€œ", "–"),
    ("São Paulo, donâ€™t", "São Paulo, don’t"),
]
GOOD = [
    "plain",
    "",
    "café",
    "Â",
    "São Paulo",
    "„Spaß“",
    "“hâlâ”…",
    "“AMANHÔ",
    "ÚŽASNÝ",
    "Å\u00a0være",
    "“café”—",
    "Lukáš’s",
    "IRMÃ™",
    "Ä… nein",
    "naïve, Hawaï»…",
    "MANHÃ® TM",
]
ALPHABETS = [
    "abcdefghiklmnoprstu" + own
    for own in (
        "", "àâæçéèêëîïôùûüÿœ", "äöüß", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìíîòóùú", "ąćęłńóśźż", "áčďéěíňóřšťúůýž",
        "áäčďéíĺľňóôŕšťúýž", "čćđšž", "áéíóöőúüű", "ăâîșțşţ", "âçğıîöşüû", "åäö", "æøå", "äöåšž", "õäöüšž",
        "āčēģīķļņšūž", "ąčęėįšųūž", "áðéíóúýþæö", "ạảấầẩẫậắằâêôơưđãõàèìòùáéíóúý", "àéèíïóòúüç", "âêîôûŵŷ", "áčđŋšŧž",
        "ëç", "ċġħż",
    )
] + [
    "привітщьыэъёщґєїі", "αβγδεζηθικλμνξοπρστυφχψωάέή", "שלוםאב", "عربيةش", "हिन्दीकम", "ไทยกขค", "日本語中文", "한국어"
]  # fmt: skip
SIGNS = [
    " ", ", ", ". ", "! ", "? ", "’s ", "” ", "“", " „", "“ ", "» ", " «", "–", " — ", "…", "\u00a0", "™ ", "® ", "• ",
    "”—", "”…",
]  # fmt: skip


def word(letters: str) -> st.SearchStrategy[str]:
    return st.text(letters, min_size=2, max_size=8).flatmap(
        lambda text: st.sampled_from([text, text.upper(), text[:1].upper() + text[1:]])
    )


def prose(letters: str) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(word(letters), st.sampled_from(SIGNS)), max_size=30)
    return pairs.map(lambda found: "".join(map("".join, found)))


@pytest.mark.parametrize(("broken", "whole"), BROKEN)
def test_text_that_was_read_in_the_wrong_encoding_is_put_right(broken, whole) -> None:
    assert mended(broken) == whole


@pytest.mark.parametrize("text", GOOD)
def test_good_text_that_looks_like_it_stays(text) -> None:
    assert mended(text) == text


@PATIENT(max_examples=1000)
@given(st.sampled_from(ALPHABETS).flatmap(prose))
def test_words_of_any_language_between_any_signs_stay(text) -> None:
    assert mended(text) == text


HIGH = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0x100)) + "ab "


@PATIENT(max_examples=500)
@given(st.text(HIGH, max_size=60))
def test_no_row_of_such_characters_raises_or_grows(text) -> None:
    assert len(mended(text)) <= len(text)


@PATIENT(max_examples=300)
@given(st.text("abcdefgh ’“–…é", max_size=60))
def test_prose_that_went_the_wrong_way_comes_back(text) -> None:
    broken = "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in text.encode())
    assert mended(broken) == text


def test_every_text_passes_it() -> None:
    assert plain("<p>weâ€™re</p>") == "we’re"
    assert plain("we&acirc;&euro;&trade;re") == "we’re"
    assert squeezed("â€œyesâ€\x9d\nï‚· one") == "“yes”\n• one"
    assert one_line("dataâ€¯ science") == "data science"


@pytest.mark.parametrize("unit", ["Ð‚", "â€", "é", "Ã", "é”", "ðŸ", "’", "â€™", "Ð"])
def test_a_long_text_is_mended(unit) -> None:
    """The suite's own time limit is the bound."""
    mended(unit * 500_000)
