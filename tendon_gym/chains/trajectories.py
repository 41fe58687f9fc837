"""Minimum-jerk motions from rest to rest, of joints and of the tip.

Along the way the share is 10 s^3 - 15 s^4 + 6 s^5 with s from 0 to 1 (Flash and Hogan 1985, The
coordination of arm movements: an experimentally confirmed mathematical model).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains import given
from tendon_gym.chains.reaching import rotation_vector
from tendon_gym.chains.segments import Pose

Array = NDArray[np.float64]
PEAK_VELOCITY = 1.875
"""Largest rate of the share, times the duration: 15 / 8, half-way."""
PEAK_ACCELERATION = 10.0 / math.sqrt(3.0)
"""Largest second derivative of the share, times the duration squared."""


class JointPoint(NamedTuple):
    """Joints at one time: positions, velocities and accelerations, (n_joints,) each."""

    q: Array
    v: Array
    a: Array


class TipPoint(NamedTuple):
    """The tip at one time: where it is, and how it moves; linear first, then angular, (6,) each."""

    pose: Pose
    twist: Array
    acceleration: Array


class JointTrajectory:
    """Joints from one place to another, all at once and straight."""

    def __init__(self, start: ArrayLike, goal: ArrayLike, duration: float) -> None:
        """Plan the motion.

        Args:
            start: (n_joints,) where the joints are at time 0, rad or m.
            goal: (n_joints,) where they are at time `duration` and ever after.
            duration: s.

        Raises:
            ValueError: different shapes, NaN or infinities, or a duration that is not positive.
        """
        self.start = checks.array("start", start, (None,))
        self.goal = checks.array("goal", goal, (len(self.start),))
        self.duration = checks.number("duration", duration, above=0.0)

    @classmethod
    def within(
        cls,
        start: ArrayLike,
        goal: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike = np.inf,
    ) -> JointTrajectory:
        """Plan the quickest such motion within velocities and accelerations.

        Args:
            start: (n_joints,), rad or m.
            goal: (n_joints,).
            velocity: largest of all joints or (n_joints,) of each, rad/s or m/s.
            acceleration: the same, rad/s^2 or m/s^2; infinite for no limit.
        """
        first = checks.array("start", start, (None,))
        way = np.abs(checks.array("goal", goal, (len(first),)) - first)
        fastest = _limits("velocity", velocity, len(first))
        hardest = _limits("acceleration", acceleration, len(first))
        endless = np.isinf(fastest) & np.isinf(hardest) & (way > 0.0)
        if endless.any():
            joint = int(np.flatnonzero(endless)[0])
            raise ValueError(f"joint {joint} must have a finite velocity or acceleration to move")
        times = [PEAK_VELOCITY * way / fastest, np.sqrt(PEAK_ACCELERATION * way / hardest)]
        # Where start and goal are one, any time will do.
        return cls(start, goal, max(float(np.max(times, initial=0.0)), 1e-9))

    def at(self, time: float) -> JointPoint:
        """Return where the joints are at a time, s; at rest before 0 and after `duration`."""
        share, rate, curvature = _share(time, self.duration)
        way = self.goal - self.start
        return JointPoint(self.start + share * way, rate * way, curvature * way)


class TipTrajectory:
    """The tip from one pose to another: straight on, turning about one axis the shorter way."""

    def __init__(self, start: Pose, goal: Pose, duration: float) -> None:
        """Plan the motion.

        Args:
            start: pose at time 0, in the axes in which all else is meant: the chain's base.
            goal: pose at time `duration` and ever after.
            duration: s.

        Raises:
            ValueError: not poses, or a duration that is not positive.
        """
        self.start, self.goal = given.pose("start", start), given.pose("goal", goal)
        self.duration = checks.number("duration", duration, above=0.0)
        self._turn = np.array(rotation_vector(self.start.rotation, self.goal.rotation))

    def at(self, time: float) -> TipPoint:
        """Return where the tip is at a time, s; at rest before 0 and after `duration`."""
        share, rate, curvature = _share(time, self.duration)
        way = np.concatenate([self.goal.position - self.start.position, self._turn])
        pose = Pose(
            self.start.position + share * way[:3],
            _turned_by(share * self._turn) @ self.start.rotation,
        )
        return TipPoint(pose, rate * way, curvature * way)


def _share(time: float, duration: float) -> tuple[float, float, float]:
    """Return which share of the way is done, 0 to 1, with its derivatives by time."""
    s = min(max(checks.number("time", time) / duration, 0.0), 1.0)
    share = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    rate = 30.0 * (s * (1.0 - s)) ** 2 / duration
    curvature = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2
    return share, rate, curvature


def _limits(name: str, value: ArrayLike, n: int) -> Array:
    """Return positive limits (n,), of which some may be infinite."""
    limits = np.asarray(value)
    if limits.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be one number or several, got {checks.shown(value)}")
    if limits.shape not in ((), (n,)):
        checks.reject(name, value, f"one number, or one for each of {n} joints")
    if not (limits > 0.0).all():
        checks.reject(name, value, "greater than 0")
    return np.broadcast_to(limits.astype(np.float64), (n,))


def _turned_by(vector: Array) -> Array:
    """Return the rotation matrix of a rotation vector, rad."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    quaternion, flat = np.empty(4), np.empty(9)
    mujoco.mju_axisAngle2Quat(quaternion, vector / angle, angle)
    mujoco.mju_quat2Mat(flat, quaternion)
    return flat.reshape(3, 3)
