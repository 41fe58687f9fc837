"""What an environment knows of its simulations after a step: one named row each.

Observations, rewards, terminations and infos are all taken from these rows. The fields read alike
in plain numpy and in compiled code: `signals["position_error"]` is (n, 3).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import Prepared, compiled
from tendon_gym.control.se3 import desired_frame
from tendon_gym.engines.kinematics import Kinematics
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
        ("thrust_effort", np.float64),
        ("tension_effort", np.float64),
        ("action_rate", np.float64),
        ("clearance", np.float64),
    ]
)
"""Lengths in m, angles in rad, velocities per second.

thrust_effort: what the rotors give above an equal share of the weight, summed.
tension_effort: what the tendons pull above the slackest one, summed.
action_rate: length of the vector of all controls' changes since the last step, per second.
"""


class Sensors:
    """Fills SIGNALS from the motion, the controls and the setpoints of n simulations."""

    def __init__(
        self,
        layout: Layout,
        tip_body: int,
        clearances: NDArray,
        motion: Kinematics,
        ctrl: NDArray,
        last_ctrl: NDArray,
        step_time: float,
        setpoint: NDArray,
        tip_goal: NDArray,
        full_moment: float,
    ) -> None:
        """Keep what is measured; the arrays are read again at every `measure`.

        Args:
            layout: the model's indices and constants.
            tip_body: the body that carries the tip site.
            clearances: (nbody,), how far each body reaches below its origin at most, m, negative
                for bodies that don't count; the first one, the world's, is that of the tip.
            motion: the kinematics, up to date.
            ctrl: (n, nu), N, applied now.
            last_ctrl: (n, nu), N, applied a step ago.
            step_time: s between the two.
            setpoint: (n,) of SETPOINT.
            tip_goal: (n, 3), in body axes, m.
            full_moment: N m, the tendons' moment at full bend.
        """
        self.signals = np.zeros(len(ctrl), SIGNALS)
        angles, radii = layout.tendon_angles, layout.tendon_radii
        rotors = layout.rotor_actuators
        self.measure_clearance = Prepared(
            _measure_clearance,
            motion.body_position,
            motion.site_position,
            layout.tip_site,
            clearances,
            self.signals,
        ).bound()
        """Write the clearance alone."""
        self.measure = Prepared(
            _measure,
            np.array([layout.base_body, tip_body, layout.tip_site], np.int64),
            np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1),
            rotors,
            layout.tendon_actuators,
            layout.mass * layout.gravity / max(len(rotors), 1),
            layout.gravity,
            clearances,
            motion.body_position,
            motion.body_rotation,
            motion.body_velocity,
            motion.body_angular_velocity,
            motion.site_position,
            ctrl,
            last_ctrl,
            step_time,
            setpoint,
            tip_goal,
            full_moment,
            self.signals,
        ).bound()
        """Write all signals at the present state."""


@compiled
def _measure(
    places: NDArray,
    arms: NDArray,
    rotors: NDArray,
    tendons: NDArray,
    hover: float,
    gravity: float,
    clearances: NDArray,
    position: NDArray,
    rotation: NDArray,
    velocity: NDArray,
    angular_velocity: NDArray,
    site_position: NDArray,
    ctrl: NDArray,
    last_ctrl: NDArray,
    step_time: float,
    setpoint: NDArray,
    tip_goal: NDArray,
    full_moment: float,
    s: NDArray,
) -> None:
    base, tip_body, tip_site = places[0], places[1], places[2]
    for i in range(s.shape[0]):
        s["position"][i] = position[i, base]
        s["rotation"][i] = rotation[i, base]
        s["velocity"][i] = velocity[i, base]
        _measure_tip(
            base, tip_body, position[i], rotation[i], velocity[i], angular_velocity[i],
            site_position[i, tip_site], s, i,
        )  # fmt: skip
        for k in range(3):
            s["position_error"][i, k] = setpoint["position"][i, k] - position[i, base, k]
            s["velocity_error"][i, k] = setpoint["velocity"][i, k] - velocity[i, base, k]
            s["tip_goal"][i, k] = tip_goal[i, k]
            s["tip_error"][i, k] = tip_goal[i, k] - s["tip"][i, k]
        r = rotation[i, base]
        yaw_error = setpoint["yaw"][i] - math.atan2(r[1, 0], r[0, 0])
        s["yaw_error"][i] = math.atan2(math.sin(yaw_error), math.cos(yaw_error))
        s["tilt"][i] = math.acos(min(max(r[2, 2], -1.0), 1.0))
        s["attitude_error"][i] = _attitude_error(
            columns(r), vector(setpoint["acceleration"][i]), gravity, setpoint["yaw"][i]
        )
        _measure_controls(
            arms, rotors, tendons, hover, ctrl[i], last_ctrl[i], step_time, setpoint, full_moment,
            s, i,
        )  # fmt: skip
    _measure_clearance(position, site_position, tip_site, clearances, s)


@compiled
def _attitude_error(frame: Frame, acceleration: Vector, gravity: float, yaw: float) -> float:
    """Return the angle (rad) between a frame and the one that tracks the acceleration and yaw."""
    lift = (acceleration[0], acceleration[1], acceleration[2] + gravity)
    wanted = desired_frame(lift, yaw)
    trace = dot(frame[0], wanted[0]) + dot(frame[1], wanted[1]) + dot(frame[2], wanted[2])
    return math.acos(min(max(0.5 * (trace - 1.0), -1.0), 1.0))


@compiled
def _measure_clearance(
    position: NDArray, site_position: NDArray, tip_site: int, clearances: NDArray, s: NDArray
) -> None:
    """Write the height of the lowest point over the floor."""
    for i in range(s.shape[0]):
        lowest = site_position[i, tip_site, 2] - clearances[0]
        for b in range(1, clearances.shape[0]):
            if clearances[b] >= 0.0:
                lowest = min(lowest, position[i, b, 2] - clearances[b])
        s["clearance"][i] = lowest


@compiled
def _measure_tip(
    base: int,
    tip_body: int,
    position: NDArray,
    rotation: NDArray,
    velocity: NDArray,
    angular_velocity: NDArray,
    tip: NDArray,
    s: NDArray,
    i: int,
) -> None:
    """Write the tip's place and velocity as seen from the base, which moves and turns itself."""
    frame = columns(rotation[base])
    spin = to_body(frame, vector(angular_velocity[base]))
    place = to_body(frame, subtract(vector(tip), vector(position[base])))
    arm = subtract(vector(tip), vector(position[tip_body]))
    speed = add(vector(velocity[tip_body]), cross(vector(angular_velocity[tip_body]), arm))
    seen = to_body(frame, subtract(speed, vector(velocity[base])))
    store(spin, s["angular_velocity"][i])
    store(place, s["tip"][i])
    store(subtract(seen, cross(spin, place)), s["tip_velocity"][i])


