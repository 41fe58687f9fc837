from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tendon_gym.control import LAW_FULL, LAW_PAPER, PAPER_GAINS, GeometricGains, Vehicle, setpoints
from tendon_gym.control.se3 import (
    attitude_law,
    desired_frame,
    desired_rates,
    limit_tilt,
    position_law,
    reference_rates,
    rotation_error,
)
from tendon_gym.spatial import columns

GAINS = PAPER_GAINS.record()[0]
INERTIA = np.array([[6.7e-3, 2e-4, -1e-4], [2e-4, 7.1e-3, 3e-4], [-1e-4, 3e-4, 1.2e-2]])
VEHICLE = Vehicle(1.26, tuple(map(tuple, INERTIA.tolist()))).record()[0]
G = 9.81

triples = st.tuples(*[st.floats(-5, 5)] * 3)
angles = st.floats(-3, 3)


def matrix(frame: tuple) -> np.ndarray:
    return np.array(frame).T


def hat(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def vee(m: np.ndarray) -> np.ndarray:
    return np.array([m[2, 1], m[0, 2], m[1, 0]])


def slope(function: Callable[[float], np.ndarray], t: float, h: float = 1e-3) -> np.ndarray:
    """Return the derivative by differences of fourth order."""
    near, far = function(t + h) - function(t - h), function(t + 2 * h) - function(t - 2 * h)
    return (8 * near - far) / (12 * h)


class Curve:
    """A smooth flight with a turning yaw; its derivatives are closed forms."""

    rates = np.array([1.7, 2.3, 1.1])
    sizes = np.array([1.2, 0.7, 0.5])
    phases = np.array([0.0, 0.4, 1.1])

    def position(self, t: float, order: int) -> np.ndarray:
        """Return the derivative of `order` of sizes * sin(rates t + phases)."""
        turn = self.rates * t + self.phases + order * np.pi / 2
        return self.sizes * self.rates**order * np.sin(turn)

    def yaw(self, t: float, order: int) -> float:
        return 0.9 * 1.3**order * math.sin(1.3 * t + order * math.pi / 2)

    def force(self, t: float, order: int = 0) -> tuple[float, float, float]:
        lift = np.array([0.0, 0.0, G if order == 0 else 0.0])
        return tuple((self.position(t, 2 + order) + lift).tolist())

    def attitude(self, t: float) -> np.ndarray:
        return matrix(desired_frame(self.force(t), self.yaw(t, 0)))

    def omega(self, t: float) -> np.ndarray:
        return np.array(self.omega_alpha(t)[0])

    def omega_alpha(self, t: float) -> tuple:
        forces = [self.force(t, k) for k in range(3)]
        return desired_rates(*forces, self.yaw(t, 0), self.yaw(t, 1), self.yaw(t, 2))

    def setpoint(self, t: float) -> np.void:
        row = setpoints(1)[0]
        names = ("position", "velocity", "acceleration", "jerk", "snap")
        for k, name in enumerate(names):
            row[name] = self.position(t, k)
        for k, name in enumerate(("yaw", "yaw_rate", "yaw_acceleration")):
            row[name] = self.yaw(t, k)
        return row


CURVE = Curve()
TIMES = np.linspace(0.0, 6.0, 13).tolist()


@settings(deadline=None, max_examples=200)
@given(triples, angles)
def test_desired_frame_is_a_rotation_along_the_force(force: tuple, yaw: float) -> None:
    r = matrix(desired_frame(force, yaw))
    np.testing.assert_allclose(r.T @ r, np.eye(3), atol=1e-9)
    assert np.linalg.det(r) == pytest.approx(1.0)
    length = np.linalg.norm(force)
    if length > 1e-6:
        np.testing.assert_allclose(r[:, 2], np.array(force) / length, atol=1e-9)
    heading = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    assert r[:, 1] @ heading == pytest.approx(0.0, abs=2e-6)
    assert r[:, 0] @ heading >= -2e-6


@pytest.mark.parametrize("off", [1e-12, 0.99e-6, 1.01e-6, 1e-3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_frames_near_the_degenerate_one_are_rotations(off: float, sign: float) -> None:
    for force in ((sign, off, 0.0), (sign, 0.0, off), (sign, -off, off)):
        r = matrix(desired_frame(force, 0.0))
        np.testing.assert_allclose(r.T @ r, np.eye(3), atol=1e-9)


def test_degenerate_frames_are_rotations() -> None:
    np.testing.assert_array_equal(matrix(desired_frame((1e-200, 0.0, 0.0), 0.0)), np.eye(3))
    np.testing.assert_array_equal(matrix(desired_frame((0.0, 0.0, 0.0), 0.0)), np.eye(3))
    along = matrix(desired_frame((3.0, 0.0, 0.0), 0.0))
    np.testing.assert_allclose(along, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-15)
    ahead = (2.0, 0.0, 0.0)
    for force in ((0.0, 0.0, 0.0), ahead):
        omega, alpha = desired_rates(force, ahead, (0.0, 1.0, 2.0), 0.0, 1.0, 1.0)
        assert omega == alpha == (0.0, 0.0, 0.0)
    falling = setpoints(1)[0]
    falling["acceleration"][2] = -G
    falling["jerk"] = 1.0
    assert reference_rates(falling, G) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("t", TIMES)
def test_desired_rates_are_the_derivatives_of_the_frame(t: float) -> None:
    omega, alpha = CURVE.omega_alpha(t)
    spin = CURVE.attitude(t).T @ slope(CURVE.attitude, t)
    np.testing.assert_allclose(spin, hat(np.array(omega)), atol=1e-8)
    np.testing.assert_allclose(alpha, slope(CURVE.omega, t), atol=1e-7)


@pytest.mark.parametrize("t", TIMES)
def test_reference_rates_are_those_in_the_world(t: float) -> None:
    omega, alpha = reference_rates(CURVE.setpoint(t), G)
    r = CURVE.attitude(t)
    np.testing.assert_allclose(slope(CURVE.attitude, t) @ r.T, hat(np.array(omega)), atol=1e-8)
    world = slope(lambda s: CURVE.attitude(s) @ CURVE.omega(s), t)
    np.testing.assert_allclose(alpha, world, atol=1e-7)


@settings(deadline=None, max_examples=50)
@given(triples, triples)
def test_rotation_error_is_the_paper_s(turn: tuple, goal: tuple) -> None:
    r = Rotation.from_rotvec(turn).as_matrix()
    rd = Rotation.from_rotvec(goal).as_matrix()
    expected = 0.5 * vee(rd.T @ r - r.T @ rd)
    np.testing.assert_allclose(rotation_error(columns(r), columns(rd)), expected, atol=1e-14)


def test_rotation_error_is_the_sine_of_the_turn() -> None:
    goal = Rotation.from_rotvec([0.3, -0.5, 1.2])
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    for angle in (-1.0, 0.2, 2.0):
        turned = goal * Rotation.from_rotvec(angle * axis)
        error = rotation_error(columns(turned.as_matrix()), columns(goal.as_matrix()))
        np.testing.assert_allclose(error, math.sin(angle) * axis, atol=1e-14)


@settings(deadline=None, max_examples=100)
@given(st.tuples(*[st.floats(-40, 40)] * 3))
def test_tilt_is_limited_and_the_lift_kept(acceleration: tuple) -> None:
    force = np.array(limit_tilt(acceleration, GAINS, VEHICLE))
    assert force[2] > 0
    across = np.linalg.norm(force[:2])
    assert math.atan2(across, force[2]) <= math.radians(35) + 1e-12
    wanted = 1.26 * np.array(acceleration)
    assert force[0] * wanted[1] == pytest.approx(force[1] * wanted[0], abs=1e-9)
    assert force[:2] @ wanted[:2] >= 0
    assert across <= np.linalg.norm(wanted[:2]) + 1e-9
    if acceleration[2] > -0.9 * G:
        assert force[2] == pytest.approx(wanted[2] + 1.26 * G)
    if np.linalg.norm(acceleration[:2]) < 0.7 * (acceleration[2] + G):
        np.testing.assert_allclose(force[:2], wanted[:2], atol=1e-12)


def test_position_law_is_the_paper_s() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        p, v, extra = rng.normal(size=(3, 3)) * 0.3
        integral = rng.uniform(-0.5, 0.5, 3)
        row = setpoints(1)[0]
        for name in ("position", "velocity", "acceleration"):
            row[name] = rng.normal(size=3) * 0.3
        error = row["position"] - p
        after = integral + 0.002 * error
        a = np.array([6, 6, 10]) * error + np.array([4, 4, 6]) * (row["velocity"] - v)
        a += np.array([1, 1, 2]) * after + row["acceleration"] + extra
        if np.linalg.norm(a[:2]) > math.tan(math.radians(35)) * (a[2] + G):
            a[:2] *= math.tan(math.radians(35)) * (a[2] + G) / np.linalg.norm(a[:2])
        force = position_law(p, v, row, extra, integral, GAINS, VEHICLE, 0.002)
        np.testing.assert_allclose(force, 1.26 * (a + np.array([0, 0, G])), atol=1e-12)
        np.testing.assert_allclose(integral, after, atol=1e-15)


def test_the_integral_is_clamped() -> None:
    gains = GeometricGains(integral_limit=0.3).record()[0]
    row, integral, zero = setpoints(1)[0], np.zeros(3), np.zeros(3)
    row["position"] = [5.0, -5.0, 0.1]
    for _ in range(100):
        position_law(zero, zero, row, zero, integral, gains, VEHICLE, 0.01)
    np.testing.assert_allclose(integral, [0.3, -0.3, 0.1], atol=1e-12)


@pytest.mark.parametrize("law", [LAW_PAPER, LAW_FULL])
def test_attitude_law_is_the_formula_in_matrices(law: int) -> None:
    rng = np.random.default_rng(5)
    k_r, k_w = np.array(PAPER_GAINS.k_rotation), np.array(PAPER_GAINS.k_omega)
    for seed in range(10):
        r, rd = Rotation.random(2, random_state=seed).as_matrix()
        w, wd, dwd = rng.normal(size=(3, 3))
        error = 0.5 * vee(rd.T @ r - r.T @ rd)
        expected = -k_r * error - k_w * w
        if law == LAW_FULL:
            ahead = r.T @ rd @ wd
            expected = -k_r * error - k_w * (w - ahead) + hat(w) @ INERTIA @ w
            expected -= INERTIA @ (hat(w) @ ahead - r.T @ rd @ dwd)
        spins = [tuple((rd @ x).tolist()) for x in (wd, dwd)]
        spin = tuple(w.tolist())
        torque = attitude_law(columns(r), spin, columns(rd), *spins, GAINS, VEHICLE, law)
        np.testing.assert_allclose(torque, expected, atol=1e-13)


@pytest.mark.parametrize("t", TIMES[:5])
def test_on_the_reference_the_full_law_is_inverse_dynamics(t: float) -> None:
    r, w = CURVE.attitude(t), CURVE.omega(t)
    omega, alpha = reference_rates(CURVE.setpoint(t), G)
    frame = columns(r)
    spin = tuple(w.tolist())
    torque = attitude_law(frame, spin, frame, omega, alpha, GAINS, VEHICLE, LAW_FULL)
    # Euler's equation: tau = J dw/dt + w x J w.
    expected = INERTIA @ slope(CURVE.omega, t) + np.cross(w, INERTIA @ w)
    np.testing.assert_allclose(torque, expected, atol=1e-8)
