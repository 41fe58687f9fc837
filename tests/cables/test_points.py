"""Points along cables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.cables import CableSpan, CableSystem, Cylinder, Ellipsoid, ImplicitSurface, Sphere
from tests.cables.cases import GROUND
from tests.cables.test_surfaces import element_of, jet


def over(surface, height: float, hint=(0.0, 1.0, 0.0)):
    system = CableSystem(2)
    cable = CableSpan(system, 1, (-2.0, 0.0, 0.0), 1, (2.0, 0.0, 0.3))
    cable.add_via_point(1, (-1.6, 0.1, 0.0))
    cable.add_obstacle(0, GROUND, surface, hint)
    cable.smoothness_tolerance = 1e-9
    state = system.new_state()
    state.position[0, 1, 1] = height
    return cable, state


def test_points_of_a_lifted_cable_are_where_it_is_closest():
    cable, state = over(Sphere(1.0), 1.2, None)
    points = cable.resampled_points(state, 4)
    assert points.shape == (2 + 1 + 4, 3)
    np.testing.assert_array_equal(points[2:6], np.tile(points[2], (4, 1)))
    a, b = points[1], points[-1]
    along = (points[2] - a) @ (b - a) / ((b - a) @ (b - a))
    np.testing.assert_allclose(points[2], a + along * (b - a), atol=1e-12)
    assert points[2] @ (b - a) == pytest.approx(0.0, abs=1e-9)  # square from the centre
    assert cable.decorative_points(state).shape == (3, 3)
    assert not cable.obstacle_unit_force(state, 0).force.any()
    assert np.isnan(cable.initial_frame(state, 0).position).all()


@pytest.mark.parametrize("surface", [Sphere(1.0), Cylinder(1.0), Ellipsoid((1.0, 1.0, 0.7))])
def test_points_are_on_the_curve_at_equal_distances(surface):
    cable, state = over(surface, 0.2)
    points = cable.curve_resampled_points(state, 0, 60)
    np.testing.assert_allclose(points[0], cable.initial_frame(state, 0).position, atol=1e-12)
    np.testing.assert_allclose(points[-1], cable.final_frame(state, 0).position, atol=1e-12)
    assert np.abs([jet(surface, p)[0] for p in points]).max() < 1e-9
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert np.ptp(chords) < 1e-3 * chords.mean()
    assert chords.sum() == pytest.approx(cable.arc_length(state, 0), rel=1e-4)
    whole = cable.resampled_points(state, 60)
    np.testing.assert_array_equal(whole[2:-1], points)


def test_decorative_points_follow_the_bend():
    cable, state = over(Cylinder(1.0), 0.2)
    points = cable.decorative_points(state)
    turned = cable.arc_length(state, 0) / 1.0  # nearly: the helix is not steep
    assert len(points) - 3 == pytest.approx(turned / math.radians(5.0), abs=2.0)


def test_lines_of_points_are_as_long_as_the_cable():
    cable, state = over(Ellipsoid((1.0, 1.0, 0.7)), 0.2)
    points = cable.resampled_points(state, 400)
    drawn = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    assert drawn == pytest.approx(cable.length(state), abs=1e-5)


def test_own_function_is_as_good_as_a_known_surface():
    a, b, c = 1.0, 1.0, 0.7

    def egg(x: float, y: float, z: float):
        return (
            (x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2 - 1.0,
            2.0 * x / a**2,
            2.0 * y / b**2,
            2.0 * z / c**2,
            2.0 / a**2,
            2.0 / b**2,
            2.0 / c**2,
            0.0,
            0.0,
            0.0,
        )

    own = ImplicitSurface(egg, 1.0)
    assert element_of(own)[0]["address"] == element_of(ImplicitSurface(egg, 1.0))[0]["address"]
    lengths = []
    for surface in (own, Ellipsoid((a, b, c))):
        cable, state = over(surface, 0.2)
        assert cable.converged(state)
        lengths.append(cable.length(state))
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-10)
