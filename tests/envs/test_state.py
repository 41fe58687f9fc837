"""States: whatever follows from one that was saved is the same, bit by bit."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym import forces
from tendon_gym.engines.fields import read_field
from tendon_gym.envs import EnvState
from tendon_gym.forces import ExternalWrench, Impulse
from tendon_gym.registration import ENTRIES
from tests.engines.random_models import EDITS

BLOW = {"impulse": {"target": "tip", "impulse": [0.01, 0, 0], "start": 0.1}}
MANY = [
    {"engine": engine, "task": task, **chosen}
    for engine in ("mujoco", "compiled")
    for task, chosen in (
        ("Hover", {"rotor_action": "thrust"}),
        ("Hover", {"rotor_action": "body_rate", "tendon_action": "bend"}),
        ("Track", {"rotor_action": "residual", "tendon_action": "reference"}),
        ("Track", {"rotor_action": "attitude", "reference": "smooth"}),
        ("Track", {"rotor_action": "acceleration", "reference": "mission"}),
        ("Bend", {"goal": "tip"}),
        ("ArmBend", {"tendon_action": "bend"}),
        ("Hover", {"forces": BLOW}),
        ("Hoist", {"rotor_action": "residual", "tendon_action": "reference"}),
        ("TetherPerch", {"rotor_action": "attitude", "tendon_action": "bend"}),
    )
]  # fmt: skip
SHORT = {"horizon": 0.25, "limits": {"distance": 0.6}}
made: dict = {}


def environment(kind, number, chosen, n=None):
    """Return one of two alike environments, made once: they are to forget what was before."""
    key = (kind, number, str(chosen), n)
    if key not in made:
        values = {**SHORT, **chosen}
        task = ENTRIES[values.pop("task")].id
        if kind == "scalar":
            made[key] = gym.make(task, **values).unwrapped
        else:
            made[key] = gym.make_vec(task, num_envs=n, autoreset_mode=kind, threads=2, **values)
    return made[key]


def plain(said):
    """Return all that was said as nested lists, which compare element by element."""
    if isinstance(said, dict):
        return {key: plain(value) for key, value in said.items()}
    if isinstance(said, (tuple, list)):
        return [plain(value) for value in said]
    if isinstance(said, np.ndarray):
        return plain(list(said)) if said.dtype == object else said.tolist()
    return said


def flown(env, actions):
    """Return all that an environment says, starting episodes anew where it doesn't itself."""
    said = []
    for action in actions:
        said.append(plain(env.step(action)))
        ended = np.logical_or(said[-1][2], said[-1][3])
        if not hasattr(env, "num_envs") and ended:
            said.append(plain(env.reset()))
    return said


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(MANY), st.integers(0, 60), st.integers(0, 2**31))
def test_a_replay_of_one_is_exact(chosen, steps, seed):
    env, other = (environment("scalar", k, chosen) for k in range(2))
    rng = np.random.default_rng(seed)
    actions = rng.uniform(-0.5, 0.5, (steps + 30, *env.action_space.shape))
    env.reset(seed=seed)
    flown(env, actions[:steps])
    state = pickle.loads(pickle.dumps(env.get_state()))
    wanted = flown(env, actions[steps:])
    for each in (env, other):
        each.set_state(state)
        assert flown(each, actions[steps:]) == wanted


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(MANY),
    st.sampled_from(["NextStep", "SameStep"]),
    st.integers(0, 60),
    st.integers(0, 2**31),
)
def test_a_replay_of_many_is_exact(chosen, mode, steps, seed):
    envs, others = (environment(mode, k, chosen, 3) for k in range(2))
    rng = np.random.default_rng(seed)
    actions = rng.uniform(-0.5, 0.5, (steps + 30, *envs.action_space.shape))
    envs.reset(seed=seed)
    flown(envs, actions[:steps])
    state = copy.deepcopy(envs.get_state())
    wanted = flown(envs, actions[steps:])
    for each in (envs, others):
        each.set_state(state)
        assert flown(each, actions[steps:]) == wanted


