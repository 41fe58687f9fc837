"""The command: exit codes, what it writes, and the whole run."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from tendon_gym.evaluation.paper import PaperCommand, experiments, figures
from tendon_gym.evaluation.paper.expected import EXPECTED
from tendon_gym.evaluation.paper.experiments import Result


def series():
    """Return the series of a short, made-up run; one sample is missing, as after an early end."""
    time = np.linspace(0.0, 1.0, 5)
    track = np.stack([time, time**2, 1.0 + 0.0 * time], axis=1).tolist()
    error = [0.0, 0.01, 0.02, 0.01, math.nan]
    tips = [[0.1 * k, 0.0, -0.5] for k in range(3)]
    return {
        "mission": {
            "time": time.tolist(),
            "position": track,
            "reference": track,
            "tip": track,
            "error": error,
        },
        "bends": {
            "magnitudes": [0.0, 0.5, 1.0],
            "magnitude_tips": tips,
            "shapes": [[[0.0, 0.0, -0.02], tip] for tip in tips],
            "directions": [0.0, 2.0, 4.0],
            "direction_tips": tips,
            "older_map_tips": [],
        },
        "push": {
            "time": time.tolist(),
            "lateral": error,
            "error": error,
            "tilt": error,
            "start": 0.2,
            "end": 0.4,
        },
    }


def found():
    """Return a result that passes: the paper's own values, or the middle of the legal range."""
    values = {}
    for key, expected in EXPECTED.items():
        if key.startswith("cost."):
            continue
        value = expected.paper
        if value is None and expected.tolerance is not None:
            value = expected.tolerance.high
        values[key] = 1.0 if value is None else value
    phase = {
        "phase": "hover",
        "rms_cm": 0.0,
        "maximum_cm": math.nan,
        "tip_cm": 0.0,
        "lowest_thrust_n": 3.0,
        "highest_thrust_n": 3.0,
    }
    parts = ("mission", "hold", "bends", "push")
    return Result(values, [phase], series(), {part: {"all": (0.0, 0.1)} for part in parts})


@pytest.fixture
def canned(monkeypatch):
    """Replace the flights by results by controller, the paper's own ready."""
    results = {"geometric_paper": found()}
    monkeypatch.setattr(experiments, "fly_all", results.__getitem__)
    return results


@pytest.fixture
def undrawn(canned, monkeypatch):
    """Leave the figures out, too, where they don't matter: drawing takes a second or more."""
    monkeypatch.setattr(figures, "save_all", lambda result, folder: [])
    return canned


def run(folder, **fields):
    """Return the exit code and the text of a run into `folder`."""
    parts = []
    code = PaperCommand(out=folder, **fields).run(parts.append)
    return code, "".join(parts)


def test_a_run_that_passes(canned, tmp_path):
    code, text = run(tmp_path / "paper")
    assert code == 0
    assert " fail" not in text
    judged = sum(expected.tolerance is not None for expected in EXPECTED.values())
    assert f"{judged} pass" in text
    written = sorted(path.name for path in (tmp_path / "paper").iterdir())
    assert written == sorted(["paper.json", *(f"{name}.png" for name in figures.FIGURES)])
    assert all(str(tmp_path / "paper" / name) in text for name in written)


@pytest.mark.parametrize("key", ["mission.rms", "push.settling", "bend.straight"])
def test_a_judged_row_that_fails_is_told_by_the_exit_code(undrawn, tmp_path, monkeypatch, key):
    monkeypatch.setitem(EXPECTED, key, replace(EXPECTED[key], paper=2.0 * EXPECTED[key].paper))
    code, text = run(tmp_path)
    assert code == 1
    (line,) = [line for line in text.splitlines() if line.startswith(EXPECTED[key].experiment)]
    assert line.endswith("fail")
    assert "1 fail" in text


def test_a_flight_that_ended_early_fails(undrawn, tmp_path):
    undrawn["geometric_paper"].values["push.tilt"] = math.nan
    assert run(tmp_path)[0] == 1


