"""The judge's port: one question about several jobs for one person, one reply. What it costs is told, not decided."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Question:
    """One call. `system` is the same for everybody, `profile` for one person: both may be cached by the provider.

    `postings` are other people's texts, delimited. `schema` is what an answer looks like.
    """

    system: str
    profile: str
    postings: str
    schema: dict[str, Any]
    answer_max_tokens: int

    @property
    def input_bytes(self) -> int:
        return sum(len(part.encode()) for part in (self.system, self.profile, self.postings, str(self.schema)))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the provider bills them; cached ones are not in `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0

    @property
    def all_input_tokens(self) -> int:
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
        )


class End(StrEnum):
    """How one call ended."""

    ANSWERED = "answered"
    CUT = "cut"  # the answer was longer than its room
    DECLINED = "declined"  # the model would not say
    BUSY = "busy"  # provably not done (429, 529, refused connection): asking again costs nothing
    UNCLEAR = "unclear"  # a time-out, a 5xx, a dropped answer: it may have been paid
    REFUSED = "refused"  # the account or the configuration is at fault: nothing further is asked in this run


@dataclass(frozen=True, slots=True)
class Reply:
    """`said` is the answer as the model gave it, not yet checked: a tool's input, or text. `reason` is for people."""

    end: End
    said: object = None
    usage: Usage = Usage()
    reason: str = ""
    retry_after_s: float | None = None


class Judge(Protocol):
    """A model that is asked by one call with one reply. Never repeats a call by itself."""

    @property
    def model(self) -> str: ...

    async def ask(self, question: Question, *, at_most_s: float) -> Reply:
        """Ask once, within `at_most_s` in all. Never raises for anything the other side does."""
        ...

    async def close(self) -> None: ...
