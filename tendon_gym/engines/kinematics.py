"""Forward kinematics of any number of simulations, compiled, from joint positions and velocities.

MuJoCo's own derived quantities lag one physics step behind the state after `mj_step`. This one
kernel gives every engine the same poses, velocities and tendon lengths at the state itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined
from tendon_gym.forces.term import Motion
from tendon_gym.spatial import (
    Frame,
    Quaternion,
    Vector,
    add,
    columns,
    cross,
    frame_at,
    frame_of,
    norm,
    row,
    scale,
    store_at,
    store_frame_at,
    subtract,
    to_world,
    turn,
    unit,
    vector_at,
    within,
)

BODY = np.dtype(
    [
        ("parent", np.int64),
        ("position", np.float64, 3),
        ("turned", np.int64),
        ("rotation", np.float64, (3, 3)),
        ("first_joint", np.int64),
        ("joints", np.int64),
    ]
)
"""A body in its parent: where it sits, whether and how it is turned, and its joints."""

JOINT = np.dtype(
    [
        ("kind", np.int64),
        ("qpos", np.int64),
        ("dof", np.int64),
        ("axis", np.float64, 3),
        ("along", np.int64),
        ("anchored", np.int64),
        ("anchor", np.float64, 3),
        ("reference", np.float64),
    ]
)
"""A joint: its addresses, its axis, which of the body's own axes that is (-1: none), its anchor if
that is not the body's origin, and the position at which it turns nothing."""

SITE = np.dtype([("body", np.int64), ("position", np.float64, 3)])

FREE = int(mujoco.mjtJoint.mjJNT_FREE)
BALL = int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)


class Tree(NamedTuple):
    """The tables of a model.

    Attributes:
        bodies: (1 or n, nbody) of BODY.
        joints: (njnt,) of JOINT.
        sites: (1 or n, nsite) of SITE.
        path_start: (ntendon + 1,), where each tendon's sites start.
        path_sites: the sites of all tendons, one after another.
    """

    bodies: NDArray
    joints: NDArray
    sites: NDArray
    path_start: NDArray[np.int64]
    path_sites: NDArray[np.int64]


