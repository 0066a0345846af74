"""Every setting, read once and frozen. An unknown SCOUT_* name or a bad value stops the boot with one line."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from app.environment import (
    bad,
    read_api_url,
    read_choice,
    read_dollars,
    read_file,
    read_line,
    read_switch,
    read_text,
    read_time,
    read_whole,
    read_word,
    web_address,
)
from app.mail_setting import read_mail
from app.prices import BadPrices, read_prices, table

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

SECRET_MIN_CHARS = 16
WALL_MIN_S = 2
TOKENS_MAX = 10**12

# Name -> what it is for. The README's table and `scout doctor` are held against this.
NAMES: Mapping[str, str] = {
    "SCOUT_CRON_SECRET": "the shared secret of /cron; at least 16 characters",
    "SCOUT_STORE": "sqlite:///scout.db (three slashes relative, four absolute) or firestore://PROJECT[/DATABASE]",
    "SCOUT_SOURCES": "path of a TOML file with the sources; unset: the shipped list",
    "SCOUT_MAIL": "outbox:///outbox (a Maildir), smtp://user:pass@host:587, smtps://..., sendgrid: or resend:",
    "SCOUT_SENDGRID_URL": "where SendGrid's API is, for test servers; unset: the real one",
    "SCOUT_RESEND_URL": "where Resend's API is, for test servers; unset: the real one",
    "SCOUT_SENDGRID_WEBHOOK_KEY": "SendGrid's verification key, which checks that an event comes from it",
    "SCOUT_MAIL_FROM": "From of every letter, such as Scout <scout@example.com>",
    "SCOUT_BASE_URL": "where this scout is reached, for the links in letters",
    "SCOUT_WALL_S": "the longest that a run takes, in seconds; below SCOUT_LOCK_S",
    "SCOUT_LOCK_S": "the lease of the lock, in seconds",
    "SCOUT_ALLOW_QUERY_SECRET": "true: /cron?secret=... is accepted as well",
    "SCOUT_ALLOW_LOOPBACK": "true: sources on loopback or file: are fetched (trials, tests)",
    "SCOUT_DIGEST_AT": "HH:MM in UTC of the digest for users who chose no hour",
    "SCOUT_DIGEST_CAP": "jobs listed in one digest",
    "SCOUT_MAIL_DAILY_MAX": "letters a day (UTC) that may leave, digests first; unset: no limit",
    "SCOUT_STALE_AFTER_S": "/healthz is unhealthy after so long without a complete run",
    "SCOUT_AI_MODEL": "the model that judges; ANTHROPIC_API_KEY turns it on",
    "SCOUT_AI_BATCH": "jobs of one person in one call to the model",
    "SCOUT_AI_PRICES": "dollars for a million tokens, MODEL=INPUT/OUTPUT[/CACHE_WRITE/CACHE_READ]; unset: as published",
    "SCOUT_AI_MAX_RUN_TOKENS": "tokens that one run may use",
    "SCOUT_AI_MAX_DAY_TOKENS": "tokens that a day (UTC) may use",
    "SCOUT_AI_MAX_USER_DAY_TOKENS": "tokens that one person's verdicts may use in a day",
    "SCOUT_AI_MAX_RUN_USD": "dollars that one run may cost",
    "SCOUT_AI_MAX_DAY_USD": "dollars that a day (UTC) may cost",
    "SCOUT_AI_MAX_USER_DAY_USD": "dollars that one person's verdicts may cost in a day",
    "SCOUT_OPERATOR": "address told of paused accounts, dead sources, unclear rows",
    "SCOUT_LOG": "json or text; unset: text on a terminal, else json",
}
WELL_KNOWN: Mapping[str, str] = {
    "SENDGRID_API_KEY": "the key of sendgrid:; needs no right but to send mail",
    "RESEND_API_KEY": "the key of resend:",
    "ANTHROPIC_API_KEY": "the key of the model that judges; unset: keywords decide",
    "ANTHROPIC_BASE_URL": "where Anthropic's API is, for test servers; unset: the real one",
    "PORT": "the port that `scout serve` listens on",
    "FIRESTORE_EMULATOR_HOST": "host:port of a Firestore emulator",
    "GOOGLE_CLOUD_PROJECT": "the project of firestore: without one",
}


@dataclass(frozen=True, slots=True)
class Settings:
    cron_secret: str | None
    store: str
    sources: Path | None
    mail: str
    mail_from: str
    mail_daily_max: int | None
    sendgrid_url: str | None
    resend_url: str | None
    sendgrid_webhook_key: str | None
    sendgrid_api_key: str | None
    resend_api_key: str | None
    base_url: str
    wall_s: int
    lock_s: int
    allow_query_secret: bool
    allow_loopback: bool
    digest_at: time
    digest_cap: int
    stale_after_s: int
    operator: str | None
    anthropic_api_key: str | None
    anthropic_base_url: str | None
    ai_model: str
    ai_batch: int
    ai_prices: str | None
    ai_max_run_tokens: int
    ai_max_day_tokens: int
    ai_max_user_day_tokens: int
    ai_max_run_usd: Decimal
    ai_max_day_usd: Decimal
    ai_max_user_day_usd: Decimal
    log: str | None
    port: int
    project: str | None

    def require_secret(self) -> str:
        """The secret, where an endpoint is going to be served. Raises BadSetting."""
        if self.cron_secret is None:
            bad(
                "SCOUT_CRON_SECRET",
                "is not set; make one with: python3 -c 'import secrets; print(secrets.token_hex(24))'",
            )
        return self.cron_secret

    @property
    def outbox(self) -> Path | None:
        """The Maildir that letters go to, where it is one."""
        return Path(self.mail.removeprefix("outbox:///")) if self.mail.startswith("outbox:///") else None

    def __repr__(self) -> str:
        return "Settings(...)"  # holds secrets: never in a log or a traceback


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the environment. Raises BadSetting."""
    env = os.environ if environ is None else environ
    for name in env:
        if name.startswith("SCOUT_") and name not in NAMES:
            bad(name, f"is not a setting of scout; {_meant(name)}")
    wall_s = read_whole(env, "SCOUT_WALL_S", 300, low=WALL_MIN_S, high=3000)
    lock_s = read_whole(env, "SCOUT_LOCK_S", 600, low=WALL_MIN_S + 1, high=3600)
    if wall_s >= lock_s:
        bad("SCOUT_WALL_S", f"({wall_s}) must be below SCOUT_LOCK_S ({lock_s}): a run may not outlive its lock")
    port = read_whole(env, "PORT", 8000, low=1, high=65535)
    return Settings(
        cron_secret=_secret(env),
        store=_store(env),
        sources=read_file(env, "SCOUT_SOURCES"),
        mail=read_mail(env),
        mail_from=read_line(env, "SCOUT_MAIL_FROM", "Scout <scout@localhost>"),
        mail_daily_max=read_whole(env, "SCOUT_MAIL_DAILY_MAX", 0, low=0, high=10_000_000) or None,
        sendgrid_url=read_api_url(env, "SCOUT_SENDGRID_URL"),
        resend_url=read_api_url(env, "SCOUT_RESEND_URL"),
        sendgrid_webhook_key=_webhook_key(env),
        sendgrid_api_key=read_word(env, "SENDGRID_API_KEY"),
        resend_api_key=read_word(env, "RESEND_API_KEY"),
        base_url=_base_url(env, port),
        wall_s=wall_s,
        lock_s=lock_s,
        allow_query_secret=read_switch(env, "SCOUT_ALLOW_QUERY_SECRET"),
        allow_loopback=read_switch(env, "SCOUT_ALLOW_LOOPBACK"),
        digest_at=read_time(env, "SCOUT_DIGEST_AT", "08:00"),
        digest_cap=read_whole(env, "SCOUT_DIGEST_CAP", 20, low=1, high=100),
        stale_after_s=read_whole(env, "SCOUT_STALE_AFTER_S", 2700, low=60, high=7 * 86400),
        operator=_operator(env),
        anthropic_api_key=read_word(env, "ANTHROPIC_API_KEY"),
        anthropic_base_url=read_api_url(env, "ANTHROPIC_BASE_URL"),
        ai_model=_model(env),
        ai_batch=read_whole(env, "SCOUT_AI_BATCH", 10, low=1, high=50),
        ai_prices=_prices(env),
        ai_max_run_tokens=read_whole(env, "SCOUT_AI_MAX_RUN_TOKENS", 5_000_000, low=0, high=TOKENS_MAX),
        ai_max_day_tokens=read_whole(env, "SCOUT_AI_MAX_DAY_TOKENS", 20_000_000, low=0, high=TOKENS_MAX),
        ai_max_user_day_tokens=read_whole(env, "SCOUT_AI_MAX_USER_DAY_TOKENS", 1_000_000, low=0, high=TOKENS_MAX),
        ai_max_run_usd=read_dollars(env, "SCOUT_AI_MAX_RUN_USD", "1.00"),
        ai_max_day_usd=read_dollars(env, "SCOUT_AI_MAX_DAY_USD", "5.00"),
        ai_max_user_day_usd=read_dollars(env, "SCOUT_AI_MAX_USER_DAY_USD", "0.50"),
        log=read_choice(env, "SCOUT_LOG", ("json", "text")),
        port=port,
        project=read_text(env, "GOOGLE_CLOUD_PROJECT"),
    )


