"""The external wrench against MuJoCo's own ways to push, in a plain loop."""

from __future__ import annotations

import gymnasium as gym
import mujoco
import numpy as np
import pytest

from tendon_gym import forces
from tendon_gym.engines import MujocoEngine
from tendon_gym.forces import ExternalWrench, ExternalWrenchTerm, Push
from tendon_gym.model import ModelParameters, build_model


@pytest.fixture(scope="module")
def model():
    return build_model(ModelParameters())


def fly(model, terms, n=1, steps=100, substeps=1):
    """Return qpos after every step from rest, (steps, n, nq)."""
    engine = MujocoEngine(model, n, terms)
    engine.reset(np.arange(n), np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv)))
    rows = []
    for _ in range(steps):
        engine.ctrl[:, :4] = 3.09
        engine.step(substeps)
        rows.append(engine.qpos.copy())
    return np.array(rows)


def plain(model, body, force, torque, start, end, steps=100):
    """Return the same by mj_step, pushing at the body's centre of mass with mj_applyFT."""
    data = mujoco.MjData(model)
    data.ctrl[:4] = 3.09
    rows = []
    for _ in range(steps):
        data.qfrc_applied[:] = 0.0
        if start <= data.time < end:
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            index = model.body(body).id
            mujoco.mj_applyFT(
                model, data, np.array(force), np.array(torque), data.xipos[index], index,
                data.qfrc_applied,
            )  # fmt: skip
        mujoco.mj_step(model, data)
        rows.append(data.qpos.copy())
    return np.array(rows)


CASES = [
    ("base", (0.5, -0.3, 0.2), (0.0, 0.0, 0.0)),
    ("link_12", (2.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ("link_5", (0.1, 0.2, -0.3), (0.01, -0.02, 0.005)),
    ("base", (0.0, 0.0, 0.0), (0.02, 0.01, -0.03)),
]


@pytest.mark.parametrize("body, force, torque", CASES)
@pytest.mark.parametrize("start, duration", [(0.0, None), (0.05, 0.06), (0.05, 0.0), (0.1, 10.0)])
def test_it_is_what_mujoco_applies(model, body, force, torque, start, duration):
    wrench = ExternalWrench(body, force, torque, start, duration)
    flown = fly(model, [ExternalWrenchTerm(model, 1, wrench)])[:, 0]
    end = np.inf if duration is None else start + duration
    # a hair earlier, since sums of time steps round
    expected = plain(model, body, force, torque, start - 1e-9, end - 1e-9)
    np.testing.assert_allclose(flown, expected, rtol=0, atol=1e-9)
    pushed = np.abs(flown - fly(model, [])[:, 0]).max() > 1e-5
    assert pushed == (duration != 0.0)


@pytest.mark.parametrize("substeps", [1, 5, 20])
def test_its_span_does_not_depend_on_the_control_steps(model, substeps):
    push = ExternalWrench("link_12", (2.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.05, 0.1)
    every = fly(model, [ExternalWrenchTerm(model, 1, push)], 1, 100)
    some = fly(model, [ExternalWrenchTerm(model, 1, push)], 1, 100 // substeps, substeps)
    assert np.array_equal(some, every[substeps - 1 :: substeps])


@pytest.mark.parametrize(
    "start, duration", [(0.0, 0.02), (0.01, 0.004), (0.004, 0.002), (3.0, 0.2), (7.002, 0.002)]
)
def test_it_acts_from_its_start_until_before_its_end(model, start, duration):
    """Counted physics steps, whose times are sums: those with start <= t < start + duration."""
    push = ExternalWrench("base", (1.0, 0, 0), (0, 0, 0), start, duration)
    term = ExternalWrenchTerm(model, 1, push)
    acting, time = [], np.zeros(1)
    for k in range(4000):
        wrench = np.zeros((1, model.nbody, 6))
        term.add(time, None, Push(wrench, np.zeros((1, model.nv)), np.zeros((1, 3))))
        if wrench.any():
            acting.append(k)
            assert np.array_equal(wrench[0, model.body("base").id], [1, 0, 0, 0, 0, 0])
        time += 0.002
    first = round(start / 0.002)
    assert acting == list(range(first, first + round(duration / 0.002)))


def test_each_simulation_has_its_own_until_its_reset(model):
    term = ExternalWrenchTerm(model, 3, ExternalWrench("base", (0.1, 0.0, 0.0)))
    term.set(1, ExternalWrench("link_3", torque=(0.0, 0.01, 0.0)))

    def now():
        wrench = np.zeros((3, model.nbody, 6))
        term.add(np.zeros(3), None, Push(wrench, np.zeros((3, model.nv)), np.zeros((3, 3))))
        return wrench

    base, link = model.body("base").id, model.body("link_3").id
    assert np.array_equal(now()[:, base, 0], [0.1, 0.0, 0.1])
    assert np.array_equal(now()[:, link, 4], [0.0, 0.01, 0.0])
    term.reset(np.array([0, 2]))
    assert np.array_equal(now()[:, link, 4], [0.0, 0.01, 0.0])
    term.reset(np.array([1]))
    assert np.array_equal(now()[:, base, 0], [0.1, 0.1, 0.1])
    assert not now()[:, link].any()


def test_terms_add_up(model):
    one = ExternalWrench("base", (0.3, 0.0, 0.0))
    other = ExternalWrench("base", (0.0, 0.2, 0.1), (0.0, 0.0, 0.01))
    both = ExternalWrench("base", (0.3, 0.2, 0.1), (0.0, 0.0, 0.01))
    apart = fly(model, [ExternalWrenchTerm(model, 1, w) for w in (one, other)])
    assert np.array_equal(apart, fly(model, [ExternalWrenchTerm(model, 1, both)]))


def test_it_pushes_an_environment_through_its_settings():
    """2 N at the last link for 0.2 s from t = 1 s: nothing before, a swing after."""
    push = {"body": "link_12", "force": [2, 0, 0], "start": 1.0, "duration": 0.2}
    flown = []
    for settings in ({}, {"forces": {"external_wrench": push}}):
        env = gym.make("TendonGym/Hover-v0", rotor_action="residual", **settings).unwrapped
        env.reset(seed=0)
        for k in range(150):
            env.step(np.array([0, 0, 0, 0, -1, -1, -1]))
            if k == 99:
                before = env.data.qpos.copy()
        flown.append((before, env.core.signals["tip"][0].copy()))
    assert np.array_equal(flown[0][0], flown[1][0])
    assert flown[1][1][0] - flown[0][1][0] > 0.1


@pytest.mark.parametrize(
    "values, kind, message",
    [
        ({"body": "wing"}, ValueError, "'base', 'link_1'"),
        ({}, ValueError, "body is required"),
        ({"body": "base", "force": [1, 2]}, ValueError, "3 elements"),
        ({"body": "base", "force": [1, 2, float("nan")]}, ValueError, "force"),
        ({"body": "base", "torque": "much"}, TypeError, "torque"),
        ({"body": "base", "start": -1.0}, ValueError, "start"),
        ({"body": "base", "duration": -1.0}, ValueError, "duration"),
        ({"body": "base", "when": 1.0}, ValueError, "has no 'when'; it takes body, force"),
    ],
)
def test_values_that_make_no_sense_raise(model, values, kind, message):
    with pytest.raises(kind, match=message):
        forces.make("external_wrench", model, 1, values)


def test_a_body_is_checked_when_a_wrench_is_set(model):
    term = ExternalWrenchTerm(model, 2, ExternalWrench("base"))
    with pytest.raises(ValueError, match="'wing'"):
        term.set(0, ExternalWrench("wing"))