class Kinematics:
    """Poses, velocities and tendon lengths of `n` simulations of one model.

    Attributes:
        tree: what the kernel reads, for kernels that do more.
        motion: what it writes; see `forces.term.Motion`. Each of its arrays is an attribute too.
    """

    def __init__(self, model: mujoco.MjModel, n: int) -> None:
        """Read the tree and the tendon paths of `model`.

        Raises:
            ValueError: a tendon whose path is not a plain sequence of sites.
        """
        bodies, joints = _tree(model)
        sites = np.zeros(model.nsite, SITE)
        sites["body"], sites["position"] = model.site_bodyid, model.site_pos
        nbody = model.nbody
        self._n = n
        self.tree = Tree(bodies[None], joints, sites[None], *_paths(model))
        self.motion = Motion(
            body_position=np.zeros((n, nbody, 3)),
            body_rotation=np.tile(np.eye(3), (n, nbody, 1, 1)),
            body_velocity=np.zeros((n, nbody, 3)),
            body_angular_velocity=np.zeros((n, nbody, 3)),
            site_position=np.zeros((n, model.nsite, 3)),
            tendon_length=np.zeros((n, model.ntendon)),
        )
        self.body_position = self.motion.body_position
        self.body_rotation = self.motion.body_rotation
        self.body_velocity = self.motion.body_velocity
        self.body_angular_velocity = self.motion.body_angular_velocity
        self.site_position = self.motion.site_position
        self.tendon_length = self.motion.tendon_length

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Give the simulations `ids` (k,) places of bodies and sites of their own, (k, ...) each.

        Other fields than body_pos, body_quat and site_pos don't move anything. The first time
        `tree` is another one afterwards.
        """
        if "body_pos" in values:
            self._own("bodies")["position"][ids] = values["body_pos"]
        if "body_quat" in values:
            bodies = self._own("bodies")
            matrices = np.array([[_matrix(q) for q in row] for row in values["body_quat"]])
            bodies["rotation"][ids] = matrices
            bodies["turned"][ids] = _turned_at_all(matrices)
        if "site_pos" in values:
            self._own("sites")["position"][ids] = values["site_pos"]

    def _own(self, table: str) -> NDArray[np.void]:
        """Return a table that has a row for each simulation."""
        rows = getattr(self.tree, table)
        if len(rows) < self._n:
            rows = np.tile(rows, (self._n, 1))
            self.tree = self.tree._replace(**{table: rows})
        return rows

    def update(self, qpos: NDArray, qvel: NDArray) -> None:
        """Compute everything from qpos (n, nq) and qvel (n, nv)."""
        update_range(0, len(qpos), qpos, qvel, self.tree, self.motion)


def _tree(model: mujoco.MjModel) -> tuple[NDArray, NDArray]:
    bodies = np.zeros(model.nbody, BODY)
    bodies["parent"], bodies["position"] = model.body_parentid, model.body_pos
    bodies["rotation"] = [_matrix(quaternion) for quaternion in model.body_quat]
    bodies["turned"] = _turned_at_all(bodies["rotation"])
    bodies["first_joint"], bodies["joints"] = model.body_jntadr, model.body_jntnum
    joints = np.zeros(model.njnt, JOINT)
    joints["kind"], joints["qpos"] = model.jnt_type, model.jnt_qposadr
    joints["dof"], joints["axis"] = model.jnt_dofadr, model.jnt_axis
    for joint in range(model.njnt):
        own = (model.jnt_axis[joint] == np.eye(3)).all(axis=1)
        joints["along"][joint] = int(np.argmax(own)) if own.any() else -1
    joints["anchored"] = (model.jnt_pos != 0.0).any(axis=1)
    joints["anchor"], joints["reference"] = model.jnt_pos, model.qpos0[model.jnt_qposadr]
    return bodies, joints


def _matrix(quaternion: NDArray) -> NDArray[np.float64]:
    """Return the rotation matrix (3, 3) of a quaternion (4,)."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def _turned_at_all(rotations: NDArray) -> NDArray[np.bool_]:
    """Return which rotation matrices (..., 3, 3) turn anything."""
    return (rotations != np.eye(3)).any(axis=(-2, -1))


def _paths(model: mujoco.MjModel) -> tuple[NDArray, NDArray]:
    """Return where each tendon's sites start, (ntendon + 1,), and the sites of all tendons."""
    starts, sites = [0], []
    for tendon in range(model.ntendon):
        first, count = model.tendon_adr[tendon], model.tendon_num[tendon]
        if (model.wrap_type[first : first + count] != mujoco.mjtWrap.mjWRAP_SITE).any():
            raise ValueError(
                f"tendon {model.tendon(tendon).name!r} must run over sites alone, "
                "without wrapping geoms, pulleys or joints"
            )
        sites.extend(model.wrap_objid[first : first + count])
        starts.append(len(sites))
    return np.array(starts, np.int64), np.array(sites, np.int64)


@compiled
def update_range(
    start: int, stop: int, qpos: NDArray, qvel: NDArray, tree: Tree, motion: Motion
) -> None:
    """Compute the motion of the simulations start ... stop - 1."""
    for i in range(start, stop):
        update_one(i, qpos[i], qvel[i], tree, motion)


@compiled
def update_one(i: int, qpos: NDArray, qvel: NDArray, tree: Tree, motion: Motion) -> None:
    """Compute the motion of simulation i from its qpos (nq,) and qvel (nv,)."""
    bodies, sites = tree.bodies[i % tree.bodies.shape[0]], tree.sites[i % tree.sites.shape[0]]
    for b in range(1, bodies.shape[0]):
        _move_body(i, b, qpos, qvel, bodies, tree.joints, motion)
    position, places = motion.body_position, motion.site_position
    for s in range(sites.shape[0]):
        b = sites["body"][s]
        offset = to_world(frame_at(motion.body_rotation, i, b), row(sites["position"], s))
        store_at(add(vector_at(position, i, b), offset), places, i, s)
    for t in range(motion.tendon_length.shape[1]):
        length = 0.0
        for p in range(tree.path_start[t] + 1, tree.path_start[t + 1]):
            here = vector_at(places, i, tree.path_sites[p])
            length += norm(subtract(here, vector_at(places, i, tree.path_sites[p - 1])))
        motion.tendon_length[i, t] = length


