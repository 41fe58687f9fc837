"""One physics step of a base with a chain of two-hinge links, in time linear in their number.

The articulated-body algorithm (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 7
and 9) in link coordinates. A link turns about x, then about y, at its origin, so that the motion
subspaces are unit vectors: U is a column of the articulated inertia, and D one of its elements.
The integrator is MuJoCo's "Euler": semi-implicit, and implicit in the damping of the hinges, which
adds timestep * damping to D. Written for floats and for lanes alike, see `lanes`.

Everything is seen from air at rest: the laws of motion are the same in a frame that moves evenly,
so that wind is taken off the base's velocity, and nothing else knows of it.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.engines.compiled import slots
from tendon_gym.engines.compiled.inertia import (
    Inertia,
    Vector,
    add,
    add_cross,
    cross,
    dot,
    from_x,
    from_y,
    times,
)
from tendon_gym.engines.compiled.lanes import magnitude, muladd, read, root, write

Memory = NDArray
Frame = tuple[Vector, Vector, Vector]
Wrench = tuple[Vector, Vector]
Motion = tuple[Vector, Vector]

ROTATED, TURNED, PUSHED = 1, 2, 4
"""Flags: some inertial frame is rotated, some link's frame at rest is turned, terms push."""


@inlined
def vector(memory: Memory, slot: int, unit: Any) -> Vector:
    """Read three slots."""
    return read(memory, slot, unit), read(memory, slot + 1, unit), read(memory, slot + 2, unit)


@inlined
def put(memory: Memory, slot: int, v: Vector) -> None:
    """Write three slots."""
    write(memory, slot, v[0])
    write(memory, slot + 1, v[1])
    write(memory, slot + 2, v[2])


@inlined
def frame(memory: Memory, slot: int, unit: Any) -> Frame:
    """Read the three axes of a frame."""
    first, second = vector(memory, slot, unit), vector(memory, slot + 3, unit)
    return first, second, vector(memory, slot + 6, unit)


@inlined
def into(axes: Frame, v: Vector) -> Vector:
    """Return the coordinates in a frame of a vector given outside of it."""
    return dot(axes[0], v), dot(axes[1], v), dot(axes[2], v)


@inlined
def out_of(axes: Frame, v: Vector) -> Vector:
    """Return the outer coordinates of a vector that is given in a frame."""
    a, b, c = axes
    return (
        muladd(a[0], v[0], muladd(b[0], v[1], c[0] * v[2])),
        muladd(a[1], v[0], muladd(b[1], v[1], c[1] * v[2])),
        muladd(a[2], v[0], muladd(b[2], v[1], c[2] * v[2])),
    )


@inlined
def transposed(axes: Frame) -> Frame:
    """Return the outer axes as seen in a frame."""
    a, b, c = axes
    return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])


@inlined
def axes_of(quaternion: tuple[Any, Any, Any, Any]) -> Frame:
    """Return the frame of a quaternion, which need not be of unit length."""
    w, x, y, z = quaternion
    square = muladd(w, w, muladd(x, x, muladd(y, y, z * z)))
    k = 2.0 / square
    xx, yy, zz = k * (x * x), k * (y * y), k * (z * z)
    xy, xz, yz = k * (x * y), k * (x * z), k * (y * z)
    wx, wy, wz = k * (w * x), k * (w * y), k * (w * z)
    return (
        (1.0 - (yy + zz), xy + wz, xz - wy),
        (xy - wz, 1.0 - (xx + zz), yz + wx),
        (xz + wy, yz - wx, 1.0 - (xx + yy)),
    )


@inlined
def rigid(constants: Memory, at: int, unit: Any) -> Inertia:
    """Read the inertia of a rigid body."""
    mass, (x, y, z) = read(constants, at, unit), vector(constants, at + slots.MOMENT, unit)
    xx, xy, xz = vector(constants, at + slots.INERTIA, unit)
    yy, yz, zz = vector(constants, at + slots.INERTIA + 3, unit)
    none = 0.0 * unit
    return (
        (xx, xy, xz, yy, yz, zz),
        (none, -z, y, z, none, -x, -y, x, none),
        (mass, none, none, mass, none, mass),
    )


