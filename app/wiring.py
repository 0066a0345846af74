"""The composition root: settings in, parts out. The only module that names an adapter; a list of constructor calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.environment import BadSetting
from app.pace import Limits
from app.parts import Clock, Parts, utc_now
from app.settings import Settings
from ledger.secrets import StoredSecrets
from ledger.store import Store
from mail.letter import Site
from mail.transports.port import Transport
from scan.fetch import Fetcher
from scan.posting import Source
from scan.sources.config import load
from scan.sources.kind import Secrets, SourceConfig
from scan.sources.registry import source_of
from scan.verdict import Judge

USER_AGENT = "scout/0.1 (+{base_url})"
SMTP_PORT, SUBMISSION_PORT, SMTPS_PORT = 25, 587, 465


@asynccontextmanager
async def wired(
    settings: Settings, *, clock: Clock = utc_now, limits: Limits | None = None, store: Store | None = None
) -> AsyncIterator[Parts]:
    """The parts, made inside the running loop and closed at the end. Raises BadSetting, BadSources.

    A `store` that is handed in stays open: it belongs to whoever made it.
    """
    configs = load(settings.sources)
    transport = transport_of(settings)
    judge = judge_of(settings)
    own = store or store_of(settings, clock=clock)
    user_agent = USER_AGENT.format(base_url=settings.base_url)
    try:
        async with Fetcher(user_agent=user_agent, allow_loopback=settings.allow_loopback) as fetcher:
            yield Parts(
                settings=settings,
                store=own,
                sources=sources_of(configs, fetcher, StoredSecrets(own)),
                transport=transport,
                site=site_of(settings, configs),
                clock=clock,
                limits=limits or Limits(),
                judge=judge,
            )
    finally:
        await transport.close()
        if judge is not None:
            await judge.close()
        if store is None:
            await own.close()


@asynccontextmanager
async def looking(settings: Settings) -> AsyncIterator[tuple[Fetcher, Secrets]]:
    """What it takes to look at a source that is not in the list yet; the same thing is asked for once."""
    from scan.sources.discover import Remembering

    store = store_of(settings)
    user_agent = USER_AGENT.format(base_url=settings.base_url)
    try:
        async with Remembering(user_agent=user_agent, allow_loopback=settings.allow_loopback) as fetcher:
            yield fetcher, StoredSecrets(store)
    finally:
        await store.close()


def sources_of(configs: tuple[SourceConfig, ...], fetcher: Fetcher, secrets: Secrets) -> Mapping[str, Source]:
    return {config.name: source_of(config, fetcher, secrets) for config in configs}


def site_of(settings: Settings, configs: tuple[SourceConfig, ...]) -> Site:
    return Site(
        base_url=settings.base_url,
        mail_from=settings.mail_from,
        attribution={config.name: config.attribution for config in configs if config.attribution},
    )


def store_of(settings: Settings, *, clock: Clock = utc_now) -> Store:
    """The store that SCOUT_STORE names. Raises BadSetting."""
    if settings.store.startswith("sqlite:///"):
        from ledger.sqlite import SqliteStore

        return SqliteStore(Path(settings.store.removeprefix("sqlite:///")), clock=clock)
    from ledger.firestore import FirestoreStore  # 0.9 s to import: only where it is used

    project, _, database = settings.store.removeprefix("firestore:").removeprefix("//").partition("/")
    project = project or settings.project or ""
    if not project:
        raise BadSetting("SCOUT_STORE names no project; write firestore://PROJECT or set GOOGLE_CLOUD_PROJECT")
    return FirestoreStore(project, database=database or "(default)")


def judge_of(settings: Settings) -> Judge | None:
    """The model, where there is a key; without one its package is not even imported."""
    if settings.anthropic_api_key is None:
        return None
    from scan.judges.anthropic import AnthropicJudge

    return AnthropicJudge(settings.anthropic_api_key, model=settings.ai_model, base_url=settings.anthropic_base_url)


def transport_of(settings: Settings) -> Transport:
    """The transport that SCOUT_MAIL names; only its own packages are imported. Raises BadSetting."""
    if settings.outbox is not None:
        from mail.transports.outbox import OutboxTransport

        return OutboxTransport(settings.outbox)
    if settings.mail.startswith("sendgrid:"):
        from mail.transports.api import ApiTransport
        from mail.transports.sendgrid import SENDGRID

        return ApiTransport(SENDGRID, settings.sendgrid_api_key or "", url=settings.sendgrid_url)
    if settings.mail.startswith("resend:"):
        from mail.transports.api import ApiTransport
        from mail.transports.resend import RESEND

        return ApiTransport(RESEND, settings.resend_api_key or "", url=settings.resend_url)
    from mail.transports.smtp import SmtpTransport

    parts = urlsplit(settings.mail)
    username = unquote(parts.username) if parts.username else None
    is_implicit = parts.scheme == "smtps"
    default_port = SMTPS_PORT if is_implicit else SUBMISSION_PORT if username else SMTP_PORT
    return SmtpTransport(
        parts.hostname or "localhost",
        parts.port or default_port,
        username=username,
        password=unquote(parts.password) if parts.password else None,
        tls="implicit" if is_implicit else "starttls" if username else "none",
    )
