"""The load of a simulation: a ball that gravity, the air and force terms move."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.engines.compiled.rows import Setup
from tendon_gym.spatial import (
    Vector,
    dot,
    frame_of,
    multiply,
    norm,
    quaternion,
    scale,
    subtract,
    to_body,
    to_world,
    turn,
    unit,
    vector,
)


@inlined
def near_load(base: Vector, qpos: NDArray, setup: Setup) -> bool:
    """Say whether the load of a state (nq,) may touch anything: never wrong when it says no.

    The base's origin is where `base` says, as the state may lie behind there.
    """
    if setup.load[0] < 0:
        return False
    at, reach = setup.load[1], setup.load_bounds[0]
    place = vector(qpos[at : at + 3])
    apart, most = subtract(place, base), reach + setup.bounds[3]
    near = place[2] < setup.load_bounds[1] or dot(apart, apart) < most * most
    for k in range(setup.obstacles.shape[0]):
        apart = subtract(place, vector(setup.obstacles[k, :3]))
        most = reach + setup.obstacles[k, 3]
        near = near or dot(apart, apart) < most * most
    for k in range(setup.planes.shape[0]):
        near = near or dot(vector(setup.planes[k, :3]), place) - setup.planes[k, 3] < reach
    return near


@inlined
def _drag(v: Vector, linear: float, a: float, b: float, c: float) -> Vector:
    """Return what slows a velocity down: linear, and by the square along each axis."""
    return (
        -v[0] * (linear + a * abs(v[0])),
        -v[1] * (linear + b * abs(v[1])),
        -v[2] * (linear + c * abs(v[2])),
    )


@inlined
def move_load(i: int, given: Any) -> float:
    """Take a physics step of simulation i's load, in its row; return the size of its motion.

    Semi-implicit Euler. A ball has no gyroscopic torque; its drag is that of the cube with the same
    inertia, along the body's axes, as MuJoCo has it.
    """
    rows, setup, push = given.rows, given.setup, given.push
    body, at, dof = setup.load
    qpos, qvel, c = rows.qpos[i], rows.qvel[i], given.load[i % given.load.shape[0]]
    h, mass, moment = setup.timestep, c[0], c[1]
    attitude = quaternion(qpos[at + 3 : at + 7])
    axes = frame_of(attitude)
    velocity, spin = vector(qvel[dof : dof + 3]), vector(qvel[dof + 3 : dof + 6])
    air = to_body(axes, subtract(velocity, vector(push.wind[i])))
    force = to_world(axes, _drag(air, c[5], c[7], c[8], c[9]))
    torque = _drag(spin, c[6], c[10], c[11], c[12])
    more = to_body(axes, vector(push.wrench[i, body, 3:]))
    size = 0.0
    for k in range(3):
        free_force = force[k] + push.wrench[i, body, k] + push.joint_force[i, dof + k]
        free_torque = torque[k] + more[k] + push.joint_force[i, dof + 3 + k]
        rise, twist = c[2 + k] + free_force / mass, free_torque / moment
        qvel[dof + k] += h * rise
        qvel[dof + 3 + k] += h * twist
        qpos[at + k] += h * qvel[dof + k]
        size += rise * rise + twist * twist + qpos[at + k] * qpos[at + k]
    velocity, spin = vector(qvel[dof : dof + 3]), vector(qvel[dof + 3 : dof + 6])
    rate = norm(spin)
    attitude = unit(multiply(attitude, turn(scale(1.0 / max(rate, 1e-30), spin), h * rate)))
    for k in range(4):
        qpos[at + 3 + k] = attitude[k]
    return size + dot(velocity, velocity) + dot(spin, spin)
