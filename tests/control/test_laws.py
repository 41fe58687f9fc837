from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tendon_gym.control import (
    LAW_FULL,
    LAW_PAPER,
    PAPER_ATTITUDE_SETS,
    PAPER_GAINS,
    GeometricGains,
    Vehicle,
    acceleration_law,
    attitude_command_law,
    geometric_law,
    rate_law,
    setpoints,
)

INERTIA = np.diag([6.7e-3, 6.7e-3, 1.2e-2])
MASS, G, DT = 1.26, 9.81, 0.005
VEHICLE = Vehicle(MASS, tuple(map(tuple, INERTIA.tolist())))
# No integral: the loops below then settle at the pace of their proportional gains.
PLAIN = dataclasses.replace(PAPER_GAINS, ki=(0.0, 0.0, 0.0))


@dataclasses.dataclass
class Craft:
    """A rigid quadrotor with ideal rotors, by Runge and Kutta's fourth order."""

    position: np.ndarray
    velocity: np.ndarray
    rotation: np.ndarray
    omega: np.ndarray
    mass: float = MASS

    @classmethod
    def at(cls, position: np.ndarray, turn: np.ndarray | None = None) -> Craft:
        zero = np.zeros(3)
        turned = Rotation.from_rotvec(zero if turn is None else turn).as_matrix()
        return cls(np.array(position, dtype=float), zero.copy(), turned, zero.copy())

    def step(self, force: float, torque: np.ndarray) -> None:
        state = np.concatenate([self.position, self.velocity, self.rotation.ravel(), self.omega])

        def rate(s: np.ndarray) -> np.ndarray:
            r, w = s[6:15].reshape(3, 3), s[15:]
            acceleration = force / self.mass * r[:, 2] - [0, 0, G]
            x, y, z = w
            turn = r @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            spin = np.linalg.solve(INERTIA, torque - np.cross(w, INERTIA @ w))
            return np.concatenate([s[3:6], acceleration, turn.ravel(), spin])

        k1 = rate(state)
        k2 = rate(state + DT / 2 * k1)
        k3 = rate(state + DT / 2 * k2)
        k4 = rate(state + DT * k3)
        state = state + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        self.position, self.velocity, self.omega = state[:3], state[3:6], state[15:]
        self.rotation = Rotation.from_matrix(state[6:15].reshape(3, 3)).as_matrix()


class Pilot:
    """`geometric_law` for one craft."""

    def __init__(self, law: int, gains: GeometricGains) -> None:
        self.law, self.gains, self.vehicle = law, gains.record(), VEHICLE.record()
        self.integral, self.extra = np.zeros((1, 3)), np.zeros((1, 3))

    def __call__(self, craft: Craft, setpoint: np.ndarray) -> tuple[float, np.ndarray]:
        force, torque = np.empty(1), np.empty((1, 3))
        state = (craft.position, craft.velocity, craft.rotation, craft.omega)
        geometric_law(
            *(np.ascontiguousarray(x)[None] for x in state),
            setpoint,
            self.extra,
            self.integral,
            self.gains,
            self.vehicle,
            DT,
            self.law,
            force,
            torque,
        )
        return float(force[0]), torque[0]


def fly(
    craft: Craft, pilot: Pilot, reference: Callable[[float], np.ndarray], seconds: float
) -> np.ndarray:
    """Return the position error (steps, 3) of a closed loop."""
    errors = []
    for k in range(round(seconds / DT)):
        setpoint = reference(k * DT)
        errors.append(setpoint["position"][0] - craft.position)
        craft.step(*pilot(craft, setpoint))
    return np.array(errors)


def hover(yaw: float = 0.0) -> Callable[[float], np.ndarray]:
    rows = setpoints(1)
    rows["position"], rows["yaw"] = [0.0, 0.0, 1.0], yaw
    return lambda t: rows


def figure_eight(t: float) -> np.ndarray:
    """The paper's figure-eight without ramps: 1.2 m, 8 s."""
    rows = setpoints(1)
    w = 2 * np.pi / 8
    for k, name in enumerate(("position", "velocity", "acceleration", "jerk", "snap")):
        quarter = k * np.pi / 2
        x = 1.2 * w**k * math.sin(w * t + quarter)
        y = 0.72 * (2 * w) ** k * math.sin(2 * w * t + quarter)
        rows[name] = [x, y, 1.6 if k == 0 else 0.0]
    return rows


