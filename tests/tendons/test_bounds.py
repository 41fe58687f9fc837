"""Bounds of drives: they hold at the end of every step, and off them the force is the servo's."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import Drive, JointTerm, Properties, TendonWorld
from tests.tendons.scenes import INTEGRATORS, empty, sliders

H = 1e-3


def moved(t):
    return 0.2 * math.sin(10.0 * t)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("kp", "kv", "low", "high"),
    [
        (1e4, 100.0, -5.0, 5.0), (5e3, 20.0, -30.0, 0.0), (2e3, 150.0, -100.0, 0.0),
        (1e6, 0.0, -10.0, 0.0), (0.0, 200.0, 3.0, 8.0), (1e3, 50.0, -math.inf, 2.0),
    ],
)  # fmt: skip
def test_one_mass_on_a_servo(integrator, kp, kv, low, high):
    """F = clamp of the force that one step of 1 kg has with the gains at the end of the step."""
    world = sliders(1.0, h=H, integrator=integrator)
    bounds = Properties(actuation_lower=low, actuation_upper=high)
    tendon = world.add_fixed_tendon("t", [JointTerm("slide_0")], bounds)
    for k in range(400):
        target = moved(k * H)
        tendon.drive = Drive(force=1.0, target_length=target, position_gain=kp, velocity_gain=kv)
        q, v = float(world.data.qpos[0]), float(world.data.qvel[0])
        world.step()
        free = 1.0 + kp * (target - q) - kv * v
        if integrator == "discrete":
            free = (free - H * kp * v) / (1.0 + H * (kv + H * kp))
        elif integrator != "Euler":
            free /= 1.0 + H * kv
        force = (float(world.data.qvel[0]) - v) / H
        scale = 1.0 + abs(kp * (target - q)) + kv * abs(v)
        assert force == pytest.approx(min(max(free, low), high), abs=1e-10 * scale)
        assert tendon.forces.actuator == pytest.approx(force, abs=1e-10 * scale)


def arm(integrator="discrete", limits=True):
    """Return a chain of four hinges with three driven tendons that share its joints."""
    spec = empty(h=H, integrator=integrator)
    spec.option.tolerance, spec.option.ls_iterations = 1e-14, 500
    parent = spec.worldbody
    for k in range(4):
        parent = parent.add_body(pos=[0.3 if k else 0.0, 0, 0])
        parent.add_joint(name=f"j{k}", axis=[0, 1, 0] if k % 2 == 0 else [0, 0, 1])
        parent.add_geom(size=[0.05, 0, 0], pos=[0.3, 0, 0], contype=0, conaffinity=0)
    world = TendonWorld(spec)
    rng = np.random.default_rng(3)
    for k in range(3):
        terms = [JointTerm(f"j{j}", float(rng.normal())) for j in range(4)]
        ends = {"lower_limit": -0.4, "upper_limit": 0.4} if limits else {}
        bounds = Properties(actuation_lower=-2.0 - k, actuation_upper=1.0 + k, **ends)
        world.add_fixed_tendon(f"t{k}", terms, bounds)
    return world


def command(world, k):
    for j, tendon in enumerate(world.tendons):
        target = moved(0.4 * k * H + j)
        tendon.drive = Drive(target_length=target, position_gain=3e3, velocity_gain=40.0)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("limits", [True, False])
def test_drives_that_share_joints_solve_their_complementarity_problem(integrator, limits):
    """Each has the servo's force at the end of the step, or is at the bound that this is beyond.

    The implicit integrators find the forces of limits by those of the start; then all that holds
    is that no force leaves its bounds.
    """
    exact = not (limits and integrator.startswith("implicit"))
    world = arm(integrator, limits)
    world.data.qvel[:] = 1.0, -2.0, 1.5, 0.5
    at_bounds = free = 0
    for k in range(300):
        command(world, k)
        model, data = world.model, world.data
        length = np.array([tendon.length for tendon in world.tendons])
        jacobian = np.array([[term.coefficient for term in t.joints] for t in world.tendons])
        world.step()
        after = jacobian @ data.qvel
        targets = np.array([tendon.drive.target_length for tendon in world.tendons])
        servo = 3e3 * (targets - length) - 40.0 * after
        if integrator == "discrete":
            servo -= H * 3e3 * after
        elif integrator == "Euler":
            servo = 3e3 * (targets - length) - 40.0 * data.ten_velocity
        for j, tendon in enumerate(world.tendons):
            low, high = -2.0 - j, 1.0 + j
            force = tendon.forces.actuator
            assert low - 1e-6 <= force <= high + 1e-6
            if exact:
                assert force == pytest.approx(min(max(servo[j], low), high), abs=1e-6)
            at_bounds += force in (low, high)
            free += low < force < high
        total = (
            sum(t.force * row for t, row in zip(world.tendons, jacobian, strict=True))
            - data.qfrc_bias
        )
        inertial = np.zeros(4)
        if integrator == "discrete":
            mujoco.mj_mulM(model, data, inertial, data.qacc)
            assert inertial == pytest.approx(total, abs=1e-6)
    assert at_bounds > 30 and free > 30


def test_a_batch_redoes_the_steps_that_its_world_redoes():
    world = arm()
    world.data.qvel[:] = 1.0, -2.0, 1.5, 0.5
    command(world, 0)
    batch = world.batch(3)
    batch.target_length[1] = 0.05
    batch.qvel[2] = 0.0
    for k in range(200):
        batch.target_length[0] = [moved(0.4 * k * H + j) for j in range(3)]
        command(world, k)
        world.step()
        batch.step()
        assert np.array_equal(batch.qpos[0], world.data.qpos)
        assert np.array_equal(batch.qvel[0], world.data.qvel)
    assert not np.array_equal(batch.qpos[1], batch.qpos[2])


def test_a_step_from_a_saved_state_is_the_same():
    world = arm()
    world.data.qvel[:] = 1.0, -2.0, 1.5, 0.5
    for k in range(100):
        command(world, k)
        world.step()
    state = world.get_state()
    world.step(50)
    there = world.data.qpos.copy()
    world.set_state(state)
    world.step(50)
    assert np.array_equal(world.data.qpos, there)
