"""The MuJoCo engine against a plain loop of mj_step, and its faults against a run without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.engines import MujocoEngine, available_threads
from tendon_gym.forces import ExternalWrench, ExternalWrenchTerm
from tendon_gym.model import ModelParameters, build_model, build_spec, preset

CHECKOUT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module", params=["default", "paper"])
def model(request):
    return build_model(preset(request.param))


def states(model: mujoco.MjModel, n: int, seed: int = 0):
    """Return qpos (n, nq) and qvel (n, nv) in the air, the arm bent and moving."""
    rng = np.random.default_rng(seed)
    qpos = np.tile(model.qpos0, (n, 1))
    qpos[:, :3] += rng.uniform(0.0, 1.0, (n, 3))
    qpos[:, 3:7] += rng.uniform(-0.2, 0.2, (n, 4))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    qpos[:, 7:] = rng.uniform(-0.1, 0.1, (n, model.nq - 7))
    return qpos, rng.uniform(-0.5, 0.5, (n, model.nv))


def controls(model: mujoco.MjModel, steps: int, n: int, seed: int = 1) -> np.ndarray:
    low, high = model.actuator_ctrlrange.T
    return np.random.default_rng(seed).uniform(low, high, (steps, n, model.nu))


class Swinging:
    """A control law: every control follows the time and the state."""

    def __call__(self, time, qpos, qvel, ctrl):
        for i in range(len(ctrl)):  # one simulation at a time: vectorised sums may round otherwise
            ctrl[i] = 3.0 + np.sin(7.0 * time[i] + np.arange(ctrl.shape[1])) + 0.1 * qvel[i, 2]
            ctrl[i] += 0.01 * qpos[i, 0]


def push(model: mujoco.MjModel, n: int) -> ExternalWrenchTerm:
    term = ExternalWrenchTerm(
        model, n, ExternalWrench("link_12", force=(1.0, 0.5, 0.0), start=0.03)
    )
    return term


def plain_loop(model, qpos, qvel, ctrls, substeps, law=None, pushed=False):
    """Return qpos and qvel after every control step of one simulation, by mj_step alone."""
    data = mujoco.MjData(model)
    data.qpos, data.qvel = qpos, qvel
    body, rows, count = model.body("link_12").id, [], 0
    for ctrl in ctrls:
        data.ctrl = ctrl
        for _ in range(substeps):
            time, count = count * model.opt.timestep, count + 1
            if law is not None:
                law(np.array([time]), data.qpos[None], data.qvel[None], data.ctrl[None])
            if pushed:
                data.xfrc_applied[body] = 0.0
                if time >= 0.03:
                    data.xfrc_applied[body, :3] = 1.0, 0.5, 0.0
            mujoco.mj_step(model, data)
        rows.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(rows)


@pytest.mark.parametrize("mode", ["held", "law", "push", "law and push"])
@pytest.mark.parametrize("n, threads", [(1, None), (5, 1), (5, 2), (2, None)])
def test_it_is_mj_step_bit_by_bit(model, n, threads, mode):
    steps, substeps = 12, 5
    qpos, qvel = states(model, n)
    ctrls = controls(model, steps, n)
    law = Swinging() if "law" in mode else None
    terms = [push(model, n)] if "push" in mode else []
    engine = MujocoEngine(model, n, terms, threads)
    engine.reset(np.arange(n), qpos, qvel)
    flown = np.zeros((n, steps, model.nq + model.nv))
    for k in range(steps):
        engine.ctrl[...] = ctrls[k]
        engine.step(substeps, law)
        flown[:, k, : model.nq], flown[:, k, model.nq :] = engine.qpos, engine.qvel
    for i in range(n):
        expected = plain_loop(model, qpos[i], qvel[i], ctrls[:, i], substeps, law, bool(terms))
        assert np.array_equal(flown[i], expected)
    assert (engine.time == steps * substeps * model.opt.timestep).all()


def test_partial_resets_leave_the_others_alone_and_start_afresh(model):
    qpos, qvel = states(model, 4)
    ctrls = controls(model, 20, 4)
    engine = MujocoEngine(model, 4, [push(model, 4)], 2)
    engine.reset(np.arange(4), qpos, qvel)
    for k in range(10):
        engine.ctrl[...] = ctrls[k]
        engine.step(5)
    before = engine.qpos[[0, 3]].copy()
    engine.reset(np.array([1, 2]), qpos[[1, 2]], qvel[[1, 2]])
    assert np.array_equal(engine.qpos[[0, 3]], before)
    assert np.array_equal(engine.qpos[[1, 2]], qpos[[1, 2]])
    assert np.array_equal(engine.ctrl[[1, 2]], np.zeros((2, model.nu)))
    assert np.array_equal(engine.time == 0.0, [False, True, True, False])
    for k in range(10, 20):
        engine.ctrl[...] = ctrls[k]
        engine.step(5)
    for i in (0, 3):
        expected = plain_loop(model, qpos[i], qvel[i], ctrls[:, i], 5, None, True)[-1]
        assert np.array_equal(np.concatenate([engine.qpos[i], engine.qvel[i]]), expected)
    for i in (1, 2):
        expected = plain_loop(model, qpos[i], qvel[i], ctrls[10:, i], 5, None, True)[-1]
        assert np.array_equal(np.concatenate([engine.qpos[i], engine.qvel[i]]), expected)


@pytest.mark.parametrize("height", [1.0, 0.3])
@pytest.mark.parametrize("n", [1, 3])
def test_looking_changes_nothing_even_in_contact(model, n, height):
    """At 0.3 m the arm lies on the floor, where the solver starts from its last solution."""
    qpos, qvel = states(model, n)
    qpos[:, 2] = height
    ctrls = controls(model, 30, n)
    ends, contacts = [], 0
    for looks in (False, True):
        engine = MujocoEngine(model, n)
        engine.reset(np.arange(n), qpos, qvel)
        for k in range(30):
            engine.ctrl[...] = ctrls[k]
            engine.step(5)
            if looks:
                contacts += sum(engine.data(i).ncon for i in range(n))
                assert engine.data(n - 1).time == pytest.approx(engine.time[-1])
        ends.append(np.concatenate([engine.qpos, engine.qvel], axis=1))
    assert np.array_equal(*ends)
    assert (contacts > 0) == (height < 0.5)


@pytest.mark.parametrize("n", [1, 3])
def test_data_shows_the_present_state_with_all_that_follows_from_it(model, n):
    engine = MujocoEngine(model, n)
    engine.reset(np.arange(n), *states(model, n))
    expected = mujoco.MjData(model)
    for ctrl in controls(model, 3, n):
        engine.ctrl[...] = ctrl
        engine.step(5)
        for i in range(n):
            data = engine.data(i)
            expected.qpos, expected.qvel = engine.qpos[i], engine.qvel[i]
            mujoco.mj_forward(model, expected)
            np.testing.assert_array_equal(data.qpos, engine.qpos[i])
            np.testing.assert_allclose(data.site_xpos, expected.site_xpos, rtol=0, atol=1e-14)
            np.testing.assert_allclose(data.ten_length, expected.ten_length, rtol=0, atol=1e-14)


def test_one_simulation_is_the_data_itself(model):
    engine = MujocoEngine(model, 1)
    engine.reset(np.zeros(1, int), *states(model, 1))
    engine.data(0).qpos[2] = 1.75
    assert engine.qpos[0, 2] == 1.75


FAULTS = {
    "NaN in qpos": ("qpos", 8, np.nan),
    "huge qpos": ("qpos", 0, 1e11),
    "NaN in qvel": ("qvel", 3, np.nan),
    "huge qvel": ("qvel", 3, 1e12),
    "infinite qvel": ("qvel", 10, -np.inf),
}


@pytest.mark.parametrize("law", [None, Swinging()], ids=["held", "law"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("n", [1, 4])
def test_a_fault_stays_in_its_simulation(model, n, fault, law):
    field, column, value = FAULTS[fault]
    victim, ids = n // 2, np.arange(n)
    qpos, qvel = states(model, n)
    ctrls = controls(model, 12, n)
    spoilt, sound = MujocoEngine(model, n, threads=2), MujocoEngine(model, n, threads=1)
    for engine in (spoilt, sound):
        engine.reset(ids, qpos, qvel)
    for k in range(12):
        for engine in (spoilt, sound):
            engine.ctrl[...] = ctrls[k]
        good = np.concatenate([spoilt.qpos[victim], spoilt.qvel[victim]])
        if k == 4:
            getattr(spoilt, field)[victim, column] = value
        spoilt.step(5, law)
        sound.step(5, law)
        if k == 4:
            assert np.array_equal(spoilt.unstable, ids == victim)
            held = np.concatenate([spoilt.qpos[victim], spoilt.qvel[victim]])
            assert np.array_equal(held, good)
            assert np.isfinite(spoilt.motion.body_position).all()
            assert np.isfinite(spoilt.motion.body_velocity).all()
            # what follows is a new episode
            spoilt.reset(ids[victim : victim + 1], qpos[[victim]], qvel[[victim]])
        else:
            assert not spoilt.unstable.any()
    others = ids != victim
    assert np.array_equal(spoilt.qpos[others], sound.qpos[others])
    assert np.array_equal(spoilt.qvel[others], sound.qvel[others])
    clean = MujocoEngine(model, n)
    clean.reset(ids, qpos, qvel)
    for k in range(5, 12):
        clean.ctrl[...] = ctrls[k]
        clean.step(5, law)
    assert np.array_equal(spoilt.qpos[victim], clean.qpos[victim])


def test_a_fault_between_the_substeps_is_seen(model):
    """MuJoCo resets such a simulation to the model's default and goes on: nothing looks wrong."""

    def law(time, qpos, qvel, ctrl):
        if time[1] == pytest.approx(0.004):
            qvel[1, 4] = np.nan

    engine = MujocoEngine(model, 3)
    qpos, qvel = states(model, 3)
    engine.reset(np.arange(3), qpos, qvel)
    engine.step(5, law)
    assert np.array_equal(engine.unstable, [False, True, False])
    assert np.array_equal(engine.qpos[1], qpos[1])


