"""The chain of a model built a second time, in Pinocchio and in KDL, from MuJoCo's fields alone."""

from __future__ import annotations

from typing import ClassVar

import mujoco
import numpy as np

from tests.chains.comparisons import Pinocchio, base_axes


def path_of(chain):
    """Yield (body, joint or None) from the first body below the base to the tip."""
    model, bodies, body = chain.model, [], chain.tip_body
    while body != chain.base_body:
        bodies.append(body)
        body = int(model.body_parentid[body])
    for body in reversed(bodies):
        count = int(model.body_jntnum[body])
        yield body, int(model.body_jntadr[body]) if count else None


def matrix(quaternion):
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return flat.reshape(3, 3)


def central(model, body):
    """Return a body's inertia (3, 3) about its centre, in its own axes."""
    axes = matrix(model.body_iquat[body])
    return axes @ np.diag(model.body_inertia[body]) @ axes.T


def pinocchio_of(pin, chain, data, lumped=()):
    """Return what Pinocchio says of a chain on the base as data has it.

    Args:
        pin: the module.
        chain: the chain.
        data: a simulation that has been forwarded.
        lumped: what `lump` returns, to be added.
    """
    model, mj = pin.Model(), chain.model
    parent, place = 0, pin.SE3.Identity()
    for k, (body, joint) in enumerate(path_of(chain)):
        place = place * pin.SE3(matrix(mj.body_quat[body]), mj.body_pos[body])
        if joint is not None:
            anchor = pin.SE3(np.eye(3), mj.jnt_pos[joint].copy())
            slides = mj.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
            kind = pin.JointModelPrismaticUnaligned if slides else pin.JointModelRevoluteUnaligned
            moving = kind(mj.jnt_axis[joint].copy())
            parent = model.addJoint(parent, moving, place * anchor, f"joint{k}")
            place = anchor.inverse()
        inertia = pin.Inertia(float(mj.body_mass[body]), mj.body_ipos[body], central(mj, body))
        model.appendBodyToJoint(parent, inertia, place)
        for where, mass, centre, about in lumped:
            if where == body:
                model.appendBodyToJoint(parent, pin.Inertia(mass, centre, about), place)
    model.armature = mj.dof_armature[chain.dof_addresses].copy()
    tip = model.addFrame(pin.Frame("tip", parent, 0, place, pin.FrameType.OP_FRAME))
    model.gravity.linear = base_axes(chain, data).T @ mj.opt.gravity
    at_zero = mj.qpos0[chain.qpos_addresses]
    return Pinocchio(pin, model, tip, lambda q: q - at_zero)


class Kdl:
    """What KDL says of a chain: armature, which its bindings do not offer, is added."""

    TOLERANCES: ClassVar = {
        "forward_kinematics": 1e-12,
        "jacobian": 1e-12,
        "gravity": 1e-11,
        "bias": 1e-11,
        "mass_matrix": 1e-11,
        "inverse_dynamics": 1e-11,
    }

    def __init__(self, kdl, chain, data, lumped=()):
        """Take what `pinocchio_of` takes."""
        self._kdl, self._chain = kdl, kdl_of(kdl, chain, lumped)
        self._at_zero = chain.model.qpos0[chain.qpos_addresses]
        self._armature = np.diag(chain.model.dof_armature[chain.dof_addresses])
        down = base_axes(chain, data).T @ chain.model.opt.gravity
        self._dynamics = kdl.ChainDynParam(self._chain, kdl.Vector(*down))

    def _joints(self, values):
        result = self._kdl.JntArray(len(values))
        for k, value in enumerate(values):
            result[k] = value
        return result

    def _call(self, name, q, *others):
        out, angles = self._joints(np.zeros_like(q)), self._joints(q - self._at_zero)
        getattr(self._dynamics, name)(angles, *map(self._joints, others), out)
        return np.array([out[k] for k in range(len(q))])

    def forward_kinematics(self, q):
        tip, solver = self._kdl.Frame(), self._kdl.ChainFkSolverPos_recursive(self._chain)
        assert solver.JntToCart(self._joints(q - self._at_zero), tip) >= 0
        place = [tip.p[k] for k in range(3)]
        return np.array([place, *([tip.M[r, c] for c in range(3)] for r in range(3))])

    def jacobian(self, q):
        out = self._kdl.Jacobian(len(q))
        self._kdl.ChainJntToJacSolver(self._chain).JntToJac(self._joints(q - self._at_zero), out)
        return np.array([[out[r, c] for c in range(len(q))] for r in range(6)])

    def gravity(self, q):
        return self._call("JntToGravity", q)

    def bias(self, q, v):
        return self.gravity(q) + self._call("JntToCoriolis", q, v)

    def mass_matrix(self, q):
        out = self._kdl.JntSpaceInertiaMatrix(len(q))
        self._dynamics.JntToMass(self._joints(q - self._at_zero), out)
        columns = range(len(q))
        return np.array([[out[r, c] for c in columns] for r in columns]) + self._armature

    def inverse_dynamics(self, q, v, a):
        return self.mass_matrix(q) @ a + self.bias(q, v)