@inlined
def bias(constants: Memory, at: int, flags: int, motion: Motion, unit: Any) -> Wrench:
    """Return the force that keeps a rigid body on its course, through the air that it meets."""
    spin, speed = motion
    mass, moment = read(constants, at, unit), vector(constants, at + slots.MOMENT, unit)
    xx, xy, xz = vector(constants, at + slots.INERTIA, unit)
    yy, yz, zz = vector(constants, at + slots.INERTIA + 3, unit)
    momentum = add_cross((mass * speed[0], mass * speed[1], mass * speed[2]), spin, moment)
    angular = add_cross(times((xx, xy, xz, yy, yz, zz), spin), moment, speed)
    torque = add_cross(cross(spin, angular), speed, momentum)
    force = cross(spin, momentum)
    drag_torque, drag = fluid(constants, at, flags, motion, unit)
    return add(torque, drag_torque), add(force, drag)


@inlined
def fluid(constants: Memory, at: int, flags: int, motion: Motion, unit: Any) -> Wrench:
    """Return the resistance that a body must overcome: MuJoCo's inertia-box model.

    Of each axis of the inertial frame: linear and quadratic in the velocity of the centre of mass,
    and the same in the angular velocity.
    """
    centre = vector(constants, at + slots.CENTRE, unit)
    spin, speed = motion[0], add_cross(motion[1], motion[0], centre)
    if flags & ROTATED:
        axes = frame(constants, at + slots.AXES, unit)
        spin, speed = into(axes, spin), into(axes, speed)
    slow, slow_turn = (
        read(constants, at + slots.DRAG, unit),
        read(constants, at + slots.DRAG + 1, unit),
    )
    fast = vector(constants, at + slots.DRAG + 2, unit)
    fast_turn = vector(constants, at + slots.DRAG + 5, unit)
    force = (
        muladd(fast[0], magnitude(speed[0]), slow) * speed[0],
        muladd(fast[1], magnitude(speed[1]), slow) * speed[1],
        muladd(fast[2], magnitude(speed[2]), slow) * speed[2],
    )
    torque = (
        muladd(fast_turn[0], magnitude(spin[0]), slow_turn) * spin[0],
        muladd(fast_turn[1], magnitude(spin[1]), slow_turn) * spin[1],
        muladd(fast_turn[2], magnitude(spin[2]), slow_turn) * spin[2],
    )
    if flags & ROTATED:
        axes = frame(constants, at + slots.AXES, unit)
        force, torque = out_of(axes, force), out_of(axes, torque)
    return add_cross(torque, centre, force), force


@inlined
def tendon_moment(
    constants: Memory, at: int, drive: Memory, first: int, tendons: int, sines: tuple, unit: Any
) -> Vector:
    """Return the sum of tension times (a x b) / |b - a| over the tendons.

    a and b are the guides before and on the link, seen from the link's origin in its frame at
    rest. A tendon of length L pulls a hinge of axis e with -tension dL/dq = -e . that sum.
    """
    sx, cx, sy, cy = sines
    none = 0.0 * unit
    x, y, z = none, none, none
    for i in range(tendons):
        a = vector(constants, at + 6 * i, unit)
        b = from_x(sx, cx, from_y(sy, cy, vector(constants, at + 6 * i + 3, unit)))
        d = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
        pull = read(drive, first + i, unit) / root(dot(d, d))
        arm = cross(a, b)
        x, y, z = muladd(pull, arm[0], x), muladd(pull, arm[1], y), muladd(pull, arm[2], z)
    return x, y, z


@inlined
def hinge_torques(
    constants: Memory, at: int, moment: Vector, sines: tuple, state: Memory, angle: int, rate: int,
    unit: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the torques about x and y: tendons, springs, damping."""
    sx, cx = sines[0], sines[1]
    x, y = read(state, angle, unit), read(state, angle + 1, unit)
    dx, dy = read(state, rate, unit), read(state, rate + 1, unit)
    spring, rest, damping = at + slots.STIFFNESS, at + slots.REST, at + slots.DAMPING
    elastic_x = read(constants, spring, unit) * (x - read(constants, rest, unit))
    elastic_y = read(constants, spring + 1, unit) * (y - read(constants, rest + 1, unit))
    about_x = muladd(read(constants, damping, unit), dx, elastic_x) + moment[0]
    pull_y = muladd(cx, moment[1], sx * moment[2])
    about_y = muladd(read(constants, damping + 1, unit), dy, elastic_y) + pull_y
    return -about_x, -about_y
