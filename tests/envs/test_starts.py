"""Starts: spread, free of contact, and the options of reset."""

from __future__ import annotations

import gymnasium as gym
import mujoco
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

REFERENCES = ["hover", "mission", "figure_eight", "steady_figure_eight", "rotating_bend", "smooth"]
CASES = [
    *[("Hover", {"reference": name}) for name in REFERENCES],
    *[("Track", {"reference": name}) for name in REFERENCES],
    ("Track", {"reference": {"name": "smooth", "height": [0.6, 0.8], "min_height": 0.6}}),
    ("Hover", {"reference": {"name": "hover", "position": [0, 0, 0.3]}}),
    ("Hover", {"start": {"bend": 1.5, "tilt": 0.8, "position": 1.0}}),
    ("Hover", {"model": {"arm": {"n_links": 3}}}),
    ("Hover", {"model": {"arm": {"n_links": 24}}}),
    ("Bend", {}),
    ("Bend", {"goal": "tip"}),
    ("ArmBend", {}),
    ("ArmBend", {"start": {"bend": 1.5}}),
    ("Hoist", {}),
    ("TetherPerch", {}),
]


@pytest.mark.parametrize("name, settings", CASES)
def test_no_start_touches_anything(name, settings):
    n = 100
    envs = gym.make_vec(ENTRIES[name].id, num_envs=n, **settings).unwrapped
    envs.reset(seed=0)
    for _ in range(3):
        for i in range(n):
            data = envs.core.engine.data(i)
            touching = envs.model.geom_bodyid[data.contact.geom]  # a load may lie on the floor
            assert (touching == envs.core.layout.load_body).any(axis=-1).sum() == data.ncon
        assert (envs.core.signals["clearance"] >= 0.05 - 1e-9).all()
        envs.reset()


@pytest.mark.parametrize("name", ENTRIES)
def test_starts_spread_as_the_settings_say(name):
    spread = {"position": 0.3, "velocity": 0.5, "tilt": 0.2, "yaw": 0.7, "angular_velocity": 0.9}
    spread |= {"bend": 0.6, "bend_rate": 0.8}
    n = 300
    envs = gym.make_vec(ENTRIES[name].id, num_envs=n, start=spread).unwrapped
    envs.reset(seed=0)
    core, layout = envs.core, envs.core.layout
    seen = {
        "bend": core.engine.qpos[:, layout.joint_qpos].reshape(n, -1, 2).sum(axis=1),
        "bend_rate": core.engine.qvel[:, layout.joint_dofs].reshape(n, -1, 2).sum(axis=1),
    }
    if layout.free:
        rotation = core.signals["rotation"]
        roll = np.arctan2(rotation[:, 2, 1], rotation[:, 2, 2])
        seen |= {
            "position": core.signals["position_error"],
            "velocity": core.signals["velocity_error"],
            "tilt": np.stack([roll, np.arcsin(-rotation[:, 2, 0])], axis=1),
            "yaw": core.signals["yaw_error"][:, None],
            "angular_velocity": core.engine.qvel[:, 3:6],
        }
    for key, values in seen.items():
        assert (np.abs(values) <= spread[key] + 1e-9).all(), key
        assert (values.max(axis=0) > 0.9 * spread[key]).all(), key
        assert (values.min(axis=0) < -0.9 * spread[key]).all(), key
        assert (np.abs(values.mean(axis=0)) < 0.15 * spread[key]).all(), key


def test_phases_are_anywhere_on_what_never_ends_and_at_the_start_of_what_does():
    def phases(**settings):
        envs = gym.make_vec(ENTRIES["Track"].id, num_envs=200, **settings).unwrapped
        envs.reset(seed=0)
        return envs.core.schedule.phase

    anywhere = phases()
    assert anywhere.min() >= 0.0 and anywhere.max() <= 8.0
    assert np.histogram(anywhere, bins=4, range=(0.0, 8.0))[0].min() > 30
    assert not phases(start={"phase": "zero"}).any()
    assert not phases(reference="mission").any()
    assert not phases(reference="hover").any()


def test_goals_fill_the_unit_disc_evenly():
    envs = gym.make_vec(ENTRIES["Bend"].id, num_envs=400).unwrapped
    envs.reset(seed=0)
    rows = envs.core.schedule.rows
    assert rows["bend_magnitude"].max() <= 1.0
    assert (rows["bend_magnitude"] < np.sqrt(0.5)).mean() == pytest.approx(0.5, abs=0.08)
    quarters = np.histogram(rows["bend_direction"] % (2.0 * np.pi), bins=4)[0]
    assert quarters.min() > 70


