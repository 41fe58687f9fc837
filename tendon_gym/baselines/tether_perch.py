"""Perching by a tether: fly around the branch one and a half times, then let the rotors go.

The vehicle flies over the branch until the tether lies against it, slowly, so that the bob at its
end doesn't swing; then around it, upright, and in ever smaller circles as the tether winds. No
radius is asked for: the vehicle pulls outwards a little, by which the tether stays tight and the
bob stays where friction holds it. Where it hangs below the branch for the second time, all thrusts
fade away.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.baselines.geometric import Geometric, read
from tendon_gym.baselines.policy import Action, Env, as_batch
from tendon_gym.compiled import compiled, inlined
from tendon_gym.control import LAW_PAPER, GeometricGains, geometric_one, mix_one
from tendon_gym.references.setpoint import setpoints
from tendon_gym.spatial import Vector, combine, cross, dot, norm, scale

READS = (
    ("velocity", 3),
    ("rotation", 9),
    ("angular_velocity", 3),
    ("obstacle", 3),
    ("obstacle_axis", 3),
    ("rest_length", 1),
    ("cable_tension", 1),
    ("turns", 1),
)
"""The slices that the law reads, in the order of its kernel."""

_GOAL = 3.0 * math.pi
"""Where the vehicle hangs: an angle about the branch, 0 above it."""

ANGLE, SIDE, IDLE, MEMORY = range(4)
"""A simulation's memory: the vehicle's angle about the branch, rad; the side that it came from,
-1 or 1, 0 at the start; how long the thrusts have been fading, s; how many numbers that is."""


@dataclass(frozen=True)
class PerchGains:
    """How the manoeuvre is flown.

    Attributes:
        hang: how far below the branch the bob shall hang, m.
        approach: speed over the branch, m/s.
        speed: around it, m/s.
        pull: tension of the tether, N.
        damping: velocity error to acceleration, 1/s.
        stiffness: error of the height over the branch, and along it, to acceleration, 1/s^2.
        slowing: speed by the distance that is left, 1/s.
        still: speed at which the thrusts begin to fade, m/s.
        fade: how long they do, s.
    """

    hang: float = 0.3
    approach: float = 0.5
    speed: float = 1.5
    pull: float = 1.5
    damping: float = 4.0
    stiffness: float = 6.0
    slowing: float = 1.5
    still: float = 0.15
    fade: float = 2.0

    def __post_init__(self) -> None:
        """Reject what is not positive."""
        for name in self.__dataclass_fields__:
            checks.number(f"PerchGains.{name}", getattr(self, name), above=0.0)


class _Law(NamedTuple):
    """What the law knows: see `Geometric` and `PerchGains`; `dt` between two decisions, s."""

    starts: NDArray[np.int64]
    dt: float
    attitude: NDArray[np.void]
    vehicle: NDArray[np.void]
    inverse: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    hover: float
    hang: float
    approach: float
    speed: float
    pull: float
    damping: float
    stiffness: float
    slowing: float
    still: float
    fade: float


class TetherPerch(Geometric):
    """Winds the tether and hangs from it; the state of `predict` is its MEMORY, (n, 3)."""

    def __init__(self, env: Env, gains: PerchGains | None = None) -> None:
        """Read the vehicle from the environment's model, and the observation's layout.

        Raises:
            ValueError: the task has no tether and no branch.
        """
        if any(name not in env.observation_layout for name, _ in READS):
            wanted = "a task with a tether and a branch, as TetherPerch"
            checks.reject("task of tether_perch", env.task.entry.name, wanted)
        none = (0.0, 0.0, 0.0)
        super().__init__(env, "tether_perch", LAW_PAPER, GeometricGains(none, none, none))
        _, _, dt, attitude, vehicle, inverse, low, high, hover = self._law
        self._perch = _Law(
            self._view.starts(READS), dt, attitude, vehicle, inverse, low, high, hover,
            **asdict(gains or PerchGains()),
        )  # fmt: skip

    def predict(
        self,
        observation: NDArray[np.float32],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, Any]:
        """Return thrusts, slack tendons and a winch at rest; see `Policy.predict`."""
        rows, single = as_batch(observation)
        memory = np.zeros((len(rows), MEMORY)) if state is None else state.copy()
        if episode_start is not None:
            memory[episode_start] = 0.0
        actions = np.zeros((len(rows), self._size), np.float32)
        actions[:, self._tendon_part] = -1.0
        scratch = setpoints(1), np.zeros((3, 3)), np.zeros((4, 3)), np.zeros(self._rotors)
        wind(rows, self._perch, scratch, memory, actions)
        return (actions[0] if single else actions), memory


@inlined
def _slice(o: NDArray, start: int) -> Vector:
    return (float(o[start]), float(o[start + 1]), float(o[start + 2]))


@compiled
def wind(observation: NDArray, law: Any, scratch: Any, memory: NDArray, actions: NDArray) -> None:
    """Write the rotors' part of the actions; the memory goes on.

    `scratch`: a setpoint, a rotation (3, 3), vectors (4, 3) of which the first stays zero, thrusts.
    """
    setpoint, rotation, vectors, thrust = scratch
    still, spin, integral, torque = vectors[0], vectors[1], vectors[2], vectors[3]
    for i in range(observation.shape[0]):
        o = observation[i]
        for k in range(3):
            read(o, law.starts[1] + 3 * k, rotation[k])
        read(o, law.starts[2], spin)
        wanted = _acceleration(o, law, memory[i])
        for k in range(3):
            setpoint["acceleration"][0, k] = wanted[k]
        setpoint["yaw"][0] = math.atan2(rotation[1, 0], rotation[0, 0])
        force = geometric_one(
            still, still, rotation, spin, setpoint[0], still, integral, law.attitude[0],
            law.vehicle[0], law.dt, LAW_PAPER, torque,
        )  # fmt: skip
        share = max(1.0 - memory[i, IDLE] / law.fade, 0.0)
        for k in range(3):
            torque[k] *= share
        mix_one(law.inverse, share * force, torque, law.low, law.high, thrust)
        for k in range(thrust.shape[0]):
            above = thrust[k] - law.hover
            actions[i, k] = above / (law.high[k] - law.hover) if above > 0.0 else above / law.hover


@inlined
def _acceleration(o: NDArray, law: Any, own: NDArray) -> Vector:
    """Return the acceleration that the flight asks for, m/s^2; the memory goes on."""
    velocity, away = _slice(o, law.starts[0]), scale(-1.0, _slice(o, law.starts[3]))
    axis, up = _slice(o, law.starts[4]), (0.0, 0.0, 1.0)
    ahead = cross(axis, up)
    if own[SIDE] == 0.0:
        own[SIDE] = -1.0 if dot(away, ahead) > 0.0 else 1.0
        own[ANGLE] = -abs(math.atan2(dot(away, ahead), away[2]))
    ahead = scale(own[SIDE] / norm(ahead), ahead)
    x, z, along = dot(away, ahead), away[2], dot(away, axis)
    turn = math.atan2(x, z) - own[ANGLE]
    own[ANGLE] += turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
    c, s, distance = math.cos(own[ANGLE]), math.sin(own[ANGLE]), math.hypot(x, z)
    outward, forward = combine(s, ahead, c, up, 0.0, up), combine(c, ahead, -s, up, 0.0, up)
    share = min(max(own[ANGLE] - 0.5, 0.0), 1.0)
    speed = law.approach + share * (law.speed - law.approach)
    speed = max(min(speed, law.slowing * (_GOAL - own[ANGLE]) * distance), -speed)
    wanted = combine(law.damping * speed, forward, -law.damping, velocity, 0.0, up)
    wanted = combine(1.0, wanted, -law.stiffness * along, axis, 0.0, up)
    centripetal = -speed * speed / distance
    mass, tension, turns = law.vehicle[0]["mass"], o[law.starts[6]], o[law.starts[7]]
    if turns > 0.0 and own[ANGLE] > 0.3:
        push, lift = centripetal + law.pull / mass, 0.0
        resting = own[ANGLE] > _GOAL - 0.1 and norm(velocity) < law.still
        if own[IDLE] > 0.0 or resting:
            own[IDLE] += law.dt
    else:
        error = o[law.starts[5]] - law.hang - distance
        push, lift = centripetal + law.stiffness * error, tension / mass
    return combine(1.0, wanted, push, outward, lift, up)
