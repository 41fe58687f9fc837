"""Drives and friction: closed forms, balance of power, and that a cable never pushes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from tendon_gym.cables import (
    CablePulls,
    CableSpan,
    CableSystem,
    ConstantTension,
    Cylinder,
    Elastic,
    Ellipsoid,
    Sphere,
    Torus,
    Winch,
)
from tendon_gym.cables.grips import SETTLING
from tendon_gym.cables.records import LOADS

UPRIGHT = (1.0, 0.0, 0.0, 0.0)
SIDEWAYS = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
"""Turns a surface's z axis to x."""


def straight(drive, n=None, length=2.0, rate=0.0):
    """Return state and pulls of a straight cable from the world along x."""
    system = CableSystem(["world", "load"])
    CableSpan(system, "world", (0, 0, 0), "load", (0, 0, 0))
    state = system.new_state(n)
    state.position[:, 1, 0] = length
    state.velocity[:, 1, 0] = rate
    return state, CablePulls(state, [drive])


def forces_of(pulls, dt=0.0):
    """Return what all cables do, (n, b, 6)."""
    forces = np.zeros((*pulls.state.position.shape[:2], 6))
    pulls.add_forces(forces, dt)
    return forces


def power_of(state, forces):
    """Return the power (n,) that forces about the bodies' origins give."""
    motion = np.concatenate([state.velocity, state.angular_velocity], axis=-1)
    return (forces * motion).sum(axis=(1, 2))


def over_a_beam(surface, friction, rate=0.0, drive=None, quaternion=UPRIGHT, tilt=0.0):
    """Return cable, state and pulls over a beam along z, from the left to the right of it."""
    system = CableSystem(["world", "load"])
    cable = CableSpan(system, "world", (-1.0, -2.0, 0.0), "load", (0, 0, 0))
    cable.smoothness_tolerance = 1e-10
    cable.add_obstacle("world", (0, 0, 0, *quaternion), surface, (0.0, 1.0, 0.0))
    state = system.new_state()
    state.position[:, 1] = 1.0, -2.0, tilt
    state.velocity[:, 1] = 0.0, -rate, 0.0
    return cable, state, CablePulls(state, [drive or ConstantTension(3.0)], [friction])


