"""The policies that have learned nothing: what they do, and the state they keep."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tendon_gym import baselines
from tendon_gym.control import PAPER_GAINS
from tendon_gym.registration import ENTRIES

NAMES = ("zero", "random", "geometric_paper", "geometric_full", "tip_control")
every_task = pytest.mark.parametrize("task", ENTRIES)
every_policy = pytest.mark.parametrize("name", NAMES)


def make(task, name, n=None, **settings):
    """Return an environment with the policy's interface, and the policy."""
    entry, baseline = ENTRIES[task], baselines.get(name)
    settings = {**baseline.interface(entry), **settings}
    env = gym.make(entry.id, **settings) if n is None else gym.make_vec(entry.id, n, **settings)
    return env.unwrapped, baseline.make(env.unwrapped)


@every_task
@every_policy
def test_every_policy_flies_every_task(task, name):
    env, policy = make(task, name, horizon=0.5)
    assert policy.name == name
    interface = baselines.get(name).interface(ENTRIES[task])
    assert dict(policy.interface) == interface
    observation, _ = env.reset(seed=0)
    state, ended = None, False
    while not ended:
        action, state = policy.predict(observation, state)
        assert env.action_space.contains(action)
        observation, _, terminated, truncated, _ = env.step(action)
        ended = terminated or truncated


@every_task
@pytest.mark.parametrize("name", ["zero", "geometric_paper", "geometric_full", "tip_control"])
def test_one_and_many_are_treated_alike(task, name):
    """Rows of a batch, and single observations with a state of their own, over several steps."""
    envs, policy = make(task, name, n=3)
    observations, _ = envs.reset(seed=0)
    state, states = None, [None] * 3
    for _ in range(5):
        actions, state = policy.predict(observations, state)
        for i in range(3):
            action, states[i] = policy.predict(observations[i], states[i])
            assert action.dtype == np.float32 and action.shape == envs.single_action_space.shape
            assert np.array_equal(action, actions[i])
        observations, *_ = envs.step(actions)


@pytest.mark.parametrize("new", [0, 1])
@pytest.mark.parametrize("name", ["geometric_paper", "geometric_full"])
def test_the_integral_starts_anew_with_an_episode(name, new):
    envs, policy = make("Hover", name, n=2)
    observations, _ = envs.reset(seed=0)
    _, state = policy.predict(observations)
    for _ in range(50):
        _, state = policy.predict(observations, state)
    kept = state.copy()
    start, old = np.arange(2) == new, 1 - new
    actions, after = policy.predict(observations, state, episode_start=start)
    assert np.array_equal(state, kept)  # what was handed in is the caller's
    fresh, first = policy.predict(observations)
    assert np.array_equal(actions[new], fresh[new])
    assert np.array_equal(after[new], first[new])
    longer, _ = policy.predict(observations, state)
    assert np.array_equal(actions[old], longer[old])
    assert not np.array_equal(actions[old], fresh[old])
    one, _ = policy.predict(observations[0], state[:1], episode_start=np.array([True]))
    assert np.array_equal(one, fresh[0])


@every_task
def test_zero_hovers_with_slack_tendons(task):
    env, policy = make(task, "zero")
    observation, _ = env.reset(seed=0)
    action, _ = policy.predict(observation)
    *_, info = env.step(action)
    assert not info["tensions"].any()
    np.testing.assert_allclose(info["thrusts"].sum(), 9.81 * 1.26 * env.core.layout.free)


