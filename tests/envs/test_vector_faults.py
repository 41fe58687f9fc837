"""What goes wrong in a vector environment: it is refused at once, or stays in one simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import mujoco
import numpy as np
import pytest

from tendon_gym.envs import core as core_module
from tendon_gym.model import ModelParameters, build, build_spec
from tendon_gym.registration import ENTRIES

CHECKOUT = Path(__file__).parent.parent.parent
HOVER, TRACK = ENTRIES["Hover"].id, ENTRIES["Track"].id


def unchanged_by(envs, twins, wrong, kind, message):
    """Check that a call raises and leaves everything as it is in the twins."""
    action = np.full(envs.action_space.shape, 0.1)
    for each in (envs, twins):
        each.reset(seed=3)
        each.step(action)
    with pytest.raises(kind, match=message):
        wrong(envs)
    mine, theirs = envs.step(action), twins.step(action)
    assert np.array_equal(mine[0], theirs[0]) and np.array_equal(mine[1], theirs[1])
    assert np.array_equal(mine[4]["time"], theirs[4]["time"])
    assert np.array_equal(envs.reset()[0], twins.reset()[0])


OPTIONS = [
    ([], TypeError, "options must be a dict, got"),
    (5, TypeError, "options must be a dict, got 5"),
    (0, TypeError, "options must be a dict, got 0"),
    ("phase", TypeError, "options must be a dict, got 'phase'"),
    ({"phases": 1.0}, ValueError, "options has no 'phases'; it takes qpos, qvel, phase"),
    ({"phase": -1.0}, ValueError, r"options\['phase'\] must be finite and at least 0"),
    ({"phase": 1e12}, ValueError, r"options\['phase'\] must be .* at most 1e\+06"),
    ({"phase": [1.0, 2.0, 3.0]}, ValueError, r"shape \(2\)"),
    ({"qpos": np.zeros(31)}, ValueError, r"length of the quaternion options\['qpos'\]\[0\]"),
    ({"qvel": np.full(30, 1e7)}, ValueError, r"options\['qvel'\]\[0\] must be .*at most 1e\+06"),
    ({"reset_mask": [True, False]}, TypeError, "reset_mask"),
    ({"reset_mask": np.array([True, False]), "phase": "x"}, TypeError, "phase"),
]


@pytest.mark.parametrize("options, kind, message", OPTIONS, ids=str)
def test_wrong_options_are_refused_before_anything_changes(options, kind, message):
    envs, twins = (gym.make_vec(TRACK, num_envs=2) for _ in range(2))
    reset = lambda env: env.reset(seed=9, options=options)  # noqa: E731
    unchanged_by(envs, twins, reset, kind, message)


@pytest.mark.parametrize("options, kind, message", OPTIONS[:7], ids=str)
def test_wrong_options_of_one_are_refused_before_anything_changes(options, kind, message):
    env, twin = gym.make(TRACK).unwrapped, gym.make(TRACK).unwrapped
    reset = lambda each: each.reset(seed=9, options=options)  # noqa: E731
    unchanged_by(env, twin, reset, kind, message)


@pytest.mark.parametrize("actions", [np.zeros((2, 6)), np.full((2, 7), np.nan), [["a"] * 7] * 2])
def test_wrong_actions_are_refused_before_anything_changes(actions):
    envs, twins = (gym.make_vec(HOVER, num_envs=2) for _ in range(2))
    unchanged_by(envs, twins, lambda env: env.step(actions), (ValueError, TypeError), "action")


@pytest.mark.parametrize("task", ["Bend", "ArmBend"])
@pytest.mark.parametrize("goal", [[0.0, 0.0, -2.0], [[0.1, 0.0, -0.4], [0.0, 0.9, 0.0]]])
def test_a_goal_out_of_reach_is_refused_with_the_reach_before_anything_changes(task, goal):
    """The arm doesn't stretch: nothing beyond its length from the flange can be touched."""
    arm = ModelParameters().arm
    settings = {"goal": "tip", "horizon": 5.0}
    envs, twins = (gym.make_vec(ENTRIES[task].id, num_envs=2, **settings) for _ in range(2))
    row = 0 if np.ndim(goal) == 1 else 1
    message = rf"options\['goal'\]\[{row}\] must be in the tip's reach of {arm.reach:g} m .* got "
    wrong = lambda env: env.reset(seed=9, options={"goal": goal})  # noqa: E731
    unchanged_by(envs, twins, wrong, ValueError, message)
    if row == 0:
        env, twin = (gym.make(ENTRIES[task].id, **settings).unwrapped for _ in range(2))
        unchanged_by(env, twin, wrong, ValueError, message)
    edge = [0.0, 0.0, -(arm.flange_offset + arm.reach)]
    envs.reset(seed=9, options={"goal": edge})
    assert np.array_equal(envs.unwrapped.core.goals.values, [edge, edge])


