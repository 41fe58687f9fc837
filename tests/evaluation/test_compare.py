"""Comparisons: the order of the controllers, the text, the JSON and the plots made from it."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import re

import imageio.v3 as imageio
import numpy as np
import pytest

from tendon_gym import benchmarks
from tendon_gym.envs.ends import REASONS
from tendon_gym.evaluation import plots
from tendon_gym.evaluation.compare import compare, decision_time, load, save
from tendon_gym.evaluation.metrics import METRICS
from tendon_gym.evaluation.statistics import difference
from tendon_gym.evaluation.table import aligned, table

POLICIES = ["zero", "random", "geometric_paper", "geometric_full"]


@pytest.fixture(scope="module")
def result():
    """Five episodes of the steady figure-eight, half as long as the benchmark's."""
    benchmark = dataclasses.replace(benchmarks.get("track-steady"), horizon=5.0)
    return compare(benchmark, ["zero", "random"], episodes=5)


def mean(result, policy, metric):
    return result["policies"][policy]["metrics"][metric]["mean"]


def test_the_two_geometric_controllers_always_fly(result):
    assert list(result["policies"]) == POLICIES


@pytest.mark.parametrize("policy", ["zero", "random"])
def test_the_papers_controller_beats_doing_nothing_and_anything(result, policy):
    assert mean(result, "geometric_paper", "position_rms") < 0.05
    assert mean(result, policy, "position_rms") > 1.0
    assert mean(result, "geometric_paper", "ended_early") == 0.0
    assert mean(result, policy, "ended_early") == 1.0
    assert mean(result, "geometric_paper", "reward") > mean(result, policy, "reward") + 0.3
    assert mean(result, "geometric_paper", "success") > mean(result, policy, "success")
    gap = result["policies"][policy]["metrics"]["position_rms"]["difference"]
    assert 1.0 < gap["interval"][0] <= gap["mean"] <= gap["interval"][1]


def test_the_full_law_beats_the_papers(result):
    gap = result["policies"]["geometric_full"]["metrics"]["position_rms"]["difference"]
    assert gap["interval"][1] < -0.01
    paper = mean(result, "geometric_paper", "position_rms")
    assert mean(result, "geometric_full", "position_rms") < 0.4 * paper


def test_the_paper_controllers_error_is_the_papers(result):
    """It reports 3.1 cm over the mission, most of which is this figure."""
    assert 0.02 < mean(result, "geometric_paper", "position_rms") < 0.045


def test_the_bend_is_held_by_those_that_stay_up(result):
    held = {name: row["bend_held"] for name, row in result["policies"].items()}
    assert held == dict(zip(POLICIES, [False, False, True, True], strict=True))


def test_differences_are_paired_with_the_chosen_reference(result):
    rows = result["policies"]
    for row in rows.values():
        for name in METRICS:
            own, paper = (r["metrics"][name] for r in (row, rows["geometric_paper"]))
            gap = difference(np.array(own["values"]), np.array(paper["values"]))
            assert own["difference"]["mean"] == pytest.approx(gap["mean"])
    short = dataclasses.replace(benchmarks.get("armbend-tension"), horizon=0.1, settle=0.0)
    other = compare(short, ["zero"], episodes=2, reference="zero")
    assert other["reference"] == "zero"
    for name in METRICS:
        assert other["policies"]["zero"]["metrics"][name]["difference"]["mean"] == 0.0
    assert mean(other, "geometric_paper", "tension_effort") > 0.0


