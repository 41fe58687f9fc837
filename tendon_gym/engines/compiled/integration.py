"""The third pass of a step, from the base to the tip: accelerations, and where they lead."""

from __future__ import annotations

from typing import Any

from tendon_gym.compiled import inlined
from tendon_gym.engines.compiled import slots
from tendon_gym.engines.compiled.dynamics import (
    PUSHED,
    TURNED,
    Frame,
    Memory,
    Motion,
    Wrench,
    bias,
    frame,
    into,
    out_of,
    put,
    rigid,
    transposed,
    vector,
)
from tendon_gym.engines.compiled.inertia import (
    Inertia,
    Vector,
    add,
    add_cross,
    dot,
    into_x,
    into_y,
    plus,
    solved,
)
from tendon_gym.engines.compiled.lanes import larger, muladd, read, root, sine_cosine, write
from tendon_gym.engines.compiled.outward import base_axes, base_motion, pushed


@inlined
def base_force(
    constants: Memory, state: Memory, drive: Memory, shape: tuple, axes: Frame, unit: Any
) -> Wrench:
    """Return the bias force of the base alone, less its rotors and what pushes on it."""
    _, rotors, tendons, flags, _ = shape
    motion = base_motion(drive, state, axes, unit)
    torque, force = bias(constants, 0, flags, motion, unit)
    for i in range(rotors):
        thrust = read(drive, slots.CONTROLS + i, unit)
        lift = vector(constants, slots.BASE + 6 * i, unit)
        twist = vector(constants, slots.BASE + 6 * i + 3, unit)
        force = (
            muladd(-thrust, lift[0], force[0]),
            muladd(-thrust, lift[1], force[1]),
            muladd(-thrust, lift[2], force[2]),
        )
        torque = (
            muladd(-thrust, twist[0], torque[0]),
            muladd(-thrust, twist[1], torque[1]),
            muladd(-thrust, twist[2], torque[2]),
        )
    if flags & PUSHED:
        at = slots.CONTROLS + rotors + tendons
        centre = vector(constants, slots.CENTRE, unit)
        torque, force = pushed(drive, at, centre, transposed(axes), (torque, force), unit)
        lift, twist = into(axes, vector(drive, at + 6, unit)), vector(drive, at + 9, unit)
        force = (force[0] - lift[0], force[1] - lift[1], force[2] - lift[2])
        torque = (torque[0] - twist[0], torque[1] - twist[1], torque[2] - twist[2])
    return torque, force


@inlined
def follow(
    constants: Memory, state: Memory, axes: Frame, motion: Motion, fall: Motion, h: float, unit: Any
) -> Any:
    """Integrate the base; return the sum of squares of its acceleration and velocities.

    `fall` is its spatial acceleration in its own axes less gravity. What MuJoCo integrates is the
    acceleration of a point that moves along: spin x speed comes on top.
    """
    spin, speed = motion
    gravity = vector(constants, slots.GRAVITY, unit)
    whirl = out_of(axes, add_cross(fall[1], spin, speed))
    rise = add(whirl, gravity)
    velocity, place = vector(state, slots.VELOCITY, unit), vector(state, slots.POSITION, unit)
    velocity = (
        muladd(h, rise[0], velocity[0]),
        muladd(h, rise[1], velocity[1]),
        muladd(h, rise[2], velocity[2]),
    )
    turn = fall[0]
    spin = (muladd(h, turn[0], spin[0]), muladd(h, turn[1], spin[1]), muladd(h, turn[2], spin[2]))
    put(state, slots.VELOCITY, velocity)
    put(state, slots.SPIN, spin)
    place = (
        muladd(h, velocity[0], place[0]),
        muladd(h, velocity[1], place[1]),
        muladd(h, velocity[2], place[2]),
    )
    put(state, slots.POSITION, place)
    rotate_base(state, spin, h, unit)
    size = dot(rise, rise) + dot(turn, turn)
    return size + (dot(velocity, velocity) + dot(spin, spin) + dot(place, place))


@inlined
def rotate_base(state: Memory, spin: Vector, h: float, unit: Any) -> None:
    """Turn the base for a time step by the exponential map."""
    at = slots.QUATERNION
    w, x = read(state, at, unit), read(state, at + 1, unit)
    y, z = read(state, at + 2, unit), read(state, at + 3, unit)
    rate = root(dot(spin, spin))
    s, c = sine_cosine(rate * (0.5 * h))
    share = s / larger(rate, 1e-30)
    a, b, d = share * spin[0], share * spin[1], share * spin[2]
    w, x, y, z = (
        muladd(w, c, -muladd(x, a, muladd(y, b, z * d))),
        muladd(w, a, muladd(x, c, muladd(y, d, -(z * b)))),
        muladd(w, b, muladd(y, c, muladd(z, a, -(x * d)))),
        muladd(w, d, muladd(z, c, muladd(x, b, -(y * a)))),
    )
    share = 1.0 / root(muladd(w, w, muladd(x, x, muladd(y, y, z * z))))
    write(state, at, share * w)
    write(state, at + 1, share * x)
    write(state, at + 2, share * y)
    write(state, at + 3, share * z)


