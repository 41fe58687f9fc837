"""Forces of a tension along solved cables, and how fast their lengths change.

A cable pulls where its straight lines end: with a line's direction e at its beginning and -e at
its end. So the forces of a cable on all bodies are in balance however smooth its path is, and its
power is its tension times the rate at which it becomes shorter.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.problem import Problem
from tendon_gym.cables.records import NO_FAULT
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector, add, cross, dot, row, scale, subtract, vector_at


@compiled
def pull_at(
    inside: Problem, i: int, body: int, node: Any, before: float, after: float, forces: NDArray
) -> None:
    """Add what a cable does to a body where it touches it, with tensions (N) before and after."""
    point, direction = node["point"], node["direction"]
    origin = vector_at(inside.position, i, body)
    arrives, leaves = scale(before, row(direction, 0)), scale(after, row(direction, 1))
    force = subtract(leaves, arrives)
    moment = subtract(
        cross(subtract(row(point, 1), origin), leaves),
        cross(subtract(row(point, 0), origin), arrives),
    )
    for c in range(3):
        forces[i, body, c] += force[c]
        forces[i, body, 3 + c] += moment[c]


@compiled
def _add_forces(inside: Problem, tension: NDArray, forces: NDArray) -> None:
    elements, cables, nodes = inside.elements, inside.cables, inside.nodes
    for i in range(tension.shape[0]):
        own = elements[i % elements.shape[0]]
        for k in range(cables.shape[0]):
            pull = tension[i, k]
            if not pull > 0.0 or inside.paths[i, k]["fault"] != NO_FAULT:
                continue
            for j in range(cables[k]["first"], cables[k]["last"] + 1):
                if nodes[i, j]["active"] == 0.0:
                    continue
                pull_at(inside, i, own[j]["body"], nodes[i, j], pull, pull, forces)


@compiled
def add_forces(problem: Any, tension: NDArray, forces: NDArray) -> None:
    """Add what cables under tension do to the bodies.

    Args:
        problem: a box with a `Problem` that is solved.
        tension: (n, k), N; cables with none, or with less, do nothing.
        forces: (n, b, 6), added to: force (N) and moment (N m) about the body's origin, in world
            axes.
    """
    _add_forces(problem.value, tension, forces)


@compiled
def velocity_at(inside: Problem, i: int, body: int, point: Vector) -> Vector:
    """Return the velocity of a point that is fixed in a body."""
    arm = subtract(point, vector_at(inside.position, i, body))
    spin = vector_at(inside.angular_velocity, i, body)
    return add(vector_at(inside.velocity, i, body), cross(spin, arm))


@compiled
def _length_rates(inside: Problem, rates: NDArray) -> None:
    elements, cables, nodes = inside.elements, inside.cables, inside.nodes
    for i in range(rates.shape[0]):
        own = elements[i % elements.shape[0]]
        for k in range(cables.shape[0]):
            total = 0.0
            if inside.paths[i, k]["fault"] != NO_FAULT:
                rates[i, k] = total
                continue
            for j in range(cables[k]["first"], cables[k]["last"] + 1):
                node, body = nodes[i, j], own[j]["body"]
                if node["active"] == 0.0:
                    continue
                point, direction = node["point"], node["direction"]
                total += dot(row(direction, 0), velocity_at(inside, i, body, row(point, 0)))
                total -= dot(row(direction, 1), velocity_at(inside, i, body, row(point, 1)))
            rates[i, k] = total


@compiled
def length_rates(problem: Any, rates: NDArray) -> None:
    """Write how fast the cables become longer, (n, k), in m/s."""
    _length_rates(problem.value, rates)
