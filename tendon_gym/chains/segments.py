"""The constants of a chain: one record per joint, with all that moves rigidly with it lumped in.

Joint frames: the origin is on the joint's axis, z points along it. Record i holds where
the frame of joint i, at its reference position, stands in that of joint i - 1 (of the base body for
the first), and the mass, the first and the second moments of everything that it carries, in its own
coordinates. Jointless bodies need no record of their own. A last record holds the tip's frame.

The second moments are the sums of m x x^T: with P of them, the inertia about the origin is
trace(P) 1 - P (Wensing, Kim and Slotine 2018, Linear Matrix Inequalities for Physically Consistent
Inertial Parameter Identification). Unlike inertias they shift and add without a thought.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

SEGMENT = np.dtype(
    [
        ("slides", np.int64),  # 1 for a slide joint, 0 for a hinge
        ("reference", np.float64),  # qpos at which the frame stands as given, rad or m
        ("armature", np.float64),  # kg m^2 or kg
        ("position", np.float64, 3),  # in the frame before, m
        ("rotation", np.float64, (3, 3)),  # columns: the axes, in the frame before
        ("mass", np.float64),  # kg
        ("moment", np.float64, 3),  # sum of m x, kg m
        ("second", np.float64, (3, 3)),  # sum of m x x^T, kg m^2
    ],
    align=True,
)


class Pose(NamedTuple):
    """Where a frame is in another: position (..., 3) in m and rotation (..., 3, 3), its axes."""

    position: NDArray[np.float64]
    rotation: NDArray[np.float64]

    def __matmul__(self, inner: Pose) -> Pose:
        """Return where a frame is that is given in this one."""
        moved = (self.rotation @ np.asarray(inner.position)[..., None])[..., 0]
        return Pose(self.position + moved, self.rotation @ inner.rotation)

    @property
    def inverse(self) -> Pose:
        """Where the other frame is in this one."""
        back = np.swapaxes(self.rotation, -1, -2)
        return Pose(-(back @ np.asarray(self.position)[..., None])[..., 0], back)


IDENTITY = Pose(np.zeros(3), np.eye(3))


class Moments(NamedTuple):
    """Mass (kg), first moments (3,) (kg m) and second moments (3, 3) (kg m^2) in some frame."""

    mass: float
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    def __add__(self, other: Moments) -> Moments:  # type: ignore[override]
        """Return the moments of both together."""
        return Moments(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def seen_from(self, pose: Pose) -> Moments:
        """Return the moments in the frame in which their own frame has a pose."""
        p, turned = pose.position, pose.rotation @ self.first
        second = pose.rotation @ self.second @ pose.rotation.T
        second += np.outer(turned, p) + np.outer(p, turned) + self.mass * np.outer(p, p)
        return Moments(self.mass, turned + self.mass * p, second)


NOTHING = Moments(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True)
class Path:
    """The bodies and joints of a chain, as indices of its model."""

    base: int
    bodies: tuple[int, ...]
    """From the first below the base to the tip."""
    joints: tuple[int, ...]
    tip_site: int
    """-1: the tip is the frame of the last body."""
    off: tuple[int, ...]
    """Bodies off the path to be placed, parents before their children."""
    counted: frozenset[int]
    """Bodies, on the path and off it, whose mass counts."""


def matrix(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotation matrix (3, 3) of a quaternion (4,), w first, of any length."""
    unit, flat = quaternion.copy(), np.empty(9)
    mujoco.mju_normalize4(unit)  # zeros become the identity
    mujoco.mju_quat2Mat(flat, unit)
    return flat.reshape(3, 3)


def joints_of(model: mujoco.MjModel, body: int) -> range:
    """Return a body's joints, in the order in which they act."""
    first = int(model.body_jntadr[body])
    return range(first, first + int(model.body_jntnum[body]))


