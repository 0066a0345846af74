"""`scout serve`: wait for callers of /cron."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click
import uvicorn

from app.cli.errors import Mistake
from app.settings import load
from scan.sources.config import load as load_sources

EVERYWHERE = ("0.0.0.0", "::", "")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 for everywhere.")
@click.option("--port", type=click.IntRange(0, 65535), help="Default: PORT, else 8000; 0 takes a free one.")
def serve(host: str, port: int | None) -> None:
    """Serve GET /cron until Ctrl-C or SIGTERM.

    Callers send the secret in SCOUT_CRON_SECRET; without one it does not start. A run in flight is stopped between
    people and settled before the process ends. Logs go to standard error.

    \b
    Examples:
      scout serve
      scout serve --host 0.0.0.0 --port 8080
    """
    settings = load()
    settings.require_secret()
    load_sources(settings.sources)
    listening = _listen(host, settings.port if port is None else port)
    real_port = listening.getsockname()[1]
    os.environ["PORT"] = str(real_port)  # the links in letters follow it, unless SCOUT_BASE_URL says otherwise

    # Until all is loaded: the collector would walk through it again and again, and all of it stays for good.
    gc.disable()
    with _absent("rich"):  # a tenth of a cold start, for tracebacks in a form that we do not use
        import structlog  # noqa: F401
    from app.access import AccessLog
    from app.main import app  # reads the environment when imported

    def ready() -> None:
        gc.freeze()
        gc.enable()
        _say(host, real_port)

    config = uvicorn.Config(AccessLog(app), log_config=None, access_log=False, lifespan="on", server_header=False)
    signal.signal(signal.SIGTERM, _end)  # what the server raises again once all is settled
    try:
        _Server(config, ready).run(sockets=[listening])
    except KeyboardInterrupt:
        sys.exit(0)


@contextmanager
def _absent(package: str) -> Iterator[None]:
    """Whoever is imported in here finds no such package, and does without."""
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == package}
    sys.modules.update(dict.fromkeys((package, *before)))  # type: ignore[arg-type]  # None: "there is none"
    try:
        yield
    finally:
        del sys.modules[package]
        sys.modules.update(before)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise Mistake(
            f"cannot listen on {host} port {port}: {reason}; choose another with --host and --port"
        ) from error


def _say(host: str, port: int) -> None:
    reached = "127.0.0.1" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    click.echo(f"Scout listens on http://{reached}:{port} (Ctrl-C stops it, once a run in flight is settled). One run:")
    click.echo(f'  curl -H "Authorization: Bearer $SCOUT_CRON_SECRET" http://{reached}:{port}/cron')


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)
