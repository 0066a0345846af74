"""The list of sources: what is read, and what the errors say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scan.addresses import is_loopback_url
from scan.sources.config import SHIPPED, SOURCES_MAX, BadSources, load, parse
from scan.sources.entries import title_pattern
from scan.sources.identity import parse_rule
from scan.sources.kind import SourceConfig
from scan.sources.registry import NAMES, job_named_by, kind_of

ENTRY = '[[source]]\nname = "a"\nkind = "feed"\nurl = "https://board.example/f"\n'


def test_the_shipped_list_can_be_read_and_needs_no_credential() -> None:
    sources = load(environ={})
    assert [source.name for source in sources] == [
        "weworkremotely", "remoteok", "himalayas", "jobicy", "remotive", "arbeitnow", "workingnomads", "hackernews",
        "freelancer",
    ]  # fmt: skip
    for source in sources:
        assert source.url.startswith("https://")
        assert "@" not in source.url
        assert not is_loopback_url(source.url)
        assert source.platform == source.name
        assert source.attribution
        assert source.terms
        assert not any(source.options.values())


def test_the_shipped_intervals_are_those_that_the_boards_ask_for() -> None:
    assert {source.name: source.min_interval_s for source in load(environ={})} == {
        "weworkremotely": 3600,
        "remoteok": 3600,
        "himalayas": 1800,
        "jobicy": 3600,
        "remotive": 6 * 3600,
        "arbeitnow": 3600,
        "workingnomads": 3600,
        "hackernews": 1800,
        "freelancer": 900,
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_declares_what_an_operator_must_know(name: str) -> None:
    kind = kind_of(name)
    assert kind.name == name
    assert kind.ids
    assert kind.terms or name == "feed"
    assert kind.min_interval_s is None or kind.min_interval_s >= kind.floor_s
    assert kind.platform is None or kind.attribution
    parse_rule(kind.id_rule or "auto")
    title_pattern(kind.title_form)


@pytest.mark.parametrize(
    ("platform", "link", "native_id"),
    [
        ("weworkremotely", "https://weworkremotely.com/remote-jobs/mathmo-maths-coach", "mathmo-maths-coach"),
        ("remoteok", "https://remoteok.com/remote-jobs/remote-go-developer-firm-1093456", "1093456"),
        ("himalayas", "https://himalayas.app/companies/firm/jobs/go-developer", "companies/firm/jobs/go-developer"),
        ("jobicy", "https://jobicy.com/jobs/145880-senior-software-engineer-contract", "145880"),
        ("remotive", "https://remotive.com/remote-jobs/software-dev/go-developer-1919191", "1919191"),
        ("arbeitnow", "https://arbeitnow.com/jobs/companies/firm/go-developer-60723", "go-developer-60723"),
        ("workingnomads", "https://workingnomads.com/job/go/1719512", "1719512"),
        ("hackernews", "https://news.ycombinator.com/item?id=48860201", "48860201"),
        ("freelancer", "https://freelancer.com/projects/python/build-a-bot-39999999", "39999999"),
        ("adzuna", "https://adzuna.co.uk/jobs/land/ad/5123456789", "5123456789"),
        ("upwork", "https://upwork.com/jobs/Go-developer_~021899999999999999999", "1899999999999999999"),
        ("upwork", "https://upwork.com/jobs/~01ec8934d454ff0ef3", "01ec8934d454ff0ef3"),
    ],
)
def test_a_canonical_link_to_a_job_names_it_as_its_board_does(platform: str, link: str, native_id: str) -> None:
    assert job_named_by(link) == (platform, native_id)


def test_a_link_to_anything_else_names_no_job() -> None:
    for link in ("https://upwork.com/nx/find-work", "https://example.com/jobs/145880", "", "https://remoteok.com/"):
        assert job_named_by(link) is None


SECRETIVE = """[[source]]
name = "a"
kind = "adzuna"
country = "gb"
app_id = "env:APP_ID"
app_key = "s3cret-key"
"""


def test_a_secret_may_stand_in_the_environment_and_is_shown_nowhere() -> None:
    (source,) = parse(SECRETIVE, where="s.toml", environ={"APP_ID": " s3cret-id\n"})
    assert source.options["app_id"] == "s3cret-id"
    assert source.options["app_key"] == "s3cret-key"
    assert "s3cret" not in repr(source)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SECRETIVE, "s.toml: source 'a': app_id: the environment variable APP_ID is not set"),
        (SECRETIVE.replace("env:APP_ID", "env:1 2"), "s.toml: source 'a': app_id: after env: comes the name"),
        (SECRETIVE.replace('app_id = "env:APP_ID"\n', ""), "s.toml: source 'a': app_id: missing: the application's id"),
        (SECRETIVE.replace('"env:APP_ID"', "5"), "s.toml: source 'a': app_id: must be text: the application's id"),
        (
            SECRETIVE.replace("env:APP_ID", "x").replace("gb", "xx"),
            "s.toml: source 'a': country: not usable: one of at,",
        ),
        (
            SECRETIVE.replace("env:APP_ID", "x") + "id_rule = 'guid'\n",
            "s.toml: source 'a': id_rule: adzuna has ids of its own",
        ),
        (SECRETIVE.replace("env:APP_ID", "x") + "tokn = 'x'\n", "s.toml: source 'a': tokn: Extra inputs are not"),
        (
            ENTRY.replace('"feed"', '"upwork"'),
            "s.toml: source 'a': terms_read: missing: write 'yes' once you have read",
        ),
        (
            ENTRY.replace('"feed"', '"ats"') + 'board = "taleo:x"\n',
            "s.toml: source 'a': board: not usable: SYSTEM:BOARD",
        ),
        (
            ENTRY.replace('"feed"', '"mailbox"') + 'user="u"\npassword="p"\n',
            "s.toml: source 'a': url: an absolute imaps or imap",
        ),
        (ENTRY.replace("https:", "imaps:"), "s.toml: source 'a': url: an absolute http"),
    ],
    ids=lambda text: text[-40:],
)
def test_an_error_in_a_kinds_own_field_says_what_it_is_and_never_its_value(text: str, says: str) -> None:
    with pytest.raises(BadSources) as raised:
        parse(text, where="s.toml", environ={})
    assert str(raised.value).startswith(says)
    assert "s3cret" not in str(raised.value)


def test_a_plain_entry_has_the_defaults_of_a_feed() -> None:
    assert parse(ENTRY, where="s.toml") == (SourceConfig("a", "feed", "https://board.example/f"),)


def test_an_entrys_own_fields_come_before_those_of_its_kind() -> None:
    text = '[[source]]\nname = "w"\nkind = "weworkremotely"\nurl = "http://127.0.0.1:1/f"\nmin_interval_s = 0\n'
    (source,) = parse(text, where="s.toml")
    assert (source.url, source.min_interval_s) == ("http://127.0.0.1:1/f", 0)
    assert (source.platform, source.title_form) == ("weworkremotely", "{company}: {title}")


def test_an_empty_list_is_a_list() -> None:
    assert parse("", where="s.toml") == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ENTRY + "intervall = 5\n", "s.toml: source 'a': intervall: Extra inputs are not permitted"),
        (
            ENTRY.replace('"feed"', '"fede"'),
            "s.toml: source 'a': kind: one of feed, weworkremotely, remoteok, remotive,",
        ),
        (ENTRY.replace('kind = "feed"\n', ""), "s.toml: source 'a': kind: one of"),
        (ENTRY + ENTRY, "s.toml: source 'a': name: used twice"),
        (ENTRY.replace('name = "a"\n', ""), "s.toml: source number 1: name: Field required"),
        (ENTRY.replace('"a"', '"a/b"'), "s.toml: source 'a/b': name: printable"),
        (ENTRY.replace('"a"', '""'), "s.toml: source number 1: name: "),
        (ENTRY.replace("url = ", "# "), "s.toml: source 'a': url: Field required"),
        (ENTRY.replace("https://board.example/f", "board.example/f"), "s.toml: source 'a': url: an absolute http"),
        (ENTRY.replace("https:", "ftp:"), "s.toml: source 'a': url: an absolute http"),
        (ENTRY.replace("https://board.example/f", "https://[x"), "s.toml: source 'a': url: not a URL"),
        (ENTRY + "min_interval_s = -1\n", "s.toml: source 'a': min_interval_s: Input should be greater"),
        (ENTRY + "min_interval_s = 99999999\n", "s.toml: source 'a': min_interval_s: Input should be less"),
        (ENTRY + 'min_interval_s = "1h"\n', "s.toml: source 'a': min_interval_s: Input should be a valid integer"),
        (ENTRY + "min_interval_s = true\n", "s.toml: source 'a': min_interval_s: Input should be a valid integer"),
        (ENTRY + 'id_rule = "best"\n', "s.toml: source 'a': id_rule: unknown id rule"),
        (ENTRY + "id_rule = 'regex:('\n", "s.toml: source 'a': id_rule: not a regular expression"),
        (ENTRY + 'title_form = "x"\n', "s.toml: source 'a': title_form: a title form"),
        ('[source]\nname = "a"\n', "s.toml: 'source' must be a list"),
        ("[sources]\n", "s.toml: unknown table 'sources'"),
        ("x =\n", "s.toml: "),
        ("".join(ENTRY.replace('"a"', f'"{n}"') for n in range(SOURCES_MAX + 1)), "s.toml: more than"),
    ],
    ids=lambda text: text[-40:],
)
def test_an_error_names_the_file_the_entry_and_the_field(text: str, says: str) -> None:
    with pytest.raises(BadSources) as raised:
        parse(text, where="s.toml")
    assert str(raised.value).startswith(says)
    assert "\n" not in str(raised.value)


def test_an_error_about_a_url_does_not_show_it() -> None:
    with pytest.raises(BadSources) as raised:
        parse(ENTRY.replace("https://board.example/f", "ftp://u:s3cret@board.example/?key=s3cret"), where="s.toml")
    assert "s3cret" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSources, match=r"none\.toml: cannot be read"):
        load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    with pytest.raises(BadSources, match=r"latin\.toml: not UTF-8"):
        load(tmp_path / "latin.toml")


def test_the_shipped_list_is_where_it_is_looked_for() -> None:
    assert SHIPPED.is_file()
    assert load(str(SHIPPED)) == load()


def test_the_page_on_sources_has_every_kind_with_its_interval_and_credentials() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text()
    rows = {line.split("|")[1].strip(" `"): line for line in page.splitlines() if line.startswith("| `")}
    assert rows.keys() == set(NAMES)
    for name, row in rows.items():
        kind = kind_of(name)
        minutes = (kind.min_interval_s or kind.floor_s) // 60
        assert f"{minutes} min" in row or f"{minutes // 60} h" in row, name
        named = {option for option in kind.options if f"`{option}`" in row}
        assert {option for option, how in kind.options.items() if how.required} <= named, name


def test_a_list_with_a_mark_that_an_editor_put_in_front_is_read(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(ENTRY, encoding="utf-8-sig")
    assert [source.name for source in load(tmp_path / "s.toml")] == ["a"]
