"""Tip control against open-loop allocation, and what it knows of the arm against SoftArm."""

from __future__ import annotations

import math
from dataclasses import replace

import gymnasium as gym
import mujoco
import numpy as np
import pytest

from tendon_gym import baselines
from tendon_gym.baselines.tip_control import TipControl, TipGains, bend_for, rest_at
from tendon_gym.baselines.tip_model import tip_model
from tendon_gym.chains import SoftArm
from tendon_gym.compiled import compiled
from tendon_gym.control import TendonAllocation
from tendon_gym.model import ModelParameters, build_model
from tendon_gym.registration import ENTRIES

DEFAULT = ModelParameters(base="clamped")
PARAMETERS = (
    DEFAULT,
    replace(DEFAULT, arm=replace(DEFAULT.arm, n_links=3, bending_stiffness=1e-2)),
)
tasks = pytest.mark.parametrize("task", ["ArmBend", "Bend"])


def make(task, n, name="tip_control", **settings):
    entry, baseline = ENTRIES[task], baselines.get(name)
    settings = {**baseline.interface(entry), "engine": "compiled", "goal": "tip", **settings}
    envs = gym.make_vec(entry.id, n, autoreset_mode="Disabled", **settings).unwrapped
    return envs, baseline.make(envs)


def steady(task, name, n, goals=None, **settings):
    """Return the root mean square (n,) of the tip's error in the last second of the episodes, m."""
    envs, policy = make(task, n, name, **settings)
    observations, _ = envs.reset(seed=10_000, options=None if goals is None else {"goal": goals})
    state, squares = None, []
    for _ in range(envs.core.horizon):
        actions, state = policy.predict(observations, state)
        observations, _, terminated, _, _ = envs.step(actions)
        assert not terminated.any()
        squares.append((envs.core.signals["tip_error"] ** 2).sum(axis=1))
    envs.close()
    return np.sqrt(np.mean(squares[-500:], axis=0))


def soft_arm(parameters):
    """Return the arm, and tensions as a function of the bend by the paper's map."""
    arm = SoftArm(build_model(parameters), "base", "tip")

    def tensions(bend):
        c = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]]) @ bend
        return 6.0 / math.sqrt(3.0) * (c - c.min())

    return arm, tensions


