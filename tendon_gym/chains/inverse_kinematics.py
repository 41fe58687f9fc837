"""Inverse kinematics of a chain: joint positions, and velocities, for what the tip is to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains import differential, given, targets
from tendon_gym.chains.chain import Chain
from tendon_gym.chains.descent import SETTINGS
from tendon_gym.chains.segments import Pose

Array = NDArray[np.float64]
FINER = 1e-3
"""How much of the tolerances is left to the tip while the joints follow the posture."""
FINEST = 1e-12
"""The least that is left, m and rad."""


@dataclass(frozen=True)
class IkOptions:
    """How hard inverse kinematics tries, and when it is content.

    Attributes:
        position_tolerance: largest distance of the tip from its target, m.
        rotation_tolerance: largest angle between the tip's axes and the target's, rad.
        rotation_length: how many metres count as much as a radian, m: where a target can't be
            reached, that decides what the closest pose is.
        iterations: most Newton iterations from one start.
        restarts: how many random places within the joints' limits are tried after the guess.
        seed: of those places; equal seeds give equal results.
        posture_tolerance: largest slope of the posture's objective that is left along the joint
            positions with the same pose of the tip, rad or m.
        posture_iterations: most iterations towards the posture.
    """

    position_tolerance: float = 1e-6
    rotation_tolerance: float = 1e-6
    rotation_length: float = 0.3
    iterations: int = 60
    restarts: int = 64
    seed: int = 0
    posture_tolerance: float = 1e-6
    posture_iterations: int = 60

    def __post_init__(self) -> None:
        """Check every field."""
        for name in ("position_tolerance", "rotation_tolerance", "posture_tolerance"):
            checks.number(f"IkOptions.{name}", getattr(self, name), minimum=1e-12)
        checks.number("IkOptions.rotation_length", self.rotation_length, above=0.0)
        checks.integer("IkOptions.iterations", self.iterations, minimum=1)
        for name in ("restarts", "seed", "posture_iterations"):
            checks.integer(f"IkOptions.{name}", getattr(self, name), minimum=0)

    def settings(self, rows: int, finer: float = 1.0) -> NDArray[np.void]:
        """Return what the kernels read, (1,) of SETTINGS.

        Args:
            rows: 3 for positions, 6 for poses.
            finer: factor of the tip's tolerances.
        """
        record = np.zeros(1, SETTINGS)
        record["rows"] = rows
        record["length"] = self.rotation_length
        for name in record.dtype.names[2:]:  # type: ignore[index]
            record[name] = getattr(self, name)
        for name in ("position_tolerance", "rotation_tolerance"):
            record[name] = max(finer * getattr(self, name), FINEST)
        return record


class IkSolution(NamedTuple):
    """What inverse kinematics found, for one target or, with a leading axis, for a batch."""

    q: Array
    """(..., n_joints) joint positions within their limits, rad or m: of the closest pose found."""
    reached: NDArray[np.bool_]
    """Whether the pose is within both tolerances of the target."""
    position_error: Array
    """Distance of the tip from the target, m."""
    rotation_error: Array
    """Angle between the tip's axes and the target's, rad; 0 if only a position was asked for."""
    pose: Pose
    """The pose of the tip at q, in the base's axes."""
    at_limit: NDArray[np.bool_]
    """(..., n_joints) which joints stand at one of their limits."""
    iterations: NDArray[np.int64]
    """Newton iterations in all, those for the posture included."""
    starts: NDArray[np.int64]
    """From how many places it was tried."""

    def row(self, k: int) -> IkSolution:
        """Return what was found for target k of a batch."""
        return IkSolution(
            self.q[k],
            self.reached[k],
            self.position_error[k],
            self.rotation_error[k],
            Pose(self.pose.position[k], self.pose.rotation[k]),
            self.at_limit[k],
            self.iterations[k],
            self.starts[k],
        )


