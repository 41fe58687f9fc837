"""States: solved once, copied, reset, saved; a batch is its simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.cables import CableSpan, CableState, CableSystem, Cylinder, Ellipsoid, Sphere, Torus
from tendon_gym.cables import state as state_module
from tests.cables.cases import GROUND

HALF_TURN = math.pi


def rig(**options: str) -> tuple[CableSystem, CableSpan]:
    """Return a cable over three surfaces between two bodies that move, through a via point."""
    system = CableSystem(3, **options)
    cable = CableSpan(system, 1, (0, 0, 0), 2, (0, 0, 0))
    cable.add_obstacle(0, (-1.5, -0.4, 0, 1, 0, 0, 0), Sphere(0.5), (0, 0.5, 0))
    cable.add_obstacle(0, (0, 0.4, 0, 1, 0, 0, 0), Ellipsoid((0.5, 0.4, 0.6)), (0, -0.4, 0))
    cable.add_via_point(0, (0.8, 0.1, 0))
    cable.add_obstacle(0, (1.6, -0.4, 0, 1, 0, 0, 0), Torus(0.4, 0.15))
    return system, cable


def move(state: CableState, i: int, time: float) -> None:
    """Move the bodies of simulation i."""
    phase = time + 0.7 * i
    state.position[i, 1] = (-3.0, 0.5 * math.sin(phase), 0.3 * math.cos(phase))
    state.position[i, 2] = (3.0, 0.4 * math.sin(1.3 * phase), 0.2)
    state.velocity[i, 1:] = np.sin([[phase, 2, 3], [4, 5, phase]])
    state.angular_velocity[i, 1:] = np.cos([[phase, 2, 3], [4, 5, phase]])


def readings(cable: CableSpan, state: CableState) -> list[np.ndarray]:
    """Return what a cable tells, each (n, ...)."""
    found = [
        cable.length(state),
        cable.length_rate(state),
        cable.power(state, 2.0),
        cable.smoothness(state),
        cable.num_iterations(state),
        cable.converged(state),
        cable.body_forces(state, 3.0),
        cable.resampled_points(state, 4),
        cable.origin_tangent(state),
        cable.termination_tangent(state),
        *cable.origin_unit_force(state),
        *cable.termination_unit_force(state),
        *cable.via_point_unit_force(state, 0),
        cable.via_point_incoming_tangent(state, 0),
        cable.via_point_outgoing_tangent(state, 0),
        cable.via_point_location(state, 0),
    ]
    for k in range(3):
        found += [cable.in_contact(state, k), cable.arc_length(state, k)]
        found += [*cable.initial_frame(state, k), *cable.final_frame(state, k)]
        found += [*cable.obstacle_unit_force(state, k), cable.curve_resampled_points(state, k, 3)]
    return [np.asarray(x) if not state.scalar else np.asarray(x)[None] for x in found]


def test_batch_is_its_simulations_bit_for_bit():
    system, cable = rig()
    batch, singles = system.new_state(5), [system.new_state() for _ in range(5)]
    for time in np.linspace(0.0, 3.0, 7):
        for i, single in enumerate(singles):
            move(batch, i, time)
            single.position[0], single.velocity[0] = (
                (batch.position[i], batch.velocity[i])
                if (i == 0)
                else (np.zeros((3, 3)), np.zeros((3, 3)))
            )
            move(single, 0, time + 0.7 * i)
            batch.position[i], batch.velocity[i] = single.position[0], single.velocity[0]
            batch.angular_velocity[i] = single.angular_velocity[0]
            single.solve()
        batch.solve()
        together = readings(cable, batch)
        for i, single in enumerate(singles):
            for all_, one in zip(together, readings(cable, single), strict=True):
                np.testing.assert_array_equal(all_[i], one[0])


def test_same_poses_same_path_without_warm_start():
    system, cable = rig()
    cable.use_warm_start = False
    state = system.new_state()
    move(state, 0, 0.4)
    state.solve()
    first = readings(cable, state)
    for time in (2.0, 3.1, 0.4):
        move(state, 0, time)
        state.solve()
    for a, b in zip(first, readings(cable, state), strict=True):
        np.testing.assert_array_equal(a, b)


def test_copies_are_independent_and_go_on_alike():
    system, cable = rig()
    state = system.new_state(2)
    for time in (0.0, 0.3, 0.6):
        for i in range(2):
            move(state, i, time)
        state.solve()
    twin = state.copy()
    for a, b in zip(readings(cable, state), readings(cable, twin), strict=True):
        np.testing.assert_array_equal(a, b)
    kept = twin.state.copy()
    assert np.isfinite(kept).all()
    for i in range(2):
        move(state, i, 0.9)
    state.solve()
    np.testing.assert_array_equal(twin.state, kept)
    for i in range(2):
        move(twin, i, 0.9)
    twin.solve()
    for a, b in zip(readings(cable, state), readings(cable, twin), strict=True):
        np.testing.assert_array_equal(a, b)


def test_saved_numbers_restore_a_path_bit_for_bit():
    system, cable = rig()
    state = system.new_state(2)
    for i in range(2):
        move(state, i, 0.5)
    state.solve()
    saved, poses = state.state.copy(), state.position.copy()
    following = []
    for _ in range(2):
        for i in range(2):
            move(state, i, 1.4)
        state.solve()
        following.append(readings(cable, state))
        state.state[:] = saved
        state.position[:] = poses
    for a, b in zip(*following, strict=True):
        np.testing.assert_array_equal(a, b)


def test_reset_forgets_some_simulations_only():
    system, cable = rig()
    state, fresh = system.new_state(2), system.new_state(2)
    for time in (0.0, 1.0, 2.0):
        for i in range(2):
            move(state, i, time)
        state.solve()
    before = cable.num_iterations(state)
    state.reset([1])
    for i in range(2):
        move(state, i, 2.0)
        move(fresh, i, 2.0)
    for a, b in zip(readings(cable, state), readings(cable, fresh), strict=True):
        np.testing.assert_array_equal(a[1], b[1])
    assert cable.num_iterations(state)[0] == 0 < before[0]


def test_reading_solves_once_per_change(monkeypatch):
    system, cable = rig()
    state, solves = system.new_state(), []
    solve = state_module.CableState.solve
    monkeypatch.setattr(state_module.CableState, "solve", lambda s: (solves.append(1), solve(s))[1])
    poses = np.zeros((3, 3)), np.tile([1.0, 0, 0, 0], (3, 1))
    poses[0][1], poses[0][2] = (-3, 0, 0), (3, 0, 0)
    state.set_poses(*poses)
    readings(cable, state)
    assert len(solves) == 1
    state.set_velocities(np.ones((3, 3)), np.ones((3, 3)))
    readings(cable, state)
    assert len(solves) == 1
    state.set_poses(*poses)
    readings(cable, state)
    cable.smoothness_tolerance = 1e-6
    readings(cable, state)
    assert len(solves) == 3


def test_orientations_as_matrices_and_as_quaternions():
    system, cable = rig()
    cable.set_origin(1, (0.1, 0.2, 0.3))
    turn = math.radians(40.0)
    matrix = np.tile(np.eye(3), (3, 1, 1))
    matrix[1, :2, :2] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    quaternion[1] = (2.0 * math.cos(turn / 2), 0, 0, 2.0 * math.sin(turn / 2))
    position = [(0, 0, 0), (-3, 0, 0), (3, 0, 0)]
    lengths = []
    for orientation in (matrix, quaternion):
        state = system.new_state()
        state.set_poses(position, orientation)
        lengths.append(cable.length(state))
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-12)


def test_simulations_may_have_obstacles_of_their_own():
    system = CableSystem(1)
    cable = CableSpan(system, 0, (-2, 0, 0), 0, (2, 0, 0))
    cable.add_obstacle(0, GROUND, Sphere(0.5), (0, 0.5, 0))
    cable.smoothness_tolerance = 1e-10
    state = system.new_state(3)
    state.set_obstacle(1, 0, 0, surface=Cylinder(0.8))
    state.set_obstacle(2, 0, 0, pose=(0, -0.2, 0, 1, 0, 0, 0))

    def over(radius: float) -> float:
        return 2 * math.sqrt(4 - radius**2) + radius * (math.pi - 2 * math.acos(radius / 2))

    lengths = cable.length(state)
    assert lengths[:2] == pytest.approx([over(0.5), over(0.8)], abs=1e-9)
    assert 4.0 < lengths[2] < lengths[0]
    cable.smoothness_tolerance = 1e-11  # the configuration changes, the own obstacles stay
    assert cable.length(state) == pytest.approx(lengths, abs=1e-9)
    state.reset()
    assert cable.length(state.copy()) == pytest.approx(lengths, abs=1e-9)
    before = state.problem.elements
    state.set_obstacle(1, 0, 0, surface=Cylinder(0.6))  # once more, in the same place
    assert state.problem.elements is before
    assert cable.length(state) == pytest.approx([lengths[0], over(0.6), lengths[2]], abs=1e-9)
    assert cable.length(state.copy())[1] == pytest.approx(over(0.6), abs=1e-9)
    with pytest.raises(IndexError, match="simulation"):
        state.set_obstacle(3, 0, 0)
    with pytest.raises(IndexError, match="obstacle"):
        state.set_obstacle(0, 0, 1)


def test_winding_by_continuation():
    """A cable that is led round a cylinder stays wound, and unwinds the same way."""
    system = CableSystem(2)
    cable = CableSpan(system, 0, (-2, 0.5, 0), 1, (0, 0, 0))
    cable.add_obstacle(0, GROUND, Cylinder(0.5))
    cable.smoothness_tolerance, state = 1e-10, system.new_state()
    start = math.pi / 2 - math.acos(0.25)  # where a tangent at the top reaches a distance of 2
    for turn in [*np.linspace(0.0, 3.0 * HALF_TURN, 60), *np.linspace(3.0 * HALF_TURN, 0.3, 60)]:
        angle = start - turn
        state.position[0, 1] = (2.0 * math.cos(angle), 2.0 * math.sin(angle), 0.1)
        state.solve()
        flat = 2.0 + 0.5 * turn + math.sqrt(4.0 - 0.25)
        if turn > 0.01:
            assert cable.in_contact(state, 0)
            assert cable.length(state) == pytest.approx(math.hypot(flat, 0.1), abs=1e-9)