def test_a_phase_on_a_reference_that_ends_shortens_the_episode():
    def lengths(phases, **settings):
        envs = gym.make_vec(TRACK, num_envs=2, reference="figure_eight", **settings).unwrapped
        envs.reset(seed=0, options={"phase": phases})
        return envs.core.ends.horizon.tolist()

    seconds = gym.make(TRACK, reference="figure_eight").unwrapped.core.horizon * 0.01
    assert lengths([0.0, 3.0]) == [round(100 * seconds), round(100 * (seconds - 3.0))]
    assert lengths(seconds - 0.01) == [1, 1]
    assert lengths([0.0, 3.0], horizon=2.0) == [200, 200]
    assert lengths([0.0, seconds - 0.05], max_episode_steps=7) == [7, 5]
    with pytest.raises(ValueError, match="at most"):
        lengths(seconds)
    envs = gym.make_vec(TRACK, num_envs=2, reference="figure_eight").unwrapped
    envs.reset(seed=0, options={"phase": seconds - 0.03})
    ends = [envs.step(np.zeros((2, 7)))[3].tolist() for _ in range(3)]
    assert ends == [[False] * 2, [False] * 2, [True] * 2]
    envs.reset()
    assert envs.core.ends.horizon.tolist() == [round(100 * seconds)] * 2


@pytest.fixture
def little_memory(monkeypatch):
    """Let MuJoCo have so little memory that it gives up on the floor, not in the air."""

    def build_little(parameters):
        for memory in range(1 << 15, 1 << 17, 1 << 12):
            spec = build_spec(parameters)
            spec.memory = memory
            model = spec.compile()
            data = mujoco.MjData(model)
            mujoco.mj_step(model, data)
            data.qpos[2] = 0.05
            try:
                mujoco.mj_step(model, data)
            except mujoco.FatalError:
                return build(parameters)._replace(model=model)
        raise AssertionError("no size of memory makes MuJoCo give up")

    monkeypatch.setattr(core_module, "build", build_little)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_an_error_of_mujoco_ends_one_episode_and_touches_no_other(little_memory, mode):
    settings = {"autoreset_mode": mode, "threads": 2, "limits": {"distance": 50.0}}
    spoilt, sound = (gym.make_vec(HOVER, num_envs=4, **settings).unwrapped for _ in range(2))
    spoilt.reset(seed=0)
    sound.reset(seed=0)
    action, others = np.full((4, 7), 0.05), [0, 1, 3]
    for k in range(30):
        if k == 5:
            spoilt.core.engine.qpos[2, 2] = 0.05
        mine, theirs = spoilt.step(action), sound.step(action)
        assert np.array_equal(mine[0][others], theirs[0][others])
        assert np.array_equal(mine[1][others], theirs[1][others])
        assert np.isfinite(mine[0]).all() and np.isfinite(mine[1]).all()
        assert np.array_equal(mine[2], np.arange(4) == 2 if k == 5 else np.zeros(4, bool))
        if k == 5:
            told = mine[4]["final_info"] if mode == "SameStep" else mine[4]
            assert told["sim_unstable"].tolist() == [False, False, True, False]
            assert told["termination_reason"][2] == "unstable"
            if mode == "Disabled":
                spoilt.reset(options={"reset_mask": np.arange(4) == 2})


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
@pytest.mark.parametrize("value", [np.nan, 1e13])
def test_an_unstable_simulation_touches_no_other(engine, value):
    spoilt, sound = (
        gym.make_vec(HOVER, num_envs=5, engine=engine, threads=2, rotor_action="attitude").unwrapped
        for _ in range(2)
    )
    spoilt.reset(seed=0)
    sound.reset(seed=0)
    others = [0, 1, 2, 4]
    for k in range(12):
        if k == 4:
            spoilt.core.engine.qvel[3, 8] = value
        mine, theirs = spoilt.step(np.zeros((5, 7))), sound.step(np.zeros((5, 7)))
        assert np.array_equal(mine[0][others], theirs[0][others])
        assert mine[4]["sim_unstable"].tolist() == [False] * 3 + [k == 4, False]


