"""The documents name what exists, and all of it: settings, commands, files, words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import time
from pathlib import Path

import click
import pytest

from app.cli import main
from app.settings import NAMES, WELL_KNOWN, load
from ledger.lifecycle import Outcome, State
from tests.mutants import MUTANTS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHERS_SETTINGS = {"SCOUT_URL"}  # the workflow's own, for where to call
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)


def table(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the README, its head left out."""
    section = re.split(r"(?m)^## ", README.partition(f"\n## {heading}\n")[2])[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_the_settings_table_names_every_setting_and_no_other() -> None:
    assert {row[0].strip("`") for row in table("Settings")} == {*NAMES, *WELL_KNOWN}


def test_the_settings_table_states_the_defaults_that_are_used() -> None:
    used = load({})
    stated = {row[0].strip("`").removeprefix("SCOUT_").lower(): row[1].strip("`") for row in table("Settings")}
    known = {name: shown(getattr(used, name)) for name in stated if hasattr(used, name)}
    assert len(known) >= len(NAMES)
    assert known == {name: stated[name] for name in known}


def shown(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case time():
            return value.isoformat("minutes")
        case _:
            return str(value)


@pytest.mark.parametrize(
    "path",
    [*PAGES, ROOT / "Makefile", ROOT / "Dockerfile", *sorted((ROOT / ".github/workflows").glob("*.yml"))],
    ids=lambda path: path.name,
)
def test_every_setting_that_is_mentioned_exists(path: Path) -> None:
    mentioned = set(re.findall(r"\bSCOUT_[A-Z_]*[A-Z]\b", path.read_text()))
    assert mentioned - OTHERS_SETTINGS - NAMES.keys() == set()


def commands(group: click.Group, prefix: str = "scout") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield f"{prefix} {name}"
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")


@every_page
def test_every_command_that_is_mentioned_exists(page: Path) -> None:
    known = set(commands(main))
    spoken = re.findall(r"`(scout [a-z]+(?: [a-z]+)?)\b", page.read_text())
    assert [words for words in spoken if words not in known and words.rpartition(" ")[0] not in known] == []


def test_every_command_is_in_the_documents() -> None:
    said = "".join(page.read_text() for page in PAGES)
    assert [command for command in commands(main) if f"`{command}" not in said] == []


@every_page
def test_every_make_target_that_is_mentioned_exists(page: Path) -> None:
    targets = re.search(r"(?m)^\.PHONY: (.*)$", (ROOT / "Makefile").read_text())
    assert targets
    spoken = re.findall(r"(?m)(?:`|^    )make ([a-z]+)", page.read_text())
    assert set(spoken) <= set(targets[1].split())


@every_page
def test_every_file_that_is_mentioned_exists(page: Path) -> None:
    text = page.read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    files = re.findall(r"`((?:app|ledger|scan|mail|tests|bench|docs|\.github)/[\w./-]*)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing + [file for file in files if not (ROOT / file).exists()] == []


def test_every_test_that_the_crash_table_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/guarantees.md").read_text()))
    written = {
        name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    assert len(named) > 10
    assert named <= written


def test_every_outcome_and_every_final_state_is_in_the_words() -> None:
    words = " ".join(cell for row in table("Words") for cell in row)
    assert [name for name in (*Outcome.__members__, *State.__members__) if not re.search(rf"\b{name}\b", words)] == []


@every_page
def test_every_page_of_the_docs_begins_with_one_line_to_quote(page: Path) -> None:
    if page.name == "README.md":
        assert README.startswith("# Scout\n\nScout watches job boards")
        return
    title, blank, quote, *_ = page.read_text().splitlines()
    assert title.startswith("# ")
    assert blank == ""
    assert quote.startswith("> ")


def test_every_breakage_of_the_table_fits_the_code_as_it_is_and_stands_in_the_table() -> None:
    unfit = [mutant.name for mutant in MUTANTS if (ROOT / mutant.file).read_text().count(mutant.old) != 1]
    assert unfit == []
    rows = re.findall(r"(?m)^\| ([^|]+) \| `tests/", (ROOT / "docs/guarantees.md").read_text())
    assert set(rows) == {mutant.name for mutant in MUTANTS}