@inlined
def move_links(
    constants: Memory, state: Memory, work: Memory, shape: tuple, fall: Motion, h: float, unit: Any
) -> Any:
    """Integrate the hinges, given the base's acceleration less gravity; return their size."""
    links, rotors, tendons, flags, _ = shape
    turn, rise = fall
    stride = slots.PATH + 6 * tendons
    at, here, angle = slots.BASE + 6 * rotors, slots.WORK_OF_BASE, slots.ANGLES
    size = 0.0 * unit
    for _ in range(links):
        rise = add_cross(rise, turn, vector(constants, at + slots.OFFSET, unit))
        if flags & TURNED:
            rest = frame(constants, at + slots.TURN, unit)
            turn, rise = into(rest, turn), into(rest, rise)
        sx, cx = read(work, here + slots.SINES, unit), read(work, here + slots.SINES + 1, unit)
        sy, cy = read(work, here + slots.SINES + 2, unit), read(work, here + slots.SINES + 3, unit)
        turn, rise = into_x(sx, cx, turn), into_x(sx, cx, rise)
        drift = here + slots.DRIFT_X
        turn = turn[0], turn[1] + read(work, drift, unit), turn[2] + read(work, drift + 1, unit)
        rise = rise[0], rise[1] + read(work, drift + 2, unit), rise[2] + read(work, drift + 3, unit)
        gain = vector(work, here + slots.GAIN_X, unit), vector(work, here + slots.GAIN_X + 3, unit)
        about_x = read(work, here + slots.FREE_X, unit) - (dot(gain[0], turn) + dot(gain[1], rise))
        turn = (turn[0] + about_x, turn[1], turn[2])
        turn, rise = into_y(sy, cy, turn), into_y(sy, cy, rise)
        drift = here + slots.DRIFT_Y
        turn = turn[0] + read(work, drift, unit), turn[1], turn[2] + read(work, drift + 1, unit)
        rise = rise[0] + read(work, drift + 2, unit), rise[1], rise[2] + read(work, drift + 3, unit)
        gain = vector(work, here + slots.GAIN_Y, unit), vector(work, here + slots.GAIN_Y + 3, unit)
        about_y = read(work, here + slots.FREE_Y, unit) - (dot(gain[0], turn) + dot(gain[1], rise))
        turn = (turn[0], turn[1] + about_y, turn[2])
        size = size + move_hinge(state, angle, angle + 2 * links, about_x, h, unit)
        size = size + move_hinge(state, angle + 1, angle + 1 + 2 * links, about_y, h, unit)
        at, here, angle = at + stride, here + slots.WORK_OF_LINK, angle + 2
    return size


@inlined
def move_hinge(state: Memory, at: int, at_rate: int, acceleration: Any, h: float, unit: Any) -> Any:
    """Integrate one hinge; return the sum of squares of its acceleration, rate and angle."""
    rate = muladd(h, acceleration, read(state, at_rate, unit))
    angle = muladd(h, rate, read(state, at, unit))
    write(state, at_rate, rate)
    write(state, at, angle)
    return muladd(acceleration, acceleration, muladd(rate, rate, angle * angle))


@inlined
def move_base(
    constants: Memory, state: Memory, drive: Memory, shape: tuple, free: bool, arm: Inertia,
    pull: Wrench, h: float, unit: Any,
) -> tuple[Any, Motion]:  # fmt: skip
    """Integrate the base, which feels the arm's inertia and bias force.

    Returns the sum of squares of its acceleration and velocities, and its spatial acceleration in
    its own axes less gravity.
    """
    axes = base_axes(state, unit)
    none = 0.0 * unit
    if not free:
        x, y, z = into(axes, vector(constants, slots.GRAVITY, unit))
        return none, ((none, none, none), (-x, -y, -z))
    motion = base_motion(drive, state, axes, unit)
    torque, force = base_force(constants, state, drive, shape, axes, unit)
    torque, force = add(torque, pull[0]), add(force, pull[1])
    asked = (-torque[0], -torque[1], -torque[2]), (-force[0], -force[1], -force[2])
    fall = solved(plus(rigid(constants, 0, unit), arm), asked)
    return follow(constants, state, axes, motion, fall, h, unit), fall
