"""Torques for the joints of a chain: against gravity, like springs, and for the tip.

All of them are for TORQUE mode: `robot.jnt_trq_cmd = law.torques(...)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains import given
from tendon_gym.chains.chain import Chain
from tendon_gym.chains.reaching import rotation_vector
from tendon_gym.chains.segments import Pose

Array = NDArray[np.float64]


def gravity_compensation(chain: Chain, q: ArrayLike, base: ArrayLike | None = None) -> Array:
    """Return the torques (n_joints,) that hold the chain at rest, N m or N.

    Args:
        chain: the chain, with its tool.
        q: (n_joints,) positions, rad or m.
        base: what the base does, see `Chain.gravity`.
    """
    return chain.gravity(q, base)


class JointImpedance:
    """Springs and dampers at the joints, with the chain's own dynamics taken care of.

    tau = K (q_d - q) + D (v_d - v) + M(q) a_d + C(q, v) v_d + g(q), which keeps energy bounded for
    any K and D (Paden and Panja 1988, Globally asymptotically stable PD+ controller for robot
    manipulators). A push of the torque f moves a joint at rest by f / K.
    """

    def __init__(self, chain: Chain, stiffness: ArrayLike, damping: ArrayLike) -> None:
        """Set the gains.

        Args:
            chain: the chain, with its tool.
            stiffness: K of all joints or (n_joints,) of each, N m/rad or N/m.
            damping: D of all joints or (n_joints,) of each, N m s/rad or N s/m.
        """
        self.chain = given.of_kind("chain", chain, Chain)
        self.stiffness = _gains("stiffness", stiffness, chain.n_joints)
        self.damping = _gains("damping", damping, chain.n_joints)

    def torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        wanted_q: ArrayLike,
        wanted_v: ArrayLike | None = None,
        wanted_a: ArrayLike | None = None,
        base: ArrayLike | None = None,
    ) -> Array:
        """Return torques (n_joints,), N m or N.

        Args:
            q: (n_joints,) positions, rad or m.
            v: (n_joints,) velocities.
            wanted_q: (n_joints,) where the springs rest.
            wanted_v: (n_joints,) how that moves; not at all by default.
            wanted_a: (n_joints,) how that accelerates; not at all by default.
            base: what the base does, see `Chain.gravity`.
        """
        chain, n = self.chain, self.chain.n_joints
        goal = checks.array("wanted_q", wanted_q, (n,))
        here, moving = checks.array("q", q, (n,)), checks.array("v", v, (n,))
        rate = np.zeros(n) if wanted_v is None else checks.array("wanted_v", wanted_v, (n,))
        torques = self.stiffness * (goal - here) + self.damping * (rate - moving)
        torques += chain.gravity(q, base)
        if wanted_v is not None:
            torques += chain.coriolis(q, v) @ rate
        if wanted_a is not None:
            torques += chain.mass_matrix(q) @ checks.array("wanted_a", wanted_a, (n,))
        return torques


class OperationalSpace:
    """The tip as a free body on springs, and a posture in what is left (Khatib 1987).

    F = L (a_d + kp e + kd (w_d - w) - J' v), tau = J^T F + bias + N^T tau_0, with the tip's inertia
    L = (J M^-1 J^T)^-1 and the dynamically consistent N, which keeps tau_0 from moving the tip.
    Away from singular positions the tip's error obeys e'' + kd e' + kp e = 0 exactly. (Khatib 1987,
    A unified approach for motion and force control of robot manipulators: the operational space
    formulation.)
    """

    def __init__(
        self,
        chain: Chain,
        frequency: ArrayLike,
        damping_ratio: float = 1.0,
        posture_frequency: float = 0.0,
        regularisation: float = 1e-6,
    ) -> None:
        """Set the gains.

        Args:
            chain: the chain, with its tool.
            frequency: natural frequency of the tip's error, of all or of each direction (6,): three
                of position, three of rotation, rad/s.
            damping_ratio: of the tip's error and of the posture's; 1 for no overshoot.
            posture_frequency: natural frequency of the joints' way to a posture, rad/s.
            regularisation: added to J M^-1 J^T near singular positions, 1/kg; the tip gives way
                there instead of asking for the impossible.
        """
        self.chain = given.of_kind("chain", chain, Chain)
        self.frequency = _gains("frequency", frequency, 6)
        self.damping_ratio = checks.number("damping_ratio", damping_ratio, minimum=0.0)
        self.posture_frequency = checks.number("posture_frequency", posture_frequency, minimum=0.0)
        self.regularisation = checks.number("regularisation", regularisation, minimum=0.0)

    def torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        wanted: Pose,
        twist: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        position_only: bool = False,
        base: ArrayLike | None = None,
    ) -> Array:
        """Return torques (n_joints,), N m or N.

        Args:
            q: (n_joints,) positions, rad or m.
            v: (n_joints,) velocities.
            wanted: the tip's pose in the base's axes.
            twist: (6,) how it moves, m/s and rad/s; not at all by default.
            acceleration: (6,) how that changes.
            posture: (n_joints,) where the joints would rather be, as far as the tip doesn't notice.
            position_only: whether the tip may turn as it likes.
            base: what the base does, see `Chain.gravity`.
        """
        chain, rows = self.chain, 3 if position_only else 6
        jacobian, drift = self._tip(q, v, rows)
        wish = self._wish(q, jacobian @ np.asarray(v), wanted, twist, acceleration, rows)
        inverse = np.linalg.inv(chain.mass_matrix(q))
        mobility = jacobian @ inverse @ jacobian.T + self.regularisation * np.eye(rows)
        force = np.linalg.solve(mobility, wish - drift)
        torques = jacobian.T @ force + chain.bias(q, v, base)
        if posture is not None:
            rest = self._rest(q, v, posture)
            # N^T M rest = M rest - J^T L J M^-1 M rest
            kept = np.linalg.solve(mobility, jacobian @ rest)
            torques += np.linalg.solve(inverse, rest) - jacobian.T @ kept
        return torques

    def _rest(self, q: ArrayLike, v: ArrayLike, posture: ArrayLike) -> Array:
        """Return the accelerations (n_joints,) that would take the joints to a posture."""
        goal = checks.array("posture", posture, (self.chain.n_joints,))
        omega, ratio = self.posture_frequency, self.damping_ratio
        return omega**2 * (goal - np.asarray(q)) - 2.0 * ratio * omega * np.asarray(v)

    def _tip(self, q: ArrayLike, v: ArrayLike, rows: int) -> tuple[Array, Array]:
        """Return the Jacobian, and the tip's acceleration when the joints have none."""
        drift = self.chain.jacobian_derivative(q, v) @ np.asarray(v)
        return self.chain.jacobian(q)[:rows], drift[:rows]

    def _wish(
        self,
        q: ArrayLike,
        moving: Array,
        wanted: Pose,
        twist: ArrayLike | None,
        acceleration: ArrayLike | None,
        rows: int,
    ) -> Array:
        """Return the acceleration that is asked of the tip, (rows,)."""
        have = self.chain.forward_kinematics(q)
        error = np.zeros(6)
        place = given.of_kind("wanted", wanted, Pose).position
        error[:3] = checks.array("wanted.position", place, (3,)) - have.position
        if rows == 6:
            goal = given.rotations("wanted.rotation", wanted.rotation)
            error[3:] = rotation_vector(have.rotation, goal)
        rate = np.zeros(6) if twist is None else checks.array("twist", twist, (6,))
        wish = (
            np.zeros(6)
            if acceleration is None
            else checks.array("acceleration", acceleration, (6,))
        )
        gains = self.frequency[:rows]
        spring = gains**2 * error[:rows]
        damper = 2.0 * self.damping_ratio * gains * (rate[:rows] - moving)
        return wish[:rows] + spring + damper


def _gains(name: str, value: Any, n: int) -> Array:
    """Return gains (n,), none negative, from one number or from n."""
    gains = np.full(n, value) if np.ndim(value) == 0 else value
    return checks.array(name, gains, (n,), minimum=0.0)
