"""Friction that sticks: weights on a cable over a beam, which stay, slide and lose energy only."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import root_scalar

from tendon_gym.cables import CablePulls, CableSpan, CableSystem, ConstantTension, Cylinder, Elastic
from tendon_gym.cables.grips import give, pass_on, resist, share
from tendon_gym.cables.records import NODE

RADIUS, GRAVITY, FRICTION = 0.1, 9.81, 0.3
BOUND = math.exp(FRICTION * math.pi)
"""Of the ratio of the weights."""


class Pair:
    """Two weights on a cable over a beam, which move up and down; the cable turns by pi.

    Attributes:
        heights: of both, m.
        velocities: m/s.
        losses: energy that friction and damping took, J.
    """

    def __init__(self, masses, dt, stiffness=2000.0, grip_stiffness=1000.0):
        system = CableSystem(["beam", "left", "right"])
        cable = CableSpan(system, "left", (0, 0, 0), "right", (0, 0, 0))
        cable.smoothness_tolerance = 1e-12
        cable.add_obstacle("beam", (0, 0, 0, 1, 0, 0, 0), Cylinder(RADIUS), (0, RADIUS, 0))
        self.state, self.masses, self.dt = system.new_state(), np.array(masses), dt
        self.heights, self.velocities = np.array([-0.6, -0.6]), np.zeros(2)
        rest = 1.2 + RADIUS * math.pi - self.masses.mean() * GRAVITY / stiffness
        self.pulls = CablePulls(
            self.state, [Elastic(rest, stiffness, 5.0)], [FRICTION], grip_stiffness
        )
        self.losses = 0.0

    def run(self, seconds, extra=None):
        """Step semi-implicitly, with extra forces on the weights; return the heights."""
        track = np.empty((round(seconds / self.dt), 2))
        forces, state = np.zeros((1, 3, 6)), self.state
        for k in range(len(track)):
            state.position[0, 1:, 0] = -RADIUS, RADIUS
            state.position[0, 1:, 1] = self.heights
            state.velocity[0, 1:, 1] = self.velocities
            state.mark_unsolved()
            forces[:] = 0.0
            stored = self.pulls.load("grip_energy")
            self.pulls.add_forces(forces, self.dt)
            pull = forces[0, 1:, 1].copy()
            if extra is not None:
                pull += extra(k * self.dt)
            self.velocities += self.dt * (pull / self.masses - GRAVITY)
            self.heights += self.dt * self.velocities
            kept = self.pulls.load("grip_energy") - stored
            lost = self.pulls.load("friction_power") + self.pulls.load("damping_power")
            self.losses += lost * self.dt - kept
            track[k] = self.heights
        return track

    def energy(self):
        """Return what is in weights, cable and grip, J."""
        moving = 0.5 * self.masses @ self.velocities**2 + GRAVITY * self.masses @ self.heights
        return moving + self.pulls.load("energy") + self.pulls.load("grip_energy")


@pytest.mark.parametrize(
    ("dt", "ratio"), [(0.001, 0.95 * BOUND), (0.002, 0.95 * BOUND), (0.002, 1.0 / (0.95 * BOUND))]
)
def test_weights_within_the_bounds_stay_where_they_are(dt, ratio):
    """They settle by (T2 - T1) / grip stiffness in the first seconds, and then don't creep."""
    pair = Pair((0.2, 0.2 * ratio), dt)
    pair.run(10.0)
    track = pair.run(60.0)
    assert np.abs(track - track[0]).max() < 1e-9
    before, after = pair.pulls.tensions(0, 0)
    np.testing.assert_allclose((before, after), pair.masses * GRAVITY, rtol=1e-6)
    assert pair.pulls.held(0, 0) == pytest.approx((after - before) / 1000.0, rel=1e-6)


def test_shaking_within_the_bounds_creeps_by_the_second_order_of_small_stretches_only():
    """L d(L2 / L) is no exact differential: a cycle takes away pi dL du / L at most.

    dL is the amplitude of the length and du that of what slides; both are far below a millimetre.
    """
    pair = Pair((0.2, 0.3), 0.001)
    before = pair.run(5.0)[-1]
    shaken = pair.run(20.0, lambda time: (0.0, 0.3 * math.sin(60.0 * time)))
    after = pair.run(5.0)[-1]
    longer, slid = (0.5 * np.ptp(shaken @ weights) for weights in ((1.0, 1.0), (0.5, -0.5)))
    assert slid > 2e-4
    cycles = 20.0 * 60.0 / (2.0 * math.pi)
    most = cycles * math.pi * longer * slid / (1.2 + RADIUS * math.pi)
    np.testing.assert_allclose(after, before, rtol=0, atol=most)
    assert most < 2e-5


