"""`scout serve`: wait for callers of /cron."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click
import uvicorn

from app import dotenv
from app.cli.errors import Mistake, Trouble
from app.settings import load
from scan.sources.config import load as load_sources

SECRET = "SCOUT_CRON_SECRET"
# Reads a plain word out of .env as app.dotenv does, quoted or not; others are not worth a longer line.
_PLAIN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_SED = rf"s|^[[:space:]]*(export[[:space:]]+)?{SECRET}=[\"']?([A-Za-z0-9._~+/=-]+).*|\2|p"
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
    from app.cron import STOPPED_WHY
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
        pass
    except SystemExit as ended:
        if ended.code:
            raise
    if getattr(app.state, "runs", None) is not None and app.state.runs.were_stopped:
        raise Trouble(STOPPED_WHY)


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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            from app.cli.stopping import say_stopping

            # In the loop's next round: a handler may have interrupted somebody who writes there.
            asyncio.get_running_loop().call_soon_threadsafe(say_stopping)
        super().handle_exit(sig, frame)


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
    secret, where = _secret_words()
    click.echo(f"Scout listens on http://{reached}:{port} (Ctrl-C stops it, once a run in flight is settled).")
    click.echo(f"One run{where}:")
    click.echo(f'  curl -H "Authorization: Bearer {secret}" http://{reached}:{port}/cron')


def _secret_words() -> tuple[str, str]:
    """How a shell names the secret without showing it, and where that works."""
    file = Path(".env")
    kept = dotenv.read(file).get(SECRET, "") if file.is_file() else ""
    if not kept or kept != os.environ.get(SECRET):
        return f"${SECRET}", ""
    if _PLAIN.fullmatch(kept):
        return f'$(sed -nE "{_SED}" .env | tail -n 1)', ", from another terminal in this folder"
    return f"${SECRET}", f", with {SECRET} as in .env"


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)
