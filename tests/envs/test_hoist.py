"""Hoist: where loads can hang, what is drawn, and that the classical controller places them."""

from __future__ import annotations

import math

import gymnasium as gym
import mujoco
import numpy as np
import pytest
from scipy.optimize import brentq

from tendon_gym import baselines
from tendon_gym.cables import CableSpan, CableSystem
from tendon_gym.envs.tasks.hoist import HEIGHT, LOAD, draw_scene, make_beam
from tendon_gym.registration import ENTRIES

KINDS = ("cylinder", "ellipsoid", "torus")


def hanging_place(beam, vehicle, depth):
    """Return where along the beam a load `depth` m above the floor makes the path shortest."""
    system = CableSystem(["ground"])
    at = beam.along * vehicle + beam.below
    away = -np.array([beam.along[1], -beam.along[0]]) * (
        beam.below @ [beam.along[1], -beam.along[0]]
    )
    start = np.array([*(at + away), HEIGHT])
    cable = CableSpan(system, "ground", start, "ground", (0.0, 0.0, 0.0))
    obstacle = beam.obstacle
    pose = (*obstacle.position, *obstacle.quaternion)
    cable.add_obstacle("ground", pose, obstacle.surface, (0.3, 0.0, 0.0))
    cable.smoothness_tolerance = 1e-9
    state = system.new_state()

    def length(y):
        cable.termination_station = np.array([*(beam.below + y * beam.along), depth])
        return cable.length(state)

    def slope(y):
        return (length(y + 1e-4) - length(y - 1e-4)) / 2e-4

    assert slope(0.2) > slope(-0.2)  # the path is shortest there, not longest
    return brentq(slope, -0.25, 0.25, xtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_load_hangs_where_its_share_says(kind):
    rng = np.random.default_rng(3)
    for _ in range(3):
        beam = make_beam(kind, rng.random(6))
        middle = hanging_place(beam, 0.0, 0.5)
        assert middle == pytest.approx(0.0, abs=1e-3)
        assert hanging_place(beam, 0.05, 0.5) == pytest.approx(
            0.05 * beam.share, rel=0.04, abs=5e-4
        )


@pytest.mark.parametrize("kind", KINDS)
def test_the_cable_crosses_the_beam_where_it_is_said_to_be(kind):
    u = np.random.default_rng(0).random(6)
    beam = make_beam(kind, u)
    top, thick = 1.3 + 0.2 * u[1], 0.05 + 0.05 * u[4]
    system = CableSystem(["ground"])
    low = (*(beam.below), 0.3)
    across = np.array([beam.along[1], -beam.along[0]])
    start = (*(beam.below - across * (across @ beam.below)), HEIGHT)
    cable = CableSpan(system, "ground", start, "ground", low)
    obstacle = beam.obstacle
    pose = (*obstacle.position, *obstacle.quaternion)
    cable.add_obstacle("ground", pose, obstacle.surface, (0.3, 0.0, 0.0))
    points = cable.resampled_points(system.new_state(), 40)
    assert points[1:-1, 2].max() == pytest.approx(top, abs=0.01)
    assert points[1:-1, 2].min() >= top - thick - 0.01
    assert np.linalg.norm(points[-2, :2] - beam.below) < 1e-3


def test_scenes_are_within_what_the_page_says():
    rng = np.random.default_rng(1)
    scenes = [draw_scene(rng) for _ in range(400)]
    kinds = [scene.obstacle.kind for scene in scenes]
    assert all(0.25 < kinds.count(kind) / 400 < 0.42 for kind in KINDS)
    for scene in scenes:
        assert 0.3 <= scene.goal[2] <= 0.8 and scene.load[2] == LOAD.radius
        size = scene.obstacle.size
        assert 0.05 <= (size[1] if scene.obstacle.kind == "torus" else size[0]) <= 0.1
        offset = np.subtract(scene.goal, scene.load)[:2]
        assert np.linalg.norm(offset) < 0.3 * 1.43 + math.hypot(0.05, 0.02)


def test_no_ellipsoid_lets_a_cable_slip_off():
    for u in np.random.default_rng(2).random((500, 6)):
        beam = make_beam("ellipsoid", u)
        across = np.array([beam.along[1], -beam.along[0]])
        thick, _, wide = beam.obstacle.size
        line = across @ beam.below - thick
        assert math.tan(0.5 * math.pi * thick / wide) < 0.5 * wide / line
        assert 0.0 < beam.share < 1.43


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_the_classical_controller_places_the_load_and_doing_nothing_does_not(engine):
    placed = {}
    for name in ("hoist", "zero", "random"):
        baseline, n = baselines.get(name), 16
        settings = baseline.interface(ENTRIES["Hoist"])
        envs = gym.make_vec(ENTRIES["Hoist"].id, num_envs=n, engine=engine, **settings).unwrapped
        policy, (observation, _) = baseline.make(envs), envs.reset(seed=20_000)
        state, over, success = None, np.zeros(n, bool), np.zeros(n, bool)
        while not over.all():
            action, state = policy.predict(observation, state)
            observation, _, terminated, truncated, _ = envs.step(action)
            ended = (terminated | truncated) & ~over
            success |= ended & envs.core.success
            over |= ended
        placed[name] = success.mean()
    assert placed["hoist"] >= 0.8
    assert max(placed["zero"], placed["random"]) <= 0.05


def test_the_controller_flies_nothing_else():
    entry = ENTRIES["Hover"]
    baseline = baselines.get("hoist")
    assert baseline.flies == "Hoist"
    env = gym.make(entry.id, **baseline.interface(entry)).unwrapped
    with pytest.raises(ValueError, match="hoist flies tasks with a load, and Hover has none"):
        baseline.make(env)


def test_a_flight_can_be_filmed():
    env = gym.make(ENTRIES["Hoist"].id, render_mode="rgb_array", width=64, height=48)
    env.reset(seed=0)
    with_cable = env.render()
    assert with_cable.shape == (48, 64, 3) and np.ptp(with_cable) > 50
    core = env.unwrapped.core
    scene = mujoco.MjvScene(core.model, 200)
    core.draw(0, scene)
    assert scene.ngeom > 3
    env.close()
