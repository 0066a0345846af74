"""What `make bench` writes: its verdicts, its curves, its report. The measurements themselves are not run here."""

from __future__ import annotations

import importlib
import pkgutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import bench
from bench import Broken, Curve, Finding, Line, Series, Skipped
from bench._machine import Machine, peak_mib
from bench._plot import drawn
from bench._report import write

CURVE = Curve(
    "people",
    "People & letters",
    "people",
    "seconds",
    (
        Series("naive loop", ((10, 2.5), (100, 25.0), (1_000, 250.0)), is_scaled=True),
        Series("Scout's cycle", ((10, 0.1), (100, 0.5), (1_000, 4.0))),
    ),
)


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (Line("x", 2.0, at_most=2), "ok"),
        (Line("x", 2.1, at_most=2), "OVER"),
        (Line("x", 39.9, at_least=40), "OVER"),
        (Line("x", 150.0, at_least=100, at_most=200), "ok"),
        (Line("x", 1e9), "told"),
    ],
)
def test_a_line_is_held_to_its_bounds_and_told_without_any(line: Line, verdict: str) -> None:
    assert line.verdict == verdict


def test_a_curve_is_well_formed_and_straight_where_the_cost_grows_in_step() -> None:
    picture = ET.fromstring(drawn(CURVE))
    naive, _ours = picture.iter("{http://www.w3.org/2000/svg}polyline")
    (x0, y0), (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in naive.attrib["points"].split())
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.2)
    assert "scaled" in naive.attrib["class"]


def test_what_is_not_above_zero_has_no_place_on_a_logarithmic_axis() -> None:
    with pytest.raises(ValueError, match="above 0"):
        drawn(Curve("x", "x", "x", "x", (Series("x", ((1, 0.0),)),)))


def test_the_report_names_what_is_over_skipped_and_broken(tmp_path: Path) -> None:
    found: dict[str, list[Finding]] = {
        "cycle": [Line("too slow", 3, "x", at_most=2), CURVE],
        "cold": [Skipped("b", "not here"), Broken("c", "died")],
    }
    write(tmp_path, found, Machine.now())
    report = (tmp_path / "report.md").read_text()
    assert "0 of 1 bounds are kept. Over: too slow." in report
    assert "Skipped: b** (not here)" in report
    assert "Broken: c** (died)" in report
    assert "| 100 | 25 | 0.5 |" in report
    assert (tmp_path / "people.svg").is_file()


def test_every_measurement_can_be_run_and_says_what_it_is() -> None:
    names = [m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_")]
    modules = [importlib.import_module(f"bench.{name}") for name in names]
    assert [m.__name__ for m in modules if not callable(getattr(m, "run", None)) or not m.__doc__] == []
    assert len(modules) >= 10


def test_a_process_knows_its_own_peak_of_memory() -> None:
    assert 5 < peak_mib() < 5_000
