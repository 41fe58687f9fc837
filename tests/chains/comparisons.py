"""What a chain says against what oracles say: MuJoCo, which has the whole model, and Pinocchio.

An oracle has methods of the chain's own names, and the tolerances that the chain is held to.
"""

from __future__ import annotations

from typing import ClassVar

import mujoco
import numpy as np

STEP = 1e-6
METHODS = {
    "forward_kinematics": 1,
    "twist": 2,
    "jacobian": 1,
    "jacobian_derivative": 2,
    "gravity": 1,
    "bias": 2,
    "coriolis": 2,
    "mass_matrix": 1,
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
}
"""How many of q, v and a (or torques) each method takes."""


def base_axes(chain, data):
    return data.xmat[chain.base_body].reshape(3, 3)


def random_state(chain, rng):
    """Return random positions, velocities and accelerations."""
    spread = np.array([2.0, 3.0, 1.0])[:, None]
    return spread * rng.uniform(-1, 1, (3, chain.n_joints))


def move(chain, data, rng):
    """Give the chain's joints, and no others, random positions and velocities; return both."""
    q, v, _ = random_state(chain, rng)
    Simulation(chain, data).put(q, v)
    return q, v


class Simulation:
    """What MuJoCo says of the chain's joints, all others locked as data has them.

    The model's passive forces and constraints must be disabled, for its inverse dynamics.
    """

    TOLERANCES: ClassVar = {
        "forward_kinematics": 1e-12,
        "twist": 1e-10,
        "jacobian": 1e-10,
        "gravity": 1e-9,
        "bias": 1e-9,
        "mass_matrix": 1e-9,
        "inverse_dynamics": 1e-8,
        "forward_dynamics": 1e-8,
    }

    def __init__(self, chain, data):
        self.chain, self.data = chain, data

    def put(self, q, v=0.0):
        """Give the chain's joints, and no others, positions and velocities."""
        chain, data = self.chain, self.data
        data.qpos[chain.qpos_addresses] = q
        data.qvel[:] = data.qacc[:] = 0
        data.qvel[chain.dof_addresses] = v
        mujoco.mj_forward(chain.model, data)

    def forward_kinematics(self, q):
        self.put(q)
        chain, data = self.chain, self.data
        axes, tip, base = base_axes(chain, data), chain.tip_body, chain.base_body
        place = axes.T @ (data.xpos[tip] - data.xpos[base])
        return np.vstack([place, axes.T @ data.xmat[tip].reshape(3, 3)])

    def jacobian(self, q):
        self.put(q)
        chain, full = self.chain, np.zeros((2, 3, self.chain.model.nv))
        mujoco.mj_jacBody(chain.model, self.data, full[0], full[1], chain.tip_body)
        turned = base_axes(chain, self.data).T @ full
        return turned.reshape(6, -1)[:, chain.dof_addresses]

    def twist(self, q, v):
        return self.jacobian(q) @ v

    def gravity(self, q):
        return self.bias(q, np.zeros(len(q)))

    def bias(self, q, v):
        self.put(q, v)
        return self.data.qfrc_bias[self.chain.dof_addresses]

    def mass_matrix(self, q):
        self.put(q)
        full = np.zeros((self.chain.model.nv,) * 2)
        mujoco.mj_fullM(self.chain.model, self.data, full)
        return full[np.ix_(self.chain.dof_addresses, self.chain.dof_addresses)]

    def inverse_dynamics(self, q, v, a):
        self.put(q, v)
        self.data.qacc[:] = 0
        self.data.qacc[self.chain.dof_addresses] = a
        mujoco.mj_inverse(self.chain.model, self.data)
        return self.data.qfrc_inverse[self.chain.dof_addresses]

    def forward_dynamics(self, q, v, torque):
        return np.linalg.solve(self.mass_matrix(q), torque - self.bias(q, v))


