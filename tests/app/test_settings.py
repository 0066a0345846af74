"""Settings: read once; whatever is wrong stops the start with one line that names the setting."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from app import dotenv
from app.cli import main
from app.environment import BadSetting
from app.settings import NAMES, WELL_KNOWN, load

SCOUT = Path(sys.executable).with_name("scout")
ANY_VALUE = {"FIRESTORE_EMULATOR_HOST", "GOOGLE_CLOUD_PROJECT"}  # Google's names, judged by Google's library
SECRET = "hunter2hunter2"

BAD: list[tuple[str, str]] = [
    ("SCOUT_CRON_SECRET", ""),
    ("SCOUT_CRON_SECRET", "   \n"),
    ("SCOUT_CRON_SECRET", "fifteen-letters"),
    ("SCOUT_STORE", "postgres://db"),
    ("SCOUT_STORE", "sqlite://scout.db"),
    ("SCOUT_STORE", "sqlite:///"),
    ("SCOUT_STORE", "firestore:"),
    ("SCOUT_STORE", "firestore:///named"),
    ("SCOUT_SOURCES", "/nowhere/sources.toml"),
    ("SCOUT_SOURCES", "/"),
    ("SCOUT_MAIL", "mail.example.com"),
    ("SCOUT_MAIL", "outbox:out"),
    ("SCOUT_MAIL", "outbox:///"),
    ("SCOUT_MAIL", f"smtp://me:{SECRET}@"),
    ("SCOUT_MAIL", f"smtp://me:{SECRET}@host:port"),
    ("SCOUT_MAIL", f"smtp://me:{SECRET}@host:0"),
    ("SCOUT_MAIL", "smtp://me@host"),
    ("SCOUT_MAIL", "smtps://me:@host"),
    ("SCOUT_MAIL", f"smtp://:{SECRET}@host"),
    ("SCOUT_MAIL", f"smtp://me:{SECRET}%@host"),
    ("SCOUT_MAIL", f"smtp://me:{SECRET}%zz@host"),
    ("SCOUT_MAIL", f"smtp://me:{SECRET}%ff@host"),
    ("SCOUT_MAIL", f"imap://me:{SECRET}@host"),
    ("SCOUT_MAIL", "sendgrid:key"),
    ("SENDGRID_API_KEY", f"{SECRET} twice"),
    ("RESEND_API_KEY", f"{SECRET}\N{EM DASH}"),
    ("SCOUT_SENDGRID_WEBHOOK_KEY", f"{SECRET} twice"),
    ("SCOUT_SENDGRID_URL", "api.example.com"),
    ("SCOUT_RESEND_URL", "file:///etc/passwd"),
    ("SCOUT_MAIL_FROM", "Scout"),
    ("SCOUT_MAIL_FROM", "@"),
    ("SCOUT_MAIL_FROM", "Scout <scout@>"),
    ("SCOUT_MAIL_FROM", "Scout <scout@example.com>\r\nBcc: x@example.com"),
    ("SCOUT_MAIL_DAILY_MAX", "-1"),
    ("SCOUT_AI_MODEL", "a model"),
    ("SCOUT_AI_BATCH", "0"),
    ("SCOUT_AI_PRICES", "claude-haiku-5-5"),
    ("SCOUT_AI_PRICES", "claude-haiku-5-5=free/0.50"),
    ("SCOUT_AI_PRICES", "claude-haiku-5-5=1/2/3"),
    ("SCOUT_AI_MAX_RUN_TOKENS", "-1"),
    ("SCOUT_AI_MAX_DAY_TOKENS", "many"),
    ("SCOUT_AI_MAX_USER_DAY_TOKENS", "1.5"),
    ("SCOUT_AI_MAX_RUN_USD", "$1"),
    ("SCOUT_AI_MAX_DAY_USD", "NaN"),
    ("SCOUT_AI_MAX_USER_DAY_USD", "-0.01"),
    ("ANTHROPIC_API_KEY", f"{SECRET} twice"),
    ("ANTHROPIC_BASE_URL", "api.example.com"),
    ("SCOUT_BASE_URL", "scout.example.com"),
    ("SCOUT_BASE_URL", "ftp://scout.example.com"),
    ("SCOUT_BASE_URL", "https://[scout"),
    ("SCOUT_BASE_URL", "https://scout.example.com/?a=b"),
    ("SCOUT_WALL_S", "0"),
    ("SCOUT_WALL_S", "5m"),
    ("SCOUT_WALL_S", "600"),  # not below the lock
    ("SCOUT_LOCK_S", "3601"),
    ("SCOUT_LOCK_S", "six hundred"),
    ("SCOUT_ALLOW_QUERY_SECRET", "1"),
    ("SCOUT_ALLOW_LOOPBACK", "yes"),
    ("SCOUT_DIGEST_AT", "8 o'clock"),
    ("SCOUT_DIGEST_AT", "24:00"),
    ("SCOUT_DIGEST_CAP", "0"),
    ("SCOUT_DIGEST_CAP", "٢٠"),  # digits, but not ours
    ("SCOUT_STALE_AFTER_S", "59"),
    ("SCOUT_OPERATOR", "ops"),
    ("SCOUT_OPERATOR", "a@b.example,c@d.example"),
    ("SCOUT_OPERATOR", "Ops <ops@example.com>"),
    ("SCOUT_OPERATOR", "ops@example.com\nBcc: x@example.com"),
    ("SCOUT_LOG", "loud"),
    ("PORT", "0"),
    ("PORT", "65536"),
    ("SCOUT_PORT", "8000"),  # unknown
    ("SCOUT_CRON_SECERT", "0123456789abcdef"),  # unknown
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_value_stops_the_start_with_one_line_that_names_the_setting(name: str, value: str) -> None:
    with pytest.raises(BadSetting) as caught:
        load({name: value})
    said = str(caught.value)
    assert said.startswith(f"{name} ")
    assert len(said.splitlines()) == 1
    assert SECRET not in said


def test_every_setting_that_can_be_wrong_is_in_the_list_above() -> None:
    assert {name for name, _ in BAD if name in {*NAMES, *WELL_KNOWN}} == {*NAMES, *WELL_KNOWN} - ANY_VALUE


def test_an_unknown_name_is_answered_with_the_nearest_one_or_with_all() -> None:
    for near, meant in (
        ("SCOUT_CRON_SECERT", "SCOUT_CRON_SECRET"),
        ("SCOUT_SOURCE", "SCOUT_SOURCES"),
        ("SCOUT_PORT", "PORT"),
    ):
        with pytest.raises(BadSetting) as caught:
            load({near: "0123456789abcdef"})
        assert str(caught.value) == f"{near} is not a setting of scout; did you mean {meant}?"
    with pytest.raises(BadSetting, match="known: SCOUT_CRON_SECRET, SCOUT_STORE"):
        load({"SCOUT_XYZ": "1"})


@pytest.mark.parametrize("text", ["x", "x=", "x=1", "x=1/2/3", "=1/2"])
def test_prices_of_another_form_are_answered_with_the_form(text: str) -> None:
    with pytest.raises(BadSetting) as caught:
        load({"SCOUT_AI_PRICES": text})
    form = "is not MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHE_WRITE/CACHE_READ"
    assert str(caught.value) == f"SCOUT_AI_PRICES cannot be read: {text!r} {form}"


def test_escapes_in_user_and_password_are_taken_as_they_are_written() -> None:
    assert load({"SCOUT_MAIL": "smtp://me%40x.example:p%25%40ss@host"}).mail == "smtp://me%40x.example:p%25%40ss@host"
    assert load({"SCOUT_MAIL": "smtp://host:25"}).mail == "smtp://host:25"


def test_line_ends_and_blanks_around_a_value_do_not_count() -> None:
    settings = load({"SCOUT_CRON_SECRET": " 0123456789abcdef\r\n", "SCOUT_DIGEST_AT": "07:30\n", "SCOUT_LOG": " "})
    assert (settings.cron_secret, settings.digest_at, settings.log) == ("0123456789abcdef", time(7, 30), None)


def test_without_a_secret_an_endpoint_is_refused_and_everything_else_is_not() -> None:
    settings = load({})
    with pytest.raises(BadSetting, match=r"^SCOUT_CRON_SECRET is not set; make one with: \S"):
        settings.require_secret()


def test_a_project_from_its_well_known_name_is_enough_for_firestore() -> None:
    assert load({"SCOUT_STORE": "firestore:", "GOOGLE_CLOUD_PROJECT": "p"}).store == "firestore:"


def test_links_in_letters_follow_the_port_unless_told_otherwise() -> None:
    assert load({"PORT": "9000"}).base_url == "http://127.0.0.1:9000"
    assert load({"PORT": "9000", "SCOUT_BASE_URL": "https://s.example/"}).base_url == "https://s.example"


def test_settings_do_not_show_what_they_hold() -> None:
    settings = load({"SCOUT_MAIL": f"smtp://me:{SECRET}@host:587", "SCOUT_CRON_SECRET": SECRET + SECRET})
    assert SECRET not in f"{settings!r} {settings}"


@pytest.mark.parametrize("command", [["serve"], ["cron"], ["users", "list"], ["runs"], ["sources"]])
def test_every_command_says_it_in_one_line_and_exits_with_2(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {"SCOUT_DIGEST_AT": "noon"})
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "scout: SCOUT_DIGEST_AT is not a time of day: 'noon'; write HH:MM, such as 08:00\n"


def test_a_server_started_by_uvicorn_itself_says_it_in_one_line_too(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "SCOUT_CRON_SECRET": "short"}
    command = [sys.executable, "-m", "uvicorn", "app.main:app", "--app-dir", str(Path(__file__).parents[2])]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert done.stderr == "scout: SCOUT_CRON_SECRET is too short; it needs at least 16 characters\n"


def test_a_sources_file_that_cannot_be_used_is_a_mistake_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[[source]]\nname = "a"\nkind = "feed"\n')
    env = {"PATH": os.environ["PATH"], "SCOUT_SOURCES": "s.toml", "SCOUT_CRON_SECRET": "0123456789abcdef"}
    done = subprocess.run([SCOUT, "serve"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "scout: s.toml: source 'a': url: Field required\n"


def dot_env(folder: Path, text: str) -> Path:
    (folder / ".env").write_text(text, encoding="utf-8")
    return folder / ".env"


def test_an_env_file_is_read_as_a_shell_would(tmp_path: Path) -> None:
    text = "# mine\n\nA=1\nexport B='two words' # and a comment\nC=\"x # y\"\nD = not this one\nE=a#b\nF=\nA=last\n"
    with pytest.raises(BadSetting, match=r"^\.env line 6 is not KEY=VALUE$"):
        dotenv.read(dot_env(tmp_path, text))
    read = dotenv.read(dot_env(tmp_path, text.replace("D = not this one\n", "G=v # comment\n")))
    assert read == {"A": "last", "B": "two words", "C": "x # y", "E": "a#b", "F": "", "G": "v"}


def test_a_mark_that_an_editor_put_in_front_does_not_count(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\n", encoding="utf-8-sig")
    assert dotenv.read(tmp_path / ".env") == {"A": "1"}


def test_an_env_file_that_cannot_be_read_never_repeats_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(BadSetting) as caught:
        dotenv.read(dot_env(tmp_path, f"SCOUT_CRON_SECRET: {SECRET}\n"))
    assert str(caught.value) == ".env line 1 is not KEY=VALUE"
    (tmp_path / ".env").write_bytes(b"A=\xff")
    with pytest.raises(BadSetting, match=r"^\.env cannot be read"):
        dotenv.read(tmp_path / ".env")


def test_the_environment_comes_before_the_env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"SCOUT_LOG": "json"})
    dotenv.adopt(dot_env(tmp_path, "SCOUT_LOG=text\nSCOUT_DIGEST_CAP=7\n"))
    dotenv.adopt(tmp_path / "absent")
    settings = load()
    assert (settings.log, settings.digest_cap) == ("json", 7)
