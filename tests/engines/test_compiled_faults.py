"""Faults, odd inputs, forks and copies of the compiled engine: each stays where it belongs."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gymnasium as gym
import mujoco
import numpy as np
import pytest

import tendon_gym  # noqa: F401 (registers the environments)
from tendon_gym import engines
from tendon_gym.model import ModelParameters
from tests.engines.flights import STEPS, SUBSTEPS, Swinging, controls, starts, state, uneven

CHECKOUT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def vehicle() -> mujoco.MjModel:
    return uneven(ModelParameters())


FAULTS = {
    "NaN in qpos": ("qpos", 8, np.nan),
    "NaN in the quaternion": ("qpos", 4, np.nan),
    "huge qpos": ("qpos", 0, 1e11),
    "NaN in qvel": ("qvel", 3, np.nan),
    "huge qvel": ("qvel", 3, 1e12),
    "huge hinge speed": ("qvel", 9, 1e9),
    "infinite qvel": ("qvel", 10, -np.inf),
}


@pytest.mark.parametrize("law", [None, Swinging()], ids=["held", "law"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("n", [1, 4, 9])
def test_a_fault_stays_in_its_simulation(vehicle, n, fault, law):
    field, column, value = FAULTS[fault]
    victim, ids = n // 2, np.arange(n)
    qpos, qvel = starts(vehicle, n)
    ctrls = controls(vehicle, n)
    spoilt, sound = (engines.make("compiled", vehicle, n, threads=t) for t in (2, 1))
    for engine in (spoilt, sound):
        engine.reset(ids, qpos, qvel)
    for k in range(STEPS):
        for engine in (spoilt, sound):
            engine.ctrl[...] = ctrls[k]
        good = np.concatenate([spoilt.qpos[victim], spoilt.qvel[victim]])
        if k == 4:
            getattr(spoilt, field)[victim, column] = value
        spoilt.step(SUBSTEPS, law)
        sound.step(SUBSTEPS, law)
        if k != 4:
            assert not spoilt.unstable.any()
            continue
        assert np.array_equal(spoilt.unstable, ids == victim)
        assert np.array_equal(np.concatenate([spoilt.qpos[victim], spoilt.qvel[victim]]), good)
        assert np.isfinite(state(spoilt)).all()
        # what follows is a new episode
        spoilt.reset(ids[[victim]], qpos[[victim]], qvel[[victim]])
    others = ids != victim
    assert np.array_equal(state(spoilt)[others], state(sound)[others])
    clean = engines.make("compiled", vehicle, n)
    clean.reset(ids, qpos, qvel)
    for k in range(5, STEPS):
        clean.ctrl[...] = ctrls[k]
        clean.step(SUBSTEPS, law)
    assert np.array_equal(state(spoilt)[victim], state(clean)[victim])


def test_a_simulation_that_is_unstable_and_not_reset_goes_on_alone(vehicle):
    """Whoever steps on without a reset gets finite states, and the others fly on."""
    spoilt, sound = (engines.make("compiled", vehicle, 5) for _ in range(2))
    for engine in (spoilt, sound):
        engine.reset(np.arange(5), *starts(vehicle, 5))
    spoilt.qvel[2, 0] = np.nan
    for ctrl in controls(vehicle, 5):
        for engine in (spoilt, sound):
            engine.ctrl[...] = ctrl
            engine.step(SUBSTEPS)
        assert np.isfinite(state(spoilt)).all()
    keep = [0, 1, 3, 4]
    assert np.array_equal(state(spoilt)[keep], state(sound)[keep])


def test_a_fault_between_the_substeps_is_seen(vehicle):
    def law(time, qpos, qvel, ctrl):
        if time[1] == pytest.approx(0.004):
            qvel[1, 4] = np.nan

    engine = engines.make("compiled", vehicle, 3)
    qpos, qvel = starts(vehicle, 3)
    engine.reset(np.arange(3), qpos, qvel)
    engine.step(SUBSTEPS, law)
    assert np.array_equal(engine.unstable, [False, True, False])
    assert np.array_equal(engine.qpos[1], qpos[1])
    assert np.array_equal(engine.qvel[1], qvel[1])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e11])
def test_controls_that_are_no_numbers_do_what_they_do_in_mujoco(vehicle, value):
    """MuJoCo takes all controls of that simulation for zero."""
    rows = []
    for name in ("compiled", "mujoco"):
        engine = engines.make(name, vehicle, 3)
        engine.reset(np.arange(3), *starts(vehicle, 3))
        for ctrl in controls(vehicle, 3):
            engine.ctrl[...] = ctrl
            engine.ctrl[1, 2] = value
            engine.step(SUBSTEPS)
        rows.append((engine.unstable.copy(), engine.qpos.copy(), engine.qvel.copy()))
    for ours, theirs in zip(*rows, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_controls_beyond_their_range_are_clamped_and_left_as_written(vehicle):
    rows = []
    for name in ("compiled", "mujoco"):
        engine = engines.make(name, vehicle, 2)
        engine.reset(np.arange(2), *starts(vehicle, 2))
        ctrl = np.tile([-3.0, 50.0], (2, vehicle.nu))[:, : vehicle.nu]
        ctrl[:, 4:] *= 0.03
        engine.ctrl[...] = ctrl
        engine.step(20)
        assert np.array_equal(engine.ctrl, ctrl)
        rows.append((engine.qpos.copy(), engine.qvel.copy()))
    np.testing.assert_allclose(rows[0][0], rows[1][0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(rows[0][1], rows[1][1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("length", [0.5, 3.0, 0.0])
def test_quaternions_of_any_length_are_read_as_mujoco_reads_them(vehicle, length):
    rows = []
    for name in ("compiled", "mujoco"):
        engine = engines.make(name, vehicle, 2)
        qpos, qvel = (a.copy() for a in starts(vehicle, 2))
        qpos[1, 3:7] *= length
        engine.reset(np.arange(2), qpos, qvel)
        engine.step(SUBSTEPS)
        rows.append((engine.qpos.copy(), engine.qvel.copy(), engine.motion.site_position.copy()))
    for ours, theirs in zip(*rows, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_one_simulation_is_the_data_itself(vehicle):
    """What a user's own MuJoCo code writes to it is what the engine steps from."""
    engine, twin = (engines.make("compiled", vehicle, 1) for _ in range(2))
    for each in (engine, twin):
        each.reset(np.zeros(1, np.int64), *starts(vehicle, 1))
        each.step(SUBSTEPS)
    data = engine.data(0)
    data.qpos[2], data.qvel[7], data.ctrl[0] = 60.0, 0.5, 2.0
    twin.qpos[0, 2], twin.qvel[0, 7], twin.ctrl[0, 0] = 60.0, 0.5, 2.0
    for each in (engine, twin):
        each.step(SUBSTEPS)
    assert np.array_equal(state(engine), state(twin))
    assert engine.data(0).time == pytest.approx(engine.time[0])