@pytest.mark.parametrize("chosen", MANY[:3], ids=str)
def test_what_is_seen_at_a_state_is_what_was_seen(chosen):
    env = environment("scalar", 0, chosen)
    env.reset(seed=3)
    for _ in range(9):
        observation, *_, info = env.step(np.full(env.action_space.shape, 0.1))
    state = env.get_state()
    flown(env, np.zeros((4, *env.action_space.shape)))
    again, told = env.set_state(state)
    assert np.array_equal(again, observation)
    assert plain(told) == plain(info)
    with pytest.raises(AttributeError):
        state.arrays = {}


def test_a_state_is_a_copy_and_so_is_what_is_put_back():
    env = environment("scalar", 0, MANY[0])
    env.reset(seed=0)
    state = env.get_state()
    kept = copy.deepcopy(state.arrays)
    flown(env, np.zeros((5, 7)))
    env.set_state(state)
    flown(env, np.zeros((5, 7)))
    assert all(np.array_equal(state.arrays[name], kept[name]) for name in kept)


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_a_force_that_was_changed_on_the_way_is_remembered(engine):
    wrench = {"external_wrench": {"body": "base", "force": [0.0, 0.0, 0.0]}}
    env, other = (gym.make(ENTRIES["Hover"].id, engine=engine, forces=wrench) for _ in range(2))
    env.reset(seed=0)
    env.unwrapped.core.engine.pushes.terms[0].set(0, ExternalWrench("base", (0.5, 0.2, 0.0)))
    env.step(np.zeros(7))
    state = env.unwrapped.get_state()
    wanted = [env.step(np.zeros(7))[0] for _ in range(20)]
    other.reset(seed=5)
    other.unwrapped.set_state(state)
    assert np.array_equal([other.step(np.zeros(7))[0] for _ in range(20)], wanted)
    undisturbed = gym.make(ENTRIES["Hover"].id, engine=engine, forces=wrench)
    undisturbed.reset(seed=0)
    undisturbed.step(np.zeros(7))
    assert not np.array_equal(wanted[-1], [undisturbed.step(np.zeros(7))[0] for _ in range(20)][-1])


class Fading:
    """A user's term in Python: a force that fades with every physics step."""

    needs_motion = False

    def __init__(self, n):
        self.state = np.ones((n, 1))

    def reset(self, ids):
        self.state[ids] = 1.0

    def add(self, time, motion, push):
        push.wrench[:, 1, 0] += self.state[:, 0]
        self.state *= 0.9


@pytest.fixture
def fading():
    forces.register("fading", lambda model, n, values: Fading(n))
    yield
    del forces.term._MAKERS["fading"]


def test_the_memory_of_a_users_own_force_is_saved(fading):
    env = gym.make(ENTRIES["Hover"].id, forces={"fading": {}}).unwrapped
    env.reset(seed=0)
    flown(env, np.zeros((3, 7)))
    state = env.get_state()
    wanted = flown(env, np.zeros((10, 7)))
    env.reset(seed=1)
    env.set_state(state)
    assert flown(env, np.zeros((10, 7))) == wanted


def test_contacts_go_on_as_they_were():
    """On the floor the solver starts from its last solution, which is part of the state."""
    env = gym.make(ENTRIES["Hover"].id, limits={"distance": 1e3, "tilt": 3.1}).unwrapped
    env.reset(seed=0, options={"qpos": [*env.model.qpos0[:2], 0.25, *env.model.qpos0[3:]]})
    flown_to = np.tile([-1.0] * 4 + [1.0, -1.0, -1.0], (30, 1))
    env.core.ends.limits[0] = -1e9
    flown(env, flown_to)
    assert env.data.ncon > 0
    state = env.get_state()
    wanted = flown(env, flown_to)
    env.set_state(state)
    assert flown(env, flown_to) == wanted