def _meant(name: str) -> str:
    names = {known.removeprefix("SCOUT_"): known for known in (*NAMES, *WELL_KNOWN)}
    near = get_close_matches(name.removeprefix("SCOUT_"), names, n=1)
    return f"did you mean {names[near[0]]}?" if near else f"known: {', '.join(NAMES)}"


def _operator(env: Mapping[str, str]) -> str | None:
    text = read_text(env, "SCOUT_OPERATOR")
    if text is None:
        return None
    from app.profile import BadProfile
    from app.typed import address_of  # a tenth of a second, for those who set it

    try:
        return address_of(text, smtputf8=read_mail(env).startswith("outbox:"))
    except BadProfile as error:
        bad("SCOUT_OPERATOR", f"must be one address, such as ops@example.com: {error}")


def _secret(env: Mapping[str, str]) -> str | None:
    secret = read_text(env, "SCOUT_CRON_SECRET")
    if secret is None:
        if "SCOUT_CRON_SECRET" in env:
            bad("SCOUT_CRON_SECRET", f"is blank; it needs at least {SECRET_MIN_CHARS} characters")
        return None
    if len(secret) < SECRET_MIN_CHARS:
        bad("SCOUT_CRON_SECRET", f"is too short; it needs at least {SECRET_MIN_CHARS} characters")
    return secret


