"""Arms with laws on their tendons inside a registered task: many at a time are each alone.

Simulations get other masses, stiffnesses and routings at every reset, and are saved and put back on
the way, into environments that were made for it.
"""

from __future__ import annotations

import pickle

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

MODEL = {
    "preset": "paper",
    "arm": {"n_links": 9, "length": 0.54, "mass": 0.2},
    "tendons": {
        "n_tendons": 5,
        "angles": [0.35, 1.45, 2.9, 3.7, 5.3],
        "radii": [0.013, 0.019, 0.011, 0.017, 0.015],
        "tension_max": 5.0,
        "properties": [
            {"stiffness": 25.0, "damping": 0.3, "spring_lower": 0.538},
            {"lower_limit": 0.539, "upper_limit": 0.5425, "limit_margin": 0.0005},
            {},
            {"upper_limit": 0.5408, "armature": 0.002},
            {"friction_loss": 0.04},
        ],
        "couplings": [
            {"first": "tendon_3", "second": "tendon_1", "coefficients": [0, -0.6, 3, 0, 0]}
        ],
    },
}
SETTINGS = {
    "model": MODEL,
    "rotor_action": "attitude",
    "horizon": 0.4,
    "limits": {"distance": 0.3, "tilt": 0.9},
    "start": {"bend": 0.05, "position": 0.1},
}
N, SEED = 64, 20
TASK = ENTRIES["Hover"].id


def many():
    return gym.make_vec(TASK, num_envs=N, autoreset_mode="Disabled", threads=2, **SETTINGS)


def one():
    return gym.make(TASK, **SETTINGS).unwrapped


def own_fields(model, i, episode):
    """Return the fields of an episode of sub-environment i."""
    rng = np.random.default_rng([i, episode])
    routing = [*rng.uniform(0.95, 1.05, 2), 1.0]
    return {
        "body_mass": model.body_mass * rng.uniform(0.8, 1.25, model.nbody),
        "jnt_stiffness": model.jnt_stiffness * rng.uniform(0.7, 1.4),
        "dof_damping": model.dof_damping * rng.uniform(0.7, 1.4),
        "site_pos": model.site_pos * routing,
    }


def randomise(env, ids, episodes, model):
    rows = [own_fields(model, i, e) for i, e in zip(ids, episodes, strict=True)]
    fields = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    places = np.asarray(ids) if hasattr(env, "num_envs") else np.zeros(1, np.int64)
    env.core.engine.set_model_fields(places, fields)


def strayed(env):
    """Save an environment, fly it astray, and return a new one that is put to what was saved."""
    state = pickle.loads(pickle.dumps(env.get_state()))
    vector = hasattr(env, "num_envs")
    if vector:
        env.step(np.full(env.action_space.shape, 0.7))
    else:
        env.step(np.full(env.action_space.shape, -0.7))
        env.reset()
    other = many() if vector else pickle.loads(pickle.dumps(env))
    other.set_state(state)
    return other


def fly(steps, saved, watched):
    """Fly N at once and `watched` of them alone, side by side; return what happened.

    Args:
        steps: of the environments.
        saved: every so many steps all are saved and put back.
        watched: sub-environments.

    Returns:
        The lengths (steps, N, 5) of the tendons, and how many episodes ended.
    """
    envs, alone = many(), {i: one() for i in watched}
    model = alone[watched[0]].model
    randomise(envs, range(N), [0] * N, model)
    seen, _ = envs.reset(seed=SEED)
    for i, env in alone.items():
        randomise(env, [i], [0], model)
        assert np.array_equal(env.reset(seed=SEED + i)[0], seen[i])
    rng = np.random.default_rng(SEED)
    episodes, lengths = np.zeros(N, int), np.zeros((steps, N, 5))
    for k in range(steps):
        if k % saved == saved - 1:
            envs = strayed(envs)
            i = watched[k // saved % len(watched)]
            alone[i] = strayed(alone[i])
        actions = rng.uniform(-1.0, 1.0, (N, envs.single_action_space.shape[0]))
        actions[:, :4] *= 0.4
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        lengths[k] = envs.core.engine.motion.tendon_length
        ended = terminated | truncated
        for i, env in alone.items():
            observation, *said = env.step(actions[i])[:4]
            assert np.array_equal(observation, seen[i])
            assert said == [rewards[i], terminated[i], truncated[i]]
        if not ended.any():
            continue
        ids = np.flatnonzero(ended)
        episodes[ids] += 1
        randomise(envs, ids, episodes[ids], model)
        seen, _ = envs.reset(options={"reset_mask": ended})
        for i in set(ids) & set(watched):
            randomise(alone[i], [i], episodes[[i]], model)
            assert np.array_equal(alone[i].reset()[0], seen[i])
    return lengths, int(episodes.sum())


def check(lengths, ended, steps):
    """Check that episodes ended, and that limits and the coupling acted and held."""
    assert ended > steps
    first, second, third, fourth = np.moveaxis(lengths[..., :4], -1, 0)
    # the limits of the second tendon lie within their margin; what a winch does within a step
    # is not foreseen
    for gap in (second - 0.5395, 0.542 - second, 0.5408 - fourth):
        assert gap.min() > -5e-4
        assert (np.abs(gap) < 1e-4).sum() > 20
    followed = first - 0.54
    residual = third - 0.54 - (-0.6 * followed + 3.0 * followed**2)
    assert np.abs(residual).max() < 5e-4
    assert np.abs(followed).max() > 2e-3


def test_64_are_each_alone_whatever_happens_to_them():
    steps = 157  # 10,000 of the environments in all
    check(*fly(steps, 40, range(0, N, 4)), steps)


@pytest.mark.parametrize(
    ("tendons", "names"),
    [
        ({"properties": {"stiffness": 20.0}}, "model.tendons.properties.stiffness"),
        (
            {"properties": [{}, {"armature": 0.1, "upper_limit": 0.49}, {}]},
            "model.tendons.properties.upper_limit, model.tendons.properties.armature",
        ),
        (
            {"couplings": [{"first": "tendon_1", "coefficients": [0, 1, 0, 0, 0]}]},
            "model.tendons.couplings",
        ),
    ],
)
def test_the_compiled_engine_refuses_them_by_the_users_own_names(tendons, names):
    with pytest.raises(ValueError, match=f'only pull, got {names}; engine="mujoco" steps every'):
        gym.make(ENTRIES["Hover"].id, engine="compiled", model={"tendons": tendons})