def test_a_law_that_raises_leaves_an_engine_that_can_go_on(vehicle):
    def law(time, qpos, qvel, ctrl):
        if time[0] > 0.003:
            raise RuntimeError("no idea")

    engine, fresh = (engines.make("compiled", vehicle, 3, threads=2) for _ in range(2))
    engine.reset(np.arange(3), *starts(vehicle, 3))
    with pytest.raises(RuntimeError, match="no idea"):
        engine.step(SUBSTEPS, law)
    for each in (engine, fresh):
        each.reset(np.arange(3), *starts(vehicle, 3))
        each.step(SUBSTEPS, Swinging())
    assert np.array_equal(state(engine), state(fresh))


def test_two_engines_step_at_the_same_time_in_two_threads(vehicle):
    """Each has memory of its own; the lock of Python is let go while they step."""
    flown = engines.make("compiled", vehicle, 9, threads=2), engines.make("compiled", vehicle, 9)
    expected = engines.make("compiled", vehicle, 9, threads=1)
    for engine in (*flown, expected):
        engine.reset(np.arange(9), *starts(vehicle, 9))

    def fly(engine):
        for ctrl in controls(vehicle, 9):
            engine.ctrl[...] = ctrl
            engine.step(SUBSTEPS)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fly, flown))
    fly(expected)
    for engine in flown:
        assert np.array_equal(state(engine), state(expected))