def random_bends(count, most, seed=0):
    rng = np.random.default_rng(seed)
    radius, angle = most * np.sqrt(rng.random(count)), 2.0 * np.pi * rng.random(count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


@tasks
def test_the_steady_error_is_five_times_smaller_at_places_that_can_be_reached(task):
    """In every one of 24 episodes, the tip's places taken from the arm at rest."""
    arm, tensions = soft_arm(DEFAULT)
    goals = np.array([arm.tip(arm.rest(tensions(b))).position for b in random_bends(24, 0.95)])
    open_loop, closed = (
        steady(task, name, 24, goals) for name in ("geometric_full", "tip_control")
    )
    assert (open_loop > 5.0 * closed).all()


@tasks
def test_the_steady_error_is_five_times_smaller_with_the_tasks_own_goals(task):
    """All together: full bends leave the tendons no room to damp what swings further out."""
    open_loop, closed = (steady(task, name, 64) for name in ("geometric_full", "tip_control"))
    assert math.sqrt((open_loop**2).mean()) > 5.0 * math.sqrt((closed**2).mean())
    assert np.median(open_loop / closed) > 10.0


def test_an_arm_of_many_links_is_calmed_where_it_is_strongly_bent():
    """The straight arm's gains would make it swing up there."""
    arm = replace(DEFAULT.arm, n_links=24)
    bent, tensions = soft_arm(replace(DEFAULT, arm=arm))
    angles = np.array([0.3, 1.7, 3.0, 5.0])
    bends = 0.87 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    goals = np.array([bent.tip(bent.rest(tensions(b))).position for b in bends])
    open_loop, closed = (
        steady("ArmBend", name, 4, goals, model={"arm": {"n_links": 24}})
        for name in ("geometric_full", "tip_control")
    )
    assert (open_loop > 2.0 * closed).all()


@compiled
def look_up(x, y, table):
    return rest_at(x, y, table)


@compiled
def invert(there, x, y, z):
    return bend_for(there, x, y, z)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_the_table_is_the_arm_at_rest(parameters):
    arm, tensions = soft_arm(parameters)
    table = tip_model(parameters).table
    for bend in [np.zeros(2), *random_bends(12, 0.9)]:
        there = np.array(look_up(*bend, table))
        tip = arm.tip(arm.rest(tensions(bend))).position
        np.testing.assert_allclose(there[:3], tip, atol=1.5e-3)
        for k, step in enumerate(0.02 * np.eye(2)):
            after, before = (arm.tip(arm.rest(tensions(bend + s))).position for s in (step, -step))
            slope = (after - before) / 0.04
            np.testing.assert_allclose(there[3:9].reshape(3, 2)[:, k], slope, atol=0.012)
        move = there[3:9].reshape(3, 2) @ [0.02, -0.03]
        np.testing.assert_allclose(invert(tuple(there), *move), [0.02, -0.03], rtol=1e-4)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_the_slowest_swing_is_that_of_the_simulation(parameters):
    """Released from a small pull of its tip the arm rings at that frequency."""
    model = build_model(parameters)
    model.dof_damping[:] = 0.0
    model.opt.density = model.opt.viscosity = 0.0
    arm, data = SoftArm(model, "base", "tip"), mujoco.MjData(model)
    straight = np.zeros(arm.n_joints)
    side = 0.01 * arm.tip_jacobian(straight)[0]
    data.qpos[:] = np.linalg.solve(arm.stiffness(straight, np.zeros(3)), side)
    side = []
    for _ in range(10_000):
        mujoco.mj_step(model, data)
        side.append(data.site("tip").xpos[0])
    spectrum = np.abs(np.fft.rfft(np.array(side) * np.hanning(len(side)), 8 * len(side)))
    peak = spectrum.argmax() / (8 * len(side) * model.opt.timestep)
    assert tip_model(parameters).frequency == pytest.approx(2.0 * np.pi * peak, rel=0.01)


def test_an_episode_starts_anew_and_keeps_what_it_was_given():
    envs, policy = make("Bend", 2)
    observations, _ = envs.reset(seed=0)
    state = None
    for _ in range(30):
        actions, state = policy.predict(observations, state)
        observations, *_ = envs.step(actions)
    kept = [part.copy() for part in state]
    actions, after = policy.predict(observations, state, episode_start=np.array([True, False]))
    fresh, first = policy.predict(observations)
    longer, _ = policy.predict(observations, state)
    for part, before in zip(state, kept, strict=True):
        np.testing.assert_array_equal(part, before)
    np.testing.assert_array_equal(actions, [fresh[0], longer[1]])
    assert not np.array_equal(fresh[1], longer[1])
    for part, new in zip(after, first, strict=True):
        np.testing.assert_array_equal(part[0], new[0])
    envs.close()


def test_nothing_winds_up_at_a_place_that_cannot_be_reached():
    """The command stays what tendons can do, and a place within reach is taken up at once."""
    envs, policy = make("ArmBend", 1)
    goal = np.array([[0.3, 0.1, -0.25]])
    observations, _ = envs.reset(seed=0, options={"goal": goal})
    state = None
    for _ in range(1500):
        actions, state = policy.predict(observations, state)
        observations, *_ = envs.step(actions)
        bend, correction = state[1][0, :2], state[1][0, 2:4]
        assert np.hypot(*bend) <= 1.0 + 1e-12
        assert np.hypot(*(bend + correction)) <= 1.0 + 1e-12
    assert np.hypot(*bend) == pytest.approx(1.0)
    layout = envs.observation_layout
    near = observations.copy()
    near[:, layout["tip_goal"].start : layout["tip_goal"].stop] = [0.0, 0.0, -0.526]
    for _ in range(round(1.2 / 2.0 / 0.002)):
        _, state = policy.predict(near, state)
    assert np.hypot(*state[1][0, :2]) < 0.01
    envs.close()


def test_a_far_start_counts_no_more_than_a_near_one():
    envs, policy = make("ArmBend", 1)
    gains = TipGains()
    qpos = np.zeros((1, envs.core.model.nq))
    qpos[0, 1::2] = 0.1  # bent by 1.2 rad
    goal = np.array([[0.0, 0.0, -0.526]])
    observations, _ = envs.reset(options={"goal": goal, "qpos": qpos})
    _, (_, memory) = policy.predict(observations)
    moved = np.hypot(*memory[0, 2:4])
    frequency = tip_model(envs.core.config.model).frequency
    assert moved == pytest.approx(gains.integral * frequency * 0.002 * gains.error)
    envs.close()


def test_where_a_bend_is_asked_its_tip_is_held():
    envs, policy = make("ArmBend", 8, goal="bend", horizon=4.0)
    observations, _ = envs.reset(seed=0)
    state, errors = None, []
    for _ in range(2000):
        actions, state = policy.predict(observations, state)
        observations, *_ = envs.step(actions)
        errors.append(np.linalg.norm(envs.core.signals["tip_error"], axis=1))
    assert np.median(np.sqrt(np.mean(np.square(errors[-500:]), axis=0))) < 0.005
    envs.close()


@pytest.mark.parametrize("name", ["damping", "integral", "error", "rate", "swing"])
def test_bad_gains_are_named(name):
    with pytest.raises(ValueError, match=f"TipGains.{name} must be .* got -1"):
        TipGains(**{name: -1.0})


def test_gains_can_be_chosen():
    envs, _ = make("ArmBend", 1)
    observations, _ = envs.reset(seed=0)
    slow = TipControl(envs, TipGains(rate=0.5))
    _, (_, memory) = slow.predict(observations)
    assert np.hypot(*memory[0, :2]) <= 0.5 * 0.002 + 1e-12
    envs.close()


def test_tensions_per_bend_are_the_allocations():
    """The paper's map in this file is the allocation that both controllers use."""
    _, tensions = soft_arm(DEFAULT)
    even = TendonAllocation((0.0, 2 * np.pi / 3, 4 * np.pi / 3), (0.015,) * 3, (6.0,) * 3)
    for bend in random_bends(5, 1.0):
        np.testing.assert_allclose(even.moment(tensions(bend)), even.authority * bend, atol=1e-12)