def _store(env: Mapping[str, str]) -> str:
    text = read_text(env, "SCOUT_STORE") or "sqlite:///scout.db"
    if not (text.startswith("sqlite:///") and len(text) > len("sqlite:///")) and not text.startswith("firestore:"):
        bad("SCOUT_STORE", "must be sqlite:///PATH or firestore://PROJECT[/DATABASE]")
    project = text.removeprefix("firestore:").removeprefix("//").partition("/")[0]
    if not project and read_text(env, "GOOGLE_CLOUD_PROJECT") is None:
        bad("SCOUT_STORE", "names no project; write firestore://PROJECT or set GOOGLE_CLOUD_PROJECT")
    return text


def _webhook_key(env: Mapping[str, str]) -> str | None:
    text = read_word(env, "SCOUT_SENDGRID_WEBHOOK_KEY")
    if text is not None:
        try:
            verification_key(text)
        except ValueError:
            bad("SCOUT_SENDGRID_WEBHOOK_KEY", "is not the verification key that SendGrid shows; copy it again")
    return text


def verification_key(text: str) -> EllipticCurvePublicKey:
    """SendGrid's, base64 of DER. Raises ValueError."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey  # only where events are signed
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    key = load_der_public_key(base64.b64decode(text, validate=True))
    if not isinstance(key, EllipticCurvePublicKey):
        raise ValueError("not a key for ECDSA")
    return key


def _model(env: Mapping[str, str]) -> str:
    model = read_word(env, "SCOUT_AI_MODEL") or "claude-haiku-5-5"
    if model not in table(_prices(env)):
        bad("SCOUT_AI_PRICES", f"has no price for {model[:60]}; add one, such as {model[:60]}=1.00/5.00")
    return model


def _prices(env: Mapping[str, str]) -> str | None:
    text = read_text(env, "SCOUT_AI_PRICES")
    if text is not None:
        try:
            read_prices(text)
        except BadPrices as error:
            bad("SCOUT_AI_PRICES", f"cannot be read: {error}")
    return text


def _base_url(env: Mapping[str, str], port: int) -> str:
    text = read_text(env, "SCOUT_BASE_URL") or f"http://127.0.0.1:{port}"
    return web_address(text, "SCOUT_BASE_URL", "https://scout.example.com")
