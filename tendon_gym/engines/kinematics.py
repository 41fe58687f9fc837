"""Forward kinematics of any number of simulations, compiled, from joint positions and velocities.

MuJoCo's own derived quantities lag one physics step behind the state after `mj_step`. This one
kernel gives every engine the same poses, velocities and tendon lengths at the state itself.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled
from tendon_gym.forces.term import Motion
from tendon_gym.spatial import (
    Quaternion,
    add,
    columns,
    cross,
    frame_of,
    multiply,
    norm,
    quaternion,
    scale,
    store,
    store_columns,
    subtract,
    to_world,
    turn,
    vector,
)

BODY = np.dtype(
    [
        ("parent", np.int64),
        ("position", np.float64, 3),
        ("quaternion", np.float64, 4),
        ("first_joint", np.int64),
        ("joints", np.int64),
    ]
)
JOINT = np.dtype(
    [
        ("kind", np.int64),
        ("qpos", np.int64),
        ("dof", np.int64),
        ("axis", np.float64, 3),
        ("anchor", np.float64, 3),
        ("reference", np.float64),
    ]
)
SITE = np.dtype([("body", np.int64), ("position", np.float64, 3)])

FREE = int(mujoco.mjtJoint.mjJNT_FREE)
BALL = int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)


class Tree(NamedTuple):
    """The tables of a model, and room for each simulation's intermediate results.

    Attributes:
        bodies: (nbody,) of BODY.
        joints: (njnt,) of JOINT.
        sites: (nsite,) of SITE.
        path_start: (ntendon + 1,), where each tendon's sites start.
        path_sites: the sites of all tendons, one after another.
        quaternions: (n, nbody, 4), of the bodies.
        joint_frames: (n, njnt, 2, 3), world anchors and axes of the joints.
    """

    bodies: NDArray
    joints: NDArray
    sites: NDArray
    path_start: NDArray[np.int64]
    path_sites: NDArray[np.int64]
    quaternions: NDArray[np.float64]
    joint_frames: NDArray[np.float64]


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
        quaternions = np.zeros((n, nbody, 4))
        quaternions[:, 0, 0] = 1.0
        frames = np.zeros((n, max(model.njnt, 1), 2, 3))
        self.tree = Tree(bodies, joints, sites, *_paths(model), quaternions, frames)
        self.motion = Motion(
            body_position=np.zeros((n, nbody, 3)),
            body_rotation=np.tile(np.eye(3), (n, nbody, 1, 1)),
            body_velocity=np.zeros((n, nbody, 3)),
            body_angular_velocity=np.zeros((n, nbody, 3)),
            site_position=np.zeros((n, model.nsite, 3)),
            tendon_length=np.zeros((n, model.ntendon)),
        )
        self.body_position, self.body_rotation = self.motion.body_position, self.motion.body_rotation
        self.body_velocity = self.motion.body_velocity
        self.body_angular_velocity = self.motion.body_angular_velocity
        self.site_position = self.motion.site_position
        self.tendon_length = self.motion.tendon_length

    def update(self, qpos: NDArray, qvel: NDArray) -> None:
        """Compute everything from qpos (n, nq) and qvel (n, nv)."""
        update_range(0, len(qpos), qpos, qvel, self.tree, self.motion)


def _tree(model: mujoco.MjModel) -> tuple[NDArray, NDArray]:
    bodies = np.zeros(model.nbody, BODY)
    bodies["parent"], bodies["position"] = model.body_parentid, model.body_pos
    bodies["quaternion"] = model.body_quat
    bodies["first_joint"], bodies["joints"] = model.body_jntadr, model.body_jntnum
    joints = np.zeros(model.njnt, JOINT)
    joints["kind"], joints["qpos"] = model.jnt_type, model.jnt_qposadr
    joints["dof"], joints["axis"] = model.jnt_dofadr, model.jnt_axis
    joints["anchor"], joints["reference"] = model.jnt_pos, model.qpos0[model.jnt_qposadr]
    return bodies, joints


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
    position, rotation = motion.body_position[i], motion.body_rotation[i]
    frames, site_position = tree.joint_frames[i], motion.site_position[i]
    for b in range(1, tree.bodies.shape[0]):
        _place_body(
            tree.bodies, tree.joints, b, qpos, tree.quaternions[i], frames, position, rotation
        )
        _move_body(
            tree.bodies, tree.joints, b, qvel, frames, position, rotation, motion.body_velocity[i],
            motion.body_angular_velocity[i],
        )  # fmt: skip
    for s in range(tree.sites.shape[0]):
        b = tree.sites[s]["body"]
        offset = to_world(columns(rotation[b]), vector(tree.sites[s]["position"]))
        store(add(vector(position[b]), offset), site_position[s])
    for t in range(motion.tendon_length.shape[1]):
        length = 0.0
        for p in range(tree.path_start[t] + 1, tree.path_start[t + 1]):
            here = vector(site_position[tree.path_sites[p]])
            length += norm(subtract(here, vector(site_position[tree.path_sites[p - 1]])))
        motion.tendon_length[i, t] = length


@compiled
def _place_body(
    bodies: NDArray,
    joints: NDArray,
    b: int,
    qpos: NDArray,
    quaternions: NDArray,
    joint_frames: NDArray,
    position: NDArray,
    rotation: NDArray,
) -> None:
    """Compute the pose of body `b`, and the world anchors and axes of its joints."""
    body = bodies[b]
    parent = body["parent"]
    place = add(
        vector(position[parent]), to_world(columns(rotation[parent]), vector(body["position"]))
    )
    attitude = multiply(_quaternion(quaternions[parent]), _quaternion(body["quaternion"]))
    frame = frame_of(attitude)
    for j in range(body["first_joint"], body["first_joint"] + body["joints"]):
        joint = joints[j]
        kind, adr = joint["kind"], joint["qpos"]
        if kind == FREE:
            place = vector(qpos[adr : adr + 3])
            attitude = quaternion(qpos[adr + 3 : adr + 7])
            frame = frame_of(attitude)
            continue
        local = vector(joint["anchor"])
        anchor, axis = add(place, to_world(frame, local)), to_world(frame, vector(joint["axis"]))
        store(anchor, joint_frames[j, 0])
        store(axis, joint_frames[j, 1])
        if kind == SLIDE:
            place = add(place, scale(qpos[adr] - joint["reference"], axis))
            continue
        if kind == BALL:
            rotated = quaternion(qpos[adr : adr + 4])
        else:
            rotated = turn(vector(joint["axis"]), qpos[adr] - joint["reference"])
        attitude = multiply(attitude, rotated)
        frame = frame_of(attitude)
        # the joint turns the body about its anchor, which stays where it is
        place = subtract(anchor, to_world(frame, local))
    store(place, position[b])
    store_columns(frame, rotation[b])
    q = quaternions[b]
    q[0], q[1], q[2], q[3] = attitude


@compiled
def _quaternion(a: NDArray) -> Quaternion:
    return (a[0], a[1], a[2], a[3])


@compiled
def _move_body(
    bodies: NDArray,
    joints: NDArray,
    b: int,
    qvel: NDArray,
    joint_frames: NDArray,
    position: NDArray,
    rotation: NDArray,
    velocity: NDArray,
    angular_velocity: NDArray,
) -> None:
    """Compute the velocity of body `b`'s origin and its angular velocity, both in world axes."""
    body = bodies[b]
    parent = body["parent"]
    place, spin = vector(position[b]), vector(angular_velocity[parent])
    carried = cross(spin, subtract(place, vector(position[parent])))
    speed = add(vector(velocity[parent]), carried)
    for j in range(body["first_joint"], body["first_joint"] + body["joints"]):
        kind, dof = joints[j]["kind"], int(joints[j]["dof"])
        if kind == FREE:
            speed = vector(qvel[dof : dof + 3])
            spin = to_world(columns(rotation[b]), vector(qvel[dof + 3 : dof + 6]))
            continue
        axis = vector(joint_frames[j, 1])
        if kind == SLIDE:
            speed = add(speed, scale(qvel[dof], axis))
            continue
        if kind == BALL:
            own = to_world(columns(rotation[b]), vector(qvel[dof : dof + 3]))
        else:
            own = scale(qvel[dof], axis)
        spin = add(spin, own)
        speed = add(speed, cross(own, subtract(place, vector(joint_frames[j, 0]))))
    store(speed, velocity[b])
    store(spin, angular_velocity[b])