class Pinocchio:
    """What Pinocchio says of a model of just the chain's joints."""

    TOLERANCES: ClassVar = {
        "forward_kinematics": 1e-12,
        "jacobian": 1e-12,
        "jacobian_derivative": 1e-11,
        "gravity": 1e-11,
        "bias": 1e-11,
        "coriolis": 1e-11,
        "mass_matrix": 1e-11,
        "inverse_dynamics": 1e-11,
        "forward_dynamics": 1e-9,
    }

    def __init__(self, pin, model, tip, angles):
        """Take the module, its model, the tip's frame in it, and angles(q) in its convention."""
        self._pin, self._model, self._tip, self._angles = pin, model, tip, angles
        self._data = model.createData()

    def _call(self, name, q, *others):
        return getattr(self._pin, name)(self._model, self._data, self._angles(q), *others)

    def forward_kinematics(self, q):
        self._call("framesForwardKinematics", q)
        pose = self._data.oMf[self._tip]
        return np.vstack([pose.translation, pose.rotation])

    def jacobian(self, q):
        self._call("computeJointJacobians", q)
        return self._frame("getFrameJacobian")

    def jacobian_derivative(self, q, v):
        self._call("computeJointJacobiansTimeVariation", q, v)
        return self._frame("getFrameJacobianTimeVariation")

    def _frame(self, name):
        self._pin.updateFramePlacements(self._model, self._data)
        axes = self._pin.LOCAL_WORLD_ALIGNED
        return getattr(self._pin, name)(self._model, self._data, self._tip, axes)

    def gravity(self, q):
        return self._call("computeGeneralizedGravity", q)

    def bias(self, q, v):
        return self._call("nonLinearEffects", q, v)

    def coriolis(self, q, v):
        return self._call("computeCoriolisMatrix", q, v)

    def mass_matrix(self, q):
        upper = np.triu(np.atleast_2d(self._call("crba", q)))
        return upper + np.triu(upper, 1).T

    def inverse_dynamics(self, q, v, a):
        return self._call("rnea", q, v, a)

    def forward_dynamics(self, q, v, torque):
        return self._call("aba", q, v, torque)


def pairs(chain, oracle, name, state):
    """Return what the chain and an oracle say in a state (q, v, a), as arrays of one shape."""
    method, arguments = getattr(chain, name), state[: METHODS[name]]
    if name == "forward_dynamics":  # torques of the size that the accelerations need
        arguments = (*state[:2], chain.inverse_dynamics(*state))
    ours = method(*arguments)
    if name == "forward_kinematics":
        ours = np.vstack([ours.position, ours.rotation])
    theirs = getattr(oracle, name)(*arguments)
    return ours, np.reshape(theirs, ours.shape)  # Pinocchio drops axes of one element


def close(ours, theirs, atol):
    """Hold arrays to a tolerance that is absolute near 1 and grows with the numbers themselves."""
    scale = max(1.0, np.abs(theirs).max(initial=0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol * scale)


def agree(chain, oracle, rng):
    """Hold a chain to all that an oracle says in a random state."""
    state = random_state(chain, rng)
    for name, tolerance in oracle.TOLERANCES.items():
        ours, theirs = pairs(chain, oracle, name, state)
        if name == "forward_dynamics":  # as forces: accelerations of what is light are large
            mass = chain.mass_matrix(state[0])
            ours, theirs = mass @ ours, mass @ theirs
        close(ours, theirs, tolerance)


def agree_with_differences(chain, rng):
    """Hold all derivatives of a chain to central differences, in a random state."""
    q, v, _ = random_state(chain, rng)
    n, axes = chain.n_joints, np.eye(chain.n_joints)

    def slope(function, direction):
        ahead, behind = function(q + STEP * direction), function(q - STEP * direction)
        return (ahead - behind) / (2 * STEP)

    def position(x):
        return chain.forward_kinematics(x).position

    def rotation(x):
        return chain.forward_kinematics(x).rotation

    def motion(direction):
        spin = slope(rotation, direction) @ rotation(q).T
        return [*slope(position, direction), spin[2, 1], spin[0, 2], spin[1, 0]]

    close(chain.twist(q, v), motion(v), 1e-6)
    for k in range(n):
        close(chain.jacobian(q)[:, k], motion(axes[k]), 1e-6)
    close(chain.jacobian_derivative(q, v), slope(chain.jacobian, v), 1e-6)
    slopes = np.reshape([slope(chain.mass_matrix, axis) for axis in axes], (n, n, n))
    christoffel = np.einsum("kij,k->ij", slopes, v) + np.einsum("jik,k->ij", slopes, v)
    christoffel -= np.einsum("ijk,k->ij", slopes, v)  # slopes: k, i, j: of M_ij by q_k
    coriolis = chain.coriolis(q, v)
    close(coriolis, christoffel / 2, 1e-6)
    close(coriolis + coriolis.T, slope(chain.mass_matrix, v), 1e-6)
