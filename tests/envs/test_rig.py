"""Loads on cables: what is known of them, how their episodes begin, go on and end."""

from __future__ import annotations

import dataclasses

import gymnasium as gym
import mujoco
import numpy as np
import pytest
from scipy.optimize import minimize

from tendon_gym.cables import CableSpan, CableSystem
from tendon_gym.envs.core import Core
from tendon_gym.envs.episodes import Episodes
from tendon_gym.envs.obstacles import OBSTACLE, distance, surface_of, write_obstacle
from tendon_gym.envs.rig import Scene
from tendon_gym.envs.tasks.hoist import RIG, TASK
from tendon_gym.forces.cable import Obstacle
from tendon_gym.registration import ENTRIES
from tests.envs.long_hoist import fly

HOIST = ENTRIES["Hoist"].id
STILL = {"rotor_action": "residual", "tendon_action": "reference", "control_frequency": 50.0}
ENGINES = ("mujoco", "compiled")
SHAPES = {
    "sphere": (0.3,),
    "cylinder": (0.2,),
    "ellipsoid": (0.1, 0.15, 0.9),
    "torus": (0.5, 0.1),
}


def scalar(**settings):
    return gym.make(HOIST, **{**STILL, **settings}).unwrapped


def vector(n, **settings):
    return gym.make_vec(HOIST, num_envs=n, **{**STILL, **settings}).unwrapped


def steps(env, count, winch=0.0):
    """Take steps with the vehicle held; return what the last one said."""
    shape = env.action_space.shape
    action = np.zeros(shape, np.float32)
    action[..., -1] = winch
    for _ in range(count):
        said = env.step(action)
    return said


# --- obstacles -----------------------------------------------------------------------------------


def obstacle_row(kind, rng):
    row = np.zeros(1, OBSTACLE)[0]
    place, turned = rng.normal(size=3), rng.normal(size=4)
    write_obstacle(row, Obstacle(kind, SHAPES[kind], position=place, quaternion=tuple(turned)))
    return row


