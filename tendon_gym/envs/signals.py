"""What an environment knows of its simulations after a step: one named row each.

Observations, rewards, terminations and infos are all taken from these rows. The fields read alike
in plain numpy and in compiled code: `signals["position_error"]` is (n, 3).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.control.se3 import desired_frame
from tendon_gym.model import Layout
from tendon_gym.spatial import (
    Frame,
    Vector,
    add,
    columns,
    cross,
    dot,
    store,
    subtract,
    to_body,
    vector,
)

SIGNALS = np.dtype(
    [
        # the base; angular velocity in body axes, all else in world axes
        ("position", np.float64, 3),
        ("rotation", np.float64, (3, 3)),
        ("velocity", np.float64, 3),
        ("angular_velocity", np.float64, 3),
        # the tip seen from the base's origin, in body axes
        ("tip", np.float64, 3),
        ("tip_velocity", np.float64, 3),
        # reference minus actual, in world axes; the yaw error is wrapped to [-pi, pi]
        ("position_error", np.float64, 3),
        ("velocity_error", np.float64, 3),
        ("yaw_error", np.float64),
        ("tilt", np.float64),
        # angle to the attitude that the reference implies: thrust along its acceleration, its yaw
        ("attitude_error", np.float64),
        # tendon moments over the moment at full bend: 1 is the most that every direction allows
        ("bend", np.float64, 2),
        ("bend_error", np.float64, 2),
        ("tip_goal", np.float64, 3),
        ("tip_error", np.float64, 3),
        # forces in N, rates in N/s, the lowest point above the floor in m
        ("thrust", np.float64),
        ("thrust_effort", np.float64),
        ("tension_effort", np.float64),
        ("action_rate", np.float64),
        ("clearance", np.float64),
        # of tasks with a `Rig`: load and obstacle seen from the base's origin, the load's velocity
        # what it lacks to its goal, and the cable's pull on the base, all in world axes; what else
        # is known of the cable, in m, m, N and turns on the obstacle, and how many of those lack;
        # the distance of the vehicle from the obstacle
        ("load", np.float64, 3),
        ("load_velocity", np.float64, 3),
        ("load_error", np.float64, 3),
        ("obstacle", np.float64, 3),
        ("cable_pull", np.float64, 3),
        ("cable_length", np.float64),
        ("rest_length", np.float64),
        ("cable_tension", np.float64),
        ("turns", np.float64),
        ("missing_turns", np.float64),
        ("obstacle_clearance", np.float64),
    ]
)
"""Lengths in m, angles in rad, velocities per second.

thrust: of all rotors.
thrust_effort: what the rotors give above an equal share of the weight, summed.
tension_effort: what the tendons pull above the slackest one, summed.
action_rate: length of the vector of all controls' changes since the last step, per second.
cable_length, rest_length, cable_tension, cable_pull, turns: at the beginning of the last physics
step, or at the reset, since the cable is solved there and nowhere else.
obstacle_clearance: inf where there is no obstacle.
"""


class Sensing(NamedTuple):
    """What `sense_one` works on.

    Attributes:
        base: index of the base's body.
        tip_body: index of the body that carries the tip site.
        tip_site: index of that site.
        hover: N, an equal share of the weight for each rotor.
        gravity: m/s^2.
        step_time: s, between ctrl and last_ctrl.
        full_moment: N m, the tendons' moment at full bend.
        arms: (tendons, 2), where the tendons pull, m.
        rotors: (rotors,), columns of ctrl.
        tendons: (tendons,), columns of ctrl.
        clearances: (nbody,), see `starts.reach_below`.
        ctrl: (n, nu), N, applied now.
        last_ctrl: (n, nu), N, applied a step ago.
        signals: (n,) of SIGNALS, written.
    """

    base: int
    tip_body: int
    tip_site: int
    hover: float
    gravity: float
    step_time: float
    full_moment: float
    arms: NDArray[np.float64]
    rotors: NDArray[np.int64]
    tendons: NDArray[np.int64]
    clearances: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    last_ctrl: NDArray[np.float64]
    signals: NDArray[np.void]


def sensing(
    layout: Layout,
    tip_body: int,
    clearances: NDArray,
    ctrl: NDArray,
    step_time: float,
    full_moment: float,
) -> Sensing:
    """Return the sensors of a model whose controls are `ctrl` (n, nu), with room for the rest."""
    angles, radii = layout.tendon_angles, layout.tendon_radii
    signals = np.zeros(len(ctrl), SIGNALS)
    signals["obstacle_clearance"] = math.inf
    return Sensing(
        base=layout.base_body,
        tip_body=tip_body,
        tip_site=layout.tip_site,
        hover=layout.mass * layout.gravity / max(len(layout.rotor_actuators), 1),
        gravity=layout.gravity,
        step_time=step_time,
        full_moment=full_moment,
        arms=np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1),
        rotors=layout.rotor_actuators,
        tendons=layout.tendon_actuators,
        clearances=clearances,
        ctrl=ctrl,
        last_ctrl=np.zeros(ctrl.shape),
        signals=signals,
    )


@inlined
def sense_one(i: int, motion: Any, setpoint: NDArray, tip_goal: NDArray, sensing: Any) -> None:
    """Write the signals of simulation i.

    Args:
        i: the simulation.
        motion: `forces.term.Motion` at the present state.
        setpoint: (n,) of SETPOINT.
        tip_goal: (n, 3), in body axes, m.
        sensing: `Sensing`.
    """
    s, base = sensing.signals, sensing.base
    position, velocity = motion.body_position[i, base], motion.body_velocity[i, base]
    r = motion.body_rotation[i, base]
    _sense_tip(i, motion, sensing)
    for k in range(3):
        s["position"][i, k] = position[k]
        s["velocity"][i, k] = velocity[k]
        s["position_error"][i, k] = setpoint["position"][i, k] - position[k]
        s["velocity_error"][i, k] = setpoint["velocity"][i, k] - velocity[k]
        s["tip_goal"][i, k] = tip_goal[i, k]
        s["tip_error"][i, k] = tip_goal[i, k] - s["tip"][i, k]
        for c in range(3):
            s["rotation"][i, k, c] = r[k, c]
    yaw_error = setpoint["yaw"][i] - math.atan2(r[1, 0], r[0, 0])
    s["yaw_error"][i] = math.atan2(math.sin(yaw_error), math.cos(yaw_error))
    s["tilt"][i] = math.acos(min(max(r[2, 2], -1.0), 1.0))
    s["attitude_error"][i] = _attitude_error(
        columns(r), vector(setpoint["acceleration"][i]), sensing.gravity, setpoint["yaw"][i]
    )
    _sense_controls(i, setpoint, sensing)
    s["clearance"][i] = clearance_of(i, motion, sensing)


@inlined
def put_controls_back(i: int, sensing: Any) -> None:
    """Let simulation i's controls be those of the step before, as its state is where that ended."""
    for k in range(sensing.ctrl.shape[1]):
        sensing.ctrl[i, k] = sensing.last_ctrl[i, k]


