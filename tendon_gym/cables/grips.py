"""How obstacles with friction hold a cable: bristles that bend, and slide at the capstan's bounds.

Where it touches a cable over an angle theta, an obstacle can change the tension by no more than a
factor e^(mu theta), either way (Euler, Eytelwein). Within these bounds it holds the cable by a
bristle, a spring and a damper that the sliding bends: the change of tension is
f = k z + c dz/dt with dz/dt = u, the sliding speed. At a bound f is the bound, and the bristle
bends only as fast as that lets it: dz/dt = (f - k z) / c. (P. R. Dahl 1968, A solid friction
model, for k; C. Canudas de Wit et al. 1995, A new model for control of systems with friction, for
c; with the sharp corner of an elastic-plastic solid instead of their gradual one, so that nothing
creeps within the bounds, shaken or not.)

The stiffness k belongs to the bristle and not to the load. So the energy 1/2 k z^2 can't grow but
by the work f u that the cable does on the obstacle, however tension and angle change, and the
largest stable step doesn't depend on the tension.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.compiled import compiled

SETTLING = 0.01
"""A bristle's damping over its stiffness, s."""
MOST_FRICTION = 30.0
"""Largest logarithm of the ratio of two tensions, either side of an obstacle."""
MOST_ROUNDS = 200
EXACT = 1e-14
"""Of the mean tension, relative."""


@compiled
def resist(node: Any, friction: float, stiffness: float, dt: float) -> None:
    """Write what a bristle that is bent does next, and the bound on that."""
    node["holding"] = stiffness * (node["held"] + (dt + SETTLING) * node["sliding"])
    node["most"] = math.exp(min(friction * node["angle"], MOST_FRICTION))


@compiled
def give(node: Any, stiffness: float, dt: float) -> None:
    """Bend a bristle for dt (s) under the tensions that were found."""
    force, held = node["after"] - node["before"], node["held"]
    node["held"] = held + dt * (force - stiffness * held) / (stiffness * (dt + SETTLING))


@compiled
def pass_on(nodes: NDArray, first: int, last: int, tension: float) -> tuple[float, float]:
    """Write the tensions along a cable that has `tension` at its origin, element `first`.

    Returns:
        The integral of the tension along the path, N m, an arc's being that of its ends' mean, and
        its derivative by the tension at the origin, m.
    """
    total, growth, slope = 0.0, 1.0, 0.0
    for j in range(first, last + 1):
        node = nodes[j]
        before, grew, most = tension, growth, node["most"]
        tension = before + node["holding"]
        if tension >= before * most:
            tension, growth = before * most, growth * most
        elif tension <= before / most:
            tension, growth = before / most, growth / most
        node["before"], node["after"] = before, tension
        total += before * node["line"] + 0.5 * (before + tension) * node["arc"]
        slope += grew * node["line"] + 0.5 * (grew + growth) * node["arc"]
    return total, slope


@compiled
def share(nodes: NDArray, first: int, last: int, length: float, mean: float) -> float:
    """Write the tensions along a cable whose mean over its length is `mean`, N.

    The mean rises with the tension at the origin, in straight pieces: Newton's method, with
    bisection where it would leave what is known to contain the solution.

    Returns:
        The tension at the origin, N.
    """
    tension, low, high, wanted = mean, 0.0, math.inf, mean * length
    if not wanted > 0.0:
        tension = max(mean, 0.0)
        pass_on(nodes, first, last, tension)
        return tension
    for _ in range(MOST_ROUNDS):
        total, slope = pass_on(nodes, first, last, tension)
        if abs(total - wanted) <= EXACT * wanted:
            break
        if total < wanted:
            low = tension
        else:
            high = tension
        new = tension + (wanted - total) / slope
        if not low < new < high:
            new = 0.5 * (low + high) if high < math.inf else 2.0 * tension
        if new == tension:
            break
        tension = new
    return tension