def test_random_is_even_seeded_and_different_each_time():
    env, policy = make("Hover", "random")
    observations = np.zeros((4000, env.observation_space.shape[0]), np.float32)
    actions, _ = policy.predict(observations)
    assert env.action_space.contains(actions[0])
    np.testing.assert_allclose(actions.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(actions.var(axis=0), 1.0 / 3.0, atol=0.03)
    again, _ = policy.predict(observations)
    assert not np.array_equal(actions, again)
    twin, _ = baselines.Random(env).predict(observations)
    assert np.array_equal(actions, twin)
    other, _ = baselines.Random(env, seed=1).predict(observations)
    assert not np.array_equal(actions, other)


def paper_wrench(error, velocity, velocity_error, acceleration, rotation, omega, yaw, integral):
    """Return force and torque of the paper's equations, in plain numpy, one simulation.

    a_c = Kp e_p + Kd e_v + Ki int e_p + a_d, its horizontal part limited to a tilt of 35 degrees;
    F = m (a_c + g e3); tau = -K_R e_R - K_w w, e_R = (Rd' R - R' Rd)^vee / 2.
    """
    a = (
        np.array([6.0, 6.0, 10.0]) * error
        + np.array([4.0, 4.0, 6.0]) * velocity_error
        + np.array([1.0, 1.0, 2.0]) * integral
        + acceleration
    )
    most = np.tan(np.radians(35.0)) * (a[2] + 9.81)
    across = np.hypot(a[0], a[1])
    if across > most:
        a[:2] *= most / across
    force = 1.26 * (a + np.array([0.0, 0.0, 9.81]))
    b3 = force / np.linalg.norm(force)
    b2 = np.cross(b3, [np.cos(yaw), np.sin(yaw), 0.0])
    b2 /= np.linalg.norm(b2)
    desired = np.stack([np.cross(b2, b3), b2, b3], axis=1)
    skew = 0.5 * (desired.T @ rotation - rotation.T @ desired)
    e_r = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    torque = -np.array([4.0, 4.0, 0.8]) * e_r - np.array([0.4, 0.4, 0.15]) * omega
    return force @ rotation[:, 2], torque


D = 0.17 / np.sqrt(2.0)
HUBS = np.array([[D, D], [-D, D], [-D, -D], [D, -D]])
SPIN = np.array([1.0, -1.0, 1.0, -1.0])
MIXER = np.stack([np.ones(4), HUBS[:, 1], -HUBS[:, 0], 0.016 * SPIN])


def paper_tensions(bend):
    """T_i = mu T_max / sqrt 3 (c_i - min_j c_j)."""
    mu, beta = np.hypot(*bend), np.arctan2(bend[1], bend[0])
    c = np.cos(beta - np.radians([0.0, 120.0, 240.0]))
    return mu * 6.0 / np.sqrt(3.0) * (c - c.min())


@pytest.mark.parametrize("task", ["Hover", "Track", "Bend"])
def test_geometric_paper_is_the_papers_equations(task):
    """On random states, to the precision of the float32 observation.

    Near enough for the rotors to push upwards: what to do in free fall the paper leaves open.
    """
    settings = {} if task == "Bend" else {"reference": "smooth"}
    n = 200
    envs, policy = make(task, "geometric_paper", n=n, model="paper", **settings)
    envs.reset(seed=0)
    core, rng = envs.core, np.random.default_rng(0)
    qpos = core.engine.qpos.copy()
    qpos[:, :3] += rng.uniform(-0.2, 0.2, (n, 3))
    tilts = Rotation.from_euler("xyz", rng.uniform(-0.5, 0.5, (n, 3)))
    qpos[:, 3:7] = np.roll(tilts.as_quat(), 1, axis=1)
    qvel = rng.uniform(-0.6, 0.6, core.engine.qvel.shape)
    options = {"qpos": qpos, "qvel": qvel}
    observations, _ = envs.reset(seed=0, options=options)
    integral = rng.uniform(-0.5, 0.5, (n, 3))
    actions, state = policy.predict(observations, integral.copy())
    setpoint, s = core.schedule.setpoint, core.signals
    moving = task == "Track"
    for i in range(n):
        error = setpoint["position"][i] - qpos[i, :3]
        total = integral[i] + 0.002 * error
        np.testing.assert_allclose(state[i], np.clip(total, -1.0, 1.0), atol=1e-6)
        target = setpoint["velocity"][i] if moving else np.zeros(3)
        force, torque = paper_wrench(
            error, qvel[i, :3], target - qvel[i, :3],
            setpoint["acceleration"][i] if moving else np.zeros(3),
            s["rotation"][i], qvel[i, 3:6], setpoint["yaw"][i], total,
        )  # fmt: skip
        thrusts = np.clip(np.linalg.solve(MIXER, [force, *torque]), 0.0, 8.0)
        weight = 1.26 * 9.81 / 4.0
        seen = np.where(actions[i, :4] < 0, weight * (1 + actions[i, :4]), 0.0)
        seen += np.where(actions[i, :4] >= 0, weight + actions[i, :4] * (8.0 - weight), 0.0)
        assert force > 1.0
        np.testing.assert_allclose(seen, thrusts, atol=2e-4)
        bend = np.zeros(2) if task == "Hover" else setpoint["bend"][i]
        tensions = 3.0 * (actions[i, 4:] + 1.0)
        np.testing.assert_allclose(tensions, paper_tensions(bend), atol=1e-5)


def test_the_gains_are_the_papers():
    assert PAPER_GAINS.kp == (6.0, 6.0, 10.0) and PAPER_GAINS.kd == (4.0, 4.0, 6.0)
    assert PAPER_GAINS.ki == (1.0, 1.0, 2.0) and PAPER_GAINS.integral_limit == 1.0
    assert PAPER_GAINS.k_rotation == (4.0, 4.0, 0.8) and PAPER_GAINS.k_omega == (0.4, 0.4, 0.15)


def returns(task, name, n=4, **settings):
    """Return the total reward per second of one episode of each seed."""
    envs, policy = make(task, name, n=n, horizon=3.0, autoreset_mode="Disabled", **settings)
    observations, _ = envs.reset(seed=0)
    state, total, over = None, np.zeros(n), np.zeros(n, bool)
    while not over.all():
        actions, state = policy.predict(observations, state)
        observations, reward, terminated, truncated, _ = envs.step(actions)
        total += np.where(over, 0.0, reward)
        late = (terminated | truncated) & ~over
        over |= late
        if (terminated | truncated).any() and not over.all():
            envs.reset(options={"reset_mask": terminated | truncated})
    return total * envs.core.step_time / 3.0


@every_task
def test_control_beats_doing_nothing_beats_anything_at_all(task):
    """Of ArmBend's two, slack tendons only don't lose to random ones."""
    flown = {name: returns(task, name).mean() for name in NAMES}
    assert flown["geometric_full"] > 1.2 * max(flown["zero"], flown["random"])
    assert flown["geometric_paper"] > 1.2 * max(flown["zero"], flown["random"])
    if task != "ArmBend":
        assert flown["zero"] > flown["random"]


@pytest.mark.parametrize("task", ["Bend", "ArmBend"])
def test_a_tip_goal_is_reached_through_its_bend(task):
    env, policy = make(task, "geometric_full", goal="tip", horizon=6.0)
    observation, _ = env.reset(seed=2)
    state, errors, ended = None, [], False
    while not ended:
        action, state = policy.predict(observation, state)
        observation, _, terminated, ended, info = env.step(action)
        assert not terminated
        errors.append(info["tip_error"])
    assert np.mean(errors[-1000:]) < 0.06 and errors[0] > 0.1


def test_an_unknown_policy_raises_with_the_names():
    with pytest.raises(ValueError, match="zero, random, geometric_paper, geometric_full"):
        baselines.get("mpc")
    with pytest.raises(ValueError, match=r"policy must be the folder of .* got ''"):
        baselines.get("")


@pytest.mark.parametrize("seed, kind", [(-1, ValueError), (1.5, TypeError), (None, TypeError)])
def test_random_actions_take_a_seed_that_is_one(seed, kind):
    env = gym.make(ENTRIES["Hover"].id).unwrapped
    with pytest.raises(kind, match=f"seed must be an integer.*, got {seed}"):
        baselines.Random(env, seed)