@pytest.mark.parametrize(("dt", "turned"), [(0.001, False), (0.002, False), (0.001, True)])
def test_weights_beyond_the_bounds_fall_by_the_capstan_law(dt, turned):
    """m2 g - e^(mu theta) m1 g = (m2 + e^(mu theta) m1) a, after friction has built up."""
    masses = (0.2, 0.2 * 1.3 * BOUND)
    pair = Pair(masses[::-1] if turned else masses, dt)
    first, second = (1, 0) if turned else (0, 1)
    pair.run(0.3)
    start, speed = pair.heights.copy(), -pair.velocities[second]
    pair.run(0.4)
    light, heavy = masses[0] * BOUND, masses[1]
    acceleration = (heavy - light) / (heavy + light) * GRAVITY
    wanted = speed * 0.4 + 0.5 * acceleration * 0.4**2
    assert start[second] - pair.heights[second] == pytest.approx(wanted, rel=5e-3)
    assert pair.heights[first] - start[first] == pytest.approx(wanted, rel=1e-2)
    tensions = pair.pulls.tensions(0, 0)
    assert tensions[second] / tensions[first] == pytest.approx(BOUND, rel=1e-12)


def test_a_moving_pair_slides_as_far_as_friction_takes_its_energy():
    """With equal weights, v^2 / 2 a = (m + e^(mu theta) m) v^2 / (2 (e^(mu theta) - 1) m g)."""
    pair = Pair((0.3, 0.3), 0.0005)
    pair.run(0.5)
    start = pair.heights.copy()
    pair.velocities[:] = 1.5, -1.5
    first = pair.energy() + pair.losses
    pair.run(3.0)
    wanted = 0.5 * 1.5**2 * (BOUND + 1.0) / ((BOUND - 1.0) * GRAVITY)
    assert start[1] - pair.heights[1] == pytest.approx(wanted, abs=0.006)  # the grip's give
    np.testing.assert_allclose(pair.velocities, 0.0, atol=1e-6)
    assert pair.energy() + pair.losses == pytest.approx(first, abs=2e-3)
    assert pair.losses > 0.5


def test_light_weights_on_a_tight_cable_come_to_rest_at_two_milliseconds():
    """The largest stable step doesn't depend on the tension, here 40 N: only k h^2 / m counts."""
    pair = Pair((0.02, 0.025), 0.002)
    pair.run(3.0, lambda time: (-40.0 * min(time, 1.0), -60.0 * min(time, 1.0)))
    track = pair.run(2.0, lambda time: (-40.0, -60.0))
    assert np.ptp(track[:, 1]) < 1e-9
    assert pair.pulls.tensions(0, 0)[1] > 60.0


STEPS = st.lists(
    st.tuples(st.floats(0.0, 50.0), st.floats(-3.0, 3.0), st.floats(0.0, 12.0)),
    min_size=1, max_size=40,
)  # fmt: skip


@settings(deadline=None, max_examples=100)
@given(steps=STEPS, mu=st.floats(0.01, 1.0), dt=st.floats(1e-5, 0.01))
def test_friction_only_takes_energy_whatever_tension_and_angle_do(steps, mu, dt):
    """Work on the obstacle is at least what its bristle stores, in every single step."""
    nodes, stiffness = np.zeros(1, NODE), 500.0
    for tension, speed, angle in steps:
        held = nodes["held"][0]
        nodes["angle"], nodes["sliding"] = angle, speed
        resist(nodes[0], mu, stiffness, dt)
        pass_on(nodes, 0, 0, tension)
        before, after = nodes["before"][0], nodes["after"][0]
        bound = math.exp(min(mu * angle, 30.0)) * (1.0 + 1e-12)
        assert tension / bound <= after <= tension * bound
        give(nodes[0], stiffness, dt)
        stored = 0.5 * stiffness * (nodes["held"][0] ** 2 - held**2)
        taken = (after - before) * speed * dt
        assert taken - stored >= -1e-12 * (1.0 + abs(taken) + 0.5 * stiffness * held**2)


