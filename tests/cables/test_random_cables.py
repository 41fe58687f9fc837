"""Whole cables drawn at random: forces in balance, energy, finiteness, length over touchdown."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym.cables import (
    CableSpan,
    CableState,
    CableSystem,
    Cylinder,
    Ellipsoid,
    ImplicitSurface,
    Sphere,
    Torus,
)
from tests.cables.checks import check_derivatives, check_frames
from tests.cables.test_surfaces import pillow

PILLOW = ImplicitSurface(pillow, 1.0)


def drawn(seed: int) -> tuple[CableSpan, CableState, np.random.Generator]:
    """Return a cable from left to right past some obstacles and via points, on moving bodies."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 5))
    system = CableSystem(3 + count, on_fault="keep")
    cable = CableSpan(system, 1, rng.normal(0, 0.2, 3), 2, rng.normal(0, 0.2, 3))
    state = system.new_state()
    state.position[:, 1], state.position[:, 2] = (-4.0, 0.0, 0.0), (4.0 * count + 1.0, 0.0, 0.0)
    for k in range(count):
        state.position[:, 3 + k] = (4.0 * k, rng.uniform(-1.2, 0.6), rng.uniform(-0.4, 0.4))
        turn = rng.normal(size=4)
        pose = (*rng.normal(0, 0.1, 3), *turn)
        surface = [
            Sphere(rng.uniform(0.4, 1.2)),
            Cylinder(rng.uniform(0.3, 1.0)),
            Ellipsoid(tuple(rng.uniform(0.4, 1.2, 3))),
            Torus(rng.uniform(0.6, 1.0), rng.uniform(0.15, 0.4)),
            PILLOW,
        ][rng.integers(5)]
        if rng.random() < 0.2:
            cable.add_via_point(3 + k, rng.normal(0, 0.2, 3))
        else:
            hint = rng.normal(size=3) if rng.random() < 0.5 else None
            cable.add_obstacle(3 + k, pose, surface, hint)
    cable.curve_segment_accuracy, cable.smoothness_tolerance = 1e-11, 1e-10
    cable.solver_max_iterations = 100
    return cable, state, rng


def totals(cable: CableSpan, state: CableState) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of forces on all bodies, and of moments about the world's origin."""
    wrenches = cable.body_forces(state)
    force, moment = wrenches[:, :3], wrenches[:, 3:]
    return force.sum(0), (moment + np.cross(state.position[0], force)).sum(0)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 100_000))
def test_forces_balance_and_everything_is_finite(seed):
    cable, state, rng = drawn(seed)
    state.velocity[:] = rng.normal(size=state.velocity.shape)
    state.angular_velocity[:] = rng.normal(size=state.velocity.shape)
    force, moment = totals(cable, state)
    np.testing.assert_allclose(force, 0.0, atol=1e-12)
    np.testing.assert_allclose(moment, 0.0, atol=1e-9)
    assert cable.length_rate(state) == pytest.approx(-cable.power(state, 1.0), abs=1e-9)
    numbers = [cable.length(state), cable.smoothness(state), *cable.body_forces(state).ravel()]
    numbers += [*cable.resampled_points(state, 3).ravel(), *cable.decorative_points(state).ravel()]
    assert np.isfinite(numbers).all()
    shape = (2 + cable.num_via_points + 3 * cable.num_obstacles, 3)
    assert cable.resampled_points(state, 3).shape == shape
    if cable.converged(state):
        assert cable.smoothness(state) <= cable.smoothness_tolerance
        check_frames(cable, state)
        check_derivatives(cable, state)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 100_000))
def test_work_of_the_cable_is_its_change_of_length(seed):
    """Along a motion the length changes by the integral of its rate: no energy is made."""
    cable, state, rng = drawn(seed)
    state.velocity[0] = rng.normal(0, 0.3, state.velocity[0].shape)
    state.angular_velocity[0] = rng.normal(0, 0.3, state.velocity[0].shape)
    h, lengths, contacts = 1e-5, [], []
    position, rotation = state.position.copy(), state.rotation.copy()
    state.solve()
    rate, good = cable.length_rate(state), cable.converged(state)
    for sign in (1.0, -1.0):
        state.position[:] = position + sign * h * state.velocity
        for b, spin in enumerate(state.angular_velocity[0]):
            angle = np.linalg.norm(spin) * sign * h
            axis = spin / np.linalg.norm(spin)
            k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
            turn = np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k
            state.rotation[0, b] = turn @ rotation[0, b]
        state.solve()
        good = good and cable.converged(state)
        lengths.append(cable.length(state))
        contacts.append([cable.in_contact(state, k) for k in range(cable.num_obstacles)])
    if good and contacts[0] == contacts[1]:
        assert (lengths[0] - lengths[1]) / (2.0 * h) == pytest.approx(rate, abs=1e-5)


def test_most_random_cables_converge():
    """What the other tests skip is the exception."""
    found = []
    for seed in range(150):
        cable, state, _ = drawn(seed)
        found.append(cable.converged(state) or cable.fault(state) != "none")
    assert np.mean(found) > 0.95


@pytest.mark.parametrize(
    "surface",
    [Sphere(0.8), Cylinder(0.8), Ellipsoid((1.0, 0.8, 0.6)), Torus(0.8, 0.3), PILLOW],
    ids=lambda s: type(s).__name__,
)
def test_length_is_continuous_over_touchdown_and_lift_off(surface):
    system = CableSystem(2)
    cable = CableSpan(system, 1, (-3.0, 0.0, 0.1), 1, (3.0, 0.0, -0.2))
    cable.add_obstacle(0, (0, 0, 0, 0.9, 0.2, 0.3, 0.1), surface)
    cable.smoothness_tolerance = 1e-10
    state, step = system.new_state(), 2e-3
    heights = [*np.arange(1.6, 0.4, -step), *np.arange(0.4, 1.6, step)]
    lengths, contact = [], []
    for height in heights:
        state.position[0, 1, 1] = height
        state.solve()
        assert cable.converged(state)
        lengths.append(cable.length(state))
        contact.append(cable.in_contact(state, 0))
    assert True in contact and not contact[0] and not contact[-1]
    # the ends move by `step`, so that the length cannot change by more than twice that
    assert np.abs(np.diff(lengths)).max() <= 2.0 * step
    changes = np.flatnonzero(np.diff(contact))
    assert np.abs(np.diff(lengths))[changes].max() < 0.05 * step
