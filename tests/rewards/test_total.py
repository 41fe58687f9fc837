"""The weighted sum: overrides, parts, and the user's own terms."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym import rewards
from tendon_gym.envs.signals import SIGNALS
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import Reward, RewardTerm, override

DEFAULTS = {"position": RewardTerm(0.7, margin=0.1), "yaw": RewardTerm(0.3, margin=0.5)}


def random_signals(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, (n, SIGNALS.itemsize // 8)).view(SIGNALS)[:, 0]


@pytest.fixture
def own():
    """Register terms of a user's own, and forget them again."""
    rewards.register("height", lambda s, margin: np.exp(-np.abs(s["position"][:, 2]) / margin))
    rewards.register("wrong_shape", lambda s, margin: 1.0)
    rewards.register("nan", lambda s, margin: np.full(len(s), np.nan))
    yield
    for name in ("height", "wrong_shape", "nan"):
        del rewards.terms._terms[name]


def test_the_parts_are_weights_times_terms_and_add_up(own):
    terms = {
        "height": RewardTerm(0.4, 2.0),
        "position": RewardTerm(0.7, 0.3),
        "tip": RewardTerm(-0.2, 0.5),
        "effort": RewardTerm(1.1, 4.0),
    }
    signals, reward = random_signals(6), Reward(terms, 6)
    total = reward(signals)
    assert set(reward.names) == set(terms)
    for name, part in zip(reward.names, reward.parts.T, strict=True):
        term = terms[name]
        expected = term.weight * rewards.get(name)(signals, term.margin)
        np.testing.assert_allclose(part, expected, rtol=1e-14)
    np.testing.assert_allclose(reward.parts.sum(axis=1), total, rtol=1e-14)


@pytest.mark.parametrize(
    "values, expected",
    [
        ({}, DEFAULTS),
        ({"position": 0.2}, {**DEFAULTS, "position": RewardTerm(0.2, 0.1)}),
        ({"position": {"margin": 1}}, {**DEFAULTS, "position": RewardTerm(0.7, 1.0)}),
        ({"yaw": 0}, {"position": DEFAULTS["position"]}),
        ({"yaw": {"weight": 0.0, "margin": 3.0}}, {"position": DEFAULTS["position"]}),
        ({"tilt": 0.1}, {**DEFAULTS, "tilt": RewardTerm(0.1, 1.0)}),
        ({"tip": {"weight": 1, "margin": 2}}, {**DEFAULTS, "tip": RewardTerm(1.0, 2.0)}),
        ({"effort": -0.5}, {**DEFAULTS, "effort": RewardTerm(-0.5, 1.0)}),
    ],
)
def test_overrides(values, expected):
    assert override(DEFAULTS, values) == expected
    assert DEFAULTS["position"] == RewardTerm(0.7, margin=0.1)


@pytest.mark.parametrize(
    "values, kind, message",
    [
        ({"speed": 1.0}, ValueError, "'position', 'velocity'"),
        ({"position": {"wieght": 1.0}}, ValueError, "has no 'wieght'; it takes weight, margin"),
        ({"position": {"margin": 0.0}}, ValueError, "margin"),
        ({"position": {"margin": -1.0}}, ValueError, "margin"),
        ({"position": float("nan")}, ValueError, "weight"),
        ({"position": "much"}, TypeError, "weight"),
        ({"tilt": {"margin": 1.0}}, ValueError, r"reward\.tilt\.weight is required"),
        ({"position": 0.0, "yaw": 0.0}, ValueError, "at least one term"),
        (["position"], TypeError, "dict of terms"),
    ],
)
def test_overrides_that_make_no_sense_raise(values, kind, message):
    with pytest.raises(kind, match=message):
        override(DEFAULTS, values)


@pytest.mark.parametrize("name", ["wrong_shape", "nan"])
def test_a_term_of_ones_own_must_give_finite_numbers(name, own):
    reward = Reward({name: RewardTerm(1.0), "position": RewardTerm(1.0)}, 3)
    with pytest.raises(ValueError, match=f"'{name}' must be an array of 3 finite numbers"):
        reward(random_signals(3))


@pytest.mark.parametrize("name", ENTRIES)
def test_the_parts_in_the_info_add_up_to_the_reward(name, own):
    settings = {"reward": {"height": {"weight": 0.3, "margin": 2.0}, "tilt": 0.1}}
    env = gym.make(ENTRIES[name].id, **settings)
    _, info = env.reset(seed=0)
    assert set(info["reward_terms"].values()) == {0.0}
    for _ in range(10):
        _, reward, *_, info = env.step(np.zeros(env.action_space.shape))
        assert isinstance(reward, float)
        assert sum(info["reward_terms"].values()) == pytest.approx(reward, abs=1e-12)
        height = env.unwrapped.data.body("base").xpos[2]
        assert info["reward_terms"]["height"] == pytest.approx(0.3 * np.exp(-height / 2.0))
    envs = gym.make_vec(ENTRIES[name].id, num_envs=3, **settings)
    envs.reset(seed=0)
    _, reward, *_, infos = envs.step(np.zeros(envs.action_space.shape))
    parts = [v for k, v in infos["reward_terms"].items() if not k.startswith("_")]
    np.testing.assert_allclose(sum(parts), reward, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["Hover", "Track", "Bend", "ArmBend"])
def test_the_reward_strictly_increases_as_the_errors_shrink(name):
    """Along a straight way of states from a bad one to the perfect one."""
    env = gym.make(ENTRIES[name].id).unwrapped
    core = env.core
    rewarder, signals = Reward(core.config.reward, 1), np.zeros(1, SIGNALS)
    rng = np.random.default_rng(0)
    worst = {key: rng.uniform(0.1, 0.5, SIGNALS[key].shape) for key in SIGNALS.names}
    flown = []
    for share in np.linspace(1.0, 0.0, 30):
        for key, value in worst.items():
            signals[key] = share * value
        flown.append(rewarder(signals)[0])
    assert (np.diff(flown) > 0.0).all()
    assert flown[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["Hover", "Bend"])
def test_the_reward_strictly_increases_along_a_flight_that_comes_in(name):
    """Held at a state, then let go: the closer to the point, the more each step is worth."""
    env = gym.make(ENTRIES[name].id).unwrapped
    rewards_of_steps = []
    for distance in np.linspace(0.8, 0.0, 9):
        qpos = env.model.qpos0.copy()
        qpos[:3] = distance, 0.0, 1.6
        options = {"qpos": qpos, **({"goal": [0.0, 0.0]} if name == "Bend" else {})}
        env.reset(seed=1, options=options)
        action = np.array([0, 0, 0, 0, -1, -1, -1])
        rewards_of_steps.append(env.step(action)[1])
    assert (np.diff(rewards_of_steps) > 0.0).all()


@pytest.mark.parametrize("values", [["effort"] * 1000, 0.5, np.float64(0.5)], ids=repr)
def test_what_is_no_dict_of_terms_is_shown_as_messages_show_it(values):
    with pytest.raises(TypeError, match=r"reward must be a dict of terms, got .* of type ") as told:
        override(DEFAULTS, values)
    assert len(str(told.value)) < 400 and "np." not in str(told.value)