@pytest.mark.parametrize("law", [LAW_PAPER, LAW_FULL])
def test_both_laws_hover(law: int) -> None:
    craft = Craft.at(np.array([0.4, -0.3, 0.7]), turn=np.array([0.5, -0.4, 0.3]))
    errors = fly(craft, Pilot(law, PLAIN), hover(yaw=1.0), 6.0)
    assert np.linalg.norm(errors[0]) > 0.5
    assert np.linalg.norm(errors[-1]) < 1e-3
    goal = Rotation.from_euler("z", 1.0).as_matrix()
    np.testing.assert_allclose(craft.rotation, goal, atol=1e-3)
    assert np.linalg.norm(craft.omega) < 1e-3


def test_the_full_law_tracks_far_better_than_the_paper_s() -> None:
    rms = {}
    for law in (LAW_PAPER, LAW_FULL):
        craft = Craft.at(figure_eight(0.0)["position"][0])
        craft.velocity = figure_eight(0.0)["velocity"][0].copy()
        errors = fly(craft, Pilot(law, PAPER_GAINS), figure_eight, 10.0)[round(2.0 / DT) :]
        rms[law] = math.sqrt((errors**2).sum(axis=1).mean())
    assert rms[LAW_FULL] < 0.2 * rms[LAW_PAPER]
    # The paper's own tracks within centimetres, not by luck and not badly.
    assert 0.01 < rms[LAW_PAPER] < 0.06


@pytest.mark.parametrize("ki", [0.0, 2.0])
def test_the_integral_lifts_an_unknown_load(ki: float) -> None:
    craft = Craft.at(np.array([0.0, 0.0, 1.0]))
    craft.mass = 1.05 * MASS
    gains = dataclasses.replace(PLAIN, ki=(0.0, 0.0, ki))
    errors = fly(craft, Pilot(LAW_PAPER, gains), hover(), 20.0)
    # At rest m (Kp e + g) carries the true weight.
    expected = 0.05 * G / 10.0 if ki == 0.0 else 0.0
    assert errors[-1, 2] == pytest.approx(expected, abs=1e-3)