def on_surface(row, local):
    """Return the nearest of many points of the surface to a local point, refined."""
    a, b = np.meshgrid(np.linspace(-np.pi, np.pi, 41), np.linspace(-np.pi, np.pi, 41))

    def point(q):
        u, v = q
        size = row["size"]
        if row["kind"][3]:
            out = size[0] + size[1] * np.cos(v)
            return np.array([out * np.cos(u), out * np.sin(u), size[1] * np.sin(v)])
        if row["kind"][1]:
            return np.array([size[0] * np.cos(u), size[0] * np.sin(u), v])
        radii = size if row["kind"][2] else np.full(3, size[0])
        return radii * np.array([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)])

    def away(q):
        return np.linalg.norm(point(q) - local)

    grid = np.stack([a.ravel(), b.ravel()], axis=1)
    best = grid[np.argmin([away(q) for q in grid])]
    return minimize(away, best, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun


@pytest.mark.parametrize("kind", ["sphere", "cylinder", "torus"])
def test_distances_are_those_to_the_nearest_point(kind):
    rng = np.random.default_rng(1)
    row = obstacle_row(kind, rng)
    for _ in range(8):
        local = rng.uniform(-1.0, 1.0, 3)
        point = row["position"] + local @ row["axes"]
        found = distance(row, tuple(point))
        assert abs(found) == pytest.approx(on_surface(row, local), abs=1e-6)
        across = np.hypot(local[0], local[1])
        inside = {
            "sphere": np.linalg.norm(local) < 0.3,
            "cylinder": across < 0.2,
            "torus": np.hypot(across - 0.5, local[2]) < 0.1,
        }
        assert (found < 0.0) == inside[kind]


def test_distances_to_an_ellipsoid_are_right_where_it_is_near():
    rng = np.random.default_rng(2)
    row = obstacle_row("ellipsoid", rng)
    for _ in range(8):
        direction = rng.normal(size=3)
        local = direction / np.linalg.norm(direction / row["size"])
        normal = local / row["size"] ** 2
        near = local + 1e-4 * normal / np.linalg.norm(normal)
        found = distance(row, tuple(row["position"] + near @ row["axes"]))
        assert found == pytest.approx(1e-4, rel=0.01)


# --- what is known -------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_signals_are_those_of_the_simulation(engine):
    env = scalar(engine=engine)
    env.reset(seed=3)
    steps(env, 60, winch=-0.6)
    core, data, s = env.core, env.data, env.core.signals[0]
    load, base = data.body("load"), data.body("base")
    np.testing.assert_allclose(s["load"], load.xpos - base.xpos, atol=1e-12)
    np.testing.assert_allclose(s["load_velocity"], load.cvel[3:], atol=1e-9)
    np.testing.assert_allclose(s["load_error"], core.rig.carried.goal[0] - load.xpos, atol=1e-12)
    row = core.rig.carried.obstacle[0]
    np.testing.assert_allclose(s["obstacle"], row["position"] - base.xpos, atol=1e-12)
    assert np.linalg.norm(s["cable_pull"]) == pytest.approx(s["cable_tension"])
    assert s["cable_tension"] > 1.0


def own_cable(row, base, load, hint=(0.3, 0.0, 0.0)):
    """Return system, cable and state of the toolkit, for an obstacle and two ends."""
    system = CableSystem(["ground"])
    cable = CableSpan(system, "ground", base, "ground", load)
    cable.add_obstacle("ground", (*row["position"], *row["quaternion"]), surface_of(row), hint)
    return cable, system.new_state()


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_path_is_the_shortest_over_the_episodes_own_obstacle(seed):
    env = scalar()
    env.reset(seed=seed)
    s, row = env.core.signals[0], env.core.rig.carried.obstacle[0]
    cable, state = own_cable(row, s["position"], s["position"] + s["load"])
    assert s["cable_length"] == pytest.approx(cable.length(state), abs=1e-6)
    assert s["rest_length"] == pytest.approx(s["cable_length"] + 0.02, abs=1e-12)
    steps(env, 30, winch=-0.5)
    # measured at the beginning of the last physics step
    data = env.data
    cable, state = own_cable(row, data.body("base").xpos, data.body("load").xpos)
    speed = env.core.signals["load_velocity"][0], env.core.signals["velocity"][0]
    late = 0.002 * sum(map(np.linalg.norm, speed)) + 1e-5
    assert env.core.signals["cable_length"][0] == pytest.approx(cable.length(state), abs=late)


def test_turns_are_the_angle_between_the_ends_of_a_level_curve():
    env = scalar()
    env.reset(seed=0)
    s = env.core.signals[0]
    # over a beam that is level the cable turns from its own direction to straight down
    steps(env, 80, winch=-0.5)
    direction = s["cable_pull"] / s["cable_tension"]
    angle = np.pi / 2 + np.arcsin(direction[2])
    assert 2.0 * np.pi * s["turns"] == pytest.approx(angle, abs=0.05)


def test_other_tasks_have_nothing_of_it():
    env = gym.make(ENTRIES["Hover"].id, limits={"obstacle": 5.0}).unwrapped
    env.reset(seed=0)
    _, _, terminated, _, _ = env.step(env.action_space.sample())
    assert not terminated and env.core.rig is None
    assert np.isinf(env.core.signals["obstacle_clearance"]).all()


# --- the winch -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [-1.0, -0.3, 0.7])
def test_the_winch_turns_at_the_rate_that_is_asked_for(rate):
    env = scalar()
    env.reset(seed=1)
    before = env.core.signals["rest_length"][0]
    steps(env, 25, winch=rate)
    change = env.core.signals["rest_length"][0] - before
    assert change == pytest.approx(0.5 * np.float32(rate) * 0.5, abs=1e-9)


def test_a_cable_pulls_with_the_loads_weight_when_it_hangs():
    env = scalar(horizon=20.0)
    env.reset(seed=1)
    steps(env, 200, winch=-0.2)
    pulls = []
    for _ in range(400):
        steps(env, 1)
        pulls.append(env.core.signals["cable_tension"][0])
    assert np.mean(pulls[200:]) == pytest.approx(0.3 * 9.81, rel=0.02)


# --- episodes ------------------------------------------------------------------------------------


def test_scenes_differ_between_simulations_and_episodes_but_not_between_equal_seeds():
    envs, again = vector(12, horizon=0.1), vector(12, horizon=0.1)
    envs.reset(seed=5)
    again.reset(seed=5)
    first = envs.core.rig.carried.obstacle.copy()
    assert np.array_equal(first, again.core.rig.carried.obstacle)
    assert len(np.unique(first["position"], axis=0)) == 12
    assert (first["kind"].sum(axis=0)[1:] > 0).all()
    steps(envs, 6)
    second = envs.core.rig.carried.obstacle
    assert not (second["position"] == first["position"]).all(axis=1).any()
    assert np.array_equal(
        envs.core.rig.paths.problem.elements["position"][:, 1], second["position"]
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_many_fly_as_one_does_through_resets_saves_and_restores(engine):
    flown = fly(engine, 60, 20, (0, 17, 63))
    assert flown["episodes"] >= 2 * flown["environments"] and flown["saved_and_put_back"] == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_load_that_is_thrown_ends_as_slam(engine):
    env = scalar(engine=engine)
    env.reset(seed=0)
    qvel = np.zeros(env.model.nv)
    qvel[env.core.layout.load_dof + 2] = 2.0
    env.reset(seed=0, options={"qvel": qvel, "qpos": env.data.qpos.copy()})
    _, _, terminated, _, info = steps(env, 1)
    assert terminated and info["termination_reason"] == "slam"


def at_beam(env, seed, address, offset):
    """Start with a body `offset` m above the point of the beam that the obstacle's x axis hits."""
    env.reset(seed=seed)
    qpos, row = env.data.qpos.copy(), env.core.rig.carried.obstacle[0]
    kind = int(np.argmax(row["kind"]))
    reach = row["size"][0] + (row["size"][1] if kind == 3 else 0.0)
    qpos[address : address + 3] = row["position"] + (reach + offset) * row["axes"][0]
    return env.reset(seed=seed, options={"qpos": qpos})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_vehicle_at_the_beam_ends_as_obstacle(engine):
    env = scalar(engine=engine)
    at_beam(env, 0, 0, 0.1)
    _, _, terminated, _, info = steps(env, 1)
    assert terminated and info["termination_reason"] == "obstacle"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_cable_without_a_path_ends_as_cable_and_keeps_its_last_one(engine, seed):
    env = scalar(engine=engine, limits={"load_speed": 100.0})
    at_beam(env, seed, env.core.layout.load_qpos, 0.004)
    known = env.core.signals["cable_length"][0]
    qvel = np.zeros(env.model.nv)
    down = -env.core.rig.carried.obstacle["axes"][0, 0]
    qvel[env.core.layout.load_dof :][:3] = 3.0 * down
    env.reset(seed=seed, options={"qpos": env.data.qpos.copy(), "qvel": qvel})
    observation, _, terminated, _, info = steps(env, 1)
    assert terminated and info["termination_reason"] == "cable"
    assert not info["sim_unstable"] and np.isfinite(observation).all()
    assert env.core.signals["cable_length"][0] == pytest.approx(known, abs=0.05)
    assert env.core.signals["cable_tension"][0] == 0.0
    env.reset(seed=seed)
    assert not steps(env, 1)[2]


def test_a_load_of_the_users_own_takes_the_place_of_the_tasks():
    env = scalar(model={"load": {"mass": 0.2, "radius": 0.05}})
    assert env.model.body("load").mass[0] == pytest.approx(0.2)
    env.reset(seed=0)
    assert not steps(env, 5)[2]


# --- pictures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_cable_obstacle_and_goal_are_drawn(seed):
    env = scalar()
    env.reset(seed=seed)
    scene = mujoco.MjvScene(env.model, 100)
    state = env.core.rig.state.copy()
    env.core.draw(0, scene)
    assert np.array_equal(env.core.rig.state, state)
    places = np.array([geom.pos for geom in scene.geoms[: scene.ngeom]])
    row, goal = env.core.rig.carried.obstacle[0], env.core.rig.carried.goal[0]
    assert np.abs(places - goal).sum(axis=1).min() < 1e-6
    if row["kind"][3]:
        ring = np.linalg.norm(places - row["position"], axis=1)
        assert (np.abs(ring - row["size"][0]) < 0.02).sum() >= 20
    else:
        assert np.abs(places - row["position"]).sum(axis=1).min() < 1e-6


def test_a_hanging_load_starts_where_the_vehicle_is_and_in_balance():
    """A rig of another task: the load hangs from the vehicle, beside an obstacle."""
    branch = Obstacle("cylinder", (0.05,), position=(2.0, 0.0, 1.5), quaternion=(1, -1, 0, 0))
    hung = dataclasses.replace(RIG.cable, path=(branch,))
    rig = dataclasses.replace(
        RIG, cable=hung, hanging=True, slack=-0.3 * 9.81 / 200.0,
        draw=lambda rng: Scene(branch, (0.0, 0.0, -0.8 - 0.1 * rng.random()), (2.0, 0.0, 1.5)),
    )  # fmt: skip
    calm = {"control_frequency": 500.0, "start": {"position": 0.1, "velocity": 0.0}}
    core = Core(dataclasses.replace(TASK, rig=rig), 3, {**STILL, **calm})
    ids = np.arange(3)
    core.reset(ids, [Episodes.seeded(k) for k in range(3)])
    s = core.signals
    assert (np.abs(s["load"][:, :2]) < 1e-12).all() and (s["load"][:, 2] <= -0.8).all()
    np.testing.assert_allclose(s["cable_length"], -s["load"][:, 2], atol=1e-9)
    assert not s["turns"].any()
    core.step(np.zeros((3, core.interface.size)))
    np.testing.assert_allclose(s["cable_tension"], 0.3 * 9.81, rtol=1e-9)
    assert not core.reason.any()
