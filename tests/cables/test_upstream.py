"""Cables with known answers: the set-ups of Simbody's and OpenSim's own tests, solved by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.cables import (
    CableSpan,
    CableState,
    CableSystem,
    Cylinder,
    Ellipsoid,
    Sphere,
    Torus,
)
from tests.cables.cases import GROUND, upstream_height_map
from tests.cables.checks import check_frames, check_path

S = math.sqrt(0.5)
AT_ORIGIN = (0.0, 0.0, 0.0)
TAN = math.tan(math.radians(22.5))


def pose(x: float, y: float, z: float, axis: str = "", degrees: float = 0.0) -> tuple[float, ...]:
    turn = [math.cos(math.radians(degrees / 2.0)), 0.0, 0.0, 0.0]
    if axis:
        turn[1 + "xyz".index(axis)] = math.sin(math.radians(degrees / 2.0))
    return (x, y, z, *turn)


def at(system: CableSystem, *points: tuple[float, ...]) -> CableState:
    """Return a state with the ground and bodies at points, none of them turned."""
    state = system.new_state()
    state.set_poses([AT_ORIGIN, *points], np.tile([1.0, 0.0, 0.0, 0.0], (len(points) + 1, 1)))
    return state


def fine(cable: CableSpan, tolerance: float, accuracy: float = 1e-12, most: int = 50) -> CableSpan:
    cable.curve_segment_accuracy, cable.smoothness_tolerance = accuracy, tolerance
    cable.solver_max_iterations = most
    return cable


def wrenches(cable: CableSpan, state: CableState, tension: float) -> np.ndarray:
    """Return moment and force per unit of tension, (b, 6), in Simbody's order."""
    return np.roll(cable.body_forces(state, tension), 3, axis=1) / tension


def test_four_obstacles_of_quarter_turns():
    system = CableSystem(5)
    cable = fine(CableSpan(system, 1, AT_ORIGIN, 2, AT_ORIGIN), 1e-7)
    cable.add_obstacle(3, pose(1, 1, 0, "y", 90), Torus(10, 1), (0, -9, 0))
    cable.add_obstacle(4, pose(0.5, 1, 0), Ellipsoid((1, 1, 6)), (1, 1, 0.5))
    cable.add_obstacle(0, pose(4, -12, 0, "y", 90), Torus(10, 1.5), (0, 1, 0))
    cable.add_obstacle(0, pose(-2, -1.5, 0), Cylinder(2), (0, -1, 0))
    state = at(system, AT_ORIGIN, (-4, 0, 0), (0, 10, 0), (4, 0, 0))
    quarter = math.pi / 2.0
    assert cable.length(state) == pytest.approx(15.0 + quarter * 5.5, abs=1e-5)
    assert cable.smoothness(state) <= 1e-7
    x, y = np.eye(3)[0], np.eye(3)[1]
    ends = [
        (1.0, (0, 1, 0), (1, 2, 0), y, x, -x, y),
        (1.0, (4.5, 2, 0), (5.5, 1, 0), x, -y, y, x),
        (1.5, (5.5, -2, 0), (4, -3.5, 0), -y, -x, x, -y),
        (2.0, (-2, -3.5, 0), (-4, -1.5, 0), -x, y, -y, -x),
    ]
    for k, (radius, p, q, t_p, t_q, n_p, n_q) in enumerate(ends):
        assert cable.arc_length(state, k) == pytest.approx(quarter * radius, abs=1e-5)
        for frame, point, t, n in (
            (cable.initial_frame(state, k), p, t_p, n_p),
            (cable.final_frame(state, k), q, t_q, n_q),
        ):
            np.testing.assert_allclose(frame.position, point, atol=1e-6)
            wanted = np.stack([t, n, np.cross(t, n)], axis=1)
            np.testing.assert_allclose(frame.rotation, wanted, atol=1e-6)
    expected = [
        (0, 0, 1.5, 0, 2, 0),
        (0, 0, 0, 0, 1, 0),
        (0, 0, 0, 0, -1, 0),
        (0, 0, 8, 1, -1, 0),
        (0, 0, 0.5, -1, -1, 0),
    ]
    np.testing.assert_allclose(wrenches(cable, state, math.pi), expected, atol=1e-5)
    check_path(cable, state)


