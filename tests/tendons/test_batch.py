"""Batches: the same bits as the world, limits and commands of their own, states."""

from __future__ import annotations

import numpy as np
import pytest

from tendon_gym.tendons import (
    Drive,
    JointTerm,
    Properties,
    Site,
    TendonBatch,
    TendonWorld,
    cylinder,
    via,
)
from tests.tendons.scenes import INTEGRATORS, add_ball, empty, hanging, sliders


def busy(integrator):
    """Return a world with limits that look ahead, drives, a lock, a coupling and a rotor."""
    spec = empty(gravity=-9.81, h=2e-3, integrator=integrator)
    for k in range(3):
        add_ball(spec, f"b_{k}", [k, 0, 1], mass=0.5 + k)
    world = TendonWorld(spec)
    a = world.add_spatial_tendon(
        "a", [via(None, (0, 0, 2)), via("b_0")],
        Properties(upper_limit=1.05, lower_limit=0.8, limit_margin=0.01, damping=0.5),
    )  # fmt: skip
    world.add_spatial_tendon(
        "b", [via("b_0"), via("b_1", (0, 0, 0.1))], Properties(lower_limit=0.95, upper_limit=1.2)
    )
    over = cylinder(None, 0.2, (0, 1, 0), position=(1.5, 0, 2), side=Site(None, (1.5, 0, 3)))
    c = world.add_spatial_tendon(
        "c", [via("b_1"), over, via("b_2")],
        Properties(upper_limit=3.0, armature=0.2, friction_loss=0.1, stiffness=10.0),
    )  # fmt: skip
    hold = world.add_spatial_tendon("d", [via(None, (2, 0, 2)), via("b_2")])
    hold.properties = Properties(lower_limit=1.0, upper_limit=1.0)
    a.drive = Drive(force=-2.0, activation_time=0.1, position_gain=3.0, target_length=1.0)
    c.drive = Drive(force=-1.0)
    world.add_coupling("e", world.tendons[1], None)
    world.couplings[0].properties = type(world.couplings[0].properties)(enabled=False)
    return world


def disturb(world, seed):
    rng = np.random.default_rng(seed)
    world.data.qvel[:18] = rng.normal(scale=1.5, size=18)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("n", "threads"), [(1, 1), (5, 2)])
def test_the_same_bits_as_the_world(integrator, n, threads):
    world = busy(integrator)
    batch = world.batch(n, threads)
    for i in range(n):
        rng = np.random.default_rng(i)
        batch.qvel[i, :18] = rng.normal(scale=1.5, size=18)
    batch.step(150)
    limits = 0
    for i in range(n):
        single = busy(integrator)
        disturb(single, i)
        for _ in range(150):
            single.step()
            limits += bool(np.abs(single.forces.limit[:3]).any())
        assert np.array_equal(batch.qpos[i], single.data.qpos)
        assert np.array_equal(batch.qvel[i], single.data.qvel)
        assert np.array_equal(batch.activation[i], single.simulation.activation)
    assert limits > 20


def test_a_batch_starts_from_the_present_state_and_leaves_the_world_alone():
    world = busy("discrete")
    disturb(world, 3)
    world.step(40)
    batch = world.batch(2)
    before = world.get_state()
    batch.step(30)
    assert np.array_equal(world.get_state().physics, before.physics)
    assert np.array_equal(world.simulation.activation, before.activation)
    world.step(30)
    assert np.array_equal(batch.qpos[1], world.data.qpos)


def test_limits_of_their_own():
    world = hanging()
    world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")], Properties(upper_limit=9.0, limit_margin=0.05)
    )
    batch = world.batch(4, 2)
    assert isinstance(batch, TendonBatch)
    batch.qvel[:, 2] = -2.0
    batch.set_limits("t", [0, 2], 0.2, [1.25, 1.45])
    batch.set_limits("t", 3, -np.inf, 1.55)
    batch.step(400)
    lengths = 2.0 - batch.qpos[:, 2]
    assert lengths[[0, 2, 3]] == pytest.approx([1.2, 1.4, 1.5], abs=1e-9)
    assert lengths[1] == pytest.approx(1.8, abs=1e-9)
    bad = [
        ("t", 0, 2.0, 1.0), ("t", 0, 1.0, 1.0), ("t", 0, np.nan, 1.0), ("t", 0, np.inf, np.inf),
        ("t", 0, -np.inf, -np.inf), ("x", 0, 0.0, 1.0), ("t", 4, 0.0, 1.0), ("t", -1, 0.0, 1.0),
    ]  # fmt: skip
    before = batch._law.copy()
    for arguments in bad:
        with pytest.raises(ValueError, match=r"t|x|simulation"):
            batch.set_limits(*arguments)
    assert np.array_equal(batch._law, before)


def test_tendons_without_limits_that_look_ahead_have_none_to_set():
    world = sliders(1.0)
    world.add_fixed_tendon("t", [JointTerm("slide_0")])
    batch = world.batch(2)
    with pytest.raises(ValueError, match="no predictive limits"):
        batch.set_limits("t", 0, 0.0, 1.0)


def test_commands_of_their_own():
    world = hanging()
    tendon = world.add_spatial_tendon("t", [via(None, (0, 0, 2)), via("load")])
    tendon.drive = Drive()
    batch = world.batch(3)
    batch.force[:, 0] = -1.0, 0.0, 2.0
    batch.step(10)
    assert -batch.qvel[:, 2] == pytest.approx([-0.01, 0.0, 0.02], abs=1e-12)


def test_states_go_on_exactly():
    world = busy("Euler")
    batch = world.batch(3)
    batch.qvel[:, :18] = np.random.default_rng(0).normal(size=(3, 18))
    batch.step(60)
    state = batch.get_state()
    batch.step(50)
    expected = batch.qpos.copy(), batch.activation.copy()
    batch.set_state([2, 0], state[[2, 0]])
    batch.step(50)
    for k, array in enumerate((batch.qpos, batch.activation)):
        assert np.array_equal(array[[0, 2]], expected[k][[0, 2]])
        assert not np.array_equal(array[1], expected[k][1]) or k == 1
    with pytest.raises(ValueError, match="rows"):
        batch.set_state([0], state[:, :-1])
    with pytest.raises(ValueError, match="simulation"):
        batch.set_state([3], state[:1])


def test_sizes():
    world = hanging()
    for n, threads in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match=r"n must|threads"):
            world.batch(n, threads)
