"""Mass and Coriolis matrix and forward dynamics of a chain, compiled, from composite bodies.

Composite i is all that joint i moves, as one body: its mass, its first and its second moments.
Everything is seen from the base body's origin in the base's axes, where moments of bodies and
velocities of joints just add up. A joint's motion is the angular and the linear velocity that it
gives at unit rate to the body's point that passes the base's origin.

Composite bodies are those of Featherstone 2008, Rigid Body Dynamics Algorithms. Coriolis terms are
the sum of m J^T J' over the particles of the bodies, which is Christoffel's choice, so M' - 2 C is
skew (Echeandia and Wensing 2021, Numerical Methods to Compute the Coriolis Matrix and Christoffel
Symbols for Rigid-Body Systems).
"""

from __future__ import annotations

from numpy.typing import NDArray

from tendon_gym.chains.dynamics import bias_torques
from tendon_gym.chains.kinematics import BASE, ORIGIN, finite, moved, placed
from tendon_gym.chains.linear import factorise, substitute
from tendon_gym.compiled import brief, compiled, inlined
from tendon_gym.spatial import (
    Frame,
    Vector,
    add,
    combine,
    cross,
    dot,
    row,
    scale,
    store_at,
    subtract,
    to_body,
    to_world,
    vector_at,
)

# Rows of three numbers per joint in the arrays below.
ANGULAR, LINEAR = 0, 1  # the joint's motion
FIRST, DIAGONAL, CROSSED, MASS = 2, 3, 4, 5  # moments; xx, yy, zz and xy, xz, yz of the second
ANGULAR_RATE, LINEAR_RATE = 6, 7  # how the joint's motion changes
DRIFT, MOMENTUM = 8, 11  # columns of the sum of m x' x^T, and the sum of m x'
ROWS = 12


@inlined
def second_about(
    segments: NDArray, i: int, frame: Frame, first: Vector, origin: Vector
) -> tuple[Vector, Vector]:
    """Return the second moments of segment i about the base's origin, diagonal and rest.

    Args:
        segments: the chain's constants.
        i: which segment.
        frame: its axes.
        first: its first moments about its own origin.
        origin: that origin.
    """
    s = segments["second"]
    x, y, z = frame
    a = combine(s[i, 0, 0], x, s[i, 1, 0], y, s[i, 2, 0], z)
    b = combine(s[i, 0, 1], x, s[i, 1, 1], y, s[i, 2, 1], z)
    c = combine(s[i, 0, 2], x, s[i, 1, 2], y, s[i, 2, 2], z)
    p = origin
    u = add(first, scale(0.5 * segments["mass"][i], p))
    diagonal = (
        a[0] * x[0] + b[0] * y[0] + c[0] * z[0] + 2.0 * u[0] * p[0],
        a[1] * x[1] + b[1] * y[1] + c[1] * z[1] + 2.0 * u[1] * p[1],
        a[2] * x[2] + b[2] * y[2] + c[2] * z[2] + 2.0 * u[2] * p[2],
    )
    crossed = (
        a[0] * x[1] + b[0] * y[1] + c[0] * z[1] + u[0] * p[1] + u[1] * p[0],
        a[0] * x[2] + b[0] * y[2] + c[0] * z[2] + u[0] * p[2] + u[2] * p[0],
        a[1] * x[2] + b[1] * y[2] + c[1] * z[2] + u[1] * p[2] + u[2] * p[1],
    )
    return diagonal, crossed


@compiled
def fill_bodies(segments: NDArray, q: NDArray, joints: NDArray) -> None:
    """Write the joints' motions and the moments of each segment alone, rows 0 to 5."""
    frame, origin = BASE, ORIGIN
    for i in range(q.shape[0]):
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        if segments["slides"][i]:
            store_at(ORIGIN, joints, i, ANGULAR)
            store_at(frame[2], joints, i, LINEAR)
        else:
            store_at(frame[2], joints, i, ANGULAR)
            store_at(cross(origin, frame[2]), joints, i, LINEAR)
        mass = segments["mass"][i]
        first = to_world(frame, row(segments["moment"], i))
        diagonal, crossed = second_about(segments, i, frame, first, origin)
        store_at(add(first, scale(mass, origin)), joints, i, FIRST)
        store_at(diagonal, joints, i, DIAGONAL)
        store_at(crossed, joints, i, CROSSED)
        store_at((mass, 0.0, 0.0), joints, i, MASS)


@inlined
def gather(joints: NDArray, i: int, start: int, stop: int) -> None:
    """Add rows of joint i to those of the joint before, which moves it."""
    for r in range(start, stop):
        for c in range(3):
            joints[i - 1, r, c] += joints[i, r, c]


@inlined
def second_times(joints: NDArray, i: int, a: Vector) -> Vector:
    """Return P a, with the second moments P of i."""
    d, c = vector_at(joints, i, DIAGONAL), vector_at(joints, i, CROSSED)
    return (
        d[0] * a[0] + c[0] * a[1] + c[1] * a[2],
        c[0] * a[0] + d[1] * a[1] + c[2] * a[2],
        c[1] * a[0] + c[2] * a[1] + d[2] * a[2],
    )


