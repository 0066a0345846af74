"""A provider's JSON API as a transport: what all of them share. Adding one is an `Api` in a file of its own."""

from __future__ import annotations

import json
import math
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ledger.lifecycle import Attempt, Outcome
from mail.envelope import Unsendable, headers, needs_smtputf8, not_sent, recipient
from mail.letter import Letter
from mail.transports.http import DEADLINE_S, Answer, Poster, date_s, retry_after_s
from mail.transports.port import Check
from mail.transports.smtp_phases import without_addresses

Told = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Api:
    """`request_of` makes the JSON of a letter, a pure function of it, and raises Unsendable.

    `outcome_of(answer, told)` says what an answer means; `told` makes the provider's words fit for people: the
    status first, no address, no key. `key_header` carries the letter's outside id to a provider that recognises
    the same letter by it. `probed` reads what the provider says about the key at `probe_path`.
    """

    name: str
    url: str
    path: str
    request_of: Callable[[Letter], dict[str, Any]]
    outcome_of: Callable[[Answer, Told], Attempt]
    key_header: str | None = None
    probe_path: str = "/"
    probed: Callable[[Answer], Check] = lambda answer: Check(None, f"answered {answer.status}")


class ApiTransport:
    """`key` is the API key; `url` the API's base, or its address for letters in full.

    Raises ValueError for a key or URL that cannot be used.
    """

    def __init__(
        self,
        api: Api,
        key: str,
        *,
        url: str | None = None,
        deadline_s: float = DEADLINE_S,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._api, self._key = api, key
        self._base = (url or api.url).rstrip("/").removesuffix(api.path)
        self._poster = Poster(
            self._base + api.path,
            {"Authorization": f"Bearer {key}"},
            deadline_s=deadline_s,
            tls=tls,
        )

    @property
    def name(self) -> str:
        return self._api.name

    @property
    def smtputf8(self) -> bool:
        return False

    def longest_s(self, at_most_s: float) -> float:
        return self._poster.longest_s(at_most_s)

    async def send(self, letter: Letter, *, at_most_s: float = math.inf) -> Attempt:
        """One request. See the provider's `outcome_of` for its answers, `without_status` for the rest."""
        try:
            to = recipient(letter)
            if needs_smtputf8(to):
                return Attempt(Outcome.REJECTED, f"{self.name} cannot send to a non-ASCII local part")
            content = json.dumps(self._api.request_of(letter), ensure_ascii=False, separators=(",", ":")).encode()
        except Unsendable as error:
            return not_sent(error)
        except UnicodeEncodeError:
            return Attempt(Outcome.REJECTED, "the letter holds text that is not Unicode (a lone surrogate)")
        key_header = self._api.key_header
        answer = await self._poster.post(
            content, {key_header: letter.outside_id} if key_header else {}, at_most_s=at_most_s
        )
        if isinstance(answer, Attempt):
            return replace(answer, repeatable=bool(key_header) and answer.outcome is Outcome.UNCLEAR)

        def told(said: str) -> str:
            return f"{self.name} answered {answer.status}: {without_addresses(said.replace(self._key, '(key)'), to)}"

        return self._api.outcome_of(answer, told)

    async def check(self, *, at_most_s: float) -> Check:
        """Ask the provider about the key; nothing is sent."""
        answer = await self._poster.get(self._base + self._api.probe_path, at_most_s=at_most_s)
        if isinstance(answer, Attempt):
            return Check(False, answer.reason, "is the network open to it, and SCOUT_..._URL right?")
        return replace(self._api.probed(answer), server_time_s=date_s(answer.headers.get("date", "")))

    async def close(self) -> None:
        await self._poster.close()


def common(answer: Answer, told: Told, *, is_theirs: bool) -> Attempt | None:
    """The outcome of a status that says the same everywhere, or None.

    `is_theirs`: the body is of the shape that the provider's own errors have, so no box on the way made it.
    """
    status = answer.status
    if 300 <= status < 400:
        return Attempt(Outcome.PAUSED, told("a redirect, so this is not its API"))
    if status == 408 or status >= 500 or status < 200:
        return Attempt(Outcome.UNCLEAR, told("it does not say whether the letter was taken"))
    if status == 429:
        return Attempt(Outcome.DEFERRED, told("too many requests"), retry_after_s=retry_after_s(answer.headers))
    if status >= 400 and not is_theirs:
        return Attempt(Outcome.PAUSED, told("not in its words, so something before it refused"))
    return None


def further_headers(letter: Letter) -> dict[str, str]:
    """The envelope's headers but those that an API has fields for. Raises Unsendable."""
    return {name: value for name, value in headers(letter) if name not in ("From", "To", "Subject")}


def text_of(body: Mapping[str, Any], name: str) -> str:
    """The text under that name, empty if there is none."""
    value = body.get(name)
    return value if isinstance(value, str) else ""