def read_segments(model: mujoco.MjModel, path: Path, qpos: NDArray[np.float64]) -> NDArray[np.void]:
    """Return the records (n + 1,) of a chain, joints off its path locked where qpos has them."""
    segments = np.zeros(len(path.joints) + 1, SEGMENT)
    lumps = [NOTHING] * (len(path.joints) + 1)  # the first: what stands still with the base
    places = {path.base: (0, IDENTITY)}  # body: joints before it, pose in the last one's frame
    for body in (*path.bodies, *path.off):
        count, outer = places[int(model.body_parentid[body])]
        if body in path.bodies:
            pose = outer @ _rest(model, body)
            for joint in joints_of(model, body):
                frame = _joint_in_body(model, joint)
                _write_joint(segments[count], model, joint, pose @ frame)
                count, pose = count + 1, frame.inverse
        else:
            pose = outer @ body_in_parent(model, body, qpos)
        places[body] = (count, pose)
        if body in path.counted:
            lumps[count] += moments_of(model, body).seen_from(pose)
    for segment, lump in zip(segments, lumps[1:], strict=False):
        segment["mass"], segment["moment"], segment["second"] = lump
    tip = places[(path.base, *path.bodies)[-1]][1]
    if path.tip_site >= 0:
        site = path.tip_site
        tip @= Pose(model.site_pos[site].copy(), matrix(model.site_quat[site]))
    segments[-1]["position"], segments[-1]["rotation"] = tip
    return segments


def _write_joint(segment: np.void, model: mujoco.MjModel, joint: int, pose: Pose) -> None:
    segment["slides"] = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
    segment["reference"] = model.qpos0[model.jnt_qposadr[joint]]
    segment["armature"] = model.dof_armature[model.jnt_dofadr[joint]]
    segment["position"], segment["rotation"] = pose


def _rest(model: mujoco.MjModel, body: int) -> Pose:
    return Pose(model.body_pos[body].copy(), matrix(model.body_quat[body]))


def _joint_in_body(model: mujoco.MjModel, joint: int) -> Pose:
    """Return where a joint's frame is in its body's: z along the axis."""
    z = model.jnt_axis[joint] / np.linalg.norm(model.jnt_axis[joint])
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return Pose(model.jnt_pos[joint].copy(), np.column_stack([x, np.cross(z, x), z]))


def moments_of(model: mujoco.MjModel, body: int) -> Moments:
    """Return a body's own moments in its own frame."""
    mass = float(model.body_mass[body])
    diagonal = model.body_inertia[body]
    centred = Moments(mass, np.zeros(3), np.diag(diagonal.sum() / 2 - diagonal))
    return centred.seen_from(Pose(model.body_ipos[body].copy(), matrix(model.body_iquat[body])))


def body_in_parent(model: mujoco.MjModel, body: int, qpos: NDArray[np.float64]) -> Pose:
    """Return where a body is in its parent, its joints standing as qpos (nq,) has them."""
    pose = _rest(model, body)
    for joint in joints_of(model, body):
        at = int(model.jnt_qposadr[joint])
        kind = model.jnt_type[joint]
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            pose = Pose(qpos[at : at + 3].copy(), matrix(qpos[at + 3 : at + 7]))
        elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
            pose @= Pose(model.jnt_axis[joint] * (qpos[at] - model.qpos0[at]), np.eye(3))
        else:
            pose @= _turn(model, joint, qpos)
    return pose


def body_in_world(model: mujoco.MjModel, body: int, qpos: NDArray[np.float64]) -> Pose:
    """Return where a body is in the world, all joints standing as qpos (nq,) has them."""
    pose = IDENTITY
    while body > 0:
        pose = body_in_parent(model, body, qpos) @ pose
        body = int(model.body_parentid[body])
    return pose


def _turn(model: mujoco.MjModel, joint: int, qpos: NDArray[np.float64]) -> Pose:
    """Return what a ball or hinge joint does to its body's frame: a rotation about its anchor."""
    at = int(model.jnt_qposadr[joint])
    if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
        rotation = matrix(qpos[at : at + 4])
    else:
        quaternion = np.empty(4)
        mujoco.mju_axisAngle2Quat(quaternion, model.jnt_axis[joint], qpos[at] - model.qpos0[at])
        rotation = matrix(quaternion)
    anchor = model.jnt_pos[joint]
    return Pose(anchor - rotation @ anchor, rotation)
