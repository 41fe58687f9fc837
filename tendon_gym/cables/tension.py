"""Tensions along solved cables, with their drives and with friction, and what these do to bodies.

A cable stretches evenly, so that its sliding speed over a curve is the mean of the speeds that the
parts of the path on either side of it ask for, weighted with their lengths. Friction, by `grips`,
is the only thing that changes the tension along a cable.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numpy.typing import NDArray

from tendon_gym.cables.forces import pull_at, velocity_at
from tendon_gym.cables.friction import turning
from tendon_gym.cables.grips import give, pass_on, resist, share
from tendon_gym.cables.problem import Problem
from tendon_gym.cables.records import NO_FAULT, OBSTACLE
from tendon_gym.compiled import compiled
from tendon_gym.spatial import dot, norm, row, scale, subtract


class Pulls(NamedTuple):
    """What tensions are computed from, besides the paths.

    Attributes:
        drives: (k,) DRIVE.
        friction: (e,), coefficient of every element.
    """

    drives: NDArray
    friction: NDArray


@compiled
def _line(
    inside: Problem, own: NDArray, i: int, a: int, b: int, dt: float
) -> tuple[float, float, float]:
    """Return the line from element a to element b: its length, its rate, its mean rate over dt.

    The mean is over the step that ends now, with the velocities that it ended with, of the distance
    of the points that the line connects now. Rates would add up to too long a line: its direction
    has turned meanwhile.
    """
    start, end = inside.nodes[i, a], inside.nodes[i, b]
    p, q, e = row(start["point"], 1), row(end["point"], 0), row(end["direction"], 0)
    speed = velocity_at(inside, i, own[b]["body"], q)
    speed = subtract(speed, velocity_at(inside, i, own[a]["body"], p))
    line, rate = subtract(q, p), dot(e, speed)
    length = dot(e, line)
    last = norm(subtract(line, scale(dt, speed)))
    if not length + last > 0.0:
        return length, rate, rate
    return length, rate, (2.0 * dot(line, speed) - dt * dot(speed, speed)) / (length + last)


@compiled
def _measure(
    inside: Problem, own: NDArray, i: int, k: int, dt: float
) -> tuple[float, float, float]:
    """Return length, rate and mean rate over dt of cable k of simulation i."""
    first, length, rate, mean = inside.cables[k]["first"], 0.0, 0.0, 0.0
    previous = first
    for j in range(first + 1, inside.cables[k]["last"] + 1):
        node = inside.nodes[i, j]
        if node["active"] == 0.0:
            continue
        line, change, changed = _line(inside, own, i, previous, j, dt)
        length += line + _arc(own[j], node)
        rate, mean = rate + change, mean + changed
        previous = j
    return length, rate, mean


@compiled
def _arc(element: Any, node: Any) -> float:
    return node["arc_length"] if element["role"] == OBSTACLE else 0.0


@compiled
def _wind(drive: Any, path: Any, dt: float) -> tuple[float, float]:
    """Let a winch turn for dt (s); return the rest length and its rate."""
    rest = drive["rest_length"] + path["paid_out"]
    if not (drive["speed"] > 0.0 and dt > 0.0):
        return rest, 0.0
    most = drive["speed"] * dt
    change = min(max(max(drive["target"] + path["asked"], 0.0) - rest, -most), most)
    path["paid_out"] += change
    return rest + change, change / dt


@compiled
def _prepare(
    inside: Problem, pulls: Pulls, i: int, k: int, motion: tuple[float, float, float], dt: float
) -> None:
    """Write what tensions along a cable depend on.

    `motion`: its length, and over the last dt the mean rates of the length and of the stretch.
    """
    own, cable = inside.elements[i % inside.elements.shape[0]], inside.cables[k]
    length, rate, stretching = motion
    done, done_rate, previous = 0.0, 0.0, cable["first"]
    for j in range(cable["first"], cable["last"] + 1):
        node = inside.nodes[i, j]
        _let_go(node)
        if node["active"] == 0.0:
            node["held"] = 0.0
            continue
        if j > previous:
            node["line"], _, change = _line(inside, own, i, previous, j, dt)
            done, done_rate = done + node["line"], done_rate + change
        previous, node["arc"] = j, _arc(own[j], node)
        if own[j]["role"] == OBSTACLE and length > 0.0:
            ahead = (length - done - 0.5 * node["arc"]) / length
            node["sliding"] = rate - done_rate - ahead * stretching
            if pulls.friction[j] > 0.0:
                curve, accuracy = inside.curves[i, j], cable["accuracy"]
                stages = inside.workspace.stages
                node["angle"] = turning(own[j], inside.tables, curve, accuracy, stages)
                resist(node, pulls.friction[j], pulls.drives[k]["grip_stiffness"], dt)
        done += node["arc"]


@compiled
def _let_go(node: Any) -> None:
    node["line"], node["arc"], node["angle"], node["sliding"] = 0.0, 0.0, 0.0, 0.0
    node["holding"], node["most"], node["before"], node["after"] = 0.0, 1.0, 0.0, 0.0


@compiled
def _hold(inside: Problem, pulls: Pulls, i: int, k: int, dt: float) -> None:
    """Let what holds the cable on obstacles give way for dt (s) to the tensions that were found."""
    path, stiffness = inside.paths[i, k], pulls.drives[k]["grip_stiffness"]
    path["friction_power"] = path["grip_energy"] = 0.0
    for j in range(inside.cables[k]["first"], inside.cables[k]["last"] + 1):
        node = inside.nodes[i, j]
        if node["active"] == 0.0:
            node["before"] = node["after"] = 0.0
        elif pulls.friction[j] > 0.0:
            give(node, stiffness, dt)
            path["friction_power"] += (node["after"] - node["before"]) * node["sliding"]
            path["grip_energy"] += 0.5 * stiffness * node["held"] * node["held"]


@compiled
def _rest(inside: Problem, i: int, k: int) -> None:
    """Let a cable that has no path do nothing."""
    path = inside.paths[i, k]
    path["tension"], path["energy"], path["stretch"], path["drive_power"] = 0.0, 0.0, 0.0, 0.0
    path["damping_power"], path["friction_power"], path["grip_energy"] = 0.0, 0.0, 0.0
    for j in range(inside.cables[k]["first"], inside.cables[k]["last"] + 1):
        inside.nodes[i, j]["held"] = 0.0
        _let_go(inside.nodes[i, j])


@compiled
def _pull(inside: Problem, pulls: Pulls, i: int, k: int, dt: float) -> None:
    """Find the tensions of cable k of simulation i, after a winch has turned for dt."""
    drive, path = pulls.drives[k], inside.paths[i, k]
    own = inside.elements[i % inside.elements.shape[0]]
    rest, rest_rate = _wind(drive, path, dt)
    path["rest_length"] = rest
    if path["fault"] != NO_FAULT:
        _rest(inside, i, k)
        return
    length, rate, mean_rate = _measure(inside, own, i, k, dt)
    if not abs(rate) + abs(mean_rate) < math.inf:  # a velocity that is not finite
        _rest(inside, i, k)
        return
    if drive["elastic"] == 0:
        rest, rest_rate = length, rate
        path["rest_length"] = length
    stretching = mean_rate - rest_rate if drive["elastic"] == 1 else 0.0
    _prepare(inside, pulls, i, k, (length, mean_rate, stretching), dt)
    stretch, nodes = length - rest, inside.nodes[i]
    path["stretch"], path["energy"], path["damping_power"] = stretch, 0.0, 0.0
    first, last = inside.cables[k]["first"], inside.cables[k]["last"]
    if drive["elastic"] == 1:
        mean = 0.0
        if stretch > 0.0:
            spring = drive["stiffness"] * stretch
            mean = max(0.0, spring + drive["damping"] * (rate - rest_rate))
            path["energy"] = 0.5 * spring * stretch
            path["damping_power"] = (mean - spring) * (rate - rest_rate)
        tension = share(nodes, first, last, length, mean)
    else:
        tension = max(0.0, drive["tension"] + path["asked"])
        pass_on(nodes, first, last, tension)
    path["tension"] = tension
    path["drive_power"] = -tension * rest_rate
    _hold(inside, pulls, i, k, dt)


@compiled
def pull(problem: Any, pulls: Any, dt: float, forces: NDArray) -> None:
    """Let winches turn, find all tensions, and add what they do to the bodies.

    Args:
        problem: a box with a `Problem` that is solved.
        pulls: a box with `Pulls`.
        dt: how long the step is, s.
        forces: (n, b, 6), added to: force (N) and moment (N m) about the body's origin, in world
            axes.
    """
    inside, given = problem.value, pulls.value
    for i in range(forces.shape[0]):
        own = inside.elements[i % inside.elements.shape[0]]
        for k in range(inside.cables.shape[0]):
            _pull(inside, given, i, k, dt)
            for j in range(inside.cables[k]["first"], inside.cables[k]["last"] + 1):
                node, body = inside.nodes[i, j], own[j]["body"]
                if node["before"] + node["after"] > 0.0:
                    pull_at(inside, i, body, node, node["before"], node["after"], forces)
