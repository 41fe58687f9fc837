"""The scalar environments: determinism, ends, infos, copies, specs."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

every_task = pytest.mark.parametrize("name", ENTRIES)


def make(name, **settings):
    return gym.make(ENTRIES[name].id, **settings)


def rollout(env, seed, steps=200, options=None):
    """Return everything that an environment says over some steps of seeded actions."""
    observation, info = env.reset(seed=seed, options=options)
    rng = np.random.default_rng(seed)
    said = [(observation, 0.0, False, False, info)]
    for _ in range(steps):
        action = rng.uniform(-0.3, 0.3, env.action_space.shape).astype(np.float32)
        said.append(env.step(action))
        if said[-1][2] or said[-1][3]:
            observation, info = env.reset()
            said.append((observation, 0.0, False, False, info))
    return said


def assert_equal(a, b):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_equal(a[key], b[key])
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_equal(x, y)
    else:
        assert np.array_equal(a, b)


@every_task
def test_a_seed_gives_one_rollout_and_another_seed_another(name):
    env, other = make(name), make(name)
    first = rollout(env, 3)
    assert_equal(first, rollout(env, 3))
    assert_equal(first, rollout(other, 3))
    assert not np.array_equal(first[0][0], env.reset(seed=4)[0])
    assert not np.array_equal(env.reset()[0], env.reset()[0])


@pytest.mark.parametrize("engine", [{"model": "paper"}, {"engine": "compiled"}], ids=str)
@pytest.mark.parametrize("rotor_action", ["thrust", "attitude", "residual"])
def test_nothing_survives_a_reset(rotor_action, engine):
    """Integrals, headings, controls, pushes, warm starts, goals: all as in a fresh environment."""
    settings = {"rotor_action": rotor_action, **engine}
    dirty, fresh = make("Bend", **settings), make("Bend", **settings)
    dirty.reset(seed=9, options={"goal": [0.5, 0.5]})
    rng = np.random.default_rng(0)
    for _ in range(40):
        dirty.step(rng.uniform(-1, 1, dirty.action_space.shape))
    data = dirty.unwrapped.data
    data.xfrc_applied[:] = 1.0
    data.qfrc_applied[:] = 1.0
    data.qvel[:] = 5.0
    for _ in range(5):
        dirty.step(rng.uniform(-1, 1, dirty.action_space.shape))
    assert_equal(rollout(dirty, 1, 60), rollout(fresh, 1, 60))


def test_action_samples_are_seeded_by_their_space_alone():
    env = make("Hover")
    env.action_space.seed(5)
    first = env.action_space.sample()
    env.action_space.seed(5)
    env.reset(seed=77)
    assert np.array_equal(env.action_space.sample(), first)


@every_task
def test_the_time_limit_truncates_and_does_not_terminate(name):
    env = make(name, horizon=0.1)
    env.reset(seed=0)
    action = np.zeros(env.action_space.shape, np.float32)
    for k in range(10):
        *_, terminated, truncated, info = env.step(action)
        assert terminated is False and truncated is (k == 9)
        assert ("is_success" in info) == (k == 9)
        assert info["termination_reason"] == ""


def ends(name, settings, action, options=None):
    env = make(name, **settings)
    env.reset(seed=0, options=options)
    for _ in range(3000):
        step = env.step(np.broadcast_to(action, env.action_space.shape))
        if step[2] or step[3]:
            return step
    raise AssertionError("the episode never ends")


FALL = np.array([-1, -1, -1, -1, -1, -1, -1], float)
ROLL = np.array([0.3, 0.3, -0.3, -0.3, -1, -1, -1])
CLIMB = np.array([1, 1, 1, 1, -1, -1, -1], float)


@pytest.mark.parametrize(
    "reason, action, limits",
    [
        ("crash", FALL, {"distance": 50.0}),
        ("tilt", ROLL, {"tilt": 1.0}),
        ("far", CLIMB, {"distance": 0.5}),
    ],
)
def test_a_failure_terminates_with_its_reason(reason, action, limits):
    observation, reward, terminated, truncated, info = ends("Hover", {"limits": limits}, action)
    assert terminated is True and truncated is False
    assert info["termination_reason"] == reason
    assert info["is_success"] is False
    assert not info["sim_unstable"]
    assert np.isfinite(observation).all() and np.isfinite(reward)


def test_a_crash_is_seen_before_anything_touches_the_floor():
    env = make("Hover", limits={"distance": 50.0, "tilt": 3.1})
    env.reset(seed=0)
    ended = False
    while not ended:
        touched = env.unwrapped.data.ncon
        assert touched == 0
        *_, ended, truncated, info = env.step(FALL)
        assert not truncated
    assert info["termination_reason"] == "crash"


def test_a_failure_at_the_last_step_is_no_time_limit():
    env = make("Hover", horizon=0.05, limits={"distance": 0.3})
    qpos = env.unwrapped.model.qpos0.copy()
    qpos[2] = 1.6
    env.reset(seed=0, options={"qpos": qpos})
    for _ in range(4):
        env.step(np.zeros(7))
    env.unwrapped.data.qpos[0] = 0.31
    *_, terminated, truncated, info = env.step(np.zeros(7))
    assert terminated is True and truncated is False and info["termination_reason"] == "far"


@pytest.mark.parametrize("rotor_action", ["thrust", "residual", "attitude"])
@pytest.mark.parametrize("fault", [np.nan, np.inf, 1e13])
def test_an_unstable_simulation_ends_its_episode_finitely(fault, rotor_action):
    env = make("Hover", rotor_action=rotor_action)
    env.reset(seed=0)
    for _ in range(5):
        env.step(np.zeros(7))
    held = env.unwrapped.data.qpos.copy()
    env.unwrapped.data.qvel[2] = fault
    observation, reward, terminated, truncated, info = env.step(np.zeros(7))
    assert terminated is True and truncated is False
    assert info["sim_unstable"] is True and info["termination_reason"] == "unstable"
    assert env.observation_space.contains(observation)
    assert np.isfinite(reward) and 0.0 <= reward <= 1.0
    assert all(np.isfinite(value).all() for key, value in info.items() if key.endswith("_error"))
    assert np.array_equal(env.unwrapped.data.qpos, held)
    fresh = make("Hover", rotor_action=rotor_action)
    assert_equal(rollout(env, 2, 20), rollout(fresh, 2, 20))


def success(name, **settings):
    """Fly a task with the full geometric law from the task's own starts; return the last info."""
    from tendon_gym import baselines

    baseline = baselines.get("geometric_full")
    env = make(name, **baseline.interface(ENTRIES[name]), **settings)
    policy = baseline.make(env.unwrapped)
    observation, _ = env.reset(seed=1)
    state, errors = None, []
    while True:
        action, state = policy.predict(observation, state)
        observation, _, terminated, truncated, info = env.step(action)
        errors.append([info["position_error"], info["tip_error"]])
        if terminated or truncated:
            return info, np.array(errors)