def test_via_points_alone():
    system = CableSystem(6)
    cable = CableSpan(system, 1, AT_ORIGIN, 2, AT_ORIGIN)
    for body in (3, 4, 5):
        cable.add_via_point(body, AT_ORIGIN)
    state = at(system, AT_ORIGIN, (-4, 0, 0), (0, 1, 0), (0, 1, 2), (-4, 1, 2))
    root = math.sqrt(5.0)
    assert cable.length(state) == pytest.approx(7.0 + root, abs=1e-12)
    assert cable.smoothness(state) == 0.0
    last = (0.0, -1.0 / root, -2.0 / root)
    np.testing.assert_allclose(cable.origin_tangent(state), (0, 1, 0), atol=1e-12)
    for k, (into, out) in enumerate(
        [((0, 1, 0), (0, 0, 1)), ((0, 0, 1), (-1, 0, 0)), ((-1, 0, 0), last)]
    ):
        np.testing.assert_allclose(cable.via_point_incoming_tangent(state, k), into, atol=1e-12)
        np.testing.assert_allclose(cable.via_point_outgoing_tangent(state, k), out, atol=1e-12)
        np.testing.assert_allclose(cable.via_point_location(state, k), state.position[0, 3 + k])
    np.testing.assert_allclose(cable.termination_tangent(state), last, atol=1e-12)
    forces = [
        (0, 0, 0),
        (0, 1, 0),
        (0, 1 / root, 2 / root),
        (0, -1, 1),
        (-1, 0, -1),
        (1, -1 / root, -2 / root),
    ]
    found = wrenches(cable, state, math.pi)
    np.testing.assert_allclose(found[:, 3:], forces, atol=1e-12)
    np.testing.assert_allclose(found[:, :3], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("surface", "drop", "offset"),
    [(Ellipsoid((1, 0.5, 0.75)), -0.5, 0.0), (Sphere(1.5), -1.5, -2.0)],
)
def test_touchdown_and_lift_off_at_the_right_moment(surface, drop, offset):
    system = CableSystem(2)
    cable = fine(CableSpan(system, 1, (-2, offset, 0), 1, (2, offset, 0)), 1e-6)
    cable.add_obstacle(0, pose(0, offset + drop, 0), surface)
    state = system.new_state()
    for angle in np.arange(0.01, 4.0 * math.pi, 0.02):
        height = 0.1 * math.sin(angle)
        state.position[0, 1, 1] = height
        state.solve()
        assert cable.in_contact(state, 0) == (height < 0.0)
        assert cable.converged(state)


def all_surfaces() -> tuple[CableSystem, CableSpan]:
    system = CableSystem(4)
    cable = fine(CableSpan(system, 1, AT_ORIGIN, 2, AT_ORIGIN), 1e-4, 1e-9)
    cable.add_obstacle(0, pose(-4, 0, 0, "y", 90), Torus(1, 0.2), (0.1, 0.2, 0))
    cable.add_obstacle(0, pose(-2, 0, 0), Ellipsoid((1.5, 2.6, 1)), (0, 0, 1.1))
    cable.add_via_point(3, AT_ORIGIN)
    cable.add_obstacle(0, pose(2, 0, 0), Sphere(1), (0.1, 1.1, 0))
    cable.add_obstacle(0, pose(5, 0, 0, "x", 90), Cylinder(1), (0, -1, 0))
    patch = upstream_height_map(2.0, 0.75)
    cable.add_obstacle(0, pose(10, 0, -1, "z", 90), patch, (0, 0, 1))
    cable.add_obstacle(0, pose(14, 0, 0, "y", 90), Torus(1, 0.2), (0.1, 0.2, 0))
    return system, cable


def test_all_surfaces_in_motion():
    system, cable = all_surfaces()
    state = system.new_state()
    for k, s in enumerate(np.arange(0.0, 2.0 * math.pi, 0.05)):
        origin = np.array(
            [-8 + 1.1 * math.sin(s), 0.1 + 5 * math.sin(1.5 * s), 5 * math.sin(2 * s)]
        )
        end = np.array(
            [20 + 0.1 * math.sin(s), 1 + 4 * math.sin(0.7 * s), -1 + 10 * math.sin(1.3 * s)]
        )
        state.position[0, 1:] = origin, end, (0.0, 0.9 + 0.5 * math.cos(s), 0.5)
        state.velocity[0, 1:] = (
            (1.1 * math.cos(s), 7.5 * math.cos(1.5 * s), 10 * math.cos(2 * s)),
            (0.1 * math.cos(s), 2.8 * math.cos(0.7 * s), 13 * math.cos(1.3 * s)),
            (0.0, -0.5 * math.sin(s), 0.0),
        )
        state.solve()
        assert cable.converged(state) and cable.smoothness(state) <= 1e-4
        assert cable.length(state) > np.linalg.norm(end - origin)
        assert cable.length_rate(state) == pytest.approx(-cable.power(state, 1.0), abs=1e-9)
        check_frames(cable, state)
        if k % 21 == 0:
            check_path(cable, state)


def slingshot(hint: tuple[float, float, float]) -> tuple[CableSpan, CableState]:
    system = CableSystem(2)
    cable = fine(CableSpan(system, 0, (TAN, 1, 0), 0, (TAN, -1, 0)), 1e-8, most=100)
    cable.add_obstacle(1, GROUND, Sphere(1), hint)
    return cable, system.new_state()