@compiled
def _measure_controls(
    arms: NDArray,
    rotors: NDArray,
    tendons: NDArray,
    hover: float,
    ctrl: NDArray,
    last_ctrl: NDArray,
    step_time: float,
    setpoint: NDArray,
    full_moment: float,
    s: NDArray,
    i: int,
) -> None:
    """Write the applied bend, the efforts and the rate of the controls."""
    effort = 0.0
    for k in range(rotors.shape[0]):
        effort += max(ctrl[rotors[k]] - hover, 0.0)
    s["thrust_effort"][i] = effort
    slackest, total, x, y = math.inf, 0.0, 0.0, 0.0
    for k in range(tendons.shape[0]):
        tension = ctrl[tendons[k]]
        slackest = min(slackest, tension)
        total += tension
        x += tension * arms[k, 0]
        y += tension * arms[k, 1]
    s["tension_effort"][i] = total - tendons.shape[0] * slackest
    s["bend"][i, 0], s["bend"][i, 1] = x / full_moment, y / full_moment
    s["bend_error"][i, 0] = setpoint["bend"][i, 0] - s["bend"][i, 0]
    s["bend_error"][i, 1] = setpoint["bend"][i, 1] - s["bend"][i, 1]
    square = 0.0
    for k in range(ctrl.shape[0]):
        change = ctrl[k] - last_ctrl[k]
        square += change * change
    s["action_rate"][i] = math.sqrt(square) / step_time
