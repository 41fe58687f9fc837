"""Cables that are configured further after they were solved."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.cables import (
    CablePulls,
    CableSpan,
    CableState,
    CableSystem,
    ConstantTension,
    Cylinder,
    Elastic,
    Winch,
)
from tests.cables.cases import GROUND


def lengths_round(state: CableState, cable: CableSpan, turns: float) -> float:
    """Wind a cable's end round the z axis, 2 m from it, and return its length."""
    for angle in np.linspace(0.0, turns * 2.0 * math.pi, int(12 * turns) + 1):
        place = (2.0 * math.cos(angle), 2.0 * math.sin(angle), 0.0)
        state.set_poses([(0, 0, 0), place], np.tile([1.0, 0, 0, 0], (2, 1)))
        cable.length(state)
    return cable.length(state)


def wound() -> tuple[CableSystem, CableSpan, CableState]:
    system = CableSystem(2)
    cable = CableSpan(system, 0, (-2, 0, 0), 1, (0, 0, 0))
    cable.add_obstacle(0, GROUND, Cylinder(0.5), (0, -0.5, 0))
    return system, cable, system.new_state()


@pytest.mark.parametrize("change", ["cable", "obstacle", "via point"])
def test_winding_stays_when_another_cable_changes(change):
    system, cable, state = wound()
    other = CableSpan(system, 0, (-2, 1, 0), 0, (0, 1, 0)) if change != "cable" else None
    right = 2.0 * math.sqrt(4.0 - 0.25) + 0.5 * (5.0 * math.pi - 2.0 * math.acos(0.25))
    assert lengths_round(state, cable, 2.0) == pytest.approx(right, abs=1e-6)
    if other is None:
        CableSpan(system, 0, (-2, 1, 0), 0, (0, 1, 0))
    elif change == "obstacle":
        other.add_obstacle(0, (0, 3, 0, 1, 0, 0, 0), Cylinder(0.2))
    else:
        other.add_via_point(0, (0, 2, 0))
    assert cable.length(state) == pytest.approx(right, abs=1e-6)


def test_a_winch_stays_where_it_is_when_a_cable_is_added():
    system, _, state = wound()
    state.set_poses([(0, 0, 0), (2, 0, 0)], np.tile([1.0, 0, 0, 0], (2, 1)))
    pulls = CablePulls(state, [Winch(4.0, 10.0, speed=1.0)])
    pulls.command(0, 3.0)
    pulls.add_forces(np.zeros((1, 2, 6)), 0.25)
    CableSpan(system, 0, (-2, 1, 0), 0, (0, 1, 0))
    again = CablePulls(state, [Winch(4.0, 10.0, speed=1.0), ConstantTension(1.0)])
    again.add_forces(np.zeros((1, 2, 6)), 0.25)
    assert again.load("rest_length") == pytest.approx(3.5)


@pytest.mark.parametrize("change", ["cable", "obstacle", "via point"])
def test_pulls_of_other_cables_are_refused(change):
    system, cable, state = wound()
    state.set_poses([(0, 0, 0), (2, 0, 0)], np.tile([1.0, 0, 0, 0], (2, 1)))
    pulls = CablePulls(state, [Elastic(1.0, 10.0)], [0.2])
    if change == "cable":
        CableSpan(system, 0, (-2, 1, 0), 0, (0, 1, 0))
    elif change == "obstacle":
        cable.add_obstacle(0, (0, 3, 0, 1, 0, 0, 0), Cylinder(0.2))
    else:
        cable.add_via_point(0, (1, 2, 0))
    forces = np.zeros((1, 2, 6))
    for call in (lambda: pulls.add_forces(forces), pulls.tension, lambda: pulls.tensions(0, 0)):
        with pytest.raises(ValueError, match="changed since"):
            call()
    assert not forces.any()


@pytest.mark.parametrize("dt", [-1.0, math.nan, math.inf, "1", True, None])
def test_winches_turn_for_a_time_only(dt):
    _, _, state = wound()
    state.set_poses([(0, 0, 0), (2, 0, 0)], np.tile([1.0, 0, 0, 0], (2, 1)))
    pulls = CablePulls(state, [Winch(4.0, 10.0, speed=1.0, target=3.0)])
    with pytest.raises((TypeError, ValueError), match="dt must be"):
        pulls.add_forces(np.zeros((1, 2, 6)), dt)
    assert state.memory["paid_out"][0, 0] == 0.0


def test_no_nan_from_a_pose_or_a_velocity_reaches_a_body_or_the_memory():
    system = CableSystem(2, on_fault="keep")
    cable = CableSpan(system, 0, (-2, 0, 0), 1, (0, 0, 0))
    state = system.new_state()
    state.set_poses([(0, 0, 0), (2, 0, 0)], np.tile([1.0, 0, 0, 0], (2, 1)))
    pulls, forces = CablePulls(state, [Elastic(1.0, 100.0, 5.0)], [0.2]), np.zeros((1, 2, 6))
    pulls.add_forces(forces, 0.01)
    assert forces[0, 1, 0] == pytest.approx(-300.0)
    state.velocity[0, 1] = np.nan
    forces[:] = 0.0
    pulls.add_forces(forces, 0.01)
    assert not forces.any() and np.isfinite(state.state).all() and pulls.tension() == 0.0
    state.velocity[0, 1], state.position[0, 1] = 0.0, np.nan
    state.solve()
    assert cable.fault(state) == "not_finite"
    assert not cable.body_forces(state, 3.0).any() and cable.length_rate(state) == 0.0
    for force in (cable.origin_unit_force(state), cable.termination_unit_force(state)):
        assert not np.concatenate(force).any()