FIELDS = tuple(EDITS)
PUSHED = {**BLOW, "wind": {"velocity": [1.0, 0.5, 0.0]}}


def own_fields(model, seeds, names=FIELDS):
    """Return random model fields, a row for each seed."""
    rows = []
    for seed in seeds:
        edited, rng = copy.copy(model), np.random.default_rng(seed)
        for name in names:
            EDITS[name](edited, rng)
        rows.append({name: read_field(edited, name) for name in names})
    return {name: np.array([row[name] for row in rows]) for name in names}


def set_fields(env, ids, seeds, names=FIELDS):
    env.core.engine.set_model_fields(np.array(ids), own_fields(env.model, seeds, names))


def with_fields(n, engine, forces):
    """Return a new environment of one simulation, or of n that start episodes anew themselves."""
    settings = {**SHORT, "engine": engine, "forces": forces, "rotor_action": "attitude"}
    settings["limits"] = {"distance": 5.0, "tilt": 3.0}
    if n == 1:
        return gym.make(ENTRIES["Hover"].id, **settings).unwrapped
    settings["autoreset_mode"] = "SameStep"
    return gym.make_vec(ENTRIES["Hover"].id, num_envs=n, **settings).unwrapped


@pytest.mark.parametrize("pushed", [{}, PUSHED], ids=["calm", "pushed"])
@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
@pytest.mark.parametrize("n", [1, 3])
def test_model_fields_of_simulations_go_with_the_state(n, engine, pushed):
    """Into a new one, and into one that has other fields; also those of the episodes to come."""
    env = with_fields(n, engine, pushed)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = rng.uniform(-0.3, 0.3, (60, *env.action_space.shape))
    some = [0] if n == 1 else [0, 2]
    set_fields(env, some, [5, 6][: len(some)])
    set_fields(env, some[:1], [7], ("body_mass", "site_pos"))
    flown(env, actions[:11])
    state = pickle.loads(pickle.dumps(env.get_state()))
    wanted = flown(env, actions[11:])
    other = with_fields(n, engine, pushed)
    set_fields(other, range(n), range(n), ("body_mass", "dof_damping", "opt.wind", "body_pos"))
    other.reset(seed=8)
    flown(other, actions[:3])
    for each in (env, with_fields(n, engine, pushed), other):
        each.set_state(state)
        assert flown(each, actions[11:]) == wanted
    plain = with_fields(n, engine, pushed)
    plain.set_state(env.get_state())
    plain.reset(seed=0)
    env.reset(seed=0)
    assert flown(plain, actions) == flown(env, actions)


@pytest.mark.parametrize("pushed", [{}, PUSHED], ids=["calm", "pushed"])
@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_state_without_fields_of_its_own_brings_back_the_models(n, engine, pushed):
    env = with_fields(n, engine, pushed)
    env.reset(seed=0)
    actions = np.full((40, *env.action_space.shape), 0.1)
    flown(env, actions[:11])
    state = env.get_state()
    wanted = flown(env, actions[11:])
    set_fields(env, [n - 1], [3])
    assert flown(env, actions[11:]) != wanted
    env.set_state(state)
    assert flown(env, actions[11:]) == wanted


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_a_blow_that_was_changed_on_the_way_hits_the_same_place_after_a_change_of_fields(engine):
    """The state remembers where it was to hit, so that it still does when the sites move."""
    env, other = (with_fields(1, engine, BLOW) for _ in range(2))
    for each in (env, other):
        each.reset(seed=0)
    env.core.engine.pushes.terms[0].set(0, Impulse("base", (0.1, 0.0, 0.0), start=0.1))
    other.set_state(env.get_state())
    for each in (env, other):
        set_fields(each, [0], [1], ("site_pos", "body_ipos"))
    actions = np.zeros((15, 7))
    assert flown(env, actions) == flown(other, actions)


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_forces_that_were_written_to_the_simulation_go_with_the_state(engine):
    env, other = (with_fields(1, engine, {}) for _ in range(2))
    env.reset(seed=0)
    undisturbed = flown(env, np.zeros((10, 7)))
    env.reset(seed=0)
    env.data.xfrc_applied[2, 0], env.data.qfrc_applied[8] = 0.3, 0.01
    state = env.get_state()
    wanted = flown(env, np.zeros((10, 7)))
    other.set_state(state)
    assert flown(other, np.zeros((10, 7))) == wanted != undisturbed


