"""Upwork's OAuth2: an access token for a day, and a refresh token that changes whenever it is used.

Of two runs that find the token too old one alone may renew it: a refresh token that is used twice is taken
for stolen. So the right to renew is claimed in the store first, and what comes back is stored under that claim.
"""

from __future__ import annotations

import hashlib
import secrets as randomness
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import urlencode

from ledger.records import Health
from ledger.secrets import HeldSecret
from scan.exchange import Fetched
from scan.fetch import Fetcher
from scan.sources.item import Item, json_of
from scan.sources.kind import Secrets, SourceConfig

RENEW_BEFORE = timedelta(minutes=10)  # of the end of an access token
CLAIM_KEPT = timedelta(minutes=2)  # a process that died while renewing blocks others for so long
LIFE_MAX_S = 7 * 86400
ANSWER_MAX_BYTES = 64 * 1024


class NoToken(Exception):
    """There is no token now. The text is for people and holds none."""

    def __init__(self, health: Health, reason: str) -> None:
        super().__init__(reason)
        self.health = health


class Login:
    def __init__(self, config: SourceConfig, *, fetcher: Fetcher, secrets: Secrets) -> None:
        self._options = config.options
        self._fetcher = fetcher
        self._secrets = secrets
        self._name = config.name
        # A refresh token that the operator has changed comes before the one that is kept.
        self._seed = hashlib.sha256(self._options["refresh_token"].encode()).hexdigest()[:32]

    async def token(self, *, now: datetime, deadline_s: float, anew: bool = False) -> str:
        """An access token that still holds for a while; `anew`: not the one that is kept. Raises NoToken."""
        held = await self._secrets.get(self._name)
        values = held.values if held is not None and held.values.get("seed") == self._seed else {}
        if (
            not anew
            and values.get("access")
            and _at(values, "ends_at") > now.timestamp() + RENEW_BEFORE.total_seconds()
        ):
            return values["access"]
        if _at(values, "claimed_at") > (now - CLAIM_KEPT).timestamp():
            raise NoToken(Health.SLOW, "another run is renewing the token")
        refresh = values.get("refresh") or self._options["refresh_token"]
        claim = {"seed": self._seed, "refresh": refresh, "claimed_at": str(now.timestamp()), "nonce": _nonce()}
        mine = await self._secrets.swap(self._name, held, claim)
        if mine is None:
            raise NoToken(Health.SLOW, "another run is renewing the token")
        return await self._renewed(mine, refresh, now=now, deadline_s=deadline_s)

    async def _renewed(self, mine: HeldSecret, refresh: str, *, now: datetime, deadline_s: float) -> str:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": refresh,
            "client_id": self._options["client_id"],
            "client_secret": self._options["client_secret"],
        }
        answer = await self._fetcher.fetch(
            self._options["token_url"],
            now=now,
            deadline_s=deadline_s,
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            content=urlencode(form).encode(),
            body_max_bytes=ANSWER_MAX_BYTES,
        )
        granted = Item(json_of(answer.body)) if isinstance(answer, Fetched) else Item({})
        access = granted.text("access_token")
        if not access:
            # The claim is given back, the refresh token as it was: whether it was used up nobody can tell.
            await self._secrets.swap(self._name, mine, {"seed": self._seed, "refresh": refresh, "nonce": _nonce()})
            health = Health.UNREACHABLE if isinstance(answer, Fetched) else getattr(answer, "health", Health.REFUSED)
            raise NoToken(health, "the token could not be renewed; if that stays so, sign in to Upwork again")
        life_s = min(granted.number("expires_in") or 3600.0, LIFE_MAX_S)
        kept = {
            "seed": self._seed,
            "access": access,
            "refresh": granted.text("refresh_token") or refresh,
            "ends_at": str(now.timestamp() + life_s),
            "nonce": _nonce(),
        }
        if await self._secrets.swap(self._name, mine, kept) is None:
            raise NoToken(Health.SLOW, "another run has renewed the token")
        return access


def _at(values: Mapping[str, str], name: str) -> float:
    try:
        return float(values.get(name, "0"))
    except ValueError:
        return 0.0


def _nonce() -> str:
    return randomness.token_hex(8)