def kdl_of(kdl, chain, lumped):
    """Return KDL's chain."""
    result, mj = kdl.Chain(), chain.model
    for k, (body, joint) in enumerate(path_of(chain)):
        rotation, position = matrix(mj.body_quat[body]), mj.body_pos[body]
        frame = kdl.Frame(kdl.Rotation(*rotation.ravel()), kdl.Vector(*position))
        if joint is None:
            moving = kdl.Joint(kdl.Joint.Fixed)
        else:
            origin = kdl.Vector(*(position + rotation @ mj.jnt_pos[joint]))
            axis = kdl.Vector(*(rotation @ mj.jnt_axis[joint]))
            slides = mj.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
            kind = kdl.Joint.TransAxis if slides else kdl.Joint.RotAxis
            moving = kdl.Joint(f"joint{k}", origin, axis, kind)
        inertia = kdl_inertia(kdl, mj.body_mass[body], mj.body_ipos[body], central(mj, body))
        for where, mass, centre, about in lumped:
            if where == body:
                inertia = inertia + kdl_inertia(kdl, mass, centre, about)
        result.addSegment(kdl.Segment(f"body{k}", moving, frame, inertia))
    return result


def kdl_inertia(kdl, mass, centre, about):
    xx, xy, xz, yy, yz, zz = np.asarray(about)[np.triu_indices(3)]
    rotational = kdl.RotationalInertia(xx, yy, zz, xy, xz, yz)
    return kdl.RigidBodyInertia(float(mass), kdl.Vector(*centre), rotational)


def lump(model, data, root, holder):
    """Return a subtree as one body: (holder, mass, centre, inertia about it) in a body's frame."""
    bodies, tree = [root], {root}
    for body in range(root + 1, model.nbody):
        if int(model.body_parentid[body]) in tree:
            tree.add(body)
            bodies.append(body)
    masses = model.body_mass[bodies]
    centre = masses @ data.xipos[bodies] / masses.sum()
    inertia = np.zeros((3, 3))
    for body, mass in zip(bodies, masses, strict=True):
        axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - centre
        inertia += axes @ np.diag(model.body_inertia[body]) @ axes.T
        inertia += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    axes = data.xmat[holder].reshape(3, 3)
    return holder, masses.sum(), axes.T @ (centre - data.xpos[holder]), axes.T @ inertia @ axes


def branches_of(chain, data):
    """Return as lumps all that hangs on a chain's bodies."""
    model, path = chain.model, [body for body, _ in path_of(chain)]
    return [
        lump(model, data, body, int(model.body_parentid[body]))
        for body in range(1, model.nbody)
        if int(model.body_parentid[body]) in path
        and body not in path
        and model.body_subtreemass[body] > 0
    ]