def test_another_controller_has_no_verdict(undrawn, tmp_path):
    other = undrawn["geometric_full"] = found()
    other.values["mission.rms"] = 1.0
    other.values["push.tilt"] = 30.0
    other.values["push.deviation"] = 1.0
    other.bend["push"] = {"all": (0.5, 0.2)}
    code, text = run(tmp_path, controller="geometric_full")
    assert code == 0
    assert "pass" not in text
    verdicts = {row["key"]: row["verdict"] for row in stored(tmp_path)["rows"]}
    assert verdicts["mission.rms"] == "better"
    assert verdicts["push.tilt"] == "worse"
    assert verdicts["push.deviation"] == verdicts["push.settling"] == "bend not held"
    assert verdicts["mission.rotating_bend_rms"] == "equal"
    assert stored(tmp_path)["rows"][0]["yardstick"] == EXPECTED["mission.rms"].paper


def stored(folder):
    return json.loads((folder / "paper.json").read_text(encoding="utf-8"))


def test_the_json_holds_everything_and_draws_the_figures_again(canned, tmp_path):
    file = tmp_path / "deep" / "result.json"
    run(tmp_path / "out", json=file)
    result = json.loads(file.read_text(encoding="utf-8"))
    assert {"controller", "rows", "values", "phases", "versions", "machine", "model"} <= set(result)
    assert result["versions"]["mujoco"]
    assert result["model"]["solver"]["integrator"] == "implicitfast"
    assert result["gains"]["softest"]["k_rotation"] == [0.35, 0.35, 0.2]
    assert result["phases"][0]["maximum_cm"] is None
    assert set(result["rows"][0]) == {
        "key", "experiment", "paper", "measured", "yardstick", "unit", "tolerance", "source",
        "verdict",
    }  # fmt: skip
    again = tmp_path / "again"
    again.mkdir()
    for path in figures.save_all(result, again):
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes()
        assert path.stat().st_size > 5000


def test_older_results_stay(undrawn, tmp_path):
    run(tmp_path / "paper")
    before = (tmp_path / "paper" / "paper.json").read_bytes()
    _, text = run(tmp_path / "paper")
    assert str(tmp_path / "paper-2" / "paper.json") in text
    assert (tmp_path / "paper" / "paper.json").read_bytes() == before


def test_an_unknown_controller_is_refused_before_anything_happens(tmp_path):
    for controller, message in (("autopilot", "geometric_paper"), ("", "policy must be .*got ''")):
        with pytest.raises(ValueError, match=message):
            PaperCommand(out=tmp_path / "paper", controller=controller).run()
    assert not (tmp_path / "paper").exists()


def test_a_folder_that_cannot_be_written_is_told_before_anything_flies(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "fly_all", None)
    file = tmp_path / "file"
    file.write_text("")
    for fields in (
        {"out": file},
        {"out": file / "below"},
        {"out": tmp_path / "out", "json": file / "below" / "paper.json"},
        {"out": tmp_path / "out", "json": tmp_path},
    ):
        with pytest.raises(ValueError, match="output"):
            PaperCommand(**fields).run()
    assert list(tmp_path.iterdir()) == [file]


def test_a_run_that_fails_leaves_no_empty_folder(tmp_path, monkeypatch):
    def fail(controller):
        raise ValueError("no flight")

    monkeypatch.setattr(experiments, "fly_all", fail)
    with pytest.raises(ValueError, match="no flight"):
        PaperCommand(out=tmp_path / "a" / "out", json=tmp_path / "b" / "paper.json").run()
    assert not list(tmp_path.iterdir())


def test_the_text_goes_to_standard_output(undrawn, tmp_path, capsys):
    assert PaperCommand(out=tmp_path).run() == 0
    assert capsys.readouterr().out.startswith("experiment")


@pytest.mark.slow
def test_the_paper_is_reproduced(tmp_path):
    """The whole run: every judged row within its tolerance."""
    code, text = run(tmp_path)
    assert code == 0, text
    assert stored(tmp_path)["seconds"] < 1000.0
