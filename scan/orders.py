"""Sentences in a posting that speak to a machine and not to a person: cut out before a model reads it.

A model is told that postings are data; this is the second wall, for what it would obey all the same. Only orders
are cut (about scores, verdicts, instructions, profiles), never whole postings, and the model is told how many.
"""

from __future__ import annotations

import re

REMOVED = "[an order to a machine was cut out here]"

_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+|\n+")
_SCORE = r"(?:scores?|ratings?|verdicts?|marks?|points?|punkte?|bewertung|puntuaci[oó]n|note)"
_ORDERS = re.compile(
    "|".join(
        (
            r"^\W*(?:system|assistant|user|human|ai|prompt|instructions?)\s*(?:prompt|message|note)?\s*[:>\]]"
            r".{0,60}\b(?:reply|respond|answer|say|set|ignore|mark|rate|score|output|you must|always|match)\b",
            r"\b(?:ignore|disregard|forget|override|bypass|ignoriere?n?|vergiss|ignora|oublie[zr]?)\b"
            r".{0,60}\b(?:instruction|prompt|rule|above|previous|prior|earlier|anweisung|vorherig|regel|anterior|"
            r"instruccion|consigne|précédent)",
            rf"\b(?:set|give|assign|return|output|reply|answer|respond|rate|mark|report|score|gib|setze?|bewerte|"
            rf"asigna|pon|donne[zr]?|mets)\b.{{0,60}}\b(?:{_SCORE}|perfect match|100|10/10)\b",
            rf"\b{_SCORE}\b\s*(?:=|:|of|to|must be|should be|is)\s*['\"]?\d",
            r"\b(?:print|repeat|reveal|copy|quote|include|leak|show|output|add|insert|append)\b.{0,60}"
            r"\b(?:candidate|user|applicant|system|hidden)(?:'s)?\b.{0,20}\b(?:profile|prompt|data|address|email)",
            r"\b(?:you are|act as|pretend|du bist|eres|tu es)\b.{0,40}\b(?:an? ai|language model|llm|assistant|"
            r"chatbot|recruiter bot|sprachmodell|modelo de lenguaje|modèle de langage)",
            r"\b(?:as|if you are|to any|note to|dear|attention)\b.{0,20}\b(?:ai|llm|language models?|bots?|ai agents?|"
            r"assistants?|screeners?)\b.{0,60}\b(?:must|should|reply|respond|include|say|rate|score|match)",
            r"\b(?:reply|respond|answer)\b.{0,20}\bmatch\b.{0,20}\b(?:every|all|each)\b",
        )
    ),
    re.IGNORECASE,
)


def without_orders(text: str) -> tuple[str, int]:
    """The text without its orders to machines, each replaced by REMOVED; and how many there were."""
    kept: list[str] = []
    count = 0
    end = 0
    for gap in [*_SENTENCE.finditer(text), None]:
        sentence = text[end : gap.start() if gap else len(text)]
        if _ORDERS.search(sentence):
            count += 1
            sentence = REMOVED
        kept.append(sentence)
        if gap:
            kept.append(gap.group())
            end = gap.end()
    return "".join(kept), count
