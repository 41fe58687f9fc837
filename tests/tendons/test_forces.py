"""Forces by parts: together they are the change of momentum, and each is what its law says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    Drive,
    JointTerm,
    Properties,
    TendonWorld,
    via,
)
from tests.tendons.scenes import INTEGRATORS, add_ball, empty, hanging, sliders

MASSES = np.array([1.0, 2.0, 0.5])
H = 1e-3


def jacobians(world):
    """Return the derivatives (t, nv) of all lengths, by central differences."""
    data, step = world.data, 1e-6
    result = np.zeros((len(world.tendons), world.model.nv))
    for joint in range(world.model.nv):
        for sign in (1.0, -1.0):
            data.qpos[joint] += sign * step
            lengths = [tendon.length for tendon in world.tendons]
            result[:, joint] += sign * np.array(lengths) / (2.0 * step)
            data.qpos[joint] -= sign * step
    return result


def busy(integrator):
    """Return a world where every part of a force acts at some time."""
    world = sliders(*MASSES, h=H, integrator=integrator)
    world.add_spatial_tendon(
        "a",
        [via(None, (-1, 0, 0)), via("slide_0", (0, 0, 0.2)), via("slide_1")],
        Properties(stiffness=300.0, damping=4.0, friction_loss=0.4, upper_limit=2.1),
    )
    world.add_spatial_tendon(
        "b",
        [via("slide_1"), via("slide_2", (0.1, 0, 0))],
        Properties(stiffness=80.0, spring_lower=0.0, spring_upper=1.05, upper_limit=1.4,
                   limit_compliance=1e-5),
    )  # fmt: skip
    world.add_fixed_tendon(
        "c",
        [JointTerm("slide_0", 1.0), JointTerm("slide_2", -0.7)],
        Properties(damping=2.0, actuation_lower=-3.0, actuation_upper=8.0),
    )
    world.add_fixed_tendon("d", [JointTerm("slide_1", 2.0)], Properties(friction_loss=0.2))
    a, b, c, d = world.tendons
    a.drive = Drive(force=1.5, activation_time=0.05)
    c.drive = Drive(
        force=0.5, target_length=0.3, target_velocity=0.2, position_gain=40.0, velocity_gain=6.0
    )
    relation = CouplingProperties((0.0, 0.5, 0.3, -0.2, 0.1), compliance=1e-5)
    world.add_coupling("ratio", d, b, relation)
    world.data.qvel[:] = [1.5, -1.0, 0.7]
    return world


@pytest.mark.parametrize("integrator", ["discrete", "Euler"])
def test_the_total_is_the_change_of_momentum(integrator):
    world = busy(integrator)
    seen = np.zeros(6)
    for _ in range(400):
        slopes, before = jacobians(world), world.data.qvel.copy()
        world.step()
        change = MASSES * (world.data.qvel - before) / H
        forces = world.forces
        seen = np.maximum(seen, [np.abs(part).max() for part in forces[:6]])
        assert slopes.T @ forces.total == pytest.approx(
            change, abs=2e-6 * (1 + np.abs(change).max())
        )
    assert (seen > 0.01).all()  # every part has acted


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_total_of_one_tendon_is_the_change_of_momentum(integrator):
    """Also where the integrator is implicit in velocities, but not between joints apart."""
    world = hanging(h=H, integrator=integrator, joint="slide")
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")],
        Properties(stiffness=300.0, damping=4.0, friction_loss=0.4, upper_limit=1.05,
                   actuation_lower=-3.0, actuation_upper=8.0),
    )  # fmt: skip
    tendon.drive = Drive(1.0, 1.2, 0.2, 40.0, 6.0)
    world.data.qvel[0] = -2.0
    for _ in range(200):
        before = world.data.qvel[0]
        world.step()
        change = (world.data.qvel[0] - before) / H
        assert -tendon.force == pytest.approx(change, rel=1e-7, abs=1e-6)


def test_spring_and_damper_are_implicit():
    """p = -h k e - h (d + h k) u+, the spring's activity taken at the start of the step."""
    world = hanging(h=H)
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")],
        Properties(stiffness=1e4, damping=30.0, spring_lower=0.95, spring_upper=0.95),
    )  # fmt: skip
    world.data.qvel[2] = 0.5
    for _ in range(50):
        stretch = tendon.length - 0.95
        world.step()
        rate = -world.data.qvel[2]
        assert tendon.forces.damper == pytest.approx(-30.0 * rate, rel=1e-9)
        assert tendon.forces.spring == pytest.approx(-1e4 * (stretch + H * rate), rel=1e-9)


def test_the_rate_of_a_mocap_support_can_be_given_to_the_drive():
    """MuJoCo has no velocities of mocap bodies: l'd = -v makes the drive a damper on the true rate.

    1 kg behind a damper of 10 N s/m follows a support at 1 m/s by 1 - (1 + h d)^-n after n steps.
    """
    spec = empty(h=H)
    spec.worldbody.add_body(name="support", pos=[0, 0, 2], mocap=True)
    add_ball(spec, "load", [0, 0, 1], joint="slide")
    world = TendonWorld(spec)
    tendon = world.add_spatial_tendon("t", [via("support"), via("load")])
    tendon.drive = Drive(velocity_gain=10.0, target_velocity=-1.0)
    for _ in range(100):
        world.step()
        world.data.mocap_pos[0, 2] += H
    assert world.data.qvel[0] == pytest.approx(1.0 - 1.01**-100, rel=1e-9)


