"""Every setting, read once and frozen. An unknown SCOUT_* name or a bad value stops the boot with one line."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from decimal import Decimal, InvalidOperation
from email.utils import parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from app.prices import BadPrices, read_prices, table
from ledger.ids import BadAddress, canonical_address
from ledger.schedule import BadZone, time_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

SECRET_MIN_CHARS = 16
WALL_MIN_S = 2
TOKENS_MAX = 10**12
DOLLARS_MAX = Decimal(100_000)
KEY_OF = {"sendgrid": "SENDGRID_API_KEY", "resend": "RESEND_API_KEY"}  # what each of these needs

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


class BadSetting(ValueError):
    """A setting that cannot be used; the message is one line that says what to do."""


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
            _bad(
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
            _bad(name, f"is not a setting of scout; known: {', '.join(NAMES)}")
    wall_s = _whole(env, "SCOUT_WALL_S", 300, low=WALL_MIN_S, high=3000)
    lock_s = _whole(env, "SCOUT_LOCK_S", 600, low=WALL_MIN_S + 1, high=3600)
    if wall_s >= lock_s:
        _bad("SCOUT_WALL_S", f"({wall_s}) must be below SCOUT_LOCK_S ({lock_s}): a run may not outlive its lock")
    port = _whole(env, "PORT", 8000, low=1, high=65535)
    return Settings(
        cron_secret=_secret(env),
        store=_store(env),
        sources=_file(env, "SCOUT_SOURCES"),
        mail=_mail(env),
        mail_from=_line(env, "SCOUT_MAIL_FROM", "Scout <scout@localhost>"),
        mail_daily_max=_whole(env, "SCOUT_MAIL_DAILY_MAX", 0, low=0, high=10_000_000) or None,
        sendgrid_url=_api_url(env, "SCOUT_SENDGRID_URL"),
        resend_url=_api_url(env, "SCOUT_RESEND_URL"),
        sendgrid_webhook_key=_webhook_key(env),
        sendgrid_api_key=_word(env, "SENDGRID_API_KEY"),
        resend_api_key=_word(env, "RESEND_API_KEY"),
        base_url=_base_url(env, port),
        wall_s=wall_s,
        lock_s=lock_s,
        allow_query_secret=_switch(env, "SCOUT_ALLOW_QUERY_SECRET"),
        allow_loopback=_switch(env, "SCOUT_ALLOW_LOOPBACK"),
        digest_at=_time(env, "SCOUT_DIGEST_AT", "08:00"),
        digest_cap=_whole(env, "SCOUT_DIGEST_CAP", 20, low=1, high=100),
        stale_after_s=_whole(env, "SCOUT_STALE_AFTER_S", 2700, low=60, high=7 * 86400),
        operator=_operator(env),
        anthropic_api_key=_word(env, "ANTHROPIC_API_KEY"),
        anthropic_base_url=_api_url(env, "ANTHROPIC_BASE_URL"),
        ai_model=_model(env),
        ai_batch=_whole(env, "SCOUT_AI_BATCH", 10, low=1, high=50),
        ai_prices=_prices(env),
        ai_max_run_tokens=_whole(env, "SCOUT_AI_MAX_RUN_TOKENS", 5_000_000, low=0, high=TOKENS_MAX),
        ai_max_day_tokens=_whole(env, "SCOUT_AI_MAX_DAY_TOKENS", 20_000_000, low=0, high=TOKENS_MAX),
        ai_max_user_day_tokens=_whole(env, "SCOUT_AI_MAX_USER_DAY_TOKENS", 1_000_000, low=0, high=TOKENS_MAX),
        ai_max_run_usd=_dollars(env, "SCOUT_AI_MAX_RUN_USD", "1.00"),
        ai_max_day_usd=_dollars(env, "SCOUT_AI_MAX_DAY_USD", "5.00"),
        ai_max_user_day_usd=_dollars(env, "SCOUT_AI_MAX_USER_DAY_USD", "0.50"),
        log=_choice(env, "SCOUT_LOG", ("json", "text")),
        port=port,
        project=_text(env, "GOOGLE_CLOUD_PROJECT"),
    )


def _bad(name: str, what: str) -> NoReturn:
    raise BadSetting(f"{name} {what}")


def _text(env: Mapping[str, str], name: str) -> str | None:
    return env.get(name, "").strip() or None  # files and shells add line ends


def _line(env: Mapping[str, str], name: str, default: str) -> str:
    text = _text(env, name) or default
    if not text.isprintable() or not _is_address(parseaddr(text)[1]):
        _bad(name, "must be one line with an address, such as Scout <scout@example.com>")
    return text


def _operator(env: Mapping[str, str]) -> str | None:
    text = _text(env, "SCOUT_OPERATOR")
    if text is not None and not _is_address(text):
        _bad("SCOUT_OPERATOR", "must be an address, such as ops@example.com")
    return text


def _is_address(text: str) -> bool:
    try:
        canonical_address(text)
    except BadAddress:
        return False
    return True


def _secret(env: Mapping[str, str]) -> str | None:
    secret = _text(env, "SCOUT_CRON_SECRET")
    if secret is None:
        if "SCOUT_CRON_SECRET" in env:
            _bad("SCOUT_CRON_SECRET", f"is blank; it needs at least {SECRET_MIN_CHARS} characters")
        return None
    if len(secret) < SECRET_MIN_CHARS:
        _bad("SCOUT_CRON_SECRET", f"is too short; it needs at least {SECRET_MIN_CHARS} characters")
    return secret


def _whole(env: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    text = _text(env, name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        _bad(name, f"is {text[:20]!r}; it must be a whole number from {low} to {high}")
    return int(text)


def _switch(env: Mapping[str, str], name: str) -> bool:
    text = (_text(env, name) or "false").lower()
    if text not in ("true", "false"):
        _bad(name, f"is {text[:20]!r}; it must be true or false")
    return text == "true"


def _choice(env: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str | None:
    text = _text(env, name)
    if text is not None and text not in choices:
        _bad(name, f"is {text[:20]!r}; it must be {' or '.join(choices)}")
    return text


def _time(env: Mapping[str, str], name: str, default: str) -> time:
    try:
        return time_of(_text(env, name) or default)
    except BadZone as error:
        _bad(name, str(error))


def _file(env: Mapping[str, str], name: str) -> Path | None:
    text = _text(env, name)
    if text is None:
        return None
    path = Path(text)
    if not path.is_file():
        _bad(name, f"names no file: {text[:200]!r}")
    return path


def _store(env: Mapping[str, str]) -> str:
    text = _text(env, "SCOUT_STORE") or "sqlite:///scout.db"
    if not (text.startswith("sqlite:///") and len(text) > len("sqlite:///")) and not text.startswith("firestore:"):
        _bad("SCOUT_STORE", "must be sqlite:///PATH or firestore://PROJECT[/DATABASE]")
    project = text.removeprefix("firestore:").removeprefix("//").partition("/")[0]
    if not project and _text(env, "GOOGLE_CLOUD_PROJECT") is None:
        _bad("SCOUT_STORE", "names no project; write firestore://PROJECT or set GOOGLE_CLOUD_PROJECT")
    return text


def _mail(env: Mapping[str, str]) -> str:
    text = _text(env, "SCOUT_MAIL") or "outbox:///outbox"
    scheme, colon, rest = text.partition(":")
    ok = {
        "outbox": rest.startswith("///") and len(rest) > 3,
        "smtp": rest.startswith("//"),
        "smtps": rest.startswith("//"),
        **dict.fromkeys(KEY_OF, rest in ("", "//")),
    }
    if not colon or not ok.get(scheme, False):
        _bad(
            "SCOUT_MAIL",
            "must be outbox:///PATH, smtp://[USER:PASS@]HOST[:PORT], smtps://..., sendgrid: or resend:",
        )
    if scheme in KEY_OF and _word(env, KEY_OF[scheme]) is None:
        _bad(KEY_OF[scheme], f"is not set, and SCOUT_MAIL is {scheme}: put the key of your account there")
    if scheme in ("smtp", "smtps"):
        try:
            parts = urlsplit(text)
            reachable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            reachable = False
        if not reachable:
            _bad(
                "SCOUT_MAIL",
                "has no usable host and port; write smtp://user:pass@host:587, with %-escapes in the password",
            )
    return text


def _word(env: Mapping[str, str], name: str) -> str | None:
    """A key: never repeated in a message."""
    text = _text(env, name)
    if text is not None and not (text.isascii() and text.isprintable() and " " not in text):
        _bad(name, "holds a character that no key has; copy it again")
    return text


def _webhook_key(env: Mapping[str, str]) -> str | None:
    text = _word(env, "SCOUT_SENDGRID_WEBHOOK_KEY")
    if text is not None:
        try:
            verification_key(text)
        except ValueError:
            _bad("SCOUT_SENDGRID_WEBHOOK_KEY", "is not the verification key that SendGrid shows; copy it again")
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
    model = _word(env, "SCOUT_AI_MODEL") or "claude-haiku-5-5"
    if model not in table(_prices(env)):
        _bad("SCOUT_AI_PRICES", f"has no price for {model[:60]}; add one, such as {model[:60]}=1.00/5.00")
    return model


def _prices(env: Mapping[str, str]) -> str | None:
    text = _text(env, "SCOUT_AI_PRICES")
    if text is not None:
        try:
            read_prices(text)
        except BadPrices as error:
            _bad("SCOUT_AI_PRICES", f"cannot be read: {error}")
    return text


def _dollars(env: Mapping[str, str], name: str, default: str) -> Decimal:
    text = _text(env, name) or default
    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal(-1)
    if not dollars.is_finite() or not 0 <= dollars <= DOLLARS_MAX:
        _bad(name, f"is {text[:20]!r}; it must be dollars from 0 to {DOLLARS_MAX}, such as 1.50")
    return dollars


def _api_url(env: Mapping[str, str], name: str) -> str | None:
    text = _text(env, name)
    return None if text is None else _web_address(text, name, "https://api.example.com")


def _base_url(env: Mapping[str, str], port: int) -> str:
    text = _text(env, "SCOUT_BASE_URL") or f"http://127.0.0.1:{port}"
    return _web_address(text, "SCOUT_BASE_URL", "https://scout.example.com")


def _web_address(text: str, name: str, example: str) -> str:
    """The address without its last slash."""
    try:
        parts = urlsplit(text)
        reachable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        ok = reachable and not parts.query and not parts.fragment and "@" not in parts.netloc
    except ValueError:
        ok = False
    if not ok:
        _bad(name, f"is {text[:100]!r}; it must be like {example}")
    return text.rstrip("/")
