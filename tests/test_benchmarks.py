"""The table of benchmarks: frozen, flyable, and started where it says."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from tendon_gym import benchmarks, config
from tendon_gym.benchmarks import BENCHMARKS, Benchmark
from tendon_gym.registration import ENTRIES

FROZEN = Path(__file__).parent / "data" / "benchmarks.json"

names = pytest.mark.parametrize("name", BENCHMARKS)


def vector_env(name, n, **changes):
    benchmark = benchmarks.get(name)
    return gymnasium.make_vec(
        benchmark.entry.id, num_envs=n, **{**benchmark.env_settings(), **changes}
    )


def test_entries_never_change():
    """A guard: what must change gets a new name, and only new names are added to the file."""
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    table = json.loads(json.dumps({name: config.to_dict(b) for name, b in BENCHMARKS.items()}))
    assert table == frozen


@names
def test_flies_with_its_own_interface(name):
    benchmark = BENCHMARKS[name]
    assert benchmark.name == name
    env = vector_env(name, 2)
    observation, _ = env.reset(seed=benchmark.first_seed)
    assert observation.shape[0] == 2
    assert env.core.horizon == round(benchmark.horizon * env.core.config.control_frequency)
    assert env.core.config.rotor_action == benchmark.interface["rotor_action"]
    assert env.core.config.tendon_action == benchmark.interface["tendon_action"]
    env.close()


@names
def test_settings_are_json(name):
    settings = BENCHMARKS[name].env_settings()
    assert json.loads(json.dumps(settings)) == settings


def test_entries_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BENCHMARKS["track-steady"].horizon = 1.0


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'hover-thrust'.*'tether-perch', got 'hover'"):
        benchmarks.get("hover")
    with pytest.raises(ValueError, match=r"track-steady.*Hover.*got 'hover'"):
        benchmarks.find("hover")


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_tasks_are_found_by_name_and_id(entry):
    by_name, by_id = benchmarks.find(entry.name), benchmarks.find(entry.id)
    assert by_name == by_id
    assert (by_name.task, by_name.horizon) == (entry.name, entry.horizon)
    assert by_name.env_settings({}) == ({"horizon": entry.horizon} if entry.horizon else {})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conditions": "mild"}, "conditions must be one of 'ideal', got 'mild'"),
        ({"task": "track"}, "task must be one of 'Hover'"),
        ({"horizon": 0.0}, "horizon must be finite and greater than 0"),
        ({"settle": 8.0}, "settle must be .* less than 8"),
        ({"interface": {"reward": {}}}, "interface has no 'reward'; it takes rotor_action"),
        ({"episodes": 0}, "episodes must be an integer of at least 1, got 0"),
        ({"first_seed": -1}, "first_seed must be an integer of at least 0, got -1"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_entries_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(BENCHMARKS["track-steady"], **changes)


@pytest.mark.parametrize("setting", ["model", "reference", "reward", "start", "limits", "horizon"])
def test_a_policy_cannot_choose_the_task(setting):
    with pytest.raises(ValueError, match=f"a policy's interface has no '{setting}'"):
        BENCHMARKS["track-steady"].env_settings({"rotor_action": "thrust", setting: 1})


def test_another_reference_is_flown_to_its_end():
    changed = benchmarks.with_reference(BENCHMARKS["track-steady"], "mission")
    env = gymnasium.make_vec(changed.entry.id, num_envs=1, **changed.env_settings())
    assert env.core.horizon * env.core.step_time == pytest.approx(36.0)
    env.close()
    with pytest.raises(ValueError, match="ArmBend draws bends and takes no reference"):
        benchmarks.with_reference(BENCHMARKS["armbend-tension"], "mission")


def test_the_steady_figure_eight_starts_on_itself_at_phases_spread_evenly():
    env = vector_env("track-steady", 200)
    env.reset(seed=benchmarks.FIRST_SEED)
    core = env.core
    phase = 2.0 * math.pi * core.schedule.phase / 8.0
    turn = 2.0 * math.pi / 8.0
    place = np.stack([1.2 * np.sin(phase), 0.72 * np.sin(2 * phase), np.full(200, 1.6)], 1)
    speed = turn * np.stack([1.2 * np.cos(phase), 1.44 * np.cos(2 * phase), np.zeros(200)], 1)
    assert np.allclose(core.engine.qpos[:, :3], place, atol=1e-12)
    assert np.allclose(core.engine.qvel[:, :3], speed, atol=1e-12)
    level = np.array([1.0, 0.0, 0.0, 0.0])
    assert np.allclose(core.engine.qpos[:, 3:7], level, atol=1e-12)
    assert not core.engine.qpos[:, 7:].any()
    assert not core.engine.qvel[:, 3:].any()
    # Kolmogorov and Smirnov: even draws leave this band once in 1000 times
    share = np.sort(core.schedule.phase / 8.0)
    steps = np.arange(1, 201) / 200
    assert max(np.abs(share - steps).max(), np.abs(share - steps + 1 / 200).max()) < 0.138
    env.close()


def test_an_episode_is_the_same_among_any_number_of_others():
    starts = []
    for n, k in ((1, 3), (5, 0)):
        env = vector_env("track-steady", n)
        env.reset(seed=benchmarks.FIRST_SEED + k)
        starts.append(env.core.engine.qpos[3 - k])
        env.close()
    assert np.array_equal(*starts)


def test_the_mission_starts_near_one_metre_and_counts_from_the_climb_on():
    env = vector_env("track-mission", 50)
    env.reset(seed=1)
    assert not env.core.schedule.phase.any()
    offsets = env.core.engine.qpos[:, :3] - [0.0, 0.0, 1.0]
    assert np.abs(offsets).max() < 0.2
    assert np.ptp(offsets, axis=0).min() > 0.3
    reference = env.core.schedule.source
    settle = BENCHMARKS["track-mission"].settle
    assert np.allclose(reference.at([0.0, settle])["position"], [0.0, 0.0, 1.0])
    assert reference.at([settle + 0.5])["velocity"][0, 2] > 0.01
    env.close()


def test_a_task_flies_to_the_end_of_its_reference_unless_told():
    plain = Benchmark("x", "Track", "", None, settings={"reference": "mission"})
    assert "horizon" not in plain.env_settings()


if __name__ == "__main__":  # `python tests/test_benchmarks.py` adds new names to the file
    known = json.loads(FROZEN.read_text(encoding="utf-8")) if FROZEN.exists() else {}
    new = {name: config.to_dict(b) for name, b in BENCHMARKS.items()}
    FROZEN.write_text(json.dumps({**new, **known}, indent=1) + "\n", encoding="utf-8")