def test_a_stiff_spring_is_stable_at_any_step():
    world = hanging(h=H)
    world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")],
        Properties(stiffness=1e7, spring_lower=0.9, spring_upper=0.9),
    )  # fmt: skip
    world.step(2000)
    assert abs(world.tendons[0].length - 0.9) < 0.1 and abs(world.data.qvel[2]) < 1.0


def test_a_slack_spring_has_no_force_and_its_damper_has():
    world = hanging(height=1.5)
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")],
        Properties(stiffness=100.0, damping=2.0, spring_lower=0.0, spring_upper=1.0),
    )  # fmt: skip
    world.data.qvel[2] = -0.3
    world.step()
    assert tendon.forces.spring == 0.0
    assert tendon.forces.damper == pytest.approx(-2.0 * 0.3, rel=0.01)


def test_limit_force_is_zero_inside_and_holds_the_weight_at_the_limit():
    world = hanging(gravity=-9.81, joint="slide")
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")], Properties(upper_limit=1.1)
    )
    world.step(50)
    assert tendon.force == 0.0
    world.step(1000)
    assert tendon.forces.limit == pytest.approx(-9.81, rel=1e-6)
    assert tendon.force == tendon.forces.total == -tendon.tension


def test_lower_limits_push():
    world = hanging(gravity=9.81, joint="slide")
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")], Properties(lower_limit=0.9, upper_limit=1.05)
    )
    world.step(1000)
    assert tendon.length == pytest.approx(0.9, abs=1e-6)
    assert tendon.forces.limit == pytest.approx(9.81, rel=1e-6)


def test_the_activation_follows_its_exact_solution():
    world = hanging()
    tendon = world.add_spatial_tendon("t", [via(None, (0, 0, 2)), via("load")])
    tendon.drive = Drive(force=-2.0, activation_time=0.03)
    for k in range(1, 60):
        world.step()
        expected = -2.0 * (1.0 - math.exp(-k * H / 0.03))
        assert tendon.activation == pytest.approx(expected, rel=1e-12)
        assert tendon.forces.actuator == pytest.approx(expected, rel=1e-12)
    tendon.drive = Drive(force=1.0)
    world.step()
    assert tendon.activation == 1.0


@pytest.mark.parametrize(
    ("lower", "upper", "command", "force"),
    [
        (-4.0, -1.0, 0.0, -1.0),
        (-4.0, -1.0, -9.0, -4.0),
        (1.0, 4.0, 0.0, 1.0),
        (-2.0, -2.0, 5.0, -2.0),
        (-math.inf, 3.0, 5.0, 3.0),
        (0.0, math.inf, -5.0, 0.0),
    ],
)
def test_bounds_of_the_drive_need_not_contain_zero(lower, upper, command, force):
    world = hanging()
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")],
        Properties(actuation_lower=lower, actuation_upper=upper),
    )  # fmt: skip
    tendon.set_actuation_force(command)
    world.step()
    assert tendon.forces.actuator == force
    assert -world.data.qvel[2] == pytest.approx(force * H, rel=1e-12)


def test_bounds_hold_for_the_servo_and_the_feed_forward_together():
    world = hanging()
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")], Properties(actuation_lower=-3.0)
    )
    tendon.drive = Drive(force=-2.0, target_length=0.5, position_gain=10.0)
    world.step()
    assert tendon.forces.actuator == -3.0


def test_the_servo_follows_its_discrete_law():
    """F = a + kp (ld - l) + kv l'd - (kv + h kp) l'+ at every step."""
    world = hanging()
    tendon = world.add_spatial_tendon("t", [via(None, (0, 0, 2)), via("load")])
    tendon.drive = Drive(0.3, 1.2, 0.1, 50.0, 7.0)
    for _ in range(100):
        length = tendon.length
        world.step()
        rate = tendon.velocity
        expected = 0.3 + 50.0 * (1.2 - length) + 7.0 * 0.1 - (7.0 + H * 50.0) * rate
        assert tendon.forces.actuator == pytest.approx(expected, rel=1e-9)


def test_energies():
    world = hanging()
    tendon = world.add_spatial_tendon(
        "t", [via(None, (0, 0, 2)), via("load")],
        Properties(stiffness=50.0, spring_lower=0.2, spring_upper=0.8, armature=0.5),
    )  # fmt: skip
    world.data.qvel[2] = -3.0
    assert tendon.velocity == pytest.approx(3.0)
    assert tendon.potential_energy == pytest.approx(0.5 * 50.0 * 0.2**2)
    assert tendon.kinetic_energy == pytest.approx(0.5 * 0.5 * 9.0)
    tendon.enabled = False
    assert tendon.potential_energy == tendon.kinetic_energy == 0.0