def test_success_is_small_errors_over_the_last_second():
    info, errors = success("Hover", horizon=7.0)
    last = np.sqrt((errors[-500:] ** 2).mean(axis=0))
    assert info["is_success"] is True and (last < 0.05).all()
    info, errors = success("Hover", horizon=1.2)
    last = np.sqrt((errors[-500:] ** 2).mean(axis=0))
    assert info["is_success"] is bool((last < 0.05).all())


@pytest.mark.parametrize("offset, expected", [(0.045, True), (0.055, False)])
@pytest.mark.parametrize("horizon", [0.3, 1.0, 1.5])
def test_success_has_its_threshold_at_any_horizon(offset, expected, horizon):
    """The simulation is held where it is; the reference is a little away from it."""
    env = make("Hover", horizon=horizon, reference={"name": "hover", "position": [offset, 0, 1.6]})
    qpos = env.unwrapped.model.qpos0.copy()
    qpos[2] = 1.6
    env.reset(seed=0, options={"qpos": qpos})
    truncated = False
    while not truncated:
        env.unwrapped.data.qpos[:] = qpos
        env.unwrapped.data.qvel[:] = 0.0
        *_, truncated, info = env.step(np.array([0, 0, 0, 0, -1, -1, -1]))
    assert info["is_success"] is expected


