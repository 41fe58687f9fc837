"""Drives within their bounds at the end of a step, which is when their implicit force counts.

RaiSim's drive has the force F = clamp(a + kp (l* - l) + kv (l*' - l'+) - h kp l'+, low, high) with
the velocity l'+ at the end of the step (h kp l'+ under the discrete integrator only). MuJoCo clamps
at its start instead: a force that is within the bounds there may leave them, and one that is
clamped there stays at the bound though it should come off. So a step whose end is at odds with its
start is taken back and done again with the drives told what to be: free, or at a bound. Which ones
is a linear complementarity problem; one drive at a time, the first that is wrong, finds its
solution (Murty 1974), and all that are wrong at once mostly find it sooner.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled

AS_STARTED, FREE, AT_LEAST, AT_MOST = range(4)
"""What a drive is told: nothing, so that MuJoCo decides at the start; no bounds; the bounds."""

EXCESS = 1e-9
"""By what share of a bound and 1 N together a force may be beyond it: rounding, no fault."""

TOGETHER, OPENLY = 3, 20
"""How often a step is done again with all wrong drives told anew, and how often with any freed.
After that they are only held at bounds. This ends what goes round in circles: MuJoCo's implicit
integrators find the forces of rows by the actuators' forces at the start of the step."""


class Bounds(NamedTuple):
    """What `judge` works on: n simulations; the tendons of the world are those from `first` on.

    Attributes:
        law: LAW, (1, t) or (n, t).
        h: step, s.
        discrete: whether the integrator is the discrete one.
        first: index of the world's first tendon in the model.
        entries: (ntendon,), number of them in each row of the sparse Jacobian.
        address: (ntendon,), of the first of them.
        column: of each entry.
        jacobian: (n, nJ), the entries at the start of the step.
        qvel: (n, nv), at its end.
        qacc: (n, nv), during it.
        length: (n, ntendon), m, at its start.
        velocity: (n, ntendon), m/s, at its start.
        ctrl: (n, nu).
        force: (n, outputs), of the actuators, N, at its start.
        range: (n, nactuator, 2), of these forces; written.
        told: (n, t), AS_STARTED to AT_MOST; written.
        again: (n,), whether the step must be done again; written.
    """

    law: NDArray
    h: float
    discrete: bool
    first: int
    entries: NDArray
    address: NDArray
    column: NDArray
    jacobian: NDArray[np.float64]
    qvel: NDArray[np.float64]
    qacc: NDArray[np.float64]
    length: NDArray[np.float64]
    velocity: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    force: NDArray[np.float64]
    range: NDArray[np.float64]
    told: NDArray[np.int64]
    again: NDArray[np.bool_]


@compiled
def _free_force(c: Bounds, i: int, t: int, p: Any) -> float:
    """Return the force that the drive of tendon t would have had without bounds, N."""
    total = 0.0
    rates = c.qacc if c.discrete else c.qvel
    for k in range(c.address[t], c.address[t] + c.entries[t]):
        total += c.jacobian[i, k] * rates[i, c.column[k]]
    after = c.velocity[i, t] + c.h * total if c.discrete else total
    servo = p["control"]
    force = p["position_gain"] * (c.ctrl[i, servo] - c.length[i, t])
    force += p["velocity_gain"] * (c.ctrl[i, servo + 1] - after) + c.ctrl[i, servo + 2]
    return force - p["position_gain"] * c.h * after if c.discrete else force


@compiled
def _was(c: Bounds, i: int, k: int, p: Any) -> int:
    """Return what a drive was in the step that has been done: FREE, AT_LEAST or AT_MOST."""
    if c.told[i, k] != AS_STARTED:
        return c.told[i, k]
    start = c.force[i, p["output"]]
    if start <= p["least"]:
        return AT_LEAST
    return AT_MOST if start >= p["most"] else FREE


@compiled
def _should_be(force: float, was: int, p: Any) -> int:
    """Return what a drive should be next, given what its force would be without bounds.

    One that comes off a bound is free, before it may go to the other.
    """
    least, most = p["least"], p["most"]
    if was == AT_LEAST:
        return FREE if force > least + EXCESS * (1.0 + abs(least)) else AT_LEAST
    if was == AT_MOST:
        return FREE if force < most - EXCESS * (1.0 + abs(most)) else AT_MOST
    if force < least - EXCESS * (1.0 + abs(least)):
        return AT_LEAST
    return AT_MOST if force > most + EXCESS * (1.0 + abs(most)) else FREE


@compiled
def _tell(c: Bounds, i: int, k: int, p: Any, what: int) -> None:
    """Tell a drive what to be in the next step, by the range that MuJoCo clamps to."""
    c.told[i, k] = what
    low, high = p["least"], p["most"]
    if what == FREE:
        low, high = -np.inf, np.inf
    elif what == AT_LEAST:
        high = low
    elif what == AT_MOST:
        low = high
    c.range[i, p["actuator"], 0], c.range[i, p["actuator"], 1] = low, high


@compiled
def judge(tries: int, box: Any) -> bool:
    """Judge the step that the simulations have done, those that did it again if `tries` > 0.

    A simulation whose drives all were what they should be is done: they are told nothing any more.
    The drives of the others are told what they should have been.

    Returns:
        Whether any step must be done again.
    """
    c, any_again = box.value, False
    for i in range(c.told.shape[0]):
        if tries > 0 and not c.again[i]:
            continue
        row, again = i % c.law.shape[0], False
        for k in range(c.law.shape[1]):
            p = c.law[row, k]
            if p["bounded"] == 0 or (again and tries >= TOGETHER):
                continue
            was = _was(c, i, k, p)
            should = _should_be(_free_force(c, i, c.first + k, p), was, p)
            if was != should and (should != FREE or tries < OPENLY):
                _tell(c, i, k, p, should)
                again = True
        if not again:
            for k in range(c.law.shape[1]):
                if c.told[i, k] != AS_STARTED:
                    _tell(c, i, k, c.law[row, k], AS_STARTED)
        c.again[i] = again
        any_again = any_again or again
    return any_again
