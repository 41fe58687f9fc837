"""The laws of tendons that MuJoCo does not have, compiled: activation and predictive limits.

Written over arrays with a leading batch axis, so that one simulation and many run the same code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined

LAW = np.dtype(
    [
        ("force", np.float64),  # commanded feed-forward, N
        ("decay", np.float64),  # exp(-h / activation time)
        ("target_length", np.float64),  # m
        ("target_velocity", np.float64),  # m/s
        ("control", np.int64),  # first of the three controls of the actuator, -1: not driven
        ("bounded", np.int64),  # whether its bounds are those of the end of a step, see `bounds`
        ("actuator", np.int64),
        ("output", np.int64),  # index of its force
        ("position_gain", np.float64),  # N/m
        ("velocity_gain", np.float64),  # N s/m
        ("least", np.float64),  # force, N
        ("most", np.float64),
        ("predictive", np.int64),  # whether the limits are
        ("lower", np.float64),  # boundary that the length stays above, m
        ("upper", np.float64),  # and below
        ("correction", np.float64),  # share of a violation that a step takes away
        ("stiffness", np.float64),  # of the row once a boundary is violated, see `rows.Row`
        ("damping", np.float64),
        ("impedance", np.float64),
        ("ahead", np.float64),  # impedance of the row before that
        ("softness", np.float64),  # share of a change that this one leaves undone, unasked
    ]
)
"""What the laws need of a tendon."""

AHEAD = 1e-6
"""h^2 k of a row that looks ahead under the discrete integrator: small, see `_ahead`."""

REST = 1e-10
"""So near to a limit, m, it has a row that holds what rests on it, and does not come and go."""


class Drives(NamedTuple):
    """What `drive` works on: n simulations of t tendons in a model with nu controls.

    Attributes:
        law: LAW, (1, t) or (n, t).
        activation: (n, t), N.
        ctrl: (n, nu).
    """

    law: NDArray
    activation: NDArray[np.float64]
    ctrl: NDArray[np.float64]


class Limits(NamedTuple):
    """What `limit` works on: n simulations; the tendons of the world are those from `first` on.

    Attributes:
        law: LAW, (1, t) or (n, t).
        h: step, s.
        discrete: whether the integrator is the discrete one.
        first: index of the world's first tendon in the model.
        length: (n, ntendon), m, at the start of the step.
        velocity: (n, ntendon), m/s.
        range: (n, ntendon, 2), written.
        solref: (n, ntendon, 2), written.
        solimp: (n, ntendon, 5), written.
        engaged: (n,), whether a limit had a row in the last step; written.
    """

    law: NDArray
    h: float
    discrete: bool
    first: int
    length: NDArray[np.float64]
    velocity: NDArray[np.float64]
    range: NDArray[np.float64]
    solref: NDArray[np.float64]
    solimp: NDArray[np.float64]
    engaged: NDArray[np.bool_]


class Motion(NamedTuple):
    """What `velocities` works on: n simulations with ntendon tendons.

    Attributes:
        entries: (ntendon,), number of them in each row of the sparse Jacobian.
        address: (ntendon,), of the first of them.
        column: of each entry.
        jacobian: (n, nJ), the entries.
        qvel: (n, nv).
        velocity: (n, ntendon), m/s; written.
    """

    entries: NDArray
    address: NDArray
    column: NDArray
    jacobian: NDArray[np.float64]
    qvel: NDArray[np.float64]
    velocity: NDArray[np.float64]


@compiled
def drive(first: int, last: int, box: Any) -> bool:
    """Take the activations of the simulations first..last-1 through a step; write the controls.

    a' = u + (a - u) exp(-h / tau), the exact solution of tau a' = u - a with u held.

    Returns:
        Whether any activation is still on its way: else further steps change nothing.
    """
    c, moving = box.value, False
    for i in range(first, last):
        row = i % c.law.shape[0]
        for k in range(c.law.shape[1]):
            p = c.law[row, k]
            if p["control"] < 0:
                continue
            a = p["force"] + (c.activation[i, k] - p["force"]) * p["decay"]
            c.activation[i, k] = a
            c.ctrl[i, p["control"]] = p["target_length"]
            c.ctrl[i, p["control"] + 1] = p["target_velocity"]
            c.ctrl[i, p["control"] + 2] = a
            moving = moving or a != p["force"]
    return moving


@inlined
def _least_rate(gap: float, correction: float, h: float) -> float:
    """Return the least rate that a gap may have at the end of a step, m/s."""
    return -gap / h if gap >= 0.0 else -correction * gap / h


@inlined
def _ahead(least: float, u: float, h: float, softness: float, discrete: bool) -> float:
    """Return the error C < 0 of a row that brings the rate u of a gap to `least`, m/s both.

    Of the change the row's softness would leave the share `softness` undone; that is aimed for
    too. Under the discrete integrator u+ = (u - K C / h) / (1 + K) with a small K, which makes
    C < 0 wherever u is less. Else u+ = u - C / h.

    Returns:
        C, m; not negative if u is not less than `least`.
    """
    aim = (least - softness * u) / (1.0 - softness)
    if discrete:
        return h * (u - aim * (1.0 + AHEAD)) / AHEAD
    return h * (u - aim)


@compiled
def limit(first: int, last: int, box: Any) -> bool:
    """Write the limit rows of the next step for the simulations first..last-1.

    A gap g >= 0 may close within the step, u+ >= -g / h; a violated one opens by the share b of
    correction, u+ >= -b g / h (RaiSim's law for unilateral limits). MuJoCo makes a row where
    C < 0. A gap that closes too fast has one that looks ahead; one that is closed or violated, and
    opens fast enough, has that of a bilateral row, which holds it whatever pushes. Other rows are
    not made: their range is unbounded.

    Returns:
        Whether any of the simulations has such a row now or had one in its last step.
    """
    c, any_engaged = box.value, False
    for i in range(first, last):
        row, engaged = i % c.law.shape[0], False
        for k in range(c.law.shape[1]):
            p, t = c.law[row, k], c.first + k
            if p["predictive"] == 0:
                continue
            length, velocity = c.length[i, t], c.velocity[i, t]
            below, above = length - p["lower"], p["upper"] - length
            least = _least_rate(below, p["correction"], c.h)
            most = -_least_rate(above, p["correction"], c.h)
            low, high = -np.inf, np.inf
            stiffness, damping, d = p["stiffness"], p["damping"], p["impedance"]
            # the rows that look ahead say nothing about rates below a length's resolution
            open_below = below < REST and velocity >= least - REST / c.h
            open_above = above < REST and velocity <= most + REST / c.h
            if open_below or open_above:
                inwards, engaged = REST, True
                if below < 0.0 or above < 0.0:
                    inwards = 0.0
                else:
                    stiffness = 0.0
                low, high = p["lower"] + inwards, p["upper"] - inwards
            else:
                d, damping = p["ahead"], 0.0
                stiffness = -d / (c.h * c.h) * (AHEAD if c.discrete else 1.0)
                error = _ahead(least, velocity, c.h, p["softness"], c.discrete)
                if error < 0.0:
                    low, engaged = length - error, True
                error = _ahead(-most, -velocity, c.h, p["softness"], c.discrete)
                if error < 0.0:
                    high, engaged = length + error, True
            c.range[i, t, 0], c.range[i, t, 1] = low, high
            c.solref[i, t, 0], c.solref[i, t, 1] = stiffness, damping
            c.solimp[i, t, 0] = c.solimp[i, t, 1] = d
        any_engaged = any_engaged or engaged or c.engaged[i]
        c.engaged[i] = engaged
    return any_engaged


@compiled
def velocities(first: int, last: int, box: Any) -> None:
    """Write the velocities J v of all tendons of the simulations first..last-1."""
    c = box.value
    for i in range(first, last):
        for t in range(c.entries.shape[0]):
            total = 0.0
            for k in range(c.address[t], c.address[t] + c.entries[t]):
                total += c.jacobian[i, k] * c.qvel[i, c.column[k]]
            c.velocity[i, t] = total
