"""Winding: a cable's end that flies around a branch, many turns and back, in steps of a flight."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.cables import CablePulls, CableSpan, CableSystem, Cylinder, Elastic

RADIUS, BOB = 0.05, np.array([0.06, -0.3])
"""Of the branch, m; where the other end hangs in the plane across it, m."""
FAR = 0.8
"""Distance of the flying end from the branch's axis, m."""


def setting(hint=None):
    """Return cable and state of a tether from a vehicle past a branch along y to a bob."""
    system = CableSystem(["world", "vehicle", "bob"])
    cable = CableSpan(system, "vehicle", (0, 0, 0), "bob", (0, 0, 0))
    q = math.sqrt(0.5)
    cable.add_obstacle("world", (0, 0, 0, q, q, 0, 0), Cylinder(RADIUS), hint)
    cable.smoothness_tolerance = 1e-9
    state = system.new_state()
    state.position[0, 2] = BOB[0], 0.0, BOB[1]
    return cable, state


def fly(cable, state, angles, rise=0.0):
    """Move the vehicle to angles (rad) about the branch, one by one; return arc lengths, 0 off it.

    Angles count from the bob's direction through the origin's side; `rise` is along the branch.
    """
    start, arcs = math.atan2(BOB[1], BOB[0]), []
    for angle in angles:
        place = FAR * np.cos(start + angle), FAR * np.sin(start + angle)
        state.position[0, 1] = place[0], rise, place[1]
        state.mark_unsolved()
        assert cable.converged(state)
        arcs.append(cable.arc_length(state, 0) if cable.in_contact(state, 0) else 0.0)
    return np.array(arcs)


def turning(angles):
    """Return the angle of contact between two tangents, in closed form: signed, 0 if none."""
    free = math.acos(RADIUS / FAR) + math.acos(RADIUS / math.hypot(*BOB))
    return np.sign(angles) * np.maximum(np.abs(angles) - free, 0.0)


def path(turns, speed, dt):
    """Return the angles of a flight from beside the bob, `turns` around the branch and back."""
    steps = math.ceil(2.0 * math.pi * abs(turns) * FAR / (speed * dt))
    there = np.linspace(0.0, 2.0 * math.pi * turns, steps)
    return np.concatenate([there, there[::-1]])


@pytest.mark.parametrize("dt", [0.001, 0.002, 0.01])
@pytest.mark.parametrize("turns", [3.3, -3.3])
def test_winding_and_unwinding_follows_the_closed_form(dt, turns):
    """From where the line is free, over touchdown, three turns on, back and off again."""
    cable, state = setting()
    angles = path(turns, 4.0, dt)
    arcs = fly(cable, state, angles)
    np.testing.assert_allclose(arcs, RADIUS * np.abs(turning(angles)), atol=1e-9)
    assert arcs.max() > 2.8 * 2.0 * math.pi * RADIUS and arcs[-1] == 0.0


def test_the_same_tether_winds_one_way_then_the_other():
    cable, state = setting()
    angles = np.concatenate([path(2.0, 4.0, 0.002), path(-2.0, 4.0, 0.002)])
    arcs = fly(cable, state, angles)
    np.testing.assert_allclose(arcs, RADIUS * np.abs(turning(angles)), atol=1e-9)


def test_a_helix_winds_as_its_unrolled_line_is_straight():
    """Its slope is the rise over the length of all of it, across the branch."""
    cable, state = setting()
    angles = np.linspace(0.0, 5.0 * math.pi, 2000)
    arc = fly(cable, state, angles, rise=0.2)[-1]
    across = RADIUS * turning(angles[-1])
    lines = math.sqrt(FAR**2 - RADIUS**2) + math.sqrt(BOB @ BOB - RADIUS**2)
    slope = 0.2 / (across + lines)
    assert arc == pytest.approx(across * math.hypot(1.0, slope), rel=1e-9)
    assert cable.length(state) == pytest.approx(math.hypot(0.2, across + lines), rel=1e-9)


def test_a_wound_state_that_is_saved_goes_on_winding_with_the_same_bits():
    cable, state = setting()
    angles = path(2.5, 4.0, 0.002)
    half = len(angles) // 3
    fly(cable, state, angles[:half])
    twin = state.copy()
    wanted = fly(cable, state, angles[half:])
    assert np.array_equal(fly(cable, twin, angles[half:]), wanted)


@pytest.mark.parametrize("dt", [0.001, 0.002])
def test_a_tether_wound_one_and_a_half_times_holds_a_vehicle_by_its_bob(dt):
    """m = 1.2 kg hangs by a bob of 0.1 kg where e^(mu theta) > 12, and falls where it isn't."""
    for friction, holds in ((0.35, True), (0.2, False)):
        cable, state = setting()
        fly(cable, state, np.linspace(0.0, 4.0 * math.pi, 1000))  # to beside the bob again
        state.position[0, 1] = -RADIUS, 0.0, -0.6
        state.position[0, 2] = RADIUS, 0.0, -0.3
        rest = 0.9 + 3.0 * math.pi * RADIUS
        pulls = CablePulls(state, [Elastic(rest, 800.0, 8.0)], [friction])
        forces, masses = np.zeros((1, 3, 6)), np.array([1.2, 0.1])
        for _ in range(round(8.0 / dt)):
            state.mark_unsolved()
            forces[:] = 0.0
            pulls.add_forces(forces, dt)
            state.velocity[0, 1:, 2] += dt * (forces[0, 1:, 2] / masses - 9.81)
            state.position[0, 1:, 2] += dt * state.velocity[0, 1:, 2]
            if state.position[0, 2, 2] > -0.1:
                break
        angle = pulls.angle(0, 0)
        assert angle == pytest.approx(3.0 * math.pi, abs=1e-6)
        assert (math.exp(friction * 3.0 * math.pi) > 12.0) == holds
        assert (np.abs(state.velocity).max() < 1e-6) == holds
