"""What feedback a bent arm bears: damping ratios of known systems, and of the simulated arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tendon_gym.baselines.tip_model import tip_model
from tendon_gym.baselines.tip_stability import Motion
from tendon_gym.model import ModelParameters


def pendulums(frequency, ratio, spare=0):
    """Return two equal damped pendulums, one for each direction of a bend, and free joints."""
    n = 2 + spare
    stiffness = np.diag([frequency**2] * 2 + [(100.0 * frequency) ** 2] * spare)
    friction = np.full(n, 2.0 * ratio * frequency)
    friction[2:] *= 5000.0
    shapes = (np.eye(n, 2), np.eye(2, n), np.zeros((2, n)))
    return Motion.of(np.eye(n), stiffness, friction, shapes)


@pytest.mark.parametrize("spare", [0, 30])
def test_the_damping_of_pendulums_is_their_own_and_what_is_fed_back(spare):
    """x'' + (2 z w + g) x' + w^2 x = 0 has the ratio z + g / (2 w)."""
    motion = pendulums(5.0, 0.02, spare)
    for gain in (-1.0, 0.0, 0.5, 2.0):
        expected = pytest.approx(0.02 + gain / 10.0, rel=1e-3)
        assert motion.damping(gain, 0.0, 0.0) == expected
        assert motion.damping(gain, 1e-4, 0.0) == expected


def test_an_integral_that_is_too_quick_drives_a_pendulum():
    """s^3 + 2 z w s^2 + w^2 s + k = 0 is stable for k < 2 z w^3 (Routh)."""
    motion = pendulums(5.0, 0.02)
    edge = 2.0 * 0.02 * 5.0**3
    assert motion.damping(0.0, 0.99 * edge, 0.0) > 0.0
    assert motion.damping(0.0, 1.01 * edge, 0.0) < 0.0


def test_gains_are_left_alone_where_they_do_well_and_lowered_where_they_do_harm():
    motion = pendulums(5.0, 0.02)
    assert motion.bearable(2.0, 0.1, 0.0) == (1.0, 1.0)
    harmful = motion._replace(shown=-motion.shown)
    share, _ = harmful.bearable(2.0, 1e-6, 0.0)
    assert share == 0.0
    filtered = motion._replace(read=motion.shown)
    assert filtered.damping(2.0, 0.1, 2.0) < 0.0  # kappa turns the sign
    assert filtered.bearable(2.0, 0.1, 2.0) == (1.0, 0.0)


def test_the_straight_arm_bears_all_and_an_arm_of_many_links_less_when_bent():
    default = ModelParameters(base="clamped")
    many = replace(default, arm=replace(default.arm, n_links=24))
    for parameters in (default, many):
        np.testing.assert_array_equal(tip_model(parameters).table[:8, :, 9:], 1.0)
    assert (tip_model(many).table[11, :, 9:] < 1.0).all()