def states(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    rows = setpoints(n)
    for name in ("position", "velocity", "acceleration", "jerk", "snap"):
        rows[name] = rng.normal(size=(n, 3))
    for name in ("yaw", "yaw_rate", "yaw_acceleration"):
        rows[name] = rng.normal(size=n)
    return {
        "position": rng.normal(size=(n, 3)),
        "velocity": rng.normal(size=(n, 3)),
        "rotation": np.ascontiguousarray(Rotation.random(n, random_state=2).as_matrix()),
        "angular_velocity": rng.normal(size=(n, 3)),
        "setpoint": rows,
        "extra": rng.normal(size=(n, 3)),
        "integral": rng.normal(size=(n, 3)) * 0.3,
    }


@pytest.mark.parametrize("law", [LAW_PAPER, LAW_FULL])
def test_simulations_are_independent_and_take_their_own_parameters(law: int) -> None:
    n = 4
    gains = np.concatenate([s.record() for s in PAPER_ATTITUDE_SETS.values()])
    vehicles = [dataclasses.replace(VEHICLE, mass=1.0 + 0.1 * k).record() for k in range(n)]
    vehicle = np.concatenate(vehicles)
    together = states(n)
    force, torque = np.empty(n), np.empty((n, 3))
    geometric_law(*together.values(), gains, vehicle, 0.002, law, force, torque)
    for i in range(n):
        alone = {name: values[i : i + 1].copy() for name, values in states(n).items()}
        f, tau = np.empty(1), np.empty((1, 3))
        rows = gains[i : i + 1], vehicle[i : i + 1]
        geometric_law(*alone.values(), *rows, 0.002, law, f, tau)
        assert f[0] == force[i] and (tau[0] == torque[i]).all()
        assert (alone["integral"][0] == together["integral"][i]).all()
    assert len(np.unique(force)) == n


@pytest.mark.parametrize("law", [LAW_PAPER, LAW_FULL])
def test_acceleration_law_is_the_geometric_one_without_its_position_loop(law: int) -> None:
    n = 6
    s = states(n)
    rows = s["setpoint"]
    for name in ("jerk", "snap", "yaw_acceleration"):
        rows[name] = 0.0
    zero = (0.0, 0.0, 0.0)
    # A tilt limit that no command reaches: the reference's rates know none.
    gains = dataclasses.replace(PAPER_GAINS, kp=zero, kd=zero, ki=zero, max_tilt=1.5).record()
    vehicle = VEHICLE.record()
    s["extra"][:] = 0.0
    expected, got = (np.empty(n), np.empty((n, 3))), (np.empty(n), np.empty((n, 3)))
    geometric_law(*s.values(), gains, vehicle, 0.002, law, *expected)
    acceleration_law(
        np.ascontiguousarray(rows["acceleration"]),
        np.ascontiguousarray(rows["yaw"]),
        np.ascontiguousarray(rows["yaw_rate"]),
        s["rotation"],
        s["angular_velocity"],
        gains,
        vehicle,
        law,
        *got,
    )
    np.testing.assert_allclose(got[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(got[1], expected[1], atol=1e-12)


def attitude_command(
    command: np.ndarray, rotation: np.ndarray, omega: np.ndarray, law: int
) -> tuple[np.ndarray, np.ndarray]:
    """Call the law with rows (collective, roll, pitch, yaw, yaw rate)."""
    n = len(command)
    force, torque = np.empty(n), np.empty((n, 3))
    parts = np.ascontiguousarray(command.T)
    attitude_command_law(
        *parts, rotation, omega, PAPER_GAINS.record(), VEHICLE.record(), law, force, torque
    )
    return force, torque


def test_attitude_command_is_zero_torque_at_its_attitude() -> None:
    rng = np.random.default_rng(8)
    command = rng.uniform(-1, 1, (20, 5))
    yaw_pitch_roll = command[:, [3, 2, 1]]
    there = Rotation.from_euler("ZYX", yaw_pitch_roll)
    still = np.zeros((20, 3))
    force, torque = attitude_command(command, there.as_matrix(), still, LAW_PAPER)
    np.testing.assert_array_equal(force, command[:, 0])
    np.testing.assert_allclose(torque, 0, atol=1e-14)
    # Turned away by 0.2 rad about its own x axis, the torque turns it back.
    away = (there * Rotation.from_rotvec([0.2, 0, 0])).as_matrix()
    torque = attitude_command(command, away, still, LAW_PAPER)[1]
    np.testing.assert_allclose(torque, [[-4.0 * math.sin(0.2), 0, 0]] * 20, atol=1e-13)


def test_attitude_command_follows_a_turning_yaw() -> None:
    rate = 0.8

    def attitude(t: float) -> Rotation:
        return Rotation.from_euler("ZYX", [0.3 + rate * t, -0.2, 0.4])

    turn = (attitude(0.0).inv() * attitude(1e-6)).as_rotvec() / 1e-6
    command = np.array([[12.0, 0.4, -0.2, 0.3, rate]])
    rotation = attitude(0.0).as_matrix()[None]
    torque = attitude_command(command, rotation, turn[None], LAW_FULL)[1][0]
    # Held angular velocity in the body: only the gyroscopic torque is left.
    np.testing.assert_allclose(torque, np.cross(turn, INERTIA @ turn), atol=1e-9)
    damped = attitude_command(command, rotation, turn[None], LAW_PAPER)[1][0]
    np.testing.assert_allclose(damped, -np.array(PAPER_GAINS.k_omega) * turn, atol=1e-12)


def test_rate_law_turns_every_axis_at_its_own_pace() -> None:
    goal, start = np.array([[1.0, -2.0, 0.5]]), np.array([[-1.0, 0.5, 2.0]])
    craft = Craft.at(np.zeros(3))
    craft.omega = start[0].copy()
    force, torque = np.empty(1), np.empty((1, 3))
    steps = 40
    for _ in range(steps):
        rate_law(
            np.array([15.0]),
            goal,
            craft.omega[None].copy(),
            PAPER_GAINS.record(),
            VEHICLE.record(),
            force,
            torque,
        )
        craft.step(15.0, torque[0])
    assert force[0] == 15.0
    # dw/dt = K (w_d - w) with the command held over each step.
    left = (1.0 - np.array([20.0, 20.0, 10.0]) * DT) ** steps
    np.testing.assert_allclose(craft.omega, (goal + left * (start - goal))[0], atol=0.02)


def test_nothing_asked_for_is_not_a_number() -> None:
    n = 5
    s = states(n)
    rows = s["setpoint"]
    rows["acceleration"] = [[0, 0, -G], [0, 0, -50], [50, 0, -G], [1e3, 1e3, 0], [0, 0, 1e3]]
    rows["yaw"] = 0.0
    for law in (LAW_PAPER, LAW_FULL):
        force, torque = np.empty(n), np.empty((n, 3))
        geometric_law(
            *s.values(), PAPER_GAINS.record(), VEHICLE.record(), 0.002, law, force, torque
        )
        assert np.isfinite(force).all() and np.isfinite(torque).all()
