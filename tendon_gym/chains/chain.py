"""Chain: kinematics and dynamics of the joints between two bodies of any compiled model."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains import calls, given
from tendon_gym.chains.calls import is_state
from tendon_gym.chains.paths import Names, find_path
from tendon_gym.chains.segments import SEGMENT, Pose, body_in_world, read_segments

Array = NDArray[np.float64]
_BASE = (3, 3)


class Chain:
    """The joints between two bodies of a model, in order: their kinematics and dynamics.

    Positions q are MuJoCo's qpos (rad or m), so a joint's `ref` is no concern of the caller's.
    Poses, Jacobians and twists are those of the tip in the axes of the base body, seen from its
    origin; rows are linear first, then angular. All methods take one state (n_joints,) or a batch
    (batch, n_joints), and put the batch's axis first in what they return.

    Attributes:
        model: the compiled model.
        names: what it was made of.
        joints: their indices in the model.
        n_joints: number of hinge and slide joints between base and tip.
        joint_names: their names, with the prefix.
        joint_limits: (n_joints, 2) lower and upper, rad or m; infinite where there is none.
        qpos_addresses: (n_joints,) where they are in qpos.
        dof_addresses: (n_joints,) where they are in qvel.
        base_body: index of the base body, which is no segment of the chain.
        tip_body: index of the tip body.
        base_pose: where the base stands in the world at `qpos`.
    """

    def __init__(self, model: mujoco.MjModel, names: Names, qpos: ArrayLike | None = None) -> None:
        path = find_path(model, names)
        start = model.qpos0 if qpos is None else checks.array("qpos", qpos, (model.nq,))
        joints = np.array(path.joints, dtype=np.intp)
        self.model = model
        self.names = names
        self.joints = path.joints
        self.n_joints = len(joints)
        self.joint_names = tuple(model.joint(joint).name for joint in path.joints)
        limits = np.where(
            model.jnt_limited[joints, None].astype(bool),
            model.jnt_range[joints],
            [-np.inf, np.inf],
        )
        self.joint_limits = _constant(limits)
        self.qpos_addresses = _constant(model.jnt_qposadr[joints])
        self.dof_addresses = _constant(model.jnt_dofadr[joints])
        self.base_body = path.base
        self.tip_body = (path.base, *path.bodies)[-1]
        self._path = path
        self._segments = np.empty(self.n_joints + 1, SEGMENT)
        self._flat = (self.n_joints,)
        self._square = (self.n_joints, self.n_joints)
        self._wide = (6, self.n_joints)
        self._work, self._matrix = calls.work_arrays(self.n_joints)
        self._read(start)

    @classmethod
    def from_model(
        cls,
        model: mujoco.MjModel,
        base_body: str,
        tip_body: str,
        prefix: str = "",
        tool_body: str | None = None,
        *,
        tip_site: str | None = None,
        branches: bool = False,
        compound: bool = False,
        qpos: ArrayLike | None = None,
    ) -> Chain:
        """Return the chain from a base body to a tip body below it.

        Args:
            model: a compiled model.
            base_body: name of the body that the chain stands on; "world" is one.
            tip_body: name of the chain's last body; the base itself gives a chain of no joints.
            prefix: what stands in front of all names here in the model.
            tool_body: root of a subtree that is carried: its mass counts, its joints don't move.
            tip_site: a site of the tip body that is the chain's end, instead of the body's frame.
            branches: whether all else that hangs on the chain's bodies is carried as well.
            compound: whether bodies on the chain may have several hinges and slides, which then
                act in the model's order, as the two of a universal joint.
            qpos: (nq,) how the joints off the chain stand; the model's qpos0 by default.

        Raises:
            ValueError: an unknown name, a tip that is not below the base, a tool on the chain or
                not below the base, or, on the chain, a ball or free joint, a joint without a name,
                or a body with more than one joint that is not said to be `compound`.
        """
        names = Names(base_body, tip_body, prefix, tool_body, tip_site, branches, compound)
        return cls(model, names, qpos)

    def on(self, model: mujoco.MjModel, qpos: ArrayLike | None = None) -> Chain:
        """Return the chain of the same names in another model; see `from_model`."""
        return Chain(model, self.names, qpos)

    @property
    def segments(self) -> NDArray[np.void]:
        """The chain's constants (n_joints + 1,), for compiled code: see `segments.SEGMENT`."""
        return self._segments

    def forward_kinematics(self, q: ArrayLike) -> Pose:
        """Return the tip's position (3,) in m and rotation matrix (3, 3) in the base's axes."""
        if is_state(q, self._flat):
            out = np.empty((4, 3))
            if calls.POSE.one(self._segments, q, out):
                return Pose(out[3], out[:3])
        out = calls.POSE.checked(self._segments, (4, 3), (q,))
        return Pose(out[..., 3, :], out[..., :3, :])

    def twist(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the tip's velocity and angular velocity (6,) relative to the base."""
        if is_state(q, self._flat) and is_state(v, self._flat):
            out = np.empty((6,))
            if calls.TWIST.one(self._segments, q, v, out):
                return out
        return calls.TWIST.checked(self._segments, (6,), (q, v))

    def jacobian(self, q: ArrayLike) -> Array:
        """Return the Jacobian (6, n_joints): the tip's twist is `jacobian(q) @ v`."""
        if is_state(q, self._flat):
            out = np.empty(self._wide)
            if calls.JACOBIAN.one(self._segments, q, out):
                return out
        return calls.JACOBIAN.checked(self._segments, self._wide, (q,))

    def jacobian_derivative(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the Jacobian's derivative by time (6, n_joints) when the joints move with v."""
        if is_state(q, self._flat) and is_state(v, self._flat):
            out = np.empty(self._wide)
            if calls.JACOBIAN_RATE.one(self._segments, q, v, self._work, out):
                return out
        return calls.JACOBIAN_RATE.checked(self._segments, self._wide, (q, v))

    def gravity(self, q: ArrayLike, base: ArrayLike | None = None) -> Array:
        """Return the torques (n_joints,) that hold the chain against gravity, N m or N.

        Args:
            q: (n_joints,) or (batch, n_joints) joint positions.
            base: what the base does, from `base_motion`; by default it rests as `qpos` has it.
        """
        motion = self._at_rest if base is None else base
        if is_state(q, self._flat) and (base is None or is_state(base, _BASE)):
            out = np.empty(self._flat)
            if calls.GRAVITY.one(self._segments, q, motion, self._work, out):
                return out
        return calls.GRAVITY.checked(self._segments, self._flat, (q,), motion)

    def bias(self, q: ArrayLike, v: ArrayLike, base: ArrayLike | None = None) -> Array:
        """Return the torques (n_joints,) of gravity, Coriolis and centrifugal forces.

        With everything counted that moves, this is MuJoCo's qfrc_bias.
        """
        motion = self._at_rest if base is None else base
        if (
            is_state(q, self._flat)
            and is_state(v, self._flat)
            and (base is None or is_state(base, _BASE))
        ):
            out = np.empty(self._flat)
            if calls.BIAS.one(self._segments, q, v, motion, self._work, out):
                return out
        return calls.BIAS.checked(self._segments, self._flat, (q, v), motion)

    def coriolis(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return C (n_joints, n_joints): with the base at rest `bias` is `gravity + C v`.

        Of all such matrices it is the one of Christoffel's symbols: M' - 2 C is skew.
        """
        if is_state(q, self._flat) and is_state(v, self._flat):
            out = np.empty(self._square)
            if calls.CORIOLIS.one(self._segments, q, v, self._work, out):
                return out
        return calls.CORIOLIS.checked(self._segments, self._square, (q, v))

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return the mass matrix (n_joints, n_joints), armature included; kg m^2, kg m, kg."""
        if is_state(q, self._flat):
            out = np.empty(self._square)
            if calls.MASS.one(self._segments, q, self._work, out):
                return out
        return calls.MASS.checked(self._segments, self._square, (q,))

    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, base: ArrayLike | None = None
    ) -> Array:
        """Return the torques (n_joints,) for accelerations a, in rad/s^2 or m/s^2."""
        motion = self._at_rest if base is None else base
        if (
            is_state(q, self._flat)
            and is_state(v, self._flat)
            and is_state(a, self._flat)
            and (base is None or is_state(base, _BASE))
        ):
            out = np.empty(self._flat)
            if calls.TORQUES.one(self._segments, q, v, a, motion, self._work, out):
                return out
        return calls.TORQUES.checked(self._segments, self._flat, (q, v, a), motion)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, torque: ArrayLike, base: ArrayLike | None = None
    ) -> Array:
        """Return the accelerations (n_joints,) that torques give, rad/s^2 or m/s^2.

        Raises:
            ValueError: also if a joint moves nothing that has a mass.
        """
        motion = self._at_rest if base is None else base
        if (
            is_state(q, self._flat)
            and is_state(v, self._flat)
            and is_state(torque, self._flat)
            and (base is None or is_state(base, _BASE))
        ):
            out = np.empty(self._flat)
            if calls.ACCELERATIONS.one(
                self._segments, q, v, torque, motion, self._work, self._matrix, out
            ):
                return out
        return calls.ACCELERATIONS.checked(self._segments, self._flat, (q, v, torque), motion)

    def base_motion(
        self,
        rotation: ArrayLike,
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_acceleration: ArrayLike = (0.0, 0.0, 0.0),
        acceleration: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Array:
        """Return what a moving or tilted base means for the chain, (3, 3) in the base's axes.

        Its rows are the angular velocity, the angular acceleration, and the acceleration minus
        gravity, which is zero if the model has gravity disabled.

        Args:
            rotation: (3, 3) the base's axes in world coordinates, as columns.
            angular_velocity: (3,) of the base in world coordinates, rad/s.
            angular_acceleration: (3,) in world coordinates, rad/s^2.
            acceleration: (3,) of the base's origin in world coordinates, m/s^2.
        """
        axes = given.rotations("rotation", rotation)
        disabled = self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
        gravity = np.zeros(3) if disabled else self.model.opt.gravity
        motion = [
            checks.array("angular_velocity", angular_velocity, (3,)),
            checks.array("angular_acceleration", angular_acceleration, (3,)),
            checks.array("acceleration", acceleration, (3,)) - gravity,
        ]
        return np.stack(motion) @ axes

    def refresh_tool(self, qpos: ArrayLike) -> None:
        """Lump anew what the chain carries, and note how its base stands, as qpos (nq,) has them.

        Gravity, masses and sizes are read from the model again, too.
        """
        self._read(checks.array("qpos", qpos, (self.model.nq,)))

    def _read(self, qpos: Array) -> None:
        self.base_pose = body_in_world(self.model, self.base_body, qpos)
        self._at_rest = self.base_motion(self.base_pose.rotation)
        self._segments[:] = read_segments(self.model, self._path, qpos)


def _constant(array: NDArray) -> NDArray:
    """Return a copy that can't be written to."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