def test_json_holds_everything_and_comes_back_equal(result, tmp_path):
    save(result, tmp_path / "comparison.json")
    assert load(tmp_path / "comparison.json") == json.loads(json.dumps(result))
    assert result["seeds"] == [*range(10_000, 10_005)]
    assert {"python", "tendon_gym", "mujoco", "gymnasium", "numpy"} <= set(result["versions"])
    assert result["machine"]["cores"] >= 1
    row = result["policies"]["geometric_paper"]
    assert row["settings"]["rotor_action"] == "thrust"
    assert row["settings"]["reference"]["name"] == "steady_figure_eight"
    assert all(len(value["values"]) == 5 for value in row["metrics"].values())
    assert row["decision_time"] > 0.0
    for text in ("{", "[]", '{"policies": {}}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match=r"bad\.json is no"):
            load(tmp_path / "bad.json")


def test_the_table_fits_and_shows_the_numbers(result):
    text = table(result)
    assert max(map(len, text.splitlines())) <= 120
    assert "5 episodes of 5 s, seeds from 10000, ideal conditions" in text
    assert "bend not held, so that the position does not count: zero, random" in text
    line = next(line for line in text.splitlines() if line.startswith("geometric_full"))
    cells = line.split()
    full = result["policies"]["geometric_full"]["metrics"]
    assert float(cells[1]) == pytest.approx(100 * full["position_rms"]["mean"], abs=0.006)
    assert float(cells[2]) == pytest.approx(100 * full["position_rms"]["worst"], abs=0.006)
    assert float(cells[3]) == pytest.approx(100 * max(full["position_max"]["values"]), abs=0.006)
    assert float(cells[4]) == pytest.approx(100 * full["tip_rms"]["mean"], abs=0.006)
    degrees = math.degrees(full["attitude_rms"]["mean"])
    assert float(cells[8]) == pytest.approx(degrees, abs=0.006)


def test_early_ends_are_told_by_their_reasons(result):
    for name, row in result["policies"].items():
        ended = row["ended_early"]
        assert list(ended) == list(REASONS[1:])
        for reason, count in ended.items():
            assert count == row["reasons"].count(reason)
        assert sum(ended.values()) == sum(row["metrics"]["ended_early"]["values"])
        assert (sum(ended.values()) == 5) == (name in ("zero", "random"))
    note = next(line for line in table(result).splitlines() if line.startswith("episodes that"))
    for name in ("zero", "random"):
        ended = result["policies"][name]["ended_early"]
        words = " ".join(f"{count} {reason}" for reason, count in ended.items() if count)
        assert f"{name} ({words})" in note
    assert "geometric" not in note


def test_nothing_exceeds_the_bound_of_an_ended_flight(result):
    for row in result["policies"].values():
        assert max(row["metrics"]["position_max"]["values"]) <= 2.0


def test_intervals_of_few_episodes_are_left_out_and_the_note_says_why(result):
    few = copy.deepcopy(result)
    few["seeds"] = few["seeds"][:4]
    for row in few["policies"].values():
        for metric in row["metrics"].values():
            metric["values"] = metric["values"][:4]
            paired = np.array(metric["values"])
            metric["difference"] = difference(paired, np.zeros(4))
    text, full = table(few), table(result)
    assert "no intervals: 4 of the 5 episodes that they need at least" in text
    assert "no intervals" not in full
    assert re.search(r"\[[-+]\d", full) and "[95 % interval]" in full
    assert not re.search(r"\[[-+]\d", text) and "[95 % interval]" not in text


def test_the_table_fits_whatever_a_policy_is_called(result):
    wide = copy.deepcopy(result)
    for k, name in enumerate(POLICIES):
        wide["policies"][str(k) * 200] = wide["policies"].pop(name)
    wide["reference"] = "2" * 200
    assert max(map(len, table(wide).splitlines())) <= 120


def test_columns_are_aligned():
    text = aligned([["name", "x"], ["a", "1.00"], ["bcdef", "10.00"]])
    assert text.splitlines() == ["name       x", "a       1.00", "bcdef  10.00"]
    text = aligned([["a", "b", "c"], ["aa", "bb", "c"]], numbers=False)
    assert text.splitlines() == ["a   b   c", "aa  bb  c"]


def test_plots_come_from_the_json_alone(result, tmp_path):
    save(result, tmp_path / "comparison.json")
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    files = plots.save_all(result, first)
    again = plots.save_all(load(tmp_path / "comparison.json"), second)
    assert [path.name for path in files] == ["intervals.png", "paths.png", "errors.png"]
    for one, other in zip(files, again, strict=True):
        picture = imageio.imread(one)
        assert np.array_equal(picture, imageio.imread(other))
        assert picture.shape[0] > 200
        assert picture[..., :3].std() > 5.0


def test_plots_show_the_numbers_in_their_units(result):
    names = list(result["policies"])
    for panel, (metric, scale) in zip(
        plots.intervals(result).axes,
        [("position_rms", 100.0), ("tip_rms", 100.0), ("bend_rms", 1000.0)],
        strict=True,
    ):
        means = [line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"]
        shown = [max(scale * mean(result, name, metric), scale * plots.LEAST) for name in names]
        assert means == pytest.approx(shown)
    for plot, key, scale in ((plots.errors, "position_error", 100.0), (plots.paths, "path", 1.0)):
        lines = {line.get_label(): line for line in plot(result).axes[0].lines}
        for name in names:
            curve = np.array(result["policies"][name]["curves"][key])
            y = curve if curve.ndim == 1 else curve[:, 1]
            assert lines[name].get_ydata() == pytest.approx(scale * y, abs=scale * plots.LEAST)
    assert "reference" in lines


def test_a_single_episode_is_plotted_and_shown_without_intervals(tmp_path):
    short = dataclasses.replace(benchmarks.get("armbend-tension"), horizon=0.1, settle=0.0)
    single = compare(short, ["zero"], episodes=1)
    assert single["policies"]["zero"]["metrics"]["tip_rms"]["interval"] is None
    assert "1 episode of" in table(single)
    save(single, tmp_path / "single.json")
    plots.save_all(single, tmp_path)


def test_policies_of_one_name_and_unknown_ones_are_refused_before_anything_flies(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tendon_gym.evaluation.compare.fly", None)
    benchmark = benchmarks.get("track-steady")
    with pytest.raises(ValueError, match="two policies are called 'mine'"):
        compare(benchmark, [str(tmp_path / "a" / "mine"), str(tmp_path / "b" / "mine")])
    with pytest.raises(FileNotFoundError, match="no learned policy"):
        compare(benchmark, [str(tmp_path / "mine")])
    with pytest.raises(
        ValueError, match="cannot fly this Track: it does not know 'velocity_error'"
    ):
        compare(benchmark, ["zero", "bend-tension"])
    with pytest.raises(ValueError, match="Hover does not observe velocity_error, reference_accel"):
        compare(benchmarks.get("hover-thrust"), ["zero", "track-residual"])


def test_decisions_take_time():
    benchmark = benchmarks.get("armbend-tension")
    assert 0.0 < decision_time(benchmark, "zero", 5) < 1.0
    with pytest.raises(ValueError, match="repeats"):
        decision_time(benchmark, "zero", 0)