def scalar(name, **settings):
    return gym.make(ENTRIES[name].id, **settings).unwrapped


def some_state(model, seed=0):
    rng = np.random.default_rng(seed)
    qpos = model.qpos0 + rng.uniform(-0.05, 0.05, model.nq)
    if model.nq != model.nv:
        qpos[3:7] /= np.linalg.norm(qpos[3:7])
    return qpos, rng.uniform(-0.3, 0.3, model.nv)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_given_state_is_the_state(name):
    env = scalar(name)
    qpos, qvel = some_state(env.model)
    env.reset(seed=0, options={"qpos": qpos, "qvel": qvel})
    assert np.array_equal(env.data.qpos, qpos) and np.array_equal(env.data.qvel, qvel)
    env.reset(seed=0, options={"qpos": qpos.tolist()})
    assert np.array_equal(env.data.qpos, qpos) and not env.data.qvel.any()
    env.reset(seed=0, options={"qvel": qvel})
    assert np.array_equal(env.data.qpos, env.model.qpos0)
    assert np.array_equal(env.data.qvel, qvel)


@pytest.mark.parametrize("name", ENTRIES)
def test_states_are_given_to_many(name):
    envs = gym.make_vec(ENTRIES[name].id, num_envs=4).unwrapped
    rows = [some_state(envs.model, k) for k in range(3)]
    qpos, qvel = (np.stack(values) for values in zip(*rows, strict=True))
    mask = np.array([True, False, True, True])
    envs.reset(seed=0)
    kept = envs.core.engine.qpos[1].copy()
    envs.reset(options={"qpos": qpos, "qvel": qvel, "reset_mask": mask})
    assert np.array_equal(envs.core.engine.qpos[mask], qpos)
    assert np.array_equal(envs.core.engine.qpos[1], kept)
    envs.reset(options={"qpos": qpos[0]})
    assert np.array_equal(envs.core.engine.qpos, np.tile(qpos[0], (4, 1)))
    with pytest.raises(ValueError, match=r"options\['qpos'\] must have shape \(4, "):
        envs.reset(options={"qpos": qpos})


def test_a_phase_starts_there_on_the_reference():
    env = scalar("Track", start={"position": 0.0, "velocity": 0.0})
    reference = env.core.schedule.source
    env.reset(seed=0, options={"phase": 3.25})
    expected = reference.at([3.25])[0]
    np.testing.assert_allclose(env.data.qpos[:3], expected["position"], atol=1e-12)
    np.testing.assert_allclose(env.data.qvel[:3], expected["velocity"], atol=1e-12)
    env.step(np.zeros(7))
    later = reference.at([3.26])[0]
    np.testing.assert_allclose(env.core.schedule.setpoint["position"][0], later["position"])
    envs = gym.make_vec(ENTRIES["Track"].id, num_envs=3).unwrapped
    envs.reset(seed=0, options={"phase": [0.0, 1.0, 2.0]})
    assert np.array_equal(envs.core.schedule.phase, [0.0, 1.0, 2.0])
    envs.reset(seed=0, options={"phase": 4.0})
    assert np.array_equal(envs.core.schedule.phase, [4.0] * 3)


@pytest.mark.parametrize("name", ["Bend", "ArmBend"])
def test_a_bend_goal_is_asked_from_then_on(name):
    env = scalar(name)
    env.reset(seed=0, options={"goal": [0.3, -0.4]})
    part = env.observation_layout["reference_bend"]
    for _ in range(60):
        observation, *_ = env.step(np.zeros(env.action_space.shape))
    np.testing.assert_allclose(observation[part.start : part.stop], [0.3, -0.4], atol=1e-6)
    env.reset(seed=1)
    drawn = [env.core.schedule.rows["bend_magnitude"][0]]
    fresh = scalar(name)
    fresh.reset(seed=1)
    assert drawn[0] == fresh.core.schedule.rows["bend_magnitude"][0]