@inlined
def _attitude_error(frame: Frame, acceleration: Vector, gravity: float, yaw: float) -> float:
    """Return the angle (rad) between a frame and the one that tracks the acceleration and yaw."""
    lift = (acceleration[0], acceleration[1], acceleration[2] + gravity)
    wanted = desired_frame(lift, yaw)
    trace = dot(frame[0], wanted[0]) + dot(frame[1], wanted[1]) + dot(frame[2], wanted[2])
    return math.acos(min(max(0.5 * (trace - 1.0), -1.0), 1.0))


@inlined
def clearance_of(i: int, motion: Any, sensing: Any) -> float:
    """Return the height of simulation i's lowest point over the floor."""
    clearances = sensing.clearances
    lowest = motion.site_position[i, sensing.tip_site, 2] - clearances[0]
    for b in range(1, clearances.shape[0]):
        if clearances[b] >= 0.0:
            lowest = min(lowest, motion.body_position[i, b, 2] - clearances[b])
    return lowest


@inlined
def _sense_tip(i: int, motion: Any, sensing: Any) -> None:
    """Write the tip's place and velocity as seen from the base, which moves and turns itself."""
    s, base, body = sensing.signals, sensing.base, sensing.tip_body
    position, velocity = motion.body_position[i], motion.body_velocity[i]
    turning = motion.body_angular_velocity[i]
    tip = vector(motion.site_position[i, sensing.tip_site])
    frame = columns(motion.body_rotation[i, base])
    spin = to_body(frame, vector(turning[base]))
    place = to_body(frame, subtract(tip, vector(position[base])))
    arm = subtract(tip, vector(position[body]))
    speed = add(vector(velocity[body]), cross(vector(turning[body]), arm))
    seen = to_body(frame, subtract(speed, vector(velocity[base])))
    store(spin, s["angular_velocity"][i])
    store(place, s["tip"][i])
    store(subtract(seen, cross(spin, place)), s["tip_velocity"][i])


@inlined
def _sense_controls(i: int, setpoint: NDArray, sensing: Any) -> None:
    """Write the applied bend, the efforts and the rate of the controls."""
    s, ctrl, last_ctrl = sensing.signals, sensing.ctrl[i], sensing.last_ctrl[i]
    thrust = effort = 0.0
    for k in range(sensing.rotors.shape[0]):
        thrust += ctrl[sensing.rotors[k]]
        effort += max(ctrl[sensing.rotors[k]] - sensing.hover, 0.0)
    s["thrust"][i], s["thrust_effort"][i] = thrust, effort
    tendons, slackest, total, x, y = sensing.tendons, math.inf, 0.0, 0.0, 0.0
    for k in range(tendons.shape[0]):
        tension = ctrl[tendons[k]]
        slackest = min(slackest, tension)
        total += tension
        x += tension * sensing.arms[k, 0]
        y += tension * sensing.arms[k, 1]
    s["tension_effort"][i] = total - tendons.shape[0] * slackest
    s["bend"][i, 0], s["bend"][i, 1] = x / sensing.full_moment, y / sensing.full_moment
    s["bend_error"][i, 0] = setpoint["bend"][i, 0] - s["bend"][i, 0]
    s["bend_error"][i, 1] = setpoint["bend"][i, 1] - s["bend"][i, 1]
    square = 0.0
    for k in range(ctrl.shape[0]):
        change = ctrl[k] - last_ctrl[k]
        square += change * change
    s["action_rate"][i] = math.sqrt(square) / sensing.step_time