class InverseKinematics:
    """Joint positions for poses of a chain's tip, and joint velocities for its twists.

    Targets are in the axes of the chain's base body, seen from its origin. For targets in the world
    see `Pose.inverse`: `base.inverse @ target`.
    """

    def __init__(self, chain: Chain, options: IkOptions | None = None) -> None:
        """Prepare for a chain.

        Args:
            chain: the chain; joint limits are its `joint_limits`.
            options: tolerances and effort.
        """
        self.chain = chain
        self.options = IkOptions() if options is None else options
        self._limits = np.array(chain.joint_limits)  # writable, as the kernels' own boxes are
        self._starts = self._draw_starts()

    def solve(
        self,
        position: ArrayLike,
        rotation: ArrayLike | None = None,
        *,
        guess: ArrayLike | None = None,
        posture: ArrayLike | None = None,
    ) -> IkSolution:
        """Return joint positions that put the tip where it is wanted, or as near as they can.

        Newton's method from the guess, then from the restarts until one reaches the target. A
        posture then picks among the joint positions that reach it: |q - posture|^2 is least there,
        nearby, subject to the joint limits.

        Args:
            position: (3,) or (batch, 3) where the tip is wanted, m.
            rotation: (3, 3) or (batch, 3, 3) rotation matrices of the axes that are wanted; None
                leaves them open.
            guess: (n_joints,) or (batch, n_joints) where to start; what is out of the limits is
                moved to them. The middle of the joints' ranges by default.
            posture: (n_joints,) or (batch, n_joints) where the joints would rather be; None leaves
                them where they arrive.

        Raises:
            ValueError: wrong shapes, NaN or infinities, or a matrix that is no rotation.
        """
        wanted, batched = _targets(position, rotation)
        size, n = len(wanted), self.chain.n_joints
        middle = self._starts[0]
        guesses = self._joints("guess", middle if guess is None else guess, size)
        postures = None if posture is None else self._joints("posture", posture, size)
        q, counts = np.empty((size, n)), np.empty((size, 2), np.int64)
        rows = 3 if rotation is None else 6
        settings = self.options.settings(rows)
        chain, limits, starts = self.chain.segments, self._limits, self._starts[1:]
        targets.solve(chain, wanted, settings, limits, starts, guesses, q, counts)
        if postures is not None:
            self._settle(wanted, rows, postures, q, counts)
        solution = self._report(q, wanted, rows, counts)
        return solution if batched else solution.row(0)

    def velocities(
        self,
        q: ArrayLike,
        twist: ArrayLike,
        *,
        timestep: float | None = None,
        largest: ArrayLike | None = None,
        preferred: ArrayLike | None = None,
        damping: float = 1e-3,
    ) -> Array:
        """Return joint velocities that give the tip a twist: one differential step.

        The velocities nearest to `preferred` among those that give the twist; where limits allow
        none, among those that come as near to it as they can: of all that the limits allow, they
        have the least damping^2 |v - preferred|^2 + |twist - J v|^2, angular velocities times
        `rotation_length`. Near singular positions the damping keeps them from racing.

        Args:
            q: (n_joints,) positions, rad or m.
            twist: (3,) velocity of the tip, m/s, or (6,) with its angular velocity, rad/s.
            timestep: s; if given, no joint leaves its limits within it.
            largest: largest velocity of all joints or (n_joints,) of each, rad/s or m/s.
            preferred: (n_joints,) what the joints do as far as it leaves the twist alone; 0 by
                default.
            damping: how much the velocities count against the twist, m; at least a millionth of
                the Jacobian's size, as far as numbers go.

        Raises:
            ValueError: wrong shapes, NaN or infinities, or velocity limits below zero.
        """
        n = self.chain.n_joints
        place = checks.array("q", q, (n,))
        rows = 3 if np.shape(twist) == (3,) else 6
        wanted = checks.array("twist", twist, (rows,))
        rest = np.zeros(n) if preferred is None else checks.array("preferred", preferred, (n,))
        damping = checks.number("damping", damping, minimum=1e-9)
        bounds = self._velocity_bounds(place, timestep, largest)
        out = np.empty(n)
        length = self.options.rotation_length
        segments = self.chain.segments
        differential.velocities(segments, place, wanted, length, bounds, rest, damping, out)
        return out

    def _velocity_bounds(
        self, q: Array, timestep: float | None, largest: ArrayLike | None
    ) -> Array:
        """Return (n_joints, 2) the slowest and fastest velocities."""
        bounds = np.tile([-np.inf, np.inf], (len(q), 1))
        if largest is not None:
            if np.ndim(largest) == 0:
                largest = np.full(len(q), checks.number("largest", largest, minimum=0.0))
            most = checks.array("largest", largest, (len(q),), minimum=0.0)
            bounds[:, 0], bounds[:, 1] = -most, most
        if timestep is None:
            return bounds
        timestep = checks.number("timestep", timestep, above=0.0)
        # A joint beyond its limit comes back as fast as it may.
        room = (self._limits - q[:, None]) / timestep
        bounds[:, 1] = np.clip(room[:, 1], bounds[:, 0], bounds[:, 1])
        bounds[:, 0] = np.clip(room[:, 0], bounds[:, 0], bounds[:, 1])
        return bounds

    def _joints(self, name: str, value: ArrayLike, size: int) -> Array:
        """Return joint positions as rows: one for all targets, or one for each."""
        n = self.chain.n_joints
        if np.ndim(value) < 2:
            return checks.array(name, value, (n,))[None]
        return checks.array(name, value, (size, n))

    def _draw_starts(self) -> Array:
        """Return the middle of the joints' ranges, then random places in them."""
        low, high = self._limits.T
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * np.pi, -np.pi))
        high = np.where(np.isfinite(high), high, low + 2 * np.pi)
        draws = np.random.default_rng(self.options.seed).random((self.options.restarts, len(low)))
        return np.concatenate([0.5 * (low + high)[None], low + draws * (high - low)])

    def _settle(
        self, wanted: Array, rows: int, postures: Array, q: Array, counts: NDArray[np.int64]
    ) -> None:
        """Move the joints that reached their targets to their postures."""
        reached = self._report(q, wanted, rows, counts).reached
        if len(postures) > 1:
            postures = postures[reached]
        settings, chain = self.options.settings(rows, FINER), self.chain.segments
        places, used = q[reached], counts[reached]
        if len(places):
            targets.settle_all(
                chain, wanted[reached], settings, self._limits, postures, places, used
            )
        q[reached], counts[reached] = places, used

    def _report(self, q: Array, wanted: Array, rows: int, counts: NDArray[np.int64]) -> IkSolution:
        errors = np.empty((len(q), 2))
        targets.errors(self.chain.segments, wanted, rows, q, errors)
        near = errors[:, 0] <= self.options.position_tolerance
        at_limit = (q <= self._limits[:, 0]) | (q >= self._limits[:, 1])
        return IkSolution(
            q=q,
            reached=near & (errors[:, 1] <= self.options.rotation_tolerance),
            position_error=errors[:, 0],
            rotation_error=errors[:, 1],
            pose=self.chain.forward_kinematics(q),
            at_limit=at_limit,
            iterations=counts[:, 0],
            starts=counts[:, 1],
        )


def _targets(position: ArrayLike, rotation: ArrayLike | None) -> tuple[Array, bool]:
    """Return poses (batch, 4, 3), and whether a batch was given."""
    batched = np.ndim(position) == 2
    lead: tuple[int | None, ...] = (None,) if batched else ()
    places = checks.array("position", position, (*lead, 3))
    places = places if batched else places[None]
    poses = np.zeros((len(places), 4, 3))
    poses[:, 3] = places
    poses[:, :3] = np.eye(3)
    if rotation is None:
        return poses, batched
    size: tuple[int, ...] = (len(places),) if batched else ()
    poses[:, :3] = given.rotations("rotation", rotation, (*size, 3, 3))
    return poses, batched