@settings(deadline=None, max_examples=100)
@given(
    parts=st.lists(
        st.tuples(*(st.floats(0.01, 2.0),) * 2, st.floats(-60.0, 60.0), st.floats(1.0, 1e6)),
        min_size=1, max_size=5,
    ),
    mean=st.floats(1e-3, 100.0),
)  # fmt: skip
def test_the_tension_at_the_origin_is_the_one_of_the_mean(parts, mean):
    nodes = np.zeros(len(parts), NODE)
    for node, (line, arc, holding, most) in zip(nodes, parts, strict=True):
        node["line"], node["arc"], node["holding"], node["most"] = line, arc, holding, most
    last, length = len(parts) - 1, float(nodes["line"].sum() + nodes["arc"].sum())

    def missing(logarithm):
        return pass_on(nodes, 0, last, math.exp(logarithm))[0] / length - mean

    wanted = math.exp(root_scalar(missing, bracket=(-90.0, 90.0), xtol=1e-14).root)
    found = share(nodes, 0, last, length, mean)
    assert found == pytest.approx(wanted, rel=1e-8)
    assert pass_on(nodes, 0, last, found)[0] == pytest.approx(mean * length, rel=1e-9)


def test_what_holds_is_saved_copied_and_reset_with_the_state():
    pair = Pair((0.2, 0.4), 0.001)
    pair.run(0.2)
    held, saved, motion = pair.pulls.held(0, 0), pair.state.state.copy(), pair.velocities.copy()
    heights = pair.heights.copy()
    assert pair.state.copy().nodes["held"][0, 1] == held != 0.0
    wanted = pair.run(0.3)
    pair.state.state[:], pair.velocities[:], pair.heights[:] = saved, motion, heights
    assert np.array_equal(pair.run(0.3), wanted)
    pair.state.reset()
    assert pair.pulls.held(0, 0) == 0.0


def test_a_cable_that_lifts_off_is_held_no_more():
    system = CableSystem(["world", "load"])
    cable = CableSpan(system, "world", (-1.0, 0.0, 0.0), "load", (0, 0, 0))
    cable.add_obstacle("world", (0, 0, 0, 1, 0, 0, 0), Cylinder(0.2), (0, 0.2, 0))
    state = system.new_state()
    pulls = CablePulls(state, [ConstantTension(5.0)], [0.4])
    seen = []
    for y, speed in ((-0.5, -1.0), (-0.4, 0.0), (0.8, 0.0), (-0.4, 0.0)):
        state.position[0, 1], state.velocity[0, 1] = (1.0, y, 0.0), (0.0, speed, 0.0)
        state.mark_unsolved()
        pulls.add_forces(np.zeros((1, 2, 6)), 0.001)
        seen.append((cable.in_contact(state, 0), pulls.held(0, 0)))
    assert [contact for contact, _ in seen] == [True, True, False, True]
    assert seen[0][1] > 0.0 and seen[1][1] > 0.0
    assert seen[2][1] == seen[3][1] == 0.0


@pytest.mark.parametrize("dt", [0.001, 0.002])
def test_a_bob_that_swings_pulls_no_cable_through(dt):
    """It swings by 60 degrees for 20 s; the weight that it holds by friction stays where it is.

    Rates that are added up would let it creep by h v^2 / 2 l, millimetres per second. What is left
    is of the second order of stretches, as above.
    """
    system = CableSystem(["beam", "weight", "bob"])
    cable = CableSpan(system, "weight", (0, 0, 0), "bob", (0, 0, 0))
    cable.smoothness_tolerance = 1e-12
    cable.add_obstacle("beam", (0, 0, 0, 1, 0, 0, 0), Cylinder(0.05), (0, 0.05, 0))
    state = system.new_state()
    pulls = CablePulls(state, [Elastic(1.1 + 0.05 * math.pi, 2000.0, 10.0)], [1.2])
    mass, forces = np.array([1.0, 0.15]), np.zeros((1, 3, 6))
    state.position[0, 1:] = (-0.05, -0.8, 0.0), (0.31, -0.15, 0.0)
    heights, swing = [], []
    for _ in range(round(20.0 / dt)):
        state.mark_unsolved()
        forces[:] = 0.0
        pulls.add_forces(forces, dt)
        pull = forces[0, 1:, :2] / mass[:, None] - (0.0, GRAVITY)
        pull[0, 0] = 0.0
        state.velocity[0, 1:, :2] += dt * pull
        state.position[0, 1:] += dt * state.velocity[0, 1:]
        heights.append(state.position[0, 1, 1])
        swing.append(state.position[0, 2, 0])
    third = len(heights) // 4
    assert np.ptp(swing[-third:]) > 0.3
    creep = abs(np.mean(heights[-third:]) - np.mean(heights[third : 2 * third]))
    assert creep < 2e-4
