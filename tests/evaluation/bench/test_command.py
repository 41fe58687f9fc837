"""The quick benchmark runs and writes what it should; no time is judged."""

from __future__ import annotations

import json
import math

import pytest

from tendon_gym.evaluation.bench import BenchCommand

pytestmark = pytest.mark.slow

ENGINES = ("mujoco", "compiled")


def numbers(value):
    """Yield all numbers of nested values."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, (int, float)):
        yield value


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "out"
    said = []
    code = BenchCommand(quick=True, engines=ENGINES, out=folder).run(said.append)
    result = json.loads((folder / "steps_per_second.json").read_text(encoding="utf-8"))
    return code, folder, "".join(said), result


def test_it_writes_and_tells_everything(run):
    code, folder, said, _ = run
    assert code == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {f"steps_per_second.{kind}" for kind in ("json", "md", "png")}
    assert (folder / "steps_per_second.md").read_text(encoding="utf-8") in said
    assert str(folder) in said


def test_the_machine_and_the_versions_are_told(run):
    result = run[-1]
    assert result["machine"]["cores"] >= len(result["machine"]["affinity"]) >= 1
    assert result["machine"]["processor"]
    assert {"mujoco", "numpy", "numba", "gymnasium", "python", "torch"} <= set(result["versions"])
    assert result["protocol"]["rounds"] >= 5
    assert result["quick"] is True


def test_every_row_has_its_rates_and_its_yardstick(run):
    rows = run[-1]["rows"]
    for row in rows:
        assert all(math.isfinite(value) for value in numbers(row))
        assert row["us"]["low"] <= row["us"]["median"] <= row["us"]["high"]
        step = 1.0 / row["env_steps_per_second"]
        assert 1e6 * step == pytest.approx(row["us"]["median"])
        assert row["physics_steps_per_second"] * step == pytest.approx(row["substeps"])
        seconds = row["substeps"] * row["timestep"]
        assert row["simulated_seconds_per_second"] * step == pytest.approx(seconds)
        assert (row["speed"] is None) == (row["against"] is None)
        assert row["engine"] in ENGINES and row["num_envs"] >= 1 and row["threads"] >= 1
    names = [(row["part"], row["name"], row.get("links")) for row in rows]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_form_is_measured(run, engine):
    cases = {row["case"] for row in run[-1]["rows"] if row["engine"] == engine}
    for beginning in (
        "engine alone, 1 simulation,", "engine alone, 64", "scalar", "SyncVectorEnv",
        "AsyncVectorEnv", "native, 1 env,", "native, 64 envs", "thrust / reference",
        "none / bend", "native, 64 envs, 1 thread, policy track-residual", "SB3 PPO",
        "scalar, law inside",
    ):  # fmt: skip
        assert any(case.startswith(beginning) for case in cases), beginning


def test_the_law_is_measured_against_a_controller_in_numpy(run):
    found = [row for row in run[-1]["rows"] if row["part"] == "mission"]
    assert [row["case"] for row in found] == [
        "mj_step and a controller in NumPy", "mj_step", "scalar, law inside", "scalar, law inside",
    ]  # fmt: skip


def test_phases_memory_and_fits_are_there(run):
    result = run[-1]
    for each in result["phases"]:
        assert set(each["us"]) == {"physics", "control", "observation", "reward", "reset"}
        assert each["total_us"] > 0.0 and each["sum_over_total"] > 0.0
    for engine in ENGINES:
        assert result["memory"][engine]["engine_bytes"] > 1_000
        assert all(math.isfinite(value) for value in result["fits"][engine].values())
    assert any(each["name"].startswith("phases add up") for each in result["requirements"])


def test_some_parts_alone_and_never_over_older_results(tmp_path):
    command = BenchCommand(quick=True, parts=("engines",), out=tmp_path / "bench")
    for folder in ("bench", "bench-2"):
        assert command.run(lambda text: None) == 0
        text = (tmp_path / folder / "steps_per_second.json").read_text(encoding="utf-8")
        assert {row["part"] for row in json.loads(text)["rows"]} == {"engine alone"}
    assert command.run(lambda text: None, fresh=False) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench", "bench-2"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"parts": ("speed",)}, r"parts must be one of 'engines', .*, got 'speed'"),
        ({"engines": ("warp",)}, r"engine must be one of .*, got 'warp'"),
        ({"engines": ()}, r"engines must name at least one"),
        ({"parts": ()}, r"parts must name at least one"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_measured(wrong, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        BenchCommand(quick=True, out=tmp_path / "x", **wrong).run()
    assert not (tmp_path / "x").exists()


def test_a_readme_without_marks_is_refused_before_anything_is_measured(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("nothing", encoding="utf-8")
    with pytest.raises(ValueError, match="must have the lines"):
        BenchCommand(quick=True, out=tmp_path / "x", readme=readme).run()
    assert not (tmp_path / "x").exists()