OTHERS = [
    ({"task": "Track"}, "task is 'TendonGym/Hover-v0', here it is 'TendonGym/Track-v0'"),
    ({"engine": "compiled"}, "engine is 'mujoco', here it is 'compiled'"),
    ({"control_frequency": 50}, "control_frequency is 100.0, here it is 50.0"),
    ({"model": {"arm": {"n_links": 6}}}, "model is"),
    ({"forces": {"wind": {"velocity": [1, 0, 0]}}}, "forces is {}"),
    ({"limits": {"tilt": 1.0}}, "limits is"),
]


@pytest.mark.parametrize("changes, message", OTHERS, ids=str)
def test_a_state_of_another_environment_is_refused_by_name(changes, message):
    state = environment("scalar", 0, {"task": "Hover"}).get_state()
    env = environment("scalar", 0, {"task": "Hover", **changes})
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(ValueError, match=message):
        env.set_state(state)
    after = env.get_state()
    assert all(np.array_equal(before.arrays[name], after.arrays[name]) for name in before.arrays)


def test_numbers_and_modes_of_environments_must_agree_and_threads_need_not():
    state = environment("SameStep", 0, MANY[0], 3).get_state()
    with pytest.raises(ValueError, match="num_envs is 3, here it is 2"):
        environment("SameStep", 0, MANY[0], 2).set_state(state)
    with pytest.raises(ValueError, match="autoreset_mode is 'SameStep', here it is 'NextStep'"):
        environment("NextStep", 0, MANY[0], 3).set_state(state)
    values = {**SHORT, "rotor_action": "thrust", "autoreset_mode": "SameStep"}
    gym.make_vec(ENTRIES["Hover"].id, num_envs=3, threads=1, **values).set_state(state)
    with pytest.raises(TypeError, match="what get_state returned, got "):
        environment("NextStep", 0, MANY[0], 3).set_state({})
    assert isinstance(state, EnvState)


SPOILT = {
    "missing": (lambda arrays: arrays.pop("integral"), "state has no array 'integral'"),
    "no engine": (lambda arrays: arrays.pop("engine"), "state has no array 'engine'"),
    "shape": (
        lambda arrays: arrays.update(engine=arrays["engine"][:, 1:]),
        r"state's engine must be an array of shape \(\d+, \d+\) and type float64, got .*",
    ),
    "type": (
        lambda arrays: arrays.update(elapsed=arrays["elapsed"].astype(float)),
        "state's elapsed must be an array of shape .* and type int64, got",
    ),
    "finite": (
        lambda arrays: arrays.update(engine=arrays["engine"] * np.nan),
        "state's engine must be finite",
    ),
}


@pytest.mark.parametrize("n", [None, 2])
@pytest.mark.parametrize("how", SPOILT)
def test_a_state_that_was_spoilt_is_refused_and_changes_nothing(how, n):
    env = environment("scalar" if n is None else "NextStep", "one", {"task": "Hover"}, n)
    env.reset(seed=4)
    state = env.get_state()
    spoil, message = SPOILT[how]
    arrays = dict(env.get_state().arrays)
    spoil(arrays)
    env.step(env.action_space.sample())
    before = env.get_state()
    with pytest.raises(ValueError, match=message):
        env.set_state(EnvState(state.maker, arrays, state.episodes))
    after = env.get_state()
    assert plain(after.arrays) == plain(before.arrays) and after.episodes == before.episodes