@every_task
def test_infos_are_alike_in_scalar_and_vector(name):
    env = make(name, horizon=0.02)
    envs = gym.make_vec(ENTRIES[name].id, num_envs=2, horizon=0.02)
    scalars, vectors = [env.reset(seed=0)[1]], [envs.reset(seed=0)[1]]
    for _ in range(2):
        scalars.append(env.step(np.zeros(env.action_space.shape))[4])
        vectors.append(envs.step(np.zeros(envs.action_space.shape))[4])
    for scalar, vector in zip(scalars, vectors, strict=True):
        assert {key for key in vector if not key.startswith("_")} == set(scalar)
        for key, value in scalar.items():
            if key != "reward_terms":
                assert np.array_equal(vector[key][0], value)
                assert vector[f"_{key}"].all()
        for key, value in scalar["reward_terms"].items():
            assert vector["reward_terms"][key][0] == value
    assert "is_success" in scalars[-1]


@every_task
def test_infos_measure_what_they_say(name):
    """Against MuJoCo's own derived quantities and the action that was given."""
    env = make(name)
    core = env.unwrapped.core
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    before = np.zeros(core.model.nu)
    for k in range(20):
        action = rng.uniform(-0.4, 0.4, env.action_space.shape)
        *_, info = env.step(action)
        data, setpoint = env.unwrapped.data, core.schedule.setpoint[0]
        base = data.body("base")
        error = np.linalg.norm(setpoint["position"] - base.xpos)
        assert info["position_error"] == pytest.approx(error, abs=1e-12)
        assert info["tilt"] == pytest.approx(np.arccos(base.xmat[8]), abs=1e-7)
        assert info["time"] == pytest.approx(0.01 * (k + 1))
        assert np.array_equal(info["tensions"], data.ctrl[core.layout.tendon_actuators])
        assert np.array_equal(info["thrusts"], data.ctrl[core.layout.rotor_actuators])
        spread = info["tensions"].sum() - len(info["tensions"]) * info["tensions"].min()
        assert info["tension_effort"] == pytest.approx(spread)
        rate = np.linalg.norm(data.ctrl - before) / 0.01
        assert info["action_rate"] == pytest.approx(rate)
        before = data.ctrl.copy()
        angles = 2.0 * np.pi / 3.0 * np.arange(3)
        arms = 0.015 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        moment = info["tensions"] @ arms
        asked = setpoint["bend"] * np.sqrt(3.0) / 2.0 * 0.015 * 6.0
        assert info["bend_error"] == pytest.approx(np.linalg.norm(asked - moment), abs=1e-12)
        assert info["action_clipped"] is False


def test_errors_are_never_negative_and_zero_where_all_is_well():
    env = make("Hover", start={"phase": "zero"})
    qpos = env.unwrapped.model.qpos0.copy()
    qpos[2] = 1.6
    _, info = env.reset(seed=0, options={"qpos": qpos})
    for key in ("position_error", "tip_error", "bend_error", "tilt", "yaw_error", "tip_speed"):
        assert info[key] == pytest.approx(0.0, abs=1e-9)
    for said in rollout(env, 0, 50)[1:]:
        for key in ("position_error", "tip_error", "bend_error", "tilt", "tip_speed"):
            assert said[4][key] >= 0.0


@pytest.mark.parametrize("rotor_action", ["thrust", "body_rate", "acceleration"])
def test_an_action_beyond_its_bounds_counts_as_at_its_bounds(rotor_action):
    said = []
    for value in (1.0, 1e6, np.float32(3e38)):
        env = make("Hover", rotor_action=rotor_action)
        env.reset(seed=0)
        action = np.array([value, -value, value, 0.0, value, -value, 0.1])
        rows = [env.step(action) for _ in range(5)]
        assert rows[-1][4]["action_clipped"] is bool(value > 1.0)
        for row in rows:
            del row[4]["action_clipped"]
        said.append(rows)
    assert_equal(said[0], said[1])
    assert_equal(said[0], said[2])