def fatal_model() -> mujoco.MjModel:
    """Return a model with so little memory that MuJoCo gives up on the floor, not in the air."""
    for memory in range(1 << 15, 1 << 17, 1 << 12):
        spec = build_spec(ModelParameters())
        spec.memory = memory
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data)
        data.qpos[2] = 0.05
        try:
            mujoco.mj_step(model, data)
        except mujoco.FatalError:
            return model
    raise AssertionError("no size of memory makes MuJoCo give up")


@pytest.mark.parametrize("n", [1, 3])
def test_an_error_of_mujoco_ends_one_episode_not_the_process(n):
    model = fatal_model()
    qpos, qvel = np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv))
    engine, sound = MujocoEngine(model, n), MujocoEngine(model, n)
    for each in (engine, sound):
        each.reset(np.arange(n), qpos, qvel)
        each.step(5)
    held = engine.qpos[0].copy()
    engine.qpos[0, 2] = 0.05
    engine.step(5)
    sound.step(5)
    assert np.array_equal(engine.unstable, np.arange(n) == 0)
    assert np.array_equal(engine.qpos[0], held)
    assert np.array_equal(engine.qpos[1:], sound.qpos[1:])
    engine.reset(np.zeros(1, int), qpos[:1], qvel[:1])
    for _ in range(2):
        engine.step(5)
        assert not engine.unstable.any()
    assert np.array_equal(engine.qpos[0], sound.qpos[0])