@pytest.mark.parametrize("rotor_action", ["thrust", "residual", "attitude"])
@pytest.mark.parametrize("value", [np.nan, 1e13])
@pytest.mark.parametrize("low", [False, True], ids=["air", "ground"])
def test_an_unstable_end_is_seen_alike_on_both_engines(rotor_action, value, low):
    """The last good state, with the controls that had led to it; the time has gone on."""
    finals = []
    for engine in ("mujoco", "compiled"):
        settings = {"rotor_action": rotor_action, "engine": engine, "limits": {"distance": 3.0}}
        env = gym.make(HOVER, **settings).unwrapped
        envs = gym.make_vec(HOVER, num_envs=3, autoreset_mode="SameStep", **settings).unwrapped
        qpos = env.model.qpos0.copy()
        qpos[2] = 0.64 if low else 1.6  # where the tip may touch, MuJoCo takes over
        env.reset(seed=2, options={"qpos": qpos})
        envs.reset(seed=1, options={"qpos": qpos})
        for k in range(4):
            action = np.full(7, 0.1 * k - 0.2)
            seen, *_, info = env.step(action)
            envs.step(np.tile(action, (3, 1)))
        env.data.qvel[4] = value
        envs.core.engine.qvel[1, 4] = value
        last, reward, _, _, told = env.step(np.full(7, 0.5))
        *_, infos = envs.step(np.full((3, 7), 0.5))
        assert told["termination_reason"] == "unstable"
        assert np.array_equal(infos["final_obs"][1], last)
        for name in ("thrusts", "tensions"):
            assert np.array_equal(told[name], info[name])
            assert np.array_equal(infos["final_info"][name][1], info[name])
        assert told["action_rate"] == 0.0 and told["time"] == pytest.approx(0.05)
        assert np.array_equal(last, seen)  # a hover's reference stands still
        finals.append((last, reward, told["thrust_effort"], told["tension_effort"]))
    for mine, theirs in zip(*finals, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("number", [0, -1, 1_000_001, 1.5, "2", None])
def test_numbers_of_environments_that_are_none(number):
    with pytest.raises((ValueError, TypeError), match="num_envs must be an integer"):
        gym.make_vec(HOVER, num_envs=number)


@pytest.mark.parametrize("flag", [0, "yes", None])
def test_copy_is_a_flag(flag):
    with pytest.raises(TypeError, match="copy must be True or False"):
        gym.make_vec(HOVER, num_envs=2, copy=flag)


AFFINITY = """
import os
import gymnasium as gym
import tendon_gym
envs = gym.make_vec("TendonGym/Hover-v0", num_envs=96, **{settings})
envs.reset(seed=0)
core = envs.unwrapped.core
print(len(os.sched_getaffinity(0)), core.engine._simulations.batch.nthread, len(core._stages[0]))
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinities here")
@pytest.mark.parametrize("settings, threads", [({}, 1), ({"threads": 3}, 3)])
def test_threads_are_as_many_as_the_process_may_use_or_as_asked(settings, threads):
    """As after `taskset -c 0`; a number that is asked for is kept."""
    core = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{core}}})\n" + AFFINITY.format(settings=settings)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", str(threads), str(threads)]