@pytest.mark.parametrize(
    ("length", "rate", "tension"),
    [(2.5, 0.0, 50.0), (2.5, 3.0, 56.0), (1.9, 0.0, 0.0), (1.9, 5.0, 0.0), (2.1, -20.0, 0.0)],
)
def test_an_elastic_cable_pulls_by_stretch_and_its_rate_and_never_pushes(length, rate, tension):
    pulls = straight(Elastic(2.0, 100.0, 2.0), length=length, rate=rate)[1]
    forces = forces_of(pulls)
    np.testing.assert_allclose(forces[0, 1, 0], -tension, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(forces[0, 0], -forces[0, 1], atol=1e-12)
    assert pulls.tension() == pytest.approx(tension)
    stretch = max(0.0, length - 2.0)
    assert pulls.load("energy") == pytest.approx(50.0 * stretch**2)


def test_a_weight_on_an_elastic_cable_swings_with_its_energy():
    """Semi-implicit steps of m x'' = -k (x - l): a harmonic motion of known frequency."""
    mass, stiffness, dt = 2.0, 50.0, 1e-4
    state, pulls = straight(Elastic(1.0, stiffness), length=1.1)
    omega = math.sqrt(stiffness / mass)
    for _ in range(round(0.4 / omega / dt)):
        state.mark_unsolved()
        state.velocity[0, 1, 0] += dt * forces_of(pulls)[0, 1, 0] / mass
        state.position[0, 1, 0] += dt * state.velocity[0, 1, 0]
    time = round(0.4 / omega / dt) * dt
    assert state.position[0, 1, 0] == pytest.approx(1.0 + 0.1 * math.cos(omega * time), abs=1e-4)


def test_a_winch_goes_to_its_target_at_its_speed_and_stops():
    state, pulls = straight(Winch(2.0, 100.0, speed=0.5, target=1.9), length=2.0)
    lengths = []
    for _ in range(4):
        forces_of(pulls, 0.05)
        lengths.append(pulls.load("rest_length"))
    np.testing.assert_allclose(lengths, [1.975, 1.95, 1.925, 1.9], rtol=1e-12)
    forces_of(pulls, 0.05)
    assert pulls.load("rest_length") == pytest.approx(1.9)
    assert pulls.tension() == pytest.approx(10.0)
    pulls.command(0, 3.0)
    forces_of(pulls, 0.1)
    assert pulls.load("rest_length") == pytest.approx(1.95)
    state.reset()
    forces_of(pulls)
    assert pulls.load("rest_length") == pytest.approx(2.0)


def test_commands_are_per_simulation_and_go_with_the_state():
    state, pulls = straight(ConstantTension(4.0), n=3)
    pulls.command(0, [1.0, 2.0], [0, 2])
    np.testing.assert_allclose(forces_of(pulls)[:, 1, 0], [-1.0, -4.0, -2.0])
    saved = state.state.copy()
    pulls.command(0, 9.0)
    state.state[:] = saved
    np.testing.assert_allclose(forces_of(pulls)[:, 1, 0], [-1.0, -4.0, -2.0])
    state.reset([0])
    np.testing.assert_allclose(forces_of(pulls)[:, 1, 0], [-4.0, -4.0, -2.0])


@pytest.mark.parametrize("rate", [2.0, -2.0])
def test_a_sliding_cable_holds_by_euler_and_eytelwein(rate):
    """The load's side is the smaller if it is pulled, the larger if it pulls."""
    cable, state, pulls = over_a_beam(Cylinder(0.5), 0.3, rate)
    forces = forces_of(pulls)
    angle = cable.arc_length(state, 0) / 0.5
    assert pulls.angle(0, 0) == pytest.approx(angle, rel=1e-12)
    assert pulls.sliding(0, 0) == pytest.approx(-rate * cable.termination_tangent(state)[1])
    before, after = pulls.tensions(0, 0)
    assert before == 3.0
    assert after / before == pytest.approx(math.exp(math.copysign(0.3 * angle, rate)), rel=1e-12)
    pull = np.linalg.norm(forces[0, 1, :3])
    assert pull == pytest.approx(after, rel=1e-12)
    np.testing.assert_allclose(forces.sum(axis=1)[0, :3], 0.0, atol=1e-12)


def test_friction_is_continuous_where_the_sliding_turns_round():
    tensions = []
    for rate in np.linspace(-0.2, 0.2, 201):
        _, _, pulls = over_a_beam(Cylinder(0.5), 0.5, float(rate))
        forces_of(pulls)
        tensions.append(pulls.tensions(0, 0)[1])
    assert tensions[100] == pytest.approx(3.0)
    changes = np.diff(tensions)
    assert (changes > 0.0).all()
    assert changes.max() <= 1000.0 * SETTLING * 0.002  # the bristle's damping


def test_a_helix_turns_less_than_it_goes_round():
    """On a cylinder a line of the slope s turns by cos^2 of its angle times l / r."""
    cable, state, pulls = over_a_beam(Cylinder(0.5), 0.1, 1.0, tilt=1.5)
    forces_of(pulls)
    slope = cable.initial_frame(state, 0).rotation[2, 0]
    angle = cable.arc_length(state, 0) * (1.0 - slope**2) / 0.5
    assert pulls.angle(0, 0) == pytest.approx(angle, rel=1e-12)


def test_turning_on_an_ellipsoid_and_a_torus_in_a_plane_is_that_of_the_tangents():
    cases = (
        (Ellipsoid((0.7, 0.3, 0.4)), 0.0, UPRIGHT, (0.0, 1.0, 0.0)),
        (Torus(3.0, 0.4), 3.0, SIDEWAYS, (0.0, -2.6, 0.0)),  # over its inner side
    )
    for surface, y, quaternion, hint in cases:
        system = CableSystem(["world", "load"])
        cable = CableSpan(system, "world", (-1.0, -0.2, 0.0), "load", (0, 0, 0))
        cable.smoothness_tolerance = 1e-10
        cable.add_obstacle("world", (0, y, 0, *quaternion), surface, hint)
        state = system.new_state()
        state.position[:, 1] = 1.0, 0.1, 0.0
        pulls = CablePulls(state, [ConstantTension(3.0)], [0.2])
        forces_of(pulls)
        assert cable.in_contact(state, 0)
        start, end = cable.origin_tangent(state), cable.termination_tangent(state)
        angle = math.acos(np.clip(start @ end, -1.0, 1.0))
        assert pulls.angle(0, 0) == pytest.approx(angle, rel=1e-9)


def test_turning_with_twist_is_the_integral_of_the_curvature():
    """An obliquely crossed ellipsoid that is nearly a cylinder turns the cable as that does."""
    angles = []
    for surface in (Cylinder(0.5), Ellipsoid((0.5, 0.5, 500.0))):
        _, _, pulls = over_a_beam(surface, 0.1, 1.0, tilt=1.5)
        forces_of(pulls)
        angles.append(pulls.angle(0, 0))
    assert angles[1] == pytest.approx(angles[0], rel=1e-4)


def test_an_elastic_cable_with_friction_stretches_by_its_mean_tension():
    """k s is the mean of exp(mu theta) along the path, which is integrated here."""
    drive = Elastic(4.0, 200.0)
    cable, state, pulls = over_a_beam(Cylinder(0.5), 0.2, 50.0, drive)
    forces_of(pulls)
    length, arc = cable.length(state), cable.arc_length(state, 0)
    line = (length - arc) / 2.0
    before, after = pulls.tensions(0, 0)
    growth = math.log(after / before)
    assert growth == pytest.approx(0.2 * arc / 0.5, rel=1e-9)
    curve = quad(lambda s: before * math.exp(growth * s / arc), 0.0, arc)[0]
    mean = (before * line + after * line + curve) / length
    assert mean == pytest.approx(200.0 * (length - 4.0), rel=0.01)  # the arc's ends are averaged


def test_a_drum_that_turns_with_the_cable_has_no_friction():
    system = CableSystem(["world", "drum", "load"])
    cable = CableSpan(system, "world", (-1.0, -2.0, 0.0), "load", (0, 0, 0))
    cable.smoothness_tolerance = 1e-10
    cable.add_obstacle("drum", (0, 0, 0, *UPRIGHT), Cylinder(1.0), (0.0, 1.0, 0.0))
    state = system.new_state()
    state.position[0, 2] = 1.0, -2.0, 0.0
    state.velocity[0, 2] = 0.0, -3.0, 0.0
    state.angular_velocity[0, 1] = 0.0, 0.0, -3.0
    pulls = CablePulls(state, [ConstantTension(3.0)], [0.5])
    forces = forces_of(pulls)
    assert pulls.sliding(0, 0) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(np.linalg.norm(forces[0, 2, :3]), 3.0, rtol=1e-9)
    state.angular_velocity[0, 1] = 0.0
    forces = forces_of(pulls)
    _, after = pulls.tensions(0, 0)
    np.testing.assert_allclose(forces[0, 1, 5], after * -1.0 + 3.0, rtol=1e-9)


DRIVES = st.sampled_from(
    [
        ConstantTension(7.0),
        Elastic(2.0, 300.0, 4.0),
        Elastic(9.0, 300.0, 4.0),
        Winch(2.5, 200.0, 3.0, speed=0.7, target=1.0),
    ]
)
SPEEDS = st.lists(st.floats(-2.0, 2.0), min_size=18, max_size=18)


@settings(deadline=None, max_examples=60)
@given(
    drive=DRIVES, speeds=SPEEDS, step=st.sampled_from([(0.0, 1.0), (0.0, 0.3), (0.01, 0.0)]),
    z=st.floats(-0.5, 0.5),
)  # fmt: skip
def test_all_power_is_accounted_for(drive, speeds, step, z):
    """What the drive puts in goes to the bodies, to the stretch, and is lost: nothing else.

    Winches turn in steps, where friction takes differences for rates: one or the other.
    """
    dt, mu = step
    system = CableSystem(["post", "ball", "load"])
    cable = CableSpan(system, "post", (-2.0, 0.1, 0.0), "load", (0.1, 0.0, 0.2))
    cable.add_obstacle("ball", (0, 0, 0, *UPRIGHT), Sphere(0.5), (0.0, 0.5, 0.0))
    cable.add_via_point("post", (0.8, -0.2, 0.1))
    cable.add_obstacle("post", (1.5, 0, 0, *UPRIGHT), Ellipsoid((0.4, 0.5, 0.6)), (0, -0.5, 0))
    state = system.new_state()
    state.position[0, 1:] = (-0.6, 0.0, 0.0), (3.0, 0.4, z)
    values = np.reshape(speeds, (3, 6))
    state.velocity[0], state.angular_velocity[0] = values[:, :3], values[:, 3:]
    pulls = CablePulls(state, [drive], [[mu, 0.5 * mu]])
    forces = forces_of(pulls, dt)
    rest_rate = 0.0
    if isinstance(drive, Winch) and dt:
        rest_rate = -0.7
    stored = 0.0
    if isinstance(drive, Elastic) and pulls.load("stretch") > 0.0:
        stored = drive.stiffness * pulls.load("stretch") * (cable.length_rate(state) - rest_rate)
    lost = pulls.load("damping_power"), pulls.load("friction_power")
    assert min(lost) >= 0.0
    total = power_of(state, forces)[0] + stored + sum(lost)
    assert total == pytest.approx(pulls.load("drive_power"), abs=1e-9 * (1.0 + abs(total)))
    balance = forces[0, :, :3].sum(axis=0)
    np.testing.assert_allclose(balance, 0.0, atol=1e-10 * (1.0 + pulls.tension()))


def test_simulations_of_a_batch_give_the_same_bits_as_alone():
    cable, _, _ = over_a_beam(Ellipsoid((0.5, 0.4, 0.6)), 0.3)
    many = cable.owner.new_state(5)
    rng = np.random.default_rng(0)
    many.position[:, 1] = (1.0, -2.0, 0.0) + 0.2 * rng.standard_normal((5, 3))
    many.velocity[:, 1] = rng.standard_normal((5, 3))
    drive = Winch(4.0, 100.0, 1.0, speed=0.5, target=3.5)
    forces = forces_of(CablePulls(many, [drive], [0.3]), 0.01)
    for i in range(5):
        one = cable.owner.new_state()
        one.position[0], one.velocity[0] = many.position[i], many.velocity[i]
        assert np.array_equal(forces_of(CablePulls(one, [drive], [0.3]), 0.01)[0], forces[i])


def readings(pulls: CablePulls) -> np.ndarray:
    """Return all that pulls report of their only cable, over an obstacle, (n, 16)."""
    found = [pulls.load(name) for name in LOADS]
    found += [pulls.held(0, 0), pulls.sliding(0, 0), pulls.angle(0, 0)]
    return np.column_stack([*found, pulls.tensions(0, 0)])


def test_what_is_reported_is_saved_copied_and_reset_with_the_state():
    cable, _, _ = over_a_beam(Cylinder(0.5), 0.3)
    state = cable.owner.new_state(2)
    pulls = CablePulls(state, [Winch(1.0, 50.0, 1.0, 0.1, 2.0)], [0.3])
    state.position[:, 1] = 1.0, -2.0, 0.0
    state.velocity[:, 1] = 0.2, -0.3, 0.0
    state.mark_unsolved()
    forces_of(pulls, 0.01)
    first, saved = readings(pulls), state.state.copy()
    assert (first != 0.0).all()
    state.velocity[:, 1] *= 2.0
    forces_of(pulls, 0.01)
    later = readings(pulls)
    assert (later != first).any(axis=1).all()
    state.state[0] = saved[0]
    state.hold()
    np.testing.assert_array_equal(readings(pulls), [first[0], later[1]])
    state.reset([1])
    state.hold()
    np.testing.assert_array_equal(readings(pulls), [first[0], 0.0 * first[1]])


@pytest.mark.parametrize("bad", [0.1, math.nan], ids=["inside", "nowhere"])
def test_all_ways_to_pull_agree_that_a_cable_without_a_path_does_not(bad):
    """The last good path stays, but it is that of another pose."""
    cable, _, _ = over_a_beam(Cylinder(0.5), 0.3)
    cable.owner.on_fault = "keep"
    state = cable.owner.new_state()
    pulls = CablePulls(state, [ConstantTension(3.0)], [0.3])
    state.set_velocities([(0, 0, 0), (0.3, 0, 0)], np.zeros((2, 3)))
    state.position[0, 1] = 1.0, -2.0, 0.0
    state.solve()
    length = cable.length(state)
    assert cable.body_forces(state, 3.0).any() and cable.length_rate(state) != 0.0
    state.position[0, 1] = bad, 0.0, 0.0
    state.solve()
    assert not forces_of(pulls).any() and not cable.body_forces(state, 3.0).any()
    for force in (
        cable.origin_unit_force(state),
        cable.obstacle_unit_force(state, 0),
        cable.termination_unit_force(state),
    ):
        assert not np.concatenate(force).any()
    assert cable.length_rate(state) == cable.power(state, 3.0) == 0.0
    assert cable.length(state) == length and not cable.converged(state)


def test_a_cable_without_a_path_does_nothing():
    cable, _, _ = over_a_beam(Cylinder(0.5), 0.3)
    cable.owner.on_fault = "keep"
    state = cable.owner.new_state(2)
    state.position[:, 1] = 1.0, -2.0, 0.0
    pulls = CablePulls(state, [ConstantTension(3.0)], [0.3])
    assert np.abs(forces_of(pulls)).max() > 1.0
    state.position[1, 1] = np.nan
    state.position[0, 1] = 0.1, 0.0, 0.0
    state.mark_unsolved()
    assert not forces_of(pulls).any()
    assert not pulls.tension(0).any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantTension(-1.0), "tension must be"),
        (lambda: Elastic(1.0, 0.0), "stiffness must be"),
        (lambda: Elastic(1.0, 1.0, math.nan), "damping must be"),
        (lambda: Winch(1.0, 1.0, speed=0.0), "speed must be"),
        (lambda: Winch(1.0, 1.0, target=-1.0), "target must be"),
        (lambda: over_a_beam(Cylinder(0.5), -0.1), r"friction\[0\] must be"),
        (lambda: straight(Elastic(1.0, 1.0))[1].command(0, 1.0), "has no winch"),
        (lambda: straight(Winch(1.0, 1.0))[1].command(0, -1.0), "value must be"),
        (lambda: CablePulls(straight(ConstantTension(1.0))[0], []), "number of drives must be 1"),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
