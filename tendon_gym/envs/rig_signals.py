"""What is known of a load and its cable after a step, for tasks that have them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.cables.friction import turning
from tendon_gym.cables.records import NO_FAULT
from tendon_gym.compiled import compiled, inlined
from tendon_gym.envs.obstacles import OBSTACLE, distance
from tendon_gym.spatial import vector

LENGTH, REST, TENSION, TURNS, DIRECTION = range(5)
READINGS = DIRECTION + 3
"""Columns of what is measured of a cable, and how many there are: m, m, N, turns, and the unit
vector in which it leaves its origin."""


class Carried(NamedTuple):
    """What `sense_rig` works on; of n simulations, or of none where the task has no rig.

    Attributes:
        load: body, -1 for none.
        obstacle: (n,) of OBSTACLE.
        goal: (n, 3), of the load, m.
        readings: (n, READINGS).
        lost: (n,), whether the cable has had no path in the last control step.
        turns: on the obstacle that are asked of the cable.
    """

    load: int
    obstacle: NDArray[np.void]
    goal: NDArray[np.float64]
    readings: NDArray[np.float64]
    lost: NDArray[np.bool_]
    turns: float


def new_carried(n: int, load: int, turns: float = 0.0) -> Carried:
    """Make room for n simulations whose load is a body, -1 for none, with turns asked for."""
    rows = 0 if load < 0 else n
    return Carried(
        load, np.zeros(rows, OBSTACLE), np.zeros((rows, 3)), np.zeros((rows, READINGS)),
        np.zeros(n, bool), turns,
    )  # fmt: skip


@compiled
def measure(place: int, rest_length: float, problem: Any, box: Any) -> None:
    """Write the readings of the only cable of every simulation.

    Args:
        place: of its obstacle among the elements.
        rest_length: that its winch begins with, m.
        problem: a box with a `Problem` that is solved.
        box: with `Carried`.
    """
    inside, carried = problem.value, box.value
    accuracy = inside.cables[0]["accuracy"]
    for i in range(carried.readings.shape[0]):
        path, out = inside.paths[i, 0], carried.readings[i]
        out[LENGTH], out[TENSION] = path["length"], path["tension"]
        out[REST] = rest_length + path["paid_out"]
        if path["fault"] != NO_FAULT:
            continue
        start = inside.nodes[i, inside.cables[0]["first"]]["direction"]
        for k in range(3):
            out[DIRECTION + k] = start[1, k]
        out[TURNS] = 0.0
        if inside.nodes[i, place]["active"] != 0.0:
            element = inside.elements[i % inside.elements.shape[0], place]
            curve, stages = inside.curves[i, place], inside.workspace.stages
            angle = turning(element, inside.tables, curve, accuracy, stages)
            out[TURNS] = angle / (2.0 * math.pi)


@inlined
def sense_rig(i: int, motion: Any, carried: Any, sensing: Any) -> None:
    """Write what the signals of simulation i tell of its load, cable and obstacle."""
    s, load, base = sensing.signals, carried.load, sensing.base
    obstacle = carried.obstacle[i]
    for k in range(3):
        place, origin = motion.body_position[i, load, k], motion.body_position[i, base, k]
        s["load"][i, k] = place - origin
        s["load_velocity"][i, k] = motion.body_velocity[i, load, k]
        s["load_error"][i, k] = carried.goal[i, k] - place
        s["obstacle"][i, k] = obstacle["position"][k] - origin
        s["cable_pull"][i, k] = carried.readings[i, TENSION] * carried.readings[i, DIRECTION + k]
    s["cable_length"][i] = carried.readings[i, LENGTH]
    s["rest_length"][i] = carried.readings[i, REST]
    s["cable_tension"][i] = carried.readings[i, TENSION]
    s["turns"][i] = carried.readings[i, TURNS]
    s["missing_turns"][i] = max(carried.turns - carried.readings[i, TURNS], 0.0)
    s["obstacle_clearance"][i] = _clearance(i, motion, obstacle, sensing)


@inlined
def _clearance(i: int, motion: Any, obstacle: Any, sensing: Any) -> float:
    """Return how near the vehicle is to the obstacle; its parts count as balls."""
    clearances = sensing.clearances
    nearest = distance(obstacle, vector(motion.site_position[i, sensing.tip_site])) - clearances[0]
    for b in range(1, clearances.shape[0]):
        if clearances[b] >= 0.0:
            away = distance(obstacle, vector(motion.body_position[i, b]))
            nearest = min(nearest, away - clearances[b])
    return nearest