@pytest.mark.parametrize("name", ["Bend", "ArmBend"])
def test_a_tip_goal_is_asked_until_the_next_episode(name):
    env = scalar(name, goal="tip")
    part = env.observation_layout["tip_goal"]
    goal = [0.1, 0.05, -0.45]
    env.reset(seed=0, options={"goal": goal})
    for _ in range(60):
        observation, *_, info = env.step(np.zeros(env.action_space.shape))
        np.testing.assert_allclose(observation[part.start : part.stop], goal, atol=1e-6)
    tip = env.core.signals["tip"][0]
    assert info["tip_error"] == pytest.approx(np.linalg.norm(np.array(goal) - tip))
    again, _ = env.reset(seed=1)
    assert np.array_equal(again, scalar(name, goal="tip").reset(seed=1)[0])


def test_goals_are_given_to_many():
    envs = gym.make_vec(ENTRIES["Bend"].id, num_envs=3).unwrapped
    goals = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, -0.5]])
    envs.reset(seed=0, options={"goal": goals})
    np.testing.assert_allclose(envs.core.schedule.rows["bend_magnitude"], [0.0, 1.0, 0.5])
    for _ in range(60):
        envs.step(np.zeros(envs.action_space.shape))
    np.testing.assert_allclose(envs.core.schedule.setpoint["bend"], goals, atol=1e-9)


BAD = [
    ("Hover", {"qops": 1}, ValueError, "qpos, qvel, phase"),
    ("Hover", {"goal": [0, 0]}, ValueError, "qpos, qvel, phase"),
    ("Hover", {"qpos": np.zeros(5)}, ValueError, r"shape \(31\)"),
    ("Hover", {"qvel": np.full(30, np.nan)}, ValueError, r"options\['qvel'\]\[0\]"),
    ("Hover", {"phase": float("inf")}, ValueError, "phase"),
    ("Hover", {"phase": "late"}, TypeError, "phase"),
    ("Bend", {"goal": [0.8, 0.8]}, ValueError, "goal"),
    ("Bend", {"goal": [0.1, 0.1, -0.4]}, ValueError, r"shape \(2\)"),
    ("Bend", {"goal": [[0.1, 0.1], [0.1, 0.1]]}, ValueError, r"shape \(1, 2\)"),
]


@pytest.mark.parametrize("name, options, kind, message", BAD)
def test_options_that_make_no_sense_raise_and_change_nothing(name, options, kind, message):
    env = scalar(name)
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros(7))
    state = env.data.qpos.copy()
    with pytest.raises(kind, match=message):
        env.reset(options=options)
    assert np.array_equal(env.data.qpos, state)
    envs = gym.make_vec(ENTRIES[name].id, num_envs=2)
    with pytest.raises(kind):
        envs.reset(seed=0, options=options if "goal" not in options else {"goals": 1})


def test_options_do_not_change_what_is_drawn_later():
    plain, told = scalar("Track", reference="smooth"), scalar("Track", reference="smooth")
    plain.reset(seed=3)
    told.reset(seed=3, options={"phase": 1.0, "qpos": told.model.qpos0})
    for _ in range(2):
        assert np.array_equal(plain.reset()[0], told.reset()[0])


def test_a_free_vehicle_that_would_start_on_the_floor_is_lifted_straight_up():
    settings = {"reference": {"name": "hover", "position": [0.2, -0.1, 0.1]}, "horizon": 1.0}
    env = scalar("Hover", **settings, start={"position": 0.0})
    env.reset(seed=0)
    np.testing.assert_allclose(env.data.qpos[:2], [0.2, -0.1])
    assert env.core.signals["clearance"][0] == pytest.approx(0.05)


@pytest.mark.parametrize("height", [0.3, 0.5, 0.6])
@pytest.mark.parametrize("bend", [0.1, 0.25])
def test_the_clearance_is_never_more_than_the_true_distance(height, bend):
    """Of any geom from the floor, in random postures close to it."""
    env = scalar("Hover", limits={"distance": 100.0, "tilt": 3.1})
    env.reset(seed=0)
    rng = np.random.default_rng(int(100 * height))
    model, floor = env.model, env.model.geom("floor").id
    solid = [g for g in range(model.ngeom) if model.geom_contype[g] > 1]
    for _ in range(20):
        qpos = model.qpos0.copy()
        qpos[7:] = rng.uniform(-bend, bend, model.nq - 7) + rng.uniform(-bend, bend)
        qpos[2] = height
        env.reset(options={"qpos": qpos})
        data = env.data
        true = min(mujoco.mj_geomDistance(model, data, g, floor, 2.0, None) for g in solid)
        assert env.core.signals["clearance"][0] <= true + 1e-9
