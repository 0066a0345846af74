"""What goes wrong in one run of a drill: of the letters, the board, the model and the store, in random mixtures."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from app.drill.boards import MOODS as BOARD_MOODS
from app.drill.model import MOODS as MODEL_MOODS
from app.drill.sink import FAULTS

LETTER_FAULTS = tuple(sorted(set(FAULTS) - {"accept"}))
ACCEPTED_FOR_EACH_FAULT = (0, 1, 4)  # a provider that is down, one in trouble, one with a hiccup
STORE_SHARES = (0.0005, 0.01)  # of the writes: from late in a run of many letters to early in it


@dataclass(frozen=True, slots=True)
class Mixture:
    letters: tuple[str, ...]  # what may happen to a letter; empty: all are accepted
    board: str
    model: tuple[str, ...]  # empty: it answers well
    store: float  # the share of the store's writes that goes wrong

    def __str__(self) -> str:
        letters = ", ".join(sorted(set(self.letters))) or "accept"
        model = "in every mood" if self.model else "well"
        return f"the board is {self.board}, the model {model}, {self.store:.2%} of the store; letters: {letters}"


def mixed(rng: random.Random, number: int) -> Mixture:
    """By turns the letters, the store, and both: a store that fails early would hide what letters can meet."""
    faults = rng.sample(LETTER_FAULTS, k=rng.randint(1, 5)) if number % 3 != 1 else []
    accepted = len(faults) * rng.choice(ACCEPTED_FOR_EACH_FAULT)
    low, high = map(math.log, STORE_SHARES)
    return Mixture(
        letters=(*faults, *["accept"] * accepted),
        board=rng.choice(BOARD_MOODS),
        model=MODEL_MOODS if rng.random() < 0.5 else (),
        store=math.exp(rng.uniform(low, high)) if number % 3 else 0.0,
    )
