"""Control of the tip by tensions: where the arm rests as feed-forward, the observed tip fed back.

All of it is a bend that goes through the tendon allocation,

    b + z - tau (dp/dt - kappa dc/dt),

where b is the bend that holds the tip at its goal at rest; z the integral of what the tip is still
away, as a bend; p and c the bends that the tip and the lengths of the tendons show. The bracket
sees the swing that the arm is slow to lose, see `tip_model`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.baselines.geometric import Geometric, read
from tendon_gym.baselines.policy import Action, Env, as_batch
from tendon_gym.baselines.tip_model import TipGains, TipModel, tip_model
from tendon_gym.compiled import compiled, inlined
from tendon_gym.control import LAW_FULL
from tendon_gym.control.allocation import allocate_one

READS = (("tip_goal", 3), ("reference_bend", 2), ("tip", 3), ("tip_velocity", 3))
"""The slices that the law reads, with the lengths of the tendons after them."""

_MEMORY = 4
"""Numbers that a simulation's memory begins with: b (2) and z (2). The last lengths follow."""

_SINGULAR = 1e-6
"""Share of J'J that keeps its inverse finite where the tip hardly moves with the bend."""


class _Law(NamedTuple):
    """What the law knows: see `TipModel`; the gains in seconds and bends."""

    starts: NDArray[np.int64]
    table: NDArray[np.float64]
    reading: NDArray[np.float64]
    tendons: NDArray[np.void]
    allocation: NDArray[np.void]
    split: float
    damping: float
    integral: float
    error: float
    step: float
    swing: float

    @classmethod
    def of(
        cls,
        known: TipModel,
        gains: TipGains,
        starts: NDArray,
        tendons: NDArray,
        allocation: NDArray,
        dt: float,
    ) -> _Law:
        """Turn the gains into those of one decision, dt after the last."""
        return cls(
            starts=starts,
            table=known.table,
            reading=known.reading / dt,
            tendons=tendons,
            allocation=allocation,
            split=known.split,
            damping=known.damping,
            integral=known.integral * dt,
            error=gains.error,
            step=gains.rate * dt,
            swing=gains.swing,
        )


class TipControl(Geometric):
    """Flies with the full law, and brings the tip where it is to rest by the tensions.

    Where a bend is asked, that is the place where this bend rests. The state that `predict` hands
    back is the law's integral and the memory of the tips: b, z and the last lengths (n, ...).
    """

    def __init__(self, env: Env, gains: TipGains | None = None) -> None:
        """Work out where the arm rests and how it swings, a second for each new model."""
        super().__init__(env, "tip_control", LAW_FULL)
        n, gains = len(self._tendons), gains or TipGains()
        self._tip_law = _Law.of(
            tip_model(env.core.config.model, gains),
            gains,
            self._view.starts((*READS, ("tendon_lengths", n))),
            self._tendons,
            self._allocation,
            env.core.step_time,
        )

    def predict(
        self,
        observation: NDArray[np.float32],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, Any]:
        """Return thrusts and tensions as actions; see `Policy.predict`."""
        rows, single = as_batch(observation)
        n, tendons = len(rows), len(self._tendons)
        integral, memory = state or (None, self._fresh(n))
        memory = memory.copy()
        if episode_start is not None:
            memory[episode_start] = self._fresh(1)
        actions = np.zeros((n, self._size), np.float32)  # a winch stands still
        integral = self._fly(rows, integral, episode_start, actions)
        used = actions[:, : self._tendon_part.stop]
        pull_tips(rows, self._tip_law, np.empty(3), np.empty(tendons), memory, used)
        return (actions[0] if single else actions), (integral, memory)

    def _fresh(self, n: int) -> NDArray[np.float64]:
        """Return the memory (n, ...) of arms that have done nothing yet, their lengths unknown."""
        memory = np.zeros((n, _MEMORY + len(self._tendons)))
        memory[:, _MEMORY:] = np.nan
        return memory


Rest = tuple[float, float, float, float, float, float, float, float, float, float, float]


