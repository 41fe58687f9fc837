"""The kernels of a chain over batches: states (batch, joints), the batch's axis first everywhere.

What the base does is (batch, 3, 3). All return whether they came to the end: a state that a kernel
refuses ends them.
"""

from __future__ import annotations

from numpy.typing import NDArray

from tendon_gym.chains import composite, dynamics, kinematics
from tendon_gym.compiled import compiled


@compiled
def tip_pose(segments: NDArray, q: NDArray, out: NDArray) -> bool:
    """Write tip_pose of each state."""
    for k in range(q.shape[0]):
        if not kinematics.tip_pose(segments, q[k], out[k]):
            return False
    return True


@compiled
def tip_twist(segments: NDArray, q: NDArray, v: NDArray, out: NDArray) -> bool:
    """Write tip_twist of each state."""
    for k in range(q.shape[0]):
        if not kinematics.tip_twist(segments, q[k], v[k], out[k]):
            return False
    return True


@compiled
def tip_jacobian(segments: NDArray, q: NDArray, out: NDArray) -> bool:
    """Write tip_jacobian of each state."""
    for k in range(q.shape[0]):
        if not kinematics.tip_jacobian(segments, q[k], out[k]):
            return False
    return True


@compiled
def tip_jacobian_rate(
    segments: NDArray, q: NDArray, v: NDArray, work: NDArray, out: NDArray
) -> bool:
    """Write tip_jacobian_rate of each state."""
    for k in range(q.shape[0]):
        if not kinematics.tip_jacobian_rate(segments, q[k], v[k], work, out[k]):
            return False
    return True


@compiled
def gravity_torques(
    segments: NDArray, q: NDArray, base: NDArray, work: NDArray, out: NDArray
) -> bool:
    """Write gravity_torques of each state."""
    for k in range(q.shape[0]):
        if not dynamics.gravity_torques(segments, q[k], base[k], work, out[k]):
            return False
    return True


@compiled
def joint_torques(
    segments: NDArray,
    q: NDArray,
    v: NDArray,
    a: NDArray,
    base: NDArray,
    work: NDArray,
    out: NDArray,
) -> bool:
    """Write joint_torques of each state."""
    for k in range(q.shape[0]):
        if not dynamics.joint_torques(segments, q[k], v[k], a[k], base[k], work, out[k]):
            return False
    return True


@compiled
def bias_torques(
    segments: NDArray, q: NDArray, v: NDArray, base: NDArray, work: NDArray, out: NDArray
) -> bool:
    """Write bias_torques of each state."""
    for k in range(q.shape[0]):
        if not dynamics.bias_torques(segments, q[k], v[k], base[k], work, out[k]):
            return False
    return True


@compiled
def mass_matrix(segments: NDArray, q: NDArray, work: NDArray, out: NDArray) -> bool:
    """Write mass_matrix of each state."""
    for k in range(q.shape[0]):
        if not composite.mass_matrix(segments, q[k], work, out[k]):
            return False
    return True


@compiled
def coriolis_matrix(segments: NDArray, q: NDArray, v: NDArray, work: NDArray, out: NDArray) -> bool:
    """Write coriolis_matrix of each state."""
    for k in range(q.shape[0]):
        if not composite.coriolis_matrix(segments, q[k], v[k], work, out[k]):
            return False
    return True


@compiled
def joint_accelerations(
    segments: NDArray,
    q: NDArray,
    v: NDArray,
    torque: NDArray,
    base: NDArray,
    work: NDArray,
    matrix: NDArray,
    out: NDArray,
) -> bool:
    """Write joint_accelerations of each state."""
    for k in range(q.shape[0]):
        if not composite.joint_accelerations(
            segments, q[k], v[k], torque[k], base[k], work, matrix, out[k]
        ):
            return False
    return True