@pytest.mark.parametrize("n", [1, 2])
def test_states_to_start_from_are_checked_first(model, n):
    engine = MujocoEngine(model, n)
    qpos, qvel = states(model, n)
    engine.reset(np.arange(n), qpos, qvel)
    before = engine.qpos.copy()
    bad = qpos.copy()
    bad[-1, 5] = np.inf
    with pytest.raises(ValueError, match=r"qpos\[5\] must be finite, got inf$"):
        engine.reset(np.arange(n), bad, qvel)
    with pytest.raises(ValueError, match=r"qvel must have shape \(simulations, 30\)"):
        engine.reset(np.arange(n), qpos, qvel[:, :-1])
    assert np.array_equal(engine.qpos, before)


def test_the_threads_are_those_that_the_process_may_use(model):
    allowed = os.sched_getaffinity(0)
    assert available_threads(1) == 1
    assert available_threads(1000) == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert available_threads(1000) == 1
        engine = MujocoEngine(model, 6)
        assert engine._simulations.batch.nthread == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert MujocoEngine(model, 6, threads=3)._simulations.batch.nthread == 3


def test_engines_by_name(model):
    assert isinstance(engines.make("mujoco", model, 2), MujocoEngine)
    with pytest.raises(ValueError, match="'mujoco'"):
        engines.make("bullet", model, 2)
    with pytest.raises(ValueError, match="from 1 to 1024"):
        engines.make("mujoco", model, 2, threads=0)
    with pytest.raises(TypeError, match="integer"):
        engines.make("mujoco", model, 2, threads=1.5)


def run(code: str, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
    )


UNSTABLE = """
import logging, sys
import mujoco, numpy as np
seen = []
{before}
from tendon_gym.engines import MujocoEngine
from tendon_gym.model import ModelParameters, build_model
model = build_model(ModelParameters())
for n in (1, 3):
    engine = MujocoEngine(model, n)
    engine.reset(np.arange(n), np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv)))
    engine.qvel[0, 0] = np.nan
    engine.step(5)
    assert engine.unstable[0]
print(len(seen))
"""


def test_warnings_go_to_the_log_and_leave_no_file(tmp_path):
    keep = (
        "class Keep(logging.Handler):\n"
        "    def emit(self, record): seen.append(record)\n"
        "logging.getLogger('tendon_gym.mujoco').addHandler(Keep())"
    )
    done = run(UNSTABLE.format(before=keep), tmp_path)
    assert int(done.stdout) >= 2
    assert not done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_users_own_warning_handler_stays(tmp_path):
    mine = "mujoco.set_mju_user_warning(seen.append)"
    done = run(UNSTABLE.format(before=mine), tmp_path)
    assert int(done.stdout) >= 2
    assert not done.stderr
    assert list(tmp_path.iterdir()) == []


FORK = """
import os, warnings
warnings.simplefilter("ignore")
import numpy as np
from tendon_gym.engines import MujocoEngine
from tendon_gym.model import ModelParameters, build_model
model = build_model(ModelParameters())
engine = MujocoEngine(model, 4, threads=2)
engine.reset(np.arange(4), np.tile(model.qpos0, (4, 1)), np.zeros((4, model.nv)))
engine.step(5)
child = os.fork()
if child == 0:
    try:
        engine.step(5)
    except RuntimeError as error:
        os._exit(7 if "before a fork" in str(error) else 1)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
engine.step(5)
"""


def test_after_a_fork_the_child_is_told_instead_of_waiting_for_ever(tmp_path):
    assert run(FORK, tmp_path).stdout.strip() == "7"