@inlined
def rest_at(x: float, y: float, table: NDArray) -> Rest:
    """Return an entry of the table for a bend (x, y) of at most 1, see `tip_model.WIDTH`.

    Linear between the entries, in the axes that turn with the bend.
    """
    across, around = table.shape[0], table.shape[1]
    length = math.sqrt(x * x + y * y)
    c, s = (x / length, y / length) if length > 0.0 else (1.0, 0.0)
    place = min(length, 1.0) * (across - 1)
    i = min(int(place), across - 2)
    u = place - i
    turns = math.atan2(y, x) / (2.0 * math.pi)
    place = (turns - math.floor(turns)) * around
    j = min(int(place), around - 1)
    v, k = place - j, (j + 1) % around
    near, far = table[i], table[i + 1]
    a = (1.0 - u) * (1.0 - v)
    b, d, e = (1.0 - u) * v, u * (1.0 - v), u * v
    tip_r = a * near[j, 0] + b * near[k, 0] + d * far[j, 0] + e * far[k, 0]
    tip_t = a * near[j, 1] + b * near[k, 1] + d * far[j, 1] + e * far[k, 1]
    tip_z = a * near[j, 2] + b * near[k, 2] + d * far[j, 2] + e * far[k, 2]
    rr = a * near[j, 3] + b * near[k, 3] + d * far[j, 3] + e * far[k, 3]
    rt = a * near[j, 4] + b * near[k, 4] + d * far[j, 4] + e * far[k, 4]
    tr = a * near[j, 5] + b * near[k, 5] + d * far[j, 5] + e * far[k, 5]
    tt = a * near[j, 6] + b * near[k, 6] + d * far[j, 6] + e * far[k, 6]
    zr = a * near[j, 7] + b * near[k, 7] + d * far[j, 7] + e * far[k, 7]
    zt = a * near[j, 8] + b * near[k, 8] + d * far[j, 8] + e * far[k, 8]
    gain = a * near[j, 9] + b * near[k, 9] + d * far[j, 9] + e * far[k, 9]
    part = a * near[j, 10] + b * near[k, 10] + d * far[j, 10] + e * far[k, 10]
    return (
        c * tip_r - s * tip_t,
        s * tip_r + c * tip_t,
        tip_z,
        c * (c * rr - s * tr) - s * (c * rt - s * tt),
        s * (c * rr - s * tr) + c * (c * rt - s * tt),
        c * (s * rr + c * tr) - s * (s * rt + c * tt),
        s * (s * rr + c * tr) + c * (s * rt + c * tt),
        c * zr - s * zt,
        s * zr + c * zt,
        gain,
        part,
    )


@inlined
def bend_for(there: Rest, x: float, y: float, z: float) -> tuple[float, float]:
    """Return the bend that moves a tip by (x, y, z), m, as nearly as bends can (least squares)."""
    _, _, _, xu, xv, yu, yv, zu, zv, _, _ = there
    uu = xu * xu + yu * yu + zu * zu
    vv = xv * xv + yv * yv + zv * zv
    uv = xu * xv + yu * yv + zu * zv
    little = _SINGULAR * (uu + vv)
    uu, vv = uu + little, vv + little
    a, b = xu * x + yu * y + zu * z, xv * x + yv * y + zv * z
    determinant = uu * vv - uv * uv
    return (vv * a - uv * b) / determinant, (uu * b - uv * a) / determinant


@inlined
def at_most(x: float, y: float, most: float) -> tuple[float, float]:
    """Return a vector, shortened to a length."""
    length = math.sqrt(x * x + y * y)
    share = most / length if length > most else 1.0
    return share * x, share * y


@compiled
def pull_tips(
    observation: NDArray,
    law: Any,
    vector: NDArray,
    tensions: NDArray,
    memory: NDArray,
    actions: NDArray,
) -> None:
    """Write the tendons' part of the actions, their last columns; the memory goes on.

    `vector` (3,) and `tensions` (tendons,) are scratch.
    """
    n = tensions.shape[0]
    first, most = actions.shape[1] - n, law.tendons["tension_max"]
    for i in range(observation.shape[0]):
        o, own = observation[i], memory[i]
        there = rest_at(own[0], own[1], law.table)
        x, y, z = _goal(o, law, vector)
        move = bend_for(there, x - there[0], y - there[1], z - there[2])
        move = at_most(move[0], move[1], law.step)
        own[0], own[1] = at_most(own[0] + move[0], own[1] + move[1], 1.0)
        read(o, law.starts[2], vector)
        away = bend_for(there, there[0] - vector[0], there[1] - vector[1], there[2] - vector[2])
        away = at_most(away[0], away[1], law.error)
        swing = _swing(o, there, law, own, vector, tensions)
        damping, integral = law.damping * there[9], law.integral * there[9]
        pull = at_most(damping * swing[0], damping * swing[1], law.swing)
        # what the tendons cannot hold is not integrated either
        u, v = at_most(
            own[0] + own[2] + integral * away[0], own[1] + own[3] + integral * away[1], 1.0
        )
        own[2], own[3] = u - own[0], v - own[1]
        vector[0], vector[1] = u - pull[0], v - pull[1]
        allocate_one(vector[:2], law.tendons, law.allocation[0], tensions)
        for k in range(n):
            actions[i, first + k] = 2.0 * tensions[k] / most[k] - 1.0


@inlined
def _goal(o: NDArray, law: Any, vector: NDArray) -> tuple[float, float, float]:
    """Return where the tip is to rest: the observed goal, or where the observed bend rests."""
    if law.starts[0] >= 0:
        read(o, law.starts[0], vector)
        return vector[0], vector[1], vector[2]
    read(o, law.starts[1], vector[:2])
    there = rest_at(vector[0], vector[1], law.table)
    return there[0], there[1], there[2]


@inlined
def _swing(
    o: NDArray, there: Rest, law: Any, own: NDArray, vector: NDArray, lengths: NDArray
) -> tuple[float, float]:
    """Return the swing's rate, as a bend's, 1/s, and remember the lengths; `lengths` is scratch."""
    read(o, law.starts[3], vector)
    u, v = bend_for(there, vector[0], vector[1], vector[2])
    read(o, law.starts[4], lengths)
    split = law.split * there[10]
    for k in range(lengths.shape[0]):
        last = own[_MEMORY + k]
        if not math.isnan(last):
            u -= split * law.reading[k, 0] * (lengths[k] - last)
            v -= split * law.reading[k, 1] * (lengths[k] - last)
        own[_MEMORY + k] = lengths[k]
    return u, v