PLAIN = """
import sys
import numpy as np
from tendon_gym import engines
from tendon_gym.model import Arm, ModelParameters, build_model
model = build_model(ModelParameters(arm=Arm(n_links=2)))
engine = engines.make("compiled", model, 3)
qpos = np.tile(model.qpos0, (3, 1))
qpos[:, -4:] = np.arange(12).reshape(3, 4) * 0.02
engine.reset(np.arange(3), qpos, np.full((3, model.nv), 0.1))
engine.ctrl[:] = 1.0
engine.step(10)
np.save(sys.argv[1], np.concatenate([engine.qpos, engine.qvel], axis=1))
"""


def test_it_runs_as_plain_python_for_a_debugger(tmp_path):
    ends = []
    for plain in ("0", "1"):
        path = tmp_path / f"{plain}.npy"
        subprocess.run(
            [sys.executable, "-c", PLAIN, str(path)],
            env={**os.environ, "PYTHONPATH": str(CHECKOUT), "NUMBA_DISABLE_JIT": plain},
            check=True,
            timeout=240,
        )
        ends.append(np.load(path))
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-12)


FORK = """
import os, signal, warnings
warnings.simplefilter("ignore")
import numpy as np
from tendon_gym import engines
from tendon_gym.model import ModelParameters, build_model
model = build_model(ModelParameters())
def fresh(n, threads):
    engine = engines.make("compiled", model, n, threads=threads)
    engine.reset(np.arange(n), np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv)))
    return engine
engine = fresh(16, 2)
engine.step(5)
child = os.fork()
if child == 0:
    signal.alarm(60)
    code = 0
    try:
        engine.step(5)
    except RuntimeError as error:
        code = 7 if "fork" in str(error) else 1
    else:
        alone = fresh(16, 1)
        alone.step(10)
        code = 0 if np.array_equal(engine.qpos, alone.qpos) else 2
    fresh(16, 2).step(5)
    os._exit(code)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
engine.step(5)
"""


def test_after_a_fork_the_child_flies_on_or_is_told(tmp_path):
    """A pool of threads does not come along; waiting for it for ever is what must not happen."""
    done = subprocess.run(
        [sys.executable, "-c", FORK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() in ("0", "7")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_environments_are_copied_with_their_engine(make, again):
    settings = {"num_envs": 3, "threads": 2} if make is gym.make_vec else {}
    env = make("TendonGym/Track-v0", engine="compiled", rotor_action="attitude", **settings)
    twin, rows = again(env), []
    for each in (env, twin):
        observation, _ = each.reset(seed=5)
        rows.append([observation])
        each.action_space.seed(6)
        for _ in range(20):
            rows[-1].append(each.step(each.action_space.sample())[0])
        each.close()
    assert np.array_equal(*rows)
    assert type(twin.unwrapped.core.engine) is type(env.unwrapped.core.engine)


def test_asynchronous_environments_fly_the_same_in_forked_processes(vehicle):
    """Also where this process has stepped engines on threads before it forks."""
    engine = engines.make("compiled", vehicle, 16, threads=2)
    engine.reset(np.arange(16), *starts(vehicle, 16))
    engine.step(SUBSTEPS)
    settings = {"num_envs": 2, "engine": "compiled", "rotor_action": "body_rate"}
    seen = []
    for kind in ("async", "vector_entry_point"):
        options = {"context": "fork"} if kind == "async" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
            envs = gym.make_vec(
                "TendonGym/Hover-v0", vectorization_mode=kind, vector_kwargs=options, **settings
            )
        seen.append([envs.reset(seed=4)[0]])
        envs.action_space.seed(0)
        for _ in range(20):
            seen[-1].append(envs.step(envs.action_space.sample())[0])
        envs.close()
    assert np.array_equal(*seen)