@inlined
def _move_body(
    i: int,
    b: int,
    qpos: NDArray,
    qvel: NDArray,
    bodies: NDArray,
    joints: NDArray,
    motion: Motion,
) -> None:
    """Compute the pose and the velocities of simulation i's body b, joint after joint."""
    parent = bodies["parent"][b]
    frame = frame_at(motion.body_rotation, i, parent)
    spin = vector_at(motion.body_angular_velocity, i, parent)
    offset = to_world(frame, row(bodies["position"], b))
    place = add(vector_at(motion.body_position, i, parent), offset)
    speed = add(vector_at(motion.body_velocity, i, parent), cross(spin, offset))
    if bodies["turned"][b]:
        frame = within(frame, columns(bodies["rotation"][b]))
    first = bodies["first_joint"][b]
    for j in range(first, first + bodies["joints"][b]):
        kind, adr, dof = joints["kind"][j], int(joints["qpos"][j]), int(joints["dof"][j])
        if kind == FREE:
            place, speed = _three(qpos, adr), _three(qvel, dof)
            frame = frame_of(_attitude(qpos, adr + 3))
            spin = to_world(frame, _three(qvel, dof + 3))
            continue
        axis = to_world(frame, row(joints["axis"], j))
        if kind == SLIDE:
            way = scale(qpos[adr] - joints["reference"][j], axis)
            place = add(place, way)
            speed = add(add(speed, cross(spin, way)), scale(qvel[dof], axis))
            continue
        local = row(joints["anchor"], j)
        if joints["anchored"][j]:  # then the anchor stays, and the origin turns about it
            arm = to_world(frame, local)
            place, speed = add(place, arm), add(speed, cross(spin, arm))
        if kind == BALL:
            frame = within(frame, frame_of(_attitude(qpos, adr)))
            spin = add(spin, to_world(frame, _three(qvel, dof)))
        else:
            frame = _turned(frame, joints, j, qpos[adr] - joints["reference"][j])
            spin = add(spin, scale(qvel[dof], axis))
        if joints["anchored"][j]:
            arm = to_world(frame, local)
            place, speed = subtract(place, arm), subtract(speed, cross(spin, arm))
    store_at(place, motion.body_position, i, b)
    store_at(speed, motion.body_velocity, i, b)
    store_at(spin, motion.body_angular_velocity, i, b)
    store_frame_at(frame, motion.body_rotation, i, b)


@inlined
def _turned(frame: Frame, joints: NDArray, j: int, angle: float) -> Frame:
    """Return a frame turned by `angle` (rad) about hinge j."""
    sine, cosine = math.sin(angle), math.cos(angle)
    x, y, z = frame
    along = joints["along"][j]
    if along == 0:
        return (x, _mixed(cosine, y, sine, z), _mixed(-sine, y, cosine, z))
    if along == 1:
        return (_mixed(cosine, x, -sine, z), y, _mixed(sine, x, cosine, z))
    if along == 2:
        return (_mixed(cosine, x, sine, y), _mixed(-sine, x, cosine, y), z)
    return within(frame, frame_of(turn(row(joints["axis"], j), angle)))


@compiled
def _mixed(a: float, u: Vector, b: float, v: Vector) -> Vector:
    return (a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2])


@compiled
def _three(a: NDArray, k: int) -> Vector:
    return (a[k], a[k + 1], a[k + 2])


@compiled
def _attitude(a: NDArray, k: int) -> Quaternion:
    return unit((a[k], a[k + 1], a[k + 2], a[k + 3]))