@pytest.mark.parametrize("shape", [(), (6,), (8,), (1, 7), (7, 1)])
def test_an_action_of_another_shape_raises(shape):
    env = make("Hover").unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action must have shape \(7,\), got"):
        env.step(np.zeros(shape))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_action_that_is_not_finite_raises_and_changes_nothing(value):
    env = make("Hover").unwrapped
    env.reset(seed=0)
    action = np.zeros(7)
    action[3] = value
    state = env.data.qpos.copy()
    with pytest.raises(ValueError, match=r"action\[3\] .*must be finite"):
        env.step(action)
    assert np.array_equal(env.data.qpos, state) and env.core.elapsed[0] == 0
    fresh = make("Hover").unwrapped
    fresh.reset(seed=0)
    assert_equal(env.step(np.full(7, 0.1)), fresh.step(np.full(7, 0.1)))


@pytest.mark.parametrize(
    "action", [[0, 0, 0, 0, -1, -1, -1], *np.zeros((2, 7), ">f4"), np.zeros(7, "i1")]
)
def test_an_action_may_be_a_list_or_integers_or_of_any_byte_order(action):
    env = make("Hover").unwrapped
    env.reset(seed=0)
    env.step(action)


@pytest.mark.parametrize("action", [["a"] * 7, [None] * 7, [1j] * 7, [True] * 7])
def test_an_action_that_is_no_numbers_raises(action):
    env = make("Hover").unwrapped
    env.reset(seed=0)
    with pytest.raises(TypeError, match="action must be an array of numbers"):
        env.step(action)


def test_observations_share_no_memory():
    env = make("Hover")
    seen = [env.reset(seed=0)[0]]
    for _ in range(5):
        seen.append(env.step(np.zeros(7))[0])
    seen.append(env.reset()[0])
    for k, one in enumerate(seen):
        assert one.dtype == np.float32
        assert not any(np.shares_memory(one, other) for other in seen[:k])


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("unwrap", [True, False])
def test_a_copy_flies_alike(way, unwrap):
    settings = {"model": {"arm": {"n_links": 6}}, "rotor_action": "attitude", "horizon": 0.3}
    env = make("Track", camera="side", **settings)
    env = env.unwrapped if unwrap else env
    env.reset(seed=0)
    twin = way(env)
    assert twin.unwrapped.spec == env.unwrapped.spec
    assert_equal(rollout(twin, 4, 60), rollout(env, 4, 60))


SETTINGS = {
    "model": {"preset": "paper", "arm": {"n_links": 6}, "tendons": {"n_tendons": 4}},
    "start": {"position": 0.1},
    "reward": {"position": 0.8, "tilt": {"weight": 0.2, "margin": 0.3}},
    "limits": {"tilt": 1.2},
    "action": {"gains": {"kp": [6, 6, 10]}},
    "forces": {"external_wrench": {"body": "base", "torque": [0, 0, 0.01]}},
    "control_frequency": 50,
}


@every_task
@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["default", "settings"])
def test_a_spec_survives_json(name, settings):
    env = make(name, **settings)
    spec = gym.envs.registration.EnvSpec.from_json(env.spec.to_json())
    assert_equal(rollout(gym.make(spec), 0, 10), rollout(env, 0, 10))
    envs = gym.make_vec(ENTRIES[name].id, num_envs=2, **settings)
    spec = gym.envs.registration.EnvSpec.from_json(envs.spec.to_json())
    again = gym.make_vec(spec)
    assert again.num_envs == 2
    assert np.array_equal(again.reset(seed=0)[0], envs.reset(seed=0)[0])


def test_max_episode_steps_of_make_truncates():
    env = make("Hover", max_episode_steps=7)
    env.reset(seed=0)
    assert [env.step(np.zeros(7))[3] for _ in range(7)] == [False] * 6 + [True]


def test_gymnasiums_own_check_of_resets():
    from gymnasium.envs.mujoco.utils import check_mujoco_reset_state

    env = make("Hover").unwrapped
    env.action_space.seed(0)
    check_mujoco_reset_state(env)
