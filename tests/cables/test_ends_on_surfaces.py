"""Cables that begin or end exactly on what they wrap over: no line, and yet a direction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ellipe

from tendon_gym.cables import (
    CableSpan,
    CableState,
    CableSystem,
    Cylinder,
    Ellipsoid,
    ImplicitSurface,
    Sphere,
    Surface,
    Torus,
)
from tests.cables.cases import GROUND
from tests.cables.checks import check_geodesics

TOLERANCES = (1e-10, math.radians(0.1))


def cable_on(surface: Surface, a, b, hint=None, tolerance=1e-10) -> tuple[CableSpan, CableState]:
    """Return a cable between points of body 1 over a surface of body 0, both at the origin."""
    system = CableSystem(2)
    cable = CableSpan(system, 1, a, 1, b)
    cable.add_obstacle(0, GROUND, surface, hint)
    cable.smoothness_tolerance = tolerance
    return cable, system.new_state()


def round_one(x, y, z):
    s = x * x + y * y + z * z
    return (s - 1.0, 2.0 * x, 2.0 * y, 2.0 * z, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0)


QUARTERS = [  # of curves in the xy plane from (-a, 0, 0) to (0, b, 0): a, b, hint, length
    (Sphere(1.0), 1.0, 1.0, None, 0.5 * math.pi),
    (Sphere(1.0), 1.0, 1.0, (-0.7, 0.7, 0.0), 0.5 * math.pi),
    (ImplicitSurface(round_one, 1.0), 1.0, 1.0, None, 0.5 * math.pi),
    (Cylinder(1.0), 1.0, 1.0, None, 0.5 * math.pi),
    (Ellipsoid((1.0, 0.5, 0.3)), 1.0, 0.5, None, float(ellipe(0.75))),
    (Ellipsoid((1.0, 0.5, 0.3)), 1.0, 0.5, (-0.7, 0.4, 0.0), float(ellipe(0.75))),
    (Torus(1.0, 0.3), 1.3, 1.3, (-0.9, 0.9, 0.0), 0.65 * math.pi),
]


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize(("surface", "a", "b", "hint", "length"), QUARTERS)
def test_quarters_of_plane_curves(surface, a, b, hint, length, tolerance):
    cable, state = cable_on(surface, (-a, 0, 0), (0, b, 0), hint, tolerance)
    slack = max(tolerance, 1e-9)
    assert cable.converged(state) and cable.in_contact(state, 0)
    assert cable.num_iterations(state) <= 25  # Newton's method, not halving
    assert cable.length(state) == pytest.approx(length, abs=1e-7)
    assert cable.arc_length(state, 0) == pytest.approx(length, abs=1e-7)
    up, right = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
    np.testing.assert_allclose(cable.origin_tangent(state), up, atol=slack)
    np.testing.assert_allclose(cable.termination_tangent(state), right, atol=slack)
    forces = [cable.origin_unit_force(state), cable.termination_unit_force(state)]
    np.testing.assert_allclose([f.force for f in forces], [up, (-1.0, 0.0, 0.0)], atol=slack)
    np.testing.assert_allclose([f.moment[2] for f in forces], [-a, b], atol=slack)
    pressed = cable.obstacle_unit_force(state, 0)
    np.testing.assert_allclose(pressed.force, (1.0, -1.0, 0.0), atol=2.0 * slack)
    np.testing.assert_allclose(pressed.moment, (0.0, 0.0, a - b), atol=3.0 * slack)
    check_geodesics(cable, state)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 100_000), st.sampled_from(TOLERANCES), st.booleans())
def test_great_circles_and_helices_between_points_at_random(seed, tolerance, turned):
    rng, radius = np.random.default_rng(seed), 0.7
    a, b = rng.normal(size=3), rng.normal(size=3)
    if turned:
        angle, rise = rng.uniform(0.2, 2.8), rng.uniform(-0.5, 0.5)
        surface, length = Cylinder(radius), math.hypot(radius * angle, rise)
        a = radius * np.array([1.0, 0.0, 0.0])
        b = np.array([radius * math.cos(angle), radius * math.sin(angle), rise])
    else:
        a, b = (radius * v / np.linalg.norm(v) for v in (a, b))
        angle = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
        surface, length = Sphere(radius), radius * angle
        if angle > 3.0:
            return
    cable, state = cable_on(surface, a, b, None, tolerance)
    state.velocity[0] = rng.normal(size=(2, 3))
    state.angular_velocity[0] = rng.normal(size=(2, 3))
    assert cable.converged(state)
    assert cable.length(state) == pytest.approx(length, abs=2e-8)
    forces = cable.body_forces(state)
    np.testing.assert_allclose(forces.sum(axis=0), 0.0, atol=1e-8)
    assert cable.length_rate(state) == pytest.approx(-cable.power(state, 1.0), abs=1e-9)


def test_an_end_that_slides_and_one_that_stays():
    """Along a great circle the length falls as fast as the end moves."""
    cable, state = cable_on(Sphere(1.0), (-1.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    over = math.sqrt(3.0) + math.pi - math.acos(0.5)
    for angle in np.linspace(0.0, 1.5, 40):
        c, s = math.cos(angle), math.sin(angle)
        cable.origin_station = (-c, s, 0.0)
        assert cable.converged(state)
        assert cable.length(state) == pytest.approx(over - angle, abs=1e-9)
        np.testing.assert_allclose(cable.origin_tangent(state), (s, c, 0.0), atol=1e-9)


@pytest.mark.parametrize("surface", [Sphere(1.0), Cylinder(1.0), Ellipsoid((1.0, 1.0, 0.5))])
def test_nothing_jumps_where_an_end_leaves_the_surface(surface):
    """From a height h on, the line is sqrt(2 h) long and the path longer by some h^1.5."""
    for height in (0.0, 4e-11, 6e-11, 1e-9, 1e-7):
        cable, state = cable_on(surface, (0.0, 1.0 + height, 0.0), (2.0, -0.5, 0.0))
        far, line = math.hypot(2.0, 0.5), math.sqrt(2.0 * height + height**2)
        angle = math.pi / 2 + math.atan2(0.5, 2.0) - math.acos(1.0 / far) - math.atan(line)
        assert cable.converged(state)
        length = line + angle + math.sqrt(far**2 - 1.0)
        assert cable.length(state) == pytest.approx(length, abs=1e-8)
        np.testing.assert_allclose(
            cable.origin_tangent(state), (1.0, 0.0, 0.0), atol=1.1 * line + 1e-8
        )


def test_a_via_point_on_a_ball_bends_the_cable_there_only():
    system = CableSystem(1)
    cable = CableSpan(system, 0, (-1.0, 0.0, 0.0), 0, (1.0, 0.0, 0.0))
    cable.add_obstacle(0, GROUND, Sphere(1.0))
    cable.add_via_point(0, (0.0, math.sqrt(0.5), math.sqrt(0.5)))
    cable.add_obstacle(0, GROUND, Sphere(1.0))
    cable.smoothness_tolerance = 1e-10
    state = system.new_state()
    assert cable.converged(state) and cable.length(state) == pytest.approx(math.pi, abs=1e-9)
    arrives = cable.via_point_incoming_tangent(state, 0)
    np.testing.assert_allclose(arrives, (1.0, 0.0, 0.0), atol=1e-9)
    assert np.abs(cable.via_point_unit_force(state, 0).force).max() < 1e-9


@pytest.mark.parametrize("hint", [None, (0.0, 1.0, 0.0), (-1.0, 0.1, 0.0)])
@pytest.mark.parametrize("b", [(-2.0, 0.3, 0.0), (-1.5, 2.0, 0.1), (-1.0, 0.0, 0.0)])
def test_a_cable_that_leaves_at_once_is_straight(b, hint):
    cable, state = cable_on(Sphere(1.0), (-1.0, 0.0, 0.0), b, hint)
    assert cable.converged(state) and not cable.in_contact(state, 0)
    assert cable.length(state) == pytest.approx(math.dist((-1.0, 0.0, 0.0), b), abs=1e-12)
