"""The built-in reward terms: one number in [0, 1] per simulation, 1 being perfect.

A term takes the signals (structured array (n,), see `envs.signals`) and the margin, the error at
which it has fallen to 1/e, and returns (n,). A user's own term is a plain numpy function of the
same signature, made known with `register`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.compiled import compiled
from tendon_gym.rewards.tolerance import tolerance

Term = Callable[[NDArray, float], NDArray]

# Below this bend the direction is that of noise, and doesn't count.
_STRAIGHT = 0.05


@compiled
def _norm(rows: NDArray, i: int) -> float:
    square = 0.0
    for k in range(rows.shape[1]):
        square += rows[i, k] * rows[i, k]
    return math.sqrt(square)


@compiled
def position(signals: NDArray, margin: float) -> NDArray:
    """Distance of the base from the reference; margin in m."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        out[i] = tolerance(_norm(signals["position_error"], i), margin)
    return out


@compiled
def velocity(signals: NDArray, margin: float) -> NDArray:
    """Difference of the base's velocity from the reference's; margin in m/s."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        out[i] = tolerance(_norm(signals["velocity_error"], i), margin)
    return out


@compiled
def yaw(signals: NDArray, margin: float) -> NDArray:
    """Heading error; margin in rad."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        out[i] = tolerance(signals["yaw_error"][i], margin)
    return out


@compiled
def tilt(signals: NDArray, margin: float) -> NDArray:
    """Angle between the base's z axis and the vertical; margin in rad."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        out[i] = tolerance(signals["tilt"][i], margin)
    return out


@compiled
def action_rate(signals: NDArray, margin: float) -> NDArray:
    """How fast thrusts and tensions change; margin in N/s."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        out[i] = tolerance(signals["action_rate"][i], margin)
    return out


@compiled
def effort(signals: NDArray, margin: float) -> NDArray:
    """Thrust above hovering and tension above the slackest tendon's, summed; margin in N."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        total = signals["thrust_effort"][i] + signals["tension_effort"][i]
        out[i] = tolerance(total, margin)
    return out


@compiled
def bending_moment(signals: NDArray, margin: float) -> NDArray:
    """Error of the applied bending moment over the moment at full bend; margin without unit."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        out[i] = tolerance(_norm(signals["bend_error"], i), margin)
    return out


@compiled
def bend_magnitude(signals: NDArray, margin: float) -> NDArray:
    """Error of the magnitude alone of the applied bend; margin without unit."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        x = signals["bend"][i, 0] + signals["bend_error"][i, 0]
        y = signals["bend"][i, 1] + signals["bend_error"][i, 1]
        asked = math.sqrt(x * x + y * y)
        out[i] = tolerance(asked - _norm(signals["bend"], i), margin)
    return out


@compiled
def bend_direction(signals: NDArray, margin: float) -> NDArray:
    """Angle between the applied bend and the asked one, 0 where hardly any is asked; in rad."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        bx, by = signals["bend"][i, 0], signals["bend"][i, 1]
        x, y = bx + signals["bend_error"][i, 0], by + signals["bend_error"][i, 1]
        angle = 0.0
        if math.sqrt(x * x + y * y) > _STRAIGHT:
            angle = math.atan2(bx * y - by * x, bx * x + by * y)
            if bx == 0.0 and by == 0.0:
                angle = math.pi
        out[i] = tolerance(angle, margin)
    return out


@compiled
def tip(signals: NDArray, margin: float) -> NDArray:
    """Distance of the tip from its goal, in the body frame; margin in m."""
    out = np.empty(signals.shape[0])
    for i in range(out.shape[0]):
        out[i] = tolerance(_norm(signals["tip_error"], i), margin)
    return out


_TERMS: dict[str, Term] = {
    "position": position,
    "velocity": velocity,
    "yaw": yaw,
    "tilt": tilt,
    "action_rate": action_rate,
    "effort": effort,
    "bending_moment": bending_moment,
    "bend_magnitude": bend_magnitude,
    "bend_direction": bend_direction,
    "tip": tip,
}
_BUILT_IN = frozenset(_TERMS)


def names() -> list[str]:
    """Return the names of all terms, the built-in ones first."""
    return list(_TERMS)


def register(name: str, term: Term) -> None:
    """Make a term of your own known by name, in every process that is to use it.

    Args:
        name: not the name of a built-in term; a name of your own may be registered again.
        term: (signals (n,), margin) -> (n,).
    """
    if not isinstance(name, str) or not name or name in _BUILT_IN:
        legal = "a new name, none of " + ", ".join(sorted(_BUILT_IN))
        checks.reject("name", name, legal)
    if not callable(term):
        raise TypeError(f"reward term {name!r} must be a function, got {term!r}")
    _TERMS[name] = term


def get(name: str) -> Term:
    """Return the term of a name, or raise and list the names."""
    checks.choice("reward term", name, names())
    return _TERMS[name]
