"""Chain: kinematics and dynamics of the joints between two bodies of any compiled model."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains import kinematics
from tendon_gym.chains.paths import find_path
from tendon_gym.chains.segments import SEGMENT, Path, Pose, read_segments
from tendon_gym.compiled import entry

Array = NDArray[np.float64]
_FLOAT = np.dtype(np.float64)


class _Kernel:
    """A kernel for one state and its brother for batches, compiled when they are first called."""

    def __init__(self, one: Callable, many: Callable, states: tuple[str, ...], axes: int) -> None:
        self._one, self._many = one, many
        self.states = states
        self._axes = axes

    def _entry(self, kernel: Callable, axes: int) -> Callable[..., bool]:
        strided = np.empty((2,) * axes + (2,), _FLOAT)[..., 0]  # states may have gaps
        states = [strided] * len(self.states)
        out = np.empty((1,) * (axes - 1 + self._axes))
        return entry(kernel, np.empty(1, SEGMENT), *states, out)

    @functools.cached_property
    def one(self) -> Callable[..., bool]:
        return self._entry(self._one, 1)

    @functools.cached_property
    def many(self) -> Callable[..., bool]:
        return self._entry(self._many, 2)


_POSE = _Kernel(kinematics.tip_pose, kinematics.tip_pose_many, ("q",), 2)
_TWIST = _Kernel(kinematics.tip_twist, kinematics.tip_twist_many, ("q", "v"), 1)
_JACOBIAN = _Kernel(kinematics.tip_jacobian, kinematics.tip_jacobian_many, ("q",), 2)
_JACOBIAN_RATE = _Kernel(
    kinematics.tip_jacobian_rate, kinematics.tip_jacobian_rate_many, ("q", "v"), 2
)


class Chain:
    """The joints between two bodies of a model, in order: their kinematics.

    Positions q are MuJoCo's qpos (rad or m), so a joint's `ref` is no concern of the caller's.
    Poses, Jacobians and twists are those of the tip in the axes of the base body, seen from its
    origin; rows are linear first, then angular. All methods take one state (n_joints,) or a batch
    (batch, n_joints), and put the batch's axis first in what they return.

    Attributes:
        model: the compiled model.
        n_joints: number of hinge and slide joints between base and tip.
        joint_names: their names, with the prefix.
        joint_limits: (n_joints, 2) lower and upper, rad or m; infinite where there is none.
        qpos_addresses: (n_joints,) where they are in qpos.
        dof_addresses: (n_joints,) where they are in qvel.
        base_body: index of the base body, which is no segment of the chain.
        tip_body: index of the tip body.
    """

    def __init__(self, model: mujoco.MjModel, path: Path, qpos: Array) -> None:
        joints = np.array(path.joints, dtype=np.intp)
        self.model = model
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
        self._segments = read_segments(model, path, qpos)
        self._state = (self.n_joints,)
        self._jacobian = (6, self.n_joints)

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
            qpos: (nq,) how the joints off the chain stand; the model's qpos0 by default.

        Raises:
            ValueError: an unknown name, a tip that is not below the base, a tool on the chain or
                not below the base, or, on the chain, a ball or free joint, a joint without a name,
                or a body with more than one joint.
        """
        path = find_path(model, base_body, tip_body, prefix, tool_body, tip_site, branches)
        start = model.qpos0 if qpos is None else checks.array("qpos", qpos, (model.nq,))
        return cls(model, path, start)

    @property
    def segments(self) -> NDArray[np.void]:
        """The chain's constants (n_joints + 1,), for compiled code: see `segments.SEGMENT`."""
        return self._segments

    def forward_kinematics(self, q: ArrayLike) -> Pose:
        """Return the tip's position (3,) in m and rotation matrix (3, 3) in the base's axes."""
        out = self._run(_POSE, (4, 3), q)
        return Pose(out[..., 3, :], out[..., :3, :])

    def twist(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the tip's velocity and angular velocity (6,) relative to the base."""
        return self._run(_TWIST, (6,), q, v)

    def jacobian(self, q: ArrayLike) -> Array:
        """Return the Jacobian (6, n_joints): the tip's twist is `jacobian(q) @ v`."""
        return self._run(_JACOBIAN, self._jacobian, q)

    def jacobian_derivative(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the Jacobian's derivative by time (6, n_joints) when the joints move with v."""
        return self._run(_JACOBIAN_RATE, self._jacobian, q, v)

    def _run(self, kernel: _Kernel, shape: tuple[int, ...], *states: Any) -> Array:
        """Return what a kernel makes of one state, or of a batch."""
        expected = self._state
        for state in states:
            if type(state) is not np.ndarray or state.shape != expected or state.dtype != _FLOAT:
                return self._run_checked(kernel, shape, states)
        out = np.empty(shape)
        if not kernel.one(self._segments, *states, out):
            return self._run_checked(kernel, shape, states)
        return out

    def _run_checked(self, kernel: _Kernel, shape: tuple[int, ...], states: Any) -> Array:
        """Run a kernel on anything, with all checks."""
        batched = any(np.ndim(state) == 2 for state in states)
        given = (None, self.n_joints) if batched else self._state
        arrays = [
            checks.array(name, state, given)
            for name, state in zip(kernel.states, states, strict=True)
        ]
        sizes = {len(array) for array in arrays}
        if batched and len(sizes) > 1:
            raise ValueError(f"{', '.join(kernel.states)} must be batches of one size, got {sizes}")
        out = np.empty((*sizes, *shape) if batched else shape)
        run = kernel.many if batched else kernel.one
        run(self._segments, *arrays, out)
        return out


def _constant(array: NDArray) -> NDArray:
    """Return a copy that can't be written to."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