def test_either_algorithm_finds_what_it_looks_for():
    cable, state = slingshot((-1, 0, 0.1))
    cable.algorithm = "scholz_2015"
    np.testing.assert_allclose(cable.initial_frame(state, 0).position, (0, 1, 0), atol=1e-6)
    np.testing.assert_allclose(cable.final_frame(state, 0).position, (0, -1, 0), atol=1e-6)
    assert cable.length(state) == pytest.approx(math.pi + 2 * TAN, abs=1e-6)
    assert cable.smoothness(state) < 1e-8
    cable.algorithm = "minimum_length"
    state.reset()
    np.testing.assert_allclose(cable.initial_frame(state, 0).position, (S, S, 0), atol=1e-6)
    np.testing.assert_allclose(cable.final_frame(state, 0).position, (S, -S, 0), atol=1e-6)
    assert cable.length(state) == pytest.approx(math.pi / 2 + 2 * TAN, abs=1e-6)
    assert cable.smoothness(state) < 1e-8


def free_end() -> tuple[CableSpan, CableState]:
    system = CableSystem(2)
    cable = fine(CableSpan(system, 0, AT_ORIGIN, 1, (0, 2, 0)), 1e-8)
    return cable, at(system, (1, -2, 0))


def test_forces_on_two_ends():
    system = CableSystem(1)
    fixed = CableSpan(system, 0, (0, 1, 0), 0, (1, 1, 0))
    np.testing.assert_allclose(wrenches(fixed, system.new_state(), 1.0), [[0] * 6], atol=1e-15)
    expected = [(0, 0, 0, 1, 0, 0), (0, 0, 2, -1, 0, 0)]
    np.testing.assert_allclose(wrenches(*free_end(), 1.0), expected, atol=1e-12)


def test_forces_of_slingshots():
    expected = [(0, 0, 0, 2 * S, 0, 0), (0, 0, 0, -2 * S, 0, 0)]
    np.testing.assert_allclose(wrenches(*slingshot((1, 0, 0)), 1.0), expected, atol=1e-6)
    system = CableSystem(2)
    cable = CableSpan(system, 0, (0, 1, 0), 0, (0, -1, 0))
    cable.add_via_point(1, AT_ORIGIN)
    np.testing.assert_allclose(wrenches(cable, at(system, (1, 0, 0)), 1.0), expected, atol=1e-6)


@pytest.mark.parametrize("tension", [0.0, -1.0])
def test_slack_cables_do_nothing(tension):
    cable, state = free_end()
    forces = np.full((2, 6), 3.0)
    cable.apply_body_forces(state, tension, forces)
    assert (forces == 3.0).all()
    assert cable.power(state, tension) == 0.0


def rate(cable: CableSpan, state: CableState, u: tuple[float, ...]) -> float:
    state.set_velocities([AT_ORIGIN, u[3:]], [AT_ORIGIN, u[:3]])
    found = cable.length_rate(state)
    assert found == pytest.approx(-cable.power(state, 1.0), abs=1e-13)
    return found


def test_length_rates():
    system = CableSystem(2)
    both = CableSpan(system, 1, (-1, 0, 0), 1, (0, 1, 0))
    assert rate(both, system.new_state(), (1, 2, 3, 4, 5, 6)) == pytest.approx(0.0, abs=1e-13)
    assert rate(*free_end(), (0, 0, 0, 4, 5, 6)) == pytest.approx(4.0, abs=1e-13)
    assert rate(*free_end(), (0, 1, 2, 0, 0, 0)) == pytest.approx(-4.0, abs=1e-13)
    cable, state = slingshot((1, 0, 0))
    assert cable.in_contact(state, 0)
    assert rate(cable, state, (1, 2, 3, 4, 5, 6)) == pytest.approx(8.0 * S, abs=1e-13)


@pytest.mark.parametrize("angle", np.linspace(-1.2, -0.6, 4))
def test_surfaces_that_agree_in_a_plane_give_equal_cables(angle):
    lengths = []
    for surface in (Cylinder(0.1), Ellipsoid((0.1, 0.1, 0.3)), Sphere(0.1)):
        system = CableSystem(2)
        cable = fine(CableSpan(system, 0, (-0.1, 0, 0), 1, (-0.5, 0.1, 0)), 1e-9)
        cable.add_obstacle(0, pose(0.25, 0, 0), surface, (0, 0.1, 0))
        state = system.new_state()
        turn = (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
        state.set_poses([AT_ORIGIN, (0.9, -0.5, 0)], [(1, 0, 0, 0), turn])
        lengths.append(cable.length(state))
        assert cable.converged(state)
    assert lengths == pytest.approx([lengths[0]] * 3, abs=1e-10)


def test_another_radius_takes_effect():
    cable, state = slingshot((1, 0, 0))
    before = cable.length(state)
    cable.set_obstacle_surface(0, Sphere(0.9))
    assert cable.length(state) < before - 0.05
    cable.set_obstacle_surface(0, Sphere(1))
    assert cable.length(state) == pytest.approx(before, abs=1e-9)
