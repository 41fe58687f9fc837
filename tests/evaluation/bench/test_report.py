"""Tables say what was measured, and a README takes up the summary."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib import image

from tendon_gym.evaluation.bench import parts, report
from tendon_gym.evaluation.bench.pictures import picture
from tendon_gym.evaluation.bench.requirements import judge
from tests.evaluation.bench.results import result, row


def whole():
    found = result()
    return {**found, "requirements": judge(found)}


def lines(text, beginning):
    return [line for line in text.splitlines() if line.startswith(f"| {beginning}")]


def test_engines_stand_side_by_side():
    text = report.full(whole())
    (line,) = lines(text, "native, 64 envs, 1 thread ")
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == [
        "native, 64 envs, 1 thread", "64", "1", "10,000", "100", "1 (0.9 to 1.1)", "100,000", "10",
        "10 (9 to 11)",
    ]  # fmt: skip


def test_all_tables_are_tables():
    """Every row of a table has as many cells as its head."""
    for block in re.findall(r"(?:^\|.*\n)+", report.full(whole()), re.MULTILINE):
        widths = {line.count("|") for line in block.splitlines()}
        assert len(widths) == 1


def test_everything_is_told():
    text = report.full(whole())
    for title in ("engine alone", "links", "Phases", "Memory", "Requirements", "Time of a physics"):
        assert re.search(rf"^## {title}", text, re.MULTILINE)
    assert "| compiled | 1 | 0.5 | 1.0000 |" in text
    assert "| law, 1 env, compiled | 6.00 | 2.00 | 0.70 | 0.30 | 9.00 | 10.00 | 0.900 |" in text
    assert "| compiled | 11.0 | 21.0 | 0 over 1,000 steps, 4 over 100 resets |" in text
    assert lines(text, "held actions: scalar, mujoco")[0].endswith("**no** |")
    assert "a processor, 2 of 4 cores" in text


def test_parts_that_were_not_measured_are_left_out():
    empty = {**whole(), "rows": [], "phases": [], "memory": {}, "fits": {}, "requirements": []}
    assert not lines(report.full(empty), "")


def test_a_readme_takes_the_summary_between_its_marks(tmp_path):
    readme = tmp_path / "README.md"
    text = f"before\n\n{report.BEGIN}\nold\n{report.END}\n\nafter\n"
    readme.write_text(text, encoding="utf-8")
    for _ in range(2):  # and again
        report.write_summary(whole(), readme)
        written = readme.read_text(encoding="utf-8")
        assert written.startswith(f"before\n\n{report.BEGIN}\n| case |")
        assert written.endswith(f"{report.END}\n\nafter\n")
        assert "old" not in written
    assert len(lines(written, "law at every 2 ms: scalar")) == 1
    assert not lines(written, "mj_step")


@pytest.mark.parametrize("text", ["nothing", report.BEGIN, report.END])
def test_a_readme_without_marks_is_refused(text, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="must have the lines"):
        report.write_summary(whole(), readme)
    assert readme.read_text(encoding="utf-8") == text


def test_the_fit_is_the_line_through_the_times_of_a_physics_step():
    rows = [
        row("links", "engine alone", "mujoco", 5.0 * (2.0 + 0.75 * links), 1.0, links=links)
        for links in (6, 12, 24, 48)
    ]
    found = parts.fits(rows)["mujoco"]
    assert found == pytest.approx({"slope": 0.75, "intercept": 2.0, "r_squared": 1.0})
    assert parts.fits([]) == {}


def test_the_picture_is_drawn(tmp_path):
    full = image.imread(picture(whole(), tmp_path / "full.png"))
    assert min(full.shape[:2]) > 500
    assert np.unique(full.reshape(-1, full.shape[2]), axis=0).shape[0] > 100
    few = {**whole(), "phases": [], "fits": {}}
    assert image.imread(picture(few, tmp_path / "few.png")).shape[0] < full.shape[0]
