"""TetherPerch: what is drawn, where it starts, what holds, what lets go, what counts as success."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym import baselines
from tendon_gym.envs.tasks.tether_perch import BOB, FRICTION, LENGTH, TASK, draw_scene
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards.terms import get

ENTRY = ENTRIES["TetherPerch"]
WEIGHT, HOVER = BOB.mass * 9.81, -1.0


def make(n=None, **settings):
    """Return the environment that the classical controller flies in, and the controller."""
    baseline = baselines.get("tether_perch")
    settings = {**baseline.interface(ENTRY), "engine": "compiled", **settings}
    if n is None:
        env = gym.make(ENTRY.id, **settings).unwrapped
    else:
        env = gym.make_vec(ENTRY.id, n, autoreset_mode="Disabled", **settings).unwrapped
    return env, baseline.make(env)


@pytest.fixture(scope="module")
def perched():
    """Return a simulation that hangs from the branch, 14 s after its start, as a saved state."""
    env, policy = make()
    observation, state = env.reset(seed=3)[0], None
    for _ in range(7000):
        action, state = policy.predict(observation, state)
        observation = env.step(action)[0]
    return env, env.get_state()


def idle(env):
    """Return the action of idle rotors, slack tendons and a winch that stands still."""
    action = np.full(env.action_space.shape, -1.0, np.float32)
    action[-1] = 0.0
    return action


def signal(env, name):
    """Return a signal of the only simulation."""
    return env.core.signals[name][0].copy()


def test_branches_are_level_cylinders_where_the_page_says():
    rng = np.random.default_rng(0)
    scenes = [draw_scene(rng) for _ in range(300)]
    radii = np.array([scene.obstacle.size[0] for scene in scenes])
    places = np.array([scene.obstacle.position for scene in scenes])
    assert radii.min() >= 0.04 and radii.max() <= 0.07 and np.ptp(radii) > 0.028
    low, high = places.min(axis=0), places.max(axis=0)
    np.testing.assert_array_less((0.79, -1e-9, 2.29), low)
    np.testing.assert_array_less(high, (1.01, 1e-9, 2.51))
    env, _ = make()
    for seed in range(5):
        env.reset(seed=seed)
        axis = env.core.rig.carried.obstacle["axes"][0, 2]
        assert axis[2] == pytest.approx(0.0, abs=1e-12)
        assert abs(axis[1]) >= math.cos(0.3) - 1e-12
        np.testing.assert_allclose(signal(env, "obstacle") + signal(env, "position"),
                                   env.core.rig.carried.obstacle["position"][0])  # fmt: skip


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_the_bob_hangs_at_rest_at_the_start(engine):
    env, _ = make(engine=engine, start={"velocity": 0.0, "tilt": 0.0, "angular_velocity": 0.0})
    env.reset(seed=1)
    load = signal(env, "load")
    np.testing.assert_allclose(load, (0.0, 0.0, 0.03 - LENGTH), atol=1e-12)
    action = np.zeros(env.action_space.shape, np.float32)
    env.step(action)
    assert signal(env, "cable_tension") == pytest.approx(WEIGHT, rel=0.05)
    assert np.linalg.norm(signal(env, "load_velocity")) < 1e-3
    assert signal(env, "turns") == 0.0 and signal(env, "missing_turns") == 1.5


def test_a_perched_vehicle_stays_where_it_is(perched):
    """Half a minute longer, it moves by less than a millimetre: friction doesn't creep."""
    env, saved = perched
    env.set_state(saved)
    action, places = idle(env), []
    env.core.ends.horizon[:] = 10**6
    for k in range(15000):
        env.step(action)
        if k >= 5000 and k % 50 == 0:
            places.append(signal(env, "position"))
    assert env.core.reason[0] == 0
    heights = np.array(places)[:, 2]
    assert abs(heights[:100].mean() - heights[-100:].mean()) < 1e-3
    assert signal(env, "thrust") == 0.0
    before, after = env.core.rig.pulls.tensions(0, 0)[0]
    assert before > 7.0 * after
    assert signal(env, "turns") == pytest.approx(1.5, abs=0.15)


def test_without_friction_it_falls(perched):
    env, saved = perched
    env.set_state(saved)
    friction = env.core.rig.pulls.values.friction
    height = signal(env, "position")[2]
    friction[friction > 0.0] = 0.1
    try:
        for _ in range(300):
            _, _, ended, _, info = env.step(idle(env))
            if ended:
                break
    finally:
        friction[friction > 0.0] = FRICTION
    assert signal(env, "position")[2] < height - 0.1 or info["termination_reason"] in (
        "crash", "cable", "obstacle",
    )  # fmt: skip
    ratio = math.exp(0.1 * 2.0 * math.pi * signal(env, "turns"))
    assert 1.26 / BOB.mass > 1.5 * ratio


def test_a_saved_perch_goes_on_with_the_same_bits(perched):
    env, saved = perched
    runs = []
    for _ in range(2):
        env.set_state(saved)
        runs.append([env.step(idle(env))[0].copy() for _ in range(200)])
        assert env.core.rig.pulls.held(0, 0)[0] != 0.0
    assert np.array_equal(runs[0], runs[1])


@pytest.mark.parametrize("share", [0.0, 0.08])
def test_only_idle_rotors_are_a_success(perched, share):
    """The same hanging vehicle fails with 8 % of its hover thrust, in steps of a control's last."""
    env, saved = perched
    env.set_state(saved)
    action = idle(env)
    action[:4] = share - 1.0
    cut = False
    while not cut:
        _, _, ended, cut, info = env.step(action)
        assert not ended
    assert info["is_success"] == (share == 0.0)


def test_rewards_are_those_of_the_signals(perched):
    env, saved = perched
    env.set_state(saved)
    env.step(idle(env))
    signals = env.core.signals
    assert get("turns")(signals, 0.5)[0] == pytest.approx(
        math.exp(-signals["missing_turns"][0] / 0.5)
    )
    assert get("thrust")(signals, 3.0)[0] == 1.0
    assert sum(term.weight for term in TASK.reward.values()) == pytest.approx(1.0)
    assert sum(env.core.reward_terms.values())[0] > 0.9
    thrusts = np.array([0.0, 1.5, 30.0])
    rows = np.zeros(3, signals.dtype)
    rows["thrust"] = thrusts
    np.testing.assert_allclose(get("thrust")(rows, 3.0), np.exp(-thrusts / 3.0))


def test_the_winch_lifts_what_hangs(perched):
    """At 0.3 m/s for a second, from where the tether is held: the vehicle rises by 0.3 m."""
    env, saved = perched
    env.set_state(saved)
    action, height = idle(env), signal(env, "position")[2]
    action[-1] = -1.0
    rest = signal(env, "rest_length")
    for _ in range(250):
        env.step(action)
    assert signal(env, "rest_length") == pytest.approx(rest - 0.15, abs=1e-9)
    assert signal(env, "position")[2] - height == pytest.approx(0.15, abs=0.05)


def test_a_vehicle_that_flies_into_the_branch_ends():
    env, _ = make()
    env.reset(seed=0)
    qpos = env.core.engine.qpos[0].copy()
    qpos[:3] = env.core.rig.carried.obstacle["position"][0] + (0.0, 0.0, 0.1)
    env.reset(seed=0, options={"qpos": qpos})
    *_, ended, _, info = env.step(np.zeros(env.action_space.shape, np.float32))
    assert ended and info["termination_reason"] == "obstacle"