@inlined
def momentum(joints: NDArray, i: int, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
    """Return angular and linear momentum of i under a motion."""
    first = vector_at(joints, i, FIRST)
    trace = joints[i, DIAGONAL, 0] + joints[i, DIAGONAL, 1] + joints[i, DIAGONAL, 2]
    turning = subtract(scale(trace, angular), second_times(joints, i, angular))
    return (
        add(turning, cross(first, linear)),
        add(scale(joints[i, MASS, 0], linear), cross(angular, first)),
    )


@inlined
def along(joints: NDArray, i: int, moment: Vector, force: Vector) -> float:
    """Return the share of a moment about the base's origin and a force that joint i feels."""
    return dot(vector_at(joints, i, ANGULAR), moment) + dot(vector_at(joints, i, LINEAR), force)


@brief
def mass_matrix(segments: NDArray, q: NDArray, joints: NDArray, out: NDArray) -> bool:
    """Write the mass matrix (joints, joints) with armature, kg m^2, kg m and kg."""
    if not finite(q):
        return False
    n = q.shape[0]
    fill_bodies(segments, q, joints)
    for j in range(n - 1, -1, -1):
        if j > 0:
            gather(joints, j, FIRST, MASS + 1)
        angular, linear = vector_at(joints, j, ANGULAR), vector_at(joints, j, LINEAR)
        moment, force = momentum(joints, j, angular, linear)
        for i in range(j + 1):
            out[i, j] = out[j, i] = along(joints, i, moment, force)
        out[j, j] += segments["armature"][j]
    return True


@compiled
def fill_rates(v: NDArray, joints: NDArray) -> None:
    """Write how motions and moments change at joint velocities v, rows 6 to 11."""
    omega, velocity = ORIGIN, ORIGIN
    for i in range(v.shape[0]):
        angular, linear = vector_at(joints, i, ANGULAR), vector_at(joints, i, LINEAR)
        store_at(cross(omega, angular), joints, i, ANGULAR_RATE)
        store_at(add(cross(omega, linear), cross(velocity, angular)), joints, i, LINEAR_RATE)
        omega = add(omega, scale(v[i], angular))
        velocity = add(velocity, scale(v[i], linear))
        first = vector_at(joints, i, FIRST)
        for c in range(3):
            axis = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
            turned = cross(omega, second_times(joints, i, axis))
            store_at(add(scale(first[c], velocity), turned), joints, i, DRIFT + c)
        moving = add(scale(joints[i, MASS, 0], velocity), cross(omega, first))
        store_at(moving, joints, i, MOMENTUM)


@brief
def coriolis_matrix(
    segments: NDArray, q: NDArray, v: NDArray, joints: NDArray, out: NDArray
) -> bool:
    """Write C (joints, joints) of the Coriolis and centrifugal torques C v."""
    if not (finite(q) and finite(v)):
        return False
    n = q.shape[0]
    fill_bodies(segments, q, joints)
    fill_rates(v, joints)
    for j in range(n - 1, -1, -1):
        if j > 0:
            gather(joints, j, FIRST, MASS + 1)
            gather(joints, j, DRIFT, MOMENTUM + 1)
        angular, linear = vector_at(joints, j, ANGULAR), vector_at(joints, j, LINEAR)
        turning, pushing = momentum(joints, j, angular, linear)
        drift = vector_at(joints, j, MOMENTUM)
        x, y = vector_at(joints, j, DRIFT), vector_at(joints, j, DRIFT + 1)
        z = vector_at(joints, j, DRIFT + 2)
        spin = scale(x[0] + y[1] + z[2], angular)
        moment, force = momentum(
            joints, j, vector_at(joints, j, ANGULAR_RATE), vector_at(joints, j, LINEAR_RATE)
        )
        moment = add(moment, subtract(spin, to_world((x, y, z), angular)))
        force = add(force, cross(angular, drift))
        back = add(subtract(spin, to_body((x, y, z), angular)), cross(drift, linear))
        for i in range(j + 1):
            out[i, j] = along(joints, i, moment, force)
        for i in range(j):
            out[j, i] = dot(vector_at(joints, i, ANGULAR), back) + (
                dot(vector_at(joints, i, ANGULAR_RATE), turning)
                + dot(vector_at(joints, i, LINEAR_RATE), pushing)
            )
    return True


@brief
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
    """Write the accelerations that torques give the joints, rad/s^2 or m/s^2.

    Also returns False if the mass matrix is singular: something moves that has no mass.
    """
    if not (finite(torque) and bias_torques(segments, q, v, base, work, out)):
        return False
    n = q.shape[0]
    for i in range(n):
        out[i] = torque[i] - out[i]
    mass_matrix(segments, q, work, matrix)
    if not factorise(matrix, n):
        return False
    substitute(matrix, n, out)
    return True
