"""The reward terms: one number per simulation, the built-in ones in (0, 1] with 1 being perfect.

A term takes the signals (structured array (n,), see `envs.signals`) and a margin, the error at
which it has fallen to 1/e, and returns (n,). A user's own term is a plain numpy function of the
same signature, made known with `register`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.compiled import inlined
from tendon_gym.rewards.tolerance import tolerance

Term = Callable[[NDArray, float], NDArray]

(
    POSITION,
    VELOCITY,
    YAW,
    TILT,
    ACTION_RATE,
    EFFORT,
    BENDING_MOMENT,
    BEND_MAGNITUDE,
    BEND_DIRECTION,
    TIP,
    LOAD,
    LOAD_VELOCITY,
    TURNS,
    THRUST,
) = range(14)

BUILT_IN = {
    "position": POSITION,  # distance of the base from the reference, m
    "velocity": VELOCITY,  # difference of the base's velocity from the reference's, m/s
    "yaw": YAW,  # heading error, rad
    "tilt": TILT,  # angle between the base's z axis and the vertical, rad
    "action_rate": ACTION_RATE,  # how fast thrusts and tensions change, N/s
    "effort": EFFORT,  # thrust above hovering and tension above the slackest tendon's, N
    "bending_moment": BENDING_MOMENT,  # its error, over the moment at full bend
    "bend_magnitude": BEND_MAGNITUDE,  # the error of the magnitude alone
    "bend_direction": BEND_DIRECTION,  # angle to the asked bend, 0 where hardly any is asked, rad
    "tip": TIP,  # distance of the tip from its goal in the body frame, m
    "load": LOAD,  # distance of the load from its goal, m
    "load_velocity": LOAD_VELOCITY,  # its speed, m/s
    "turns": TURNS,  # how many lack of those that the task asks of the cable on the obstacle
    "thrust": THRUST,  # of all rotors, N
}
"""The built-in terms; the comments name the error and the unit of its margin."""

# Below this bend the direction is that of noise, and doesn't count.
_STRAIGHT = 0.05


@inlined
def _norm(rows: NDArray, i: int) -> float:
    square = 0.0
    for k in range(rows.shape[1]):
        square += rows[i, k] * rows[i, k]
    return math.sqrt(square)


@inlined
def _asked_bend(s: NDArray, i: int) -> tuple[float, float]:
    return s["bend"][i, 0] + s["bend_error"][i, 0], s["bend"][i, 1] + s["bend_error"][i, 1]


@inlined
def _bend_angle(s: NDArray, i: int) -> float:
    """Return the angle between the applied and the asked bend; none at all is as far as can be."""
    x, y = s["bend"][i, 0], s["bend"][i, 1]
    asked_x, asked_y = _asked_bend(s, i)
    if math.sqrt(asked_x * asked_x + asked_y * asked_y) <= _STRAIGHT:
        return 0.0
    if x == 0.0 and y == 0.0:
        return math.pi
    return math.atan2(x * asked_y - y * asked_x, x * asked_x + y * asked_y)


@inlined
def _error(code: int, s: NDArray, i: int) -> float:
    """Return the error that a built-in term looks at."""
    if code == POSITION:
        return _norm(s["position_error"], i)
    if code == VELOCITY:
        return _norm(s["velocity_error"], i)
    if code == YAW:
        return s["yaw_error"][i]
    if code == TILT:
        return s["tilt"][i]
    if code == ACTION_RATE:
        return s["action_rate"][i]
    if code == EFFORT:
        return s["thrust_effort"][i] + s["tension_effort"][i]
    if code == BENDING_MOMENT:
        return _norm(s["bend_error"], i)
    if code == BEND_MAGNITUDE:
        asked_x, asked_y = _asked_bend(s, i)
        return math.sqrt(asked_x * asked_x + asked_y * asked_y) - _norm(s["bend"], i)
    if code == BEND_DIRECTION:
        return _bend_angle(s, i)
    if code == LOAD:
        return _norm(s["load_error"], i)
    if code == LOAD_VELOCITY:
        return _norm(s["load_velocity"], i)
    if code == TURNS:
        return s["missing_turns"][i]
    if code == THRUST:
        return s["thrust"][i]
    return _norm(s["tip_error"], i)


@inlined
def evaluate_one(i: int, codes: NDArray, margins: NDArray, signals: NDArray, out: NDArray) -> None:
    """Write the built-in terms `codes` (t,) with `margins` (t,) of simulation i to out (t,)."""
    for k in range(codes.shape[0]):
        out[k] = tolerance(_error(codes[k], signals, i), margins[k])


@dataclass(frozen=True)
class BuiltIn:
    """A built-in term as a function."""

    code: int

    def __call__(self, signals: NDArray, margin: float) -> NDArray:
        """Return the term (n,) of the signals (n,)."""
        out = np.empty((len(signals), 1))
        code, margins = np.array([self.code]), np.array([margin])
        for i in range(len(signals)):
            evaluate_one(i, code, margins, signals, out[i])
        return out[:, 0]


_terms: dict[str, Term] = {name: BuiltIn(code) for name, code in BUILT_IN.items()}


def names() -> list[str]:
    """Return the names of all terms, the built-in ones first."""
    return list(_terms)


def register(name: str, term: Term) -> None:
    """Make a term of your own known by name, in every process that is to use it.

    Args:
        name: not the name of a built-in term; a name of your own may be registered again.
        term: (signals (n,), margin) -> (n,).
    """
    if not isinstance(name, str) or not name or name in BUILT_IN:
        checks.reject("name", name, "a new name, none of " + ", ".join(BUILT_IN))
    if not callable(term):
        told = checks.described(term)
        raise TypeError(f"reward term {checks.shown(name)} must be a function, got {told}")
    _terms[name] = term


def get(name: str) -> Term:
    """Return the term of a name, or raise and list the names."""
    checks.choice("reward term", name, names())
    return _terms[name]
