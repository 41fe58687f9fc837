"""Tasks with a rig, seen from outside: modes of many, infos, fields of models, copies, engines."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tendon_gym.registration import ENTRIES
from tests.envs.test_vector import assert_same

TASKS = ("Hoist", "TetherPerch")
ENGINES = ("mujoco", "compiled")
every_task = pytest.mark.parametrize("name", TASKS)
every_engine = pytest.mark.parametrize("engine", ENGINES)


def scalar(name, **settings):
    return gym.make(ENTRIES[name].id, **settings).unwrapped


def vector(name, n, **settings):
    return gym.make_vec(ENTRIES[name].id, num_envs=n, **settings).unwrapped


def actions(env, count, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-size, size, (count, *env.action_space.shape)).astype(np.float32)


def flown(env, orders):
    return [env.step(order)[0].copy() for order in orders]


@every_engine
@pytest.mark.parametrize("mode", list(AutoresetMode))
@every_task
def test_many_are_as_single_ones_side_by_side_in_every_mode(name, mode, engine):
    """Observations, rewards, ends and infos, bit for bit, over the ends of episodes."""
    settings = {"engine": engine, "horizon": 0.08}
    kind = type(scalar(name, **settings))
    ours = vector(name, 3, autoreset_mode=mode, **settings)
    theirs = SyncVectorEnv([lambda: kind(**settings)] * 3, autoreset_mode=mode)
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    for action in actions(ours, 25):
        said = ours.step(action)
        assert_same(said, theirs.step(action))
        done = said[2] | said[3]
        if mode is AutoresetMode.DISABLED and done.any():
            again = {"reset_mask": done}
            assert_same(ours.reset(options=dict(again)), theirs.reset(options=dict(again)))


@every_engine
@every_task
def test_infos_tell_of_load_and_cable(name, engine):
    env, envs = scalar(name, engine=engine), vector(name, 2, engine=engine)
    _, info = env.reset(seed=7)
    _, infos = envs.reset(seed=7)
    for action in [None, *actions(env, 20)]:
        if action is not None:
            _, _, _, _, info = env.step(action)
            infos = envs.step(np.stack([action, action]))[4]
        rig, layout = env.core.rig, env.core.layout
        place = env.core.engine.motion.motion.body_position[0, layout.load_body]
        away = np.linalg.norm(rig.carried.goal[0] - place)
        assert info["load_error"] == pytest.approx(away, abs=1e-12)
        assert info["cable_tension"] == rig.pulls.tension()[0]
        assert info["turns"] == pytest.approx(rig.pulls.angle(0, 0)[0] / (2 * np.pi), abs=1e-9) or (
            action is None or name == "Hoist"  # without friction no angle is measured by pulls
        )
        for key in ("load_error", "cable_tension", "turns"):
            assert infos[key][0] == info[key] and infos[f"_{key}"].all()


def test_other_tasks_have_no_infos_of_loads():
    assert "load_error" not in gym.make(ENTRIES["Hover"].id).reset(seed=0)[1]


@every_engine
@every_task
def test_fields_of_models_are_changed_in_flight_and_saved(name, engine):
    envs = vector(name, 2, engine=engine, autoreset_mode="SameStep")
    plain = vector(name, 2, engine=engine, autoreset_mode="SameStep")
    orders = np.zeros((60, *envs.action_space.shape), np.float32)
    model, layout = envs.core.model, envs.core.layout
    for each in (envs, plain):
        each.reset(seed=1)
        flown(each, orders[:10])
    mass, centre = model.body_mass[None].copy(), model.body_ipos[None].copy()
    mass[:, layout.load_body] *= 1.5
    centre[:, layout.base_body, 0] += 0.02
    fields = {"body_mass": mass, "body_ipos": centre}
    envs.core.engine.set_model_fields(np.array([1]), fields)
    flown(envs, orders[:10])
    state = pickle.loads(pickle.dumps(envs.get_state()))
    wanted = flown(envs, orders)
    other = vector(name, 2, engine=engine, autoreset_mode="SameStep")
    other.set_state(state)
    assert np.array_equal(flown(other, orders), wanted)
    usual = flown(plain, [*orders[:10], *orders])[10:]
    assert np.array_equal(np.array(usual)[:, 0], np.array(wanted)[:, 0])
    assert not np.array_equal(usual[-1][1], wanted[-1][1])


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@every_task
def test_copies_fly_alike_from_a_seed_or_a_state(name, way):
    env = scalar(name, engine="compiled")
    env.reset(seed=0)
    orders = actions(env, 30)
    flown(env, orders[:5])
    twin = way(env)
    assert np.array_equal(twin.reset(seed=4)[0], env.reset(seed=4)[0])
    assert np.array_equal(flown(twin, orders), flown(env, orders))
    third = way(twin)
    third.set_state(env.get_state())
    assert np.array_equal(flown(third, orders), flown(env, orders))


@every_task
def test_the_engines_differ_by_rounding_only(name):
    """What rounding is grows in flight; in the first steps there has been no time."""
    pair = [scalar(name, engine=engine) for engine in ENGINES]
    first = [env.reset(seed=3)[0] for env in pair]
    assert np.array_equal(*first)
    for action in actions(pair[0], 30, size=0.2):
        seen = [env.step(action)[0] for env in pair]
        np.testing.assert_allclose(seen[0], seen[1], rtol=0.0, atol=1e-6)
    pulls = [env.core.rig.pulls for env in pair]
    assert pulls[0].tension() == pytest.approx(pulls[1].tension(), abs=1e-8)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rig": 1}, "has no 'rig'; it takes model"),
        ({"model": {"load": {"mass": -1}}}, "model.load.*mass must be"),
        ({"model": {"load": {"radius": 0}}}, "model.load.*radius must be"),
        ({"model": {"load": {"weight": 1}}}, "model.load has no 'weight'; it takes mass"),
        ({"forces": {"cable": {}}}, "forces.cable.origin is required"),
        ({"goal": "tip"}, "has no 'goal'"),
        ({"limits": {"load_speed": -1}}, "load_speed"),
        ({"reward": {"loads": 1}}, "loads"),
    ],
)
def test_bad_settings_of_a_rig_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        gym.make(ENTRIES["Hoist"].id, **settings)


@every_engine
def test_a_cable_of_the_users_own_hangs_beside_the_rigs(engine):
    ceiling = {
        "origin": {"body": "load"},
        "termination": {"body": "world", "station": [0.0, 0.0, 3.0]},
        "drive": {"tension": 1.0},
    }
    env = scalar("Hoist", engine=engine, forces={"cable": ceiling})
    env.reset(seed=0)
    orders = actions(env, 20, size=0.2)
    flown(env, orders)
    state = env.get_state()
    assert {"rig.cable", "forces.cable"} <= set(state.arrays)
    wanted = flown(env, orders)
    env.set_state(state)
    assert np.array_equal(flown(env, orders), wanted)
