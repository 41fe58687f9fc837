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
    """What tensions are computed from, and what is found.

    Attributes:
        drives: (k,) DRIVE.
        grips: (n, e) GRIP.
        loads: (n, k) LOAD.
    """

    drives: NDArray
    grips: NDArray
    loads: NDArray


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
        node, grip = inside.nodes[i, j], pulls.grips[i, j]
        _let_go(grip)
        if node["active"] == 0.0:
            node["held"] = 0.0
            continue
        if j > previous:
            grip["line"], _, change = _line(inside, own, i, previous, j, dt)
            done, done_rate = done + grip["line"], done_rate + change
        previous, grip["arc"] = j, _arc(own[j], node)
        if own[j]["role"] == OBSTACLE and length > 0.0:
            ahead = (length - done - 0.5 * grip["arc"]) / length
            grip["sliding"] = rate - done_rate - ahead * stretching
            if grip["friction"] > 0.0:
                curve, accuracy = inside.curves[i, j], cable["accuracy"]
                stages = inside.workspace.stages
                grip["angle"] = turning(own[j], inside.tables, curve, accuracy, stages)
                resist(grip, node["held"], pulls.drives[k]["grip_stiffness"], dt)
        done += grip["arc"]


@compiled
def _let_go(grip: Any) -> None:
    grip["line"], grip["arc"], grip["angle"], grip["sliding"] = 0.0, 0.0, 0.0, 0.0
    grip["holding"], grip["most"], grip["before"], grip["after"] = 0.0, 1.0, 0.0, 0.0


@compiled
def _hold(inside: Problem, pulls: Pulls, i: int, k: int, dt: float) -> None:
    """Let what holds the cable on obstacles give way for dt (s) to the tensions that were found."""
    load, stiffness = pulls.loads[i, k], pulls.drives[k]["grip_stiffness"]
    load["friction_power"] = load["grip_energy"] = 0.0
    for j in range(inside.cables[k]["first"], inside.cables[k]["last"] + 1):
        node, grip = inside.nodes[i, j], pulls.grips[i, j]
        if node["active"] == 0.0:
            grip["before"] = grip["after"] = 0.0
        elif grip["friction"] > 0.0:
            node["held"] = give(grip, node["held"], stiffness, dt)
            load["friction_power"] += (grip["after"] - grip["before"]) * grip["sliding"]
            load["grip_energy"] += 0.5 * stiffness * node["held"] * node["held"]


@compiled
def _rest(inside: Problem, pulls: Pulls, i: int, k: int, load: Any) -> None:
    """Let a cable that has no path do nothing."""
    inside.paths[i, k]["tension"] = 0.0
    load["energy"], load["stretch"], load["drive_power"] = 0.0, 0.0, 0.0
    load["damping_power"], load["friction_power"], load["grip_energy"] = 0.0, 0.0, 0.0
    for j in range(inside.cables[k]["first"], inside.cables[k]["last"] + 1):
        inside.nodes[i, j]["held"] = 0.0
        _let_go(pulls.grips[i, j])


@compiled
def _pull(inside: Problem, pulls: Pulls, i: int, k: int, dt: float) -> None:
    """Find the tensions of cable k of simulation i, after a winch has turned for dt."""
    drive, load, path = pulls.drives[k], pulls.loads[i, k], inside.paths[i, k]
    own = inside.elements[i % inside.elements.shape[0]]
    rest, rest_rate = _wind(drive, path, dt)
    load["rest_length"] = rest
    if path["fault"] != NO_FAULT:
        _rest(inside, pulls, i, k, load)
        return
    length, rate, mean_rate = _measure(inside, own, i, k, dt)
    if not abs(rate) + abs(mean_rate) < math.inf:  # a velocity that is not finite
        _rest(inside, pulls, i, k, load)
        return
    if drive["elastic"] == 0:
        rest, rest_rate = length, rate
        load["rest_length"] = length
    stretching = mean_rate - rest_rate if drive["elastic"] == 1 else 0.0
    _prepare(inside, pulls, i, k, (length, mean_rate, stretching), dt)
    stretch, grips = length - rest, pulls.grips[i]
    load["stretch"], load["energy"], load["damping_power"] = stretch, 0.0, 0.0
    first, last = inside.cables[k]["first"], inside.cables[k]["last"]
    if drive["elastic"] == 1:
        mean = 0.0
        if stretch > 0.0:
            spring = drive["stiffness"] * stretch
            mean = max(0.0, spring + drive["damping"] * (rate - rest_rate))
            load["energy"] = 0.5 * spring * stretch
            load["damping_power"] = (mean - spring) * (rate - rest_rate)
        tension = share(grips, first, last, length, mean)
    else:
        tension = max(0.0, drive["tension"] + path["asked"])
        pass_on(grips, first, last, tension)
    path["tension"] = tension
    load["drive_power"] = -tension * rest_rate
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
                grip, node = given.grips[i, j], inside.nodes[i, j]
                if grip["before"] + grip["after"] > 0.0:
                    body = own[j]["body"]
                    pull_at(inside, i, body, node, grip["before"], grip["after"], forces)
