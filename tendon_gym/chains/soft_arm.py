"""Soft arms at rest: elastic joints, tendons and gravity in balance, and how the tip gives way.

Any MuJoCo model with tendons will do: the arm is all hinges and slides below a body. At rest its
joint positions q are where the energy V(q) = gravity + springs + sum_i T_i L_i(q) has no slope,
for tensions T_i along tendons of lengths L_i. The second derivative of V is the arm's stiffness.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import lsq_linear

from tendon_gym import checks
from tendon_gym.chains.arm_parts import check_on_arm, entries_of, index_of, joints_below
from tendon_gym.chains.paths import find_body
from tendon_gym.chains.segments import Pose

Array = NDArray[np.float64]
DIFFERENCE = 1e-5
"""Change of a joint for finite differences, rad or m."""
FORWARD = 1e-6
"""The same for forward differences."""
TOLERANCE = 1e-10
"""Largest slope of the energy that is left at rest, N m or N."""
TENSION_STEP = 0.5
"""Largest change of a tension between two positions of rest, N ..."""
TENSION_SHARE = 0.05
"""... or this share of the largest tension, if that is more."""
JOINT_STEP = 0.1
"""Largest change of a joint between two iterations, rad or m."""
ITERATIONS = 200
"""Most iterations of one search for rest."""
REACHING = 60
"""Most changes of the tensions on the way of the tip to a position."""
SLACK = 1e-9
"""What keeps the bounds of a step apart where a tension may not change, N."""


class NoRest(ValueError):
    """An arm that finds no rest under tensions (n_tendons,), N."""

    def __init__(self, tensions: Array) -> None:
        """Say where the search ended."""
        self.tensions = tensions
        super().__init__(
            f"the arm finds no rest at tensions of {checks.shown(tensions)} N: more than "
            f"{TOLERANCE} N m are left at a joint after {ITERATIONS} iterations; smaller tensions "
            "or stiffer joints would let it"
        )


class SoftArm:
    """The joints below a body of a model, at rest under tensions and gravity.

    The base stands as it is in `qpos`, as any pose of a moving base may be, and so does everything
    else of the model. Contacts, joint limits and all other constraints are left out. Tensions pull
    tendons short: a tension T gives the joints the torques -T dL/dq.

    Attributes:
        model: the compiled model.
        n_joints: number of hinges and slides below the base.
        qpos_addresses: (n_joints,) where they are in qpos.
        dof_addresses: (n_joints,) where they are in qvel.
        tendons: (n_tendons,) indices of the tendons, in the order of tensions.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        base_body: str,
        tip_site: str,
        tendons: Sequence[str] | None = None,
        qpos: ArrayLike | None = None,
    ) -> None:
        """Find the arm in a model.

        Args:
            model: a compiled model.
            base_body: the body that the arm hangs on.
            tip_site: a site of the arm.
            tendons: names of those that can pull; all of the model by default.
            qpos: (nq,) how all else stands; the model's qpos0 by default.

        Raises:
            ValueError: an unknown name, a base without joints below, a ball or free joint there, or
                a tip that none of the joints moves.
        """
        if not isinstance(model, mujoco.MjModel):
            raise TypeError(f"model must be a mujoco.MjModel, got {checks.shown(model)}")
        self.model, self._data = model, mujoco.MjData(model)
        if qpos is not None:
            self._data.qpos[:] = checks.array("qpos", qpos, (model.nq,))
        self._base = find_body(model, "base_body", base_body)
        self._site = index_of(model, mujoco.mjtObj.mjOBJ_SITE, "tip_site", tip_site)
        joints = joints_below(model, self._base)
        check_on_arm(model, self._site, joints, tip_site)
        self.n_joints = len(joints)
        self.qpos_addresses = model.jnt_qposadr[joints]
        self.dof_addresses = model.jnt_dofadr[joints]
        kind = mujoco.mjtObj.mjOBJ_TENDON
        self.tendons = np.arange(model.ntendon)
        if tendons is not None:
            if isinstance(tendons, str) or not isinstance(tendons, Sequence):
                given = checks.shown(tendons)
                raise TypeError(f"tendons must be a list of names, got {given}")
            indices = [index_of(model, kind, "tendons", name) for name in tendons]
            if len(set(indices)) < len(indices):
                checks.reject("tendons", list(tendons), "names of different tendons")
            self.tendons = np.array(indices, np.intp)
        self._entries = entries_of(model, self.tendons)
        self._slides = model.jnt_type[joints] == mujoco.mjtJoint.mjJNT_SLIDE

    def energy_slope(self, q: ArrayLike, tensions: ArrayLike) -> Array:
        """Return the torques out of balance (n_joints,), N m or N: the slope of the energy.

        Args:
            q: (n_joints,) positions, rad or m.
            tensions: (n_tendons,), N.
        """
        self._place(checks.array("q", q, (self.n_joints,)))
        return self._slope(self._tensions(tensions))

    def stiffness(self, q: ArrayLike, tensions: ArrayLike) -> Array:
        """Return the stiffness (n_joints, n_joints), N m/rad: how the slope changes with q.

        Symmetric; by central differences of MuJoCo's forces.

        Args:
            q: (n_joints,) positions, rad or m.
            tensions: (n_tendons,), N.
        """
        pull = self._tensions(tensions)
        return self._stiffness(checks.array("q", q, (self.n_joints,)), pull)

    def rest(
        self, tensions: ArrayLike, start: ArrayLike | None = None, before: ArrayLike | None = None
    ) -> Array:
        """Return the joint positions at rest, (n_joints,), rad or m.

        The tensions change in small steps from `before`, and at each the arm settles downhill from
        where it was. So the place is a stable one, and where a strongly pulled arm snaps to another
        shape, it is the one that it falls to.

        Args:
            tensions: (n_tendons,), N.
            start: (n_joints,) positions at rest under `before`; the model's qpos0 by default.
            before: (n_tendons,), N; no tension by default.

        Raises:
            NoRest: a ValueError; the arm finds no rest on the way to the tensions.
            ValueError: wrong shapes, or negative tensions.
        """
        target = self._tensions(tensions)
        tension = np.zeros(len(target)) if before is None else self._tensions(before, "before")
        q = self.model.qpos0[self.qpos_addresses].copy()
        if start is not None:
            q = checks.array("start", start, (self.n_joints,))
        steps = 2
        while steps > 1:
            largest = max(TENSION_STEP, TENSION_SHARE * tension.max(initial=0.0))
            left = target - tension
            steps = max(1, int(np.ceil(np.abs(left).max(initial=0.0) / largest)))
            tension = target if steps == 1 else tension + left / steps
            q = self._settle(q, tension)
        return q

    def tip(self, q: ArrayLike) -> Pose:
        """Return the tip's pose in the axes of the base body, seen from its origin."""
        self._place(checks.array("q", q, (self.n_joints,)))
        data, axes = self._data, self._data.xmat[self._base].reshape(3, 3)
        away = data.site_xpos[self._site] - data.xpos[self._base]
        return Pose(axes.T @ away, axes.T @ data.site_xmat[self._site].reshape(3, 3))

    def tip_jacobian(self, q: ArrayLike) -> Array:
        """Return the Jacobian (6, n_joints) of the tip's twist, in the base's axes."""
        self._place(checks.array("q", q, (self.n_joints,)))
        linear, angular = np.empty((2, 3, self.model.nv))
        mujoco.mj_jacSite(self.model, self._data, linear, angular, self._site)
        axes = self._data.xmat[self._base].reshape(3, 3)
        return np.concatenate([axes.T @ linear, axes.T @ angular])[:, self.dof_addresses]

    def tendon_lengths(self, q: ArrayLike) -> Array:
        """Return the lengths of the tendons (n_tendons,), m."""
        self._place(checks.array("q", q, (self.n_joints,)))
        return self._data.ten_length[self.tendons].copy()

    def tendon_jacobian(self, q: ArrayLike) -> Array:
        """Return how the lengths change with the joints, (n_tendons, n_joints), m/rad."""
        self._place(checks.array("q", q, (self.n_joints,)))
        return self._tendon_rows()

    def tip_by_tension(self, q: ArrayLike, tensions: ArrayLike) -> Array:
        """Return how the tip at rest moves with the tensions, (6, n_tendons), m/N and rad/N.

        Args:
            q: (n_joints,) positions at rest under the tensions.
            tensions: (n_tendons,), N.

        Raises:
            ValueError: q is no stable position.
        """
        bend = self._solve(q, tensions, self.tendon_jacobian(q).T)
        return -self.tip_jacobian(q) @ bend

    def tip_compliance(self, q: ArrayLike, tensions: ArrayLike) -> Array:
        """Return how the tip at rest gives way to a wrench on it, (6, 6), m/N and rad/(N m).

        Args:
            q: (n_joints,) positions at rest under the tensions.
            tensions: (n_tendons,), N.

        Raises:
            ValueError: q is no stable position.
        """
        jacobian = self.tip_jacobian(q)
        return jacobian @ self._solve(q, tensions, jacobian.T)

    def tensions_for(
        self, position: ArrayLike, largest: ArrayLike, effort: float = 1e-4
    ) -> tuple[Array, Array]:
        """Return tensions that bring the tip at rest near a position, and the joints there.

        They minimise |tip - position|^2 + effort^2 |tensions|^2 within their bounds, from no
        tension on: Gauss and Newton's steps with `tip_by_tension`, halved until they help.

        Args:
            position: (3,) in the base's axes, m.
            largest: of all tensions or (n_tendons,) of each, N.
            effort: what a newton of tension costs, m.

        Returns:
            Tensions (n_tendons,), N, and joint positions (n_joints,), rad or m.

        Raises:
            ValueError: wrong shapes or values, or an arm that finds no rest on the way.
        """
        n = len(self.tendons)
        target = checks.array("position", position, (3,))
        each = np.full(n, largest) if np.ndim(largest) == 0 else largest
        most = checks.array("largest", each, (n,), minimum=1e-9)
        effort = checks.number("effort", effort, above=0.0)
        tensions = np.zeros(n)
        q = self.rest(tensions)

        def left(tensions: Array, q: Array) -> Array:
            return np.concatenate([self.tip(q).position - target, effort * tensions])

        for _ in range(REACHING):
            slope = np.concatenate([self.tip_by_tension(q, tensions)[:3], effort * np.eye(n)])
            errors = left(tensions, q)
            bounds = (-tensions - SLACK, most - tensions + SLACK)
            step = lsq_linear(slope, -errors, bounds).x
            share = min(1.0, TENSION_STEP / max(float(np.abs(step).max()), 1e-12))
            while share > 1e-3:
                pulled = np.clip(tensions + share * step, 0.0, most)
                settled = self.rest(pulled, q, tensions)
                if np.sum(left(pulled, settled) ** 2) < np.sum(errors**2):
                    break
                share *= 0.5
            else:
                break
            moved = float(np.abs(pulled - tensions).max())
            tensions, q = pulled, settled
            if moved < 1e-6:
                break
        return tensions, q

    def _solve(self, q: ArrayLike, tensions: ArrayLike, sides: Array) -> Array:
        try:
            return cho_solve(cho_factor(self.stiffness(q, tensions)), sides)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "q must be a stable position, and its stiffness has no root"
            ) from error

    def _tensions(self, tensions: ArrayLike, name: str = "tensions") -> Array:
        return checks.array(name, tensions, (len(self.tendons),), minimum=0.0)

    def _place(self, q: Array) -> None:
        """Bring all that depends on positions up to date."""
        self._data.qpos[self.qpos_addresses] = q
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)
        mujoco.mj_tendon(self.model, self._data)

    def _slope(self, tensions: Array) -> Array:
        """Return the slope of the energy where the arm was placed."""
        bias = np.empty(self.model.nv)
        mujoco.mj_rne(self.model, self._data, 0, bias)  # velocities are zero: gravity alone
        mujoco.mj_passive(self.model, self._data)
        slope = (bias - self._data.qfrc_passive)[self.dof_addresses]
        return slope + tensions @ self._tendon_rows()

    def _tendon_rows(self) -> Array:
        """Return MuJoCo's sparse tendon Jacobian, dense, for the arm's joints."""
        rows = np.zeros((len(self.tendons), self.model.nv))
        row, column, place = self._entries
        rows[row, column] = self._data.ten_J.ravel()[place]
        return rows[:, self.dof_addresses]

    def _stiffness(self, q: Array, tensions: Array) -> Array:
        matrix = np.empty((self.n_joints, self.n_joints))
        for k in range(self.n_joints):
            sides = []
            for sign in (1.0, -1.0):
                shifted = q.copy()
                shifted[k] += sign * DIFFERENCE
                self._place(shifted)
                sides.append(self._slope(tensions))
            matrix[k] = (sides[0] - sides[1]) / (2.0 * DIFFERENCE)
        return 0.5 * (matrix + matrix.T)

    def _stiffness_beside(self, q: Array, tensions: Array, slope: Array) -> Array:
        """Return the stiffness by forward differences: enough for a step, at half the price."""
        matrix = np.empty((self.n_joints, self.n_joints))
        for k in range(self.n_joints):
            shifted = q.copy()
            shifted[k] += FORWARD
            self._place(shifted)
            matrix[k] = (self._slope(tensions) - slope) / FORWARD
        return 0.5 * (matrix + matrix.T)

    def _settle(self, q: Array, tensions: Array) -> Array:
        """Return the stable position of rest downhill from q.

        Newton's method with Levenberg's damping where the stiffness is not positive definite. A
        stiffness that took nine tenths of the slope away serves for another step.
        """
        q, before, newton = q.copy(), np.inf, False
        stiffness = np.eye(self.n_joints)
        for _ in range(ITERATIONS):
            self._place(q)
            slope = self._slope(tensions)
            left = float(np.abs(slope).max(initial=0.0))
            if left < TOLERANCE and newton:
                return q
            if not newton or left > 0.1 * before:
                stiffness = self._stiffness_beside(q, tensions, slope)
            step, newton = _downhill(slope, stiffness, self._slides)
            q, before = q + step, left
        raise NoRest(tensions)


def _downhill(slope: Array, stiffness: Array, slides: NDArray[np.bool_]) -> tuple[Array, bool]:
    """Return a step that lowers the energy, and whether it is Newton's own, undamped.

    The damping is measured by the largest stiffness of each kind of joint: that of slides, in N/m,
    says nothing about hinges.
    """
    if not np.isfinite(stiffness).all():
        raise ValueError("the arm's stiffness must be finite where it bends to")
    scales, damping = np.ones(len(slope)), 0.0
    for kind in (slides, ~slides):
        scales[kind] = float(np.abs(stiffness[np.ix_(kind, kind)]).max(initial=0.0)) or 1.0
    while True:
        try:
            step = -cho_solve(cho_factor(stiffness + damping * np.diag(scales)), slope)
        except np.linalg.LinAlgError:
            pass
        else:
            if np.abs(step).max() <= JOINT_STEP:
                return step, damping == 0.0
        damping = max(2.0 * damping, 1e-3)
