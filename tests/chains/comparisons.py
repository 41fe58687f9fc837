"""What a chain says against what MuJoCo and Pinocchio say, tolerances growing with the numbers."""

from __future__ import annotations

import mujoco
import numpy as np


def close(ours, theirs, atol):
    """Hold arrays to a tolerance that is absolute near 1 and grows with the numbers themselves."""
    theirs = np.reshape(theirs, np.shape(ours))  # Pinocchio drops axes of one element
    scale = max(1.0, np.abs(theirs).max(initial=0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol * scale)


def base_axes(chain, data):
    return data.xmat[chain.base_body].reshape(3, 3)


def move(chain, data, rng):
    """Give the chain's joints, and no others, random positions and velocities; return both."""
    data.qpos[chain.qpos_addresses] = rng.uniform(-2, 2, chain.n_joints)
    data.qvel[:] = 0
    data.qvel[chain.dof_addresses] = rng.uniform(-3, 3, chain.n_joints)
    mujoco.mj_forward(chain.model, data)
    return data.qpos[chain.qpos_addresses], data.qvel[chain.dof_addresses]


def mass_of_mujoco(chain, data):
    """Return MuJoCo's mass matrix of the chain's joints, all others locked."""
    full = np.zeros((chain.model.nv, chain.model.nv))
    mujoco.mj_fullM(chain.model, data, full)
    return full[np.ix_(chain.dof_addresses, chain.dof_addresses)]


def agree_on_kinematics(chain, data, rng):
    """Compare pose, Jacobian and twist with MuJoCo's in a random state of the chain."""
    q, v = move(chain, data, rng)
    axes, tip, base = base_axes(chain, data), chain.tip_body, chain.base_body
    pose = chain.forward_kinematics(q)
    close(pose.position, axes.T @ (data.xpos[tip] - data.xpos[base]), 1e-12)
    close(pose.rotation, axes.T @ data.xmat[tip].reshape(3, 3), 1e-12)
    full = np.zeros((2, 3, chain.model.nv))
    mujoco.mj_jacBody(chain.model, data, full[0], full[1], tip)
    jacobian = (axes.T @ full).reshape(6, -1)[:, chain.dof_addresses]
    close(chain.jacobian(q), jacobian, 1e-10)
    close(chain.twist(q, v), jacobian @ v, 1e-10)


def agree_on_dynamics(chain, data, rng):
    """Compare forces and masses with MuJoCo's in a random state of the chain.

    The model's passive forces and constraints must be disabled, for its inverse dynamics.
    """
    q, v = move(chain, data, rng)
    dofs = chain.dof_addresses
    bias, mass = data.qfrc_bias[dofs].copy(), mass_of_mujoco(chain, data)
    close(chain.mass_matrix(q), mass, 1e-9)
    close(chain.bias(q, v), bias, 1e-9)
    close(chain.coriolis(q, v) @ v + chain.gravity(q), bias, 1e-9)
    data.qacc[:] = 0
    data.qacc[dofs] = a = rng.normal(size=chain.n_joints)
    mujoco.mj_inverse(chain.model, data)
    torque = data.qfrc_inverse[dofs]
    close(chain.inverse_dynamics(q, v, a), torque, 1e-8)
    close(mass @ chain.forward_dynamics(q, v, torque) + bias, torque, 1e-8)
    data.qvel[:] = 0
    mujoco.mj_forward(chain.model, data)
    close(chain.gravity(q), data.qfrc_bias[dofs], 1e-9)


def agree_with_pinocchio(pin, chain, model, tip, angles, rng):
    """Compare everything with Pinocchio's in a random state.

    Args:
        pin: the module.
        chain: the chain.
        model: Pinocchio's model of just its joints.
        tip: the tip's frame in it.
        angles: from the chain's positions to Pinocchio's.
        rng: a generator.
    """
    data = model.createData()
    q, v, a = rng.normal(size=(3, chain.n_joints))
    theirs = angles(q)
    frame = pin.LOCAL_WORLD_ALIGNED
    pin.computeJointJacobiansTimeVariation(model, data, theirs, v)
    pin.updateFramePlacements(model, data)
    pose = chain.forward_kinematics(q)
    close(pose.position, data.oMf[tip].translation, 1e-12)
    close(pose.rotation, data.oMf[tip].rotation, 1e-12)
    close(chain.jacobian(q), pin.getFrameJacobian(model, data, tip, frame), 1e-12)
    rate = pin.getFrameJacobianTimeVariation(model, data, tip, frame)
    close(chain.jacobian_derivative(q, v), rate, 1e-11)
    mass = np.atleast_2d(pin.crba(model, data, theirs))
    mass = np.triu(mass) + np.triu(mass, 1).T
    close(chain.mass_matrix(q), mass, 1e-11)
    close(chain.gravity(q), pin.computeGeneralizedGravity(model, data, theirs), 1e-11)
    close(chain.bias(q, v), pin.nonLinearEffects(model, data, theirs, v), 1e-11)
    close(chain.coriolis(q, v), pin.computeCoriolisMatrix(model, data, theirs, v), 1e-11)
    torque = pin.rnea(model, data, theirs, v, a)
    close(chain.inverse_dynamics(q, v, a), torque, 1e-11)
    accelerations = np.atleast_1d(pin.aba(model, data, theirs, v, torque))
    close(mass @ chain.forward_dynamics(q, v, torque), mass @ accelerations, 1e-9)
