"""The first pass of a step, from the base to the tip: motions, forces, torques, heights."""

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
    axes_of,
    bias,
    frame,
    hinge_torques,
    into,
    out_of,
    put,
    tendon_moment,
    transposed,
    vector,
)
from tendon_gym.engines.compiled.inertia import Vector, add_cross, dot, into_x, into_y
from tendon_gym.engines.compiled.lanes import larger, read, sine_cosine, smaller, write


@inlined
def base_axes(state: Memory, unit: Any) -> Frame:
    """Return the axes of the base in world coordinates."""
    at = slots.QUATERNION
    w, x = read(state, at, unit), read(state, at + 1, unit)
    return axes_of((w, x, read(state, at + 2, unit), read(state, at + 3, unit)))


@inlined
def base_motion(drive: Memory, state: Memory, axes: Frame, unit: Any) -> Motion:
    """Return the base's angular velocity and its velocity through the air, in its own axes."""
    wind = vector(drive, slots.WIND, unit)
    speed = vector(state, slots.VELOCITY, unit)
    relative = (speed[0] - wind[0], speed[1] - wind[1], speed[2] - wind[2])
    return vector(state, slots.SPIN, unit), into(axes, relative)


@inlined
def pushed(push: Memory, at: int, centre: Vector, world: Frame, force: Wrench, unit: Any) -> Wrench:
    """Return a bias less the wrench at `at`, whose world axes are seen from the body as `world`."""
    lift = out_of(world, vector(push, at, unit))
    twist = out_of(world, vector(push, at + 3, unit))
    twist = add_cross(twist, centre, lift)
    (a, b, c), (x, y, z) = force
    return (a - twist[0], b - twist[1], c - twist[2]), (x - lift[0], y - lift[1], z - lift[2])


@inlined
def turn_x(work: Memory, at: int, rate: Any, motion: Motion) -> Motion:
    """Return the motion behind the hinge about x; keep the acceleration that comes of it."""
    spin, speed = motion
    write(work, at, spin[2] * rate)
    write(work, at + 1, -(spin[1] * rate))
    write(work, at + 2, speed[2] * rate)
    write(work, at + 3, -(speed[1] * rate))
    return (spin[0] + rate, spin[1], spin[2]), speed


@inlined
def turn_y(work: Memory, at: int, rate: Any, motion: Motion) -> Motion:
    """Return the motion behind the hinge about y; keep the acceleration that comes of it."""
    spin, speed = motion
    write(work, at, -(spin[2] * rate))
    write(work, at + 1, spin[0] * rate)
    write(work, at + 2, -(speed[2] * rate))
    write(work, at + 3, speed[0] * rate)
    return (spin[0], spin[1] + rate, spin[2]), speed


@inlined
def through_hinges(
    state: Memory, work: Memory, here: int, angle: int, rate: int, motion: Motion, unit: Any
) -> tuple[tuple, Motion]:
    """Return sines and cosines of a link's angles, about x, then y, and its motion behind them."""
    sx, cx = sine_cosine(read(state, angle, unit))
    sy, cy = sine_cosine(read(state, angle + 1, unit))
    write(work, here + slots.SINES, sx)
    write(work, here + slots.SINES + 1, cx)
    write(work, here + slots.SINES + 2, sy)
    write(work, here + slots.SINES + 3, cy)
    turning = read(state, rate, unit)
    motion = (into_x(sx, cx, motion[0]), into_x(sx, cx, motion[1]))
    motion = turn_x(work, here + slots.DRIFT_X, turning, motion)
    turning = read(state, rate + 1, unit)
    motion = (into_y(sy, cy, motion[0]), into_y(sy, cy, motion[1]))
    return (sx, cx, sy, cy), turn_y(work, here + slots.DRIFT_Y, turning, motion)


@inlined
def behind(sines: tuple, v: Vector) -> Vector:
    """Return the coordinates of a vector behind both hinges of a link."""
    return into_y(sines[2], sines[3], into_x(sines[0], sines[1], v))


@inlined
def ask(
    constants: Memory, state: Memory, drive: Memory, work: Memory, shape: tuple, places: tuple,
    sines: tuple, world: Frame, motion: Motion, unit: Any,
) -> None:  # fmt: skip
    """Find the force that a link's motion asks for, and the torques of its hinges."""
    _, rotors, tendons, flags, _ = shape
    at, here, angle, rate, push = places
    force = bias(constants, at, flags, motion, unit)
    path, first = at + slots.PATH, slots.CONTROLS + rotors
    moment = tendon_moment(constants, path, drive, first, tendons, sines, unit)
    about_x, about_y = hinge_torques(constants, at, moment, sines, state, angle, rate, unit)
    if flags & PUSHED:
        centre = vector(constants, at + slots.CENTRE, unit)
        force = pushed(drive, push, centre, world, force, unit)
        about_x = about_x + read(drive, push + 6, unit)
        about_y = about_y + read(drive, push + 7, unit)
    put(work, here + slots.BIAS, force[0])
    put(work, here + slots.BIAS + 3, force[1])
    write(work, here + slots.TORQUE, about_x)
    write(work, here + slots.TORQUE + 1, about_y)


@inlined
def to_tip(
    constants: Memory, state: Memory, drive: Memory, work: Memory, shape: tuple, unit: Any
) -> None:
    """Find the links' motions, the forces that they ask for and the torques of their hinges."""
    links, rotors, tendons, flags, first = shape
    axes = base_axes(state, unit)
    spin, speed = base_motion(drive, state, axes, unit)
    world = transposed(axes)
    nose = (0.0 * unit, 0.0 * unit, 1.0 * unit)
    rise, height = 0.0 * unit, read(state, slots.POSITION + 2, unit)
    highest, lowest = -1e3 * unit, height
    stride = slots.PATH + 6 * tendons
    at, here = slots.BASE + 6 * rotors, slots.WORK_OF_BASE
    angle, push = slots.ANGLES, slots.CONTROLS + rotors + tendons + slots.PUSH_OF_BASE
    for k in range(links):
        offset = vector(constants, at + slots.OFFSET, unit)
        rise, height = rise + dot(nose, offset), height + dot(world[2], offset)
        speed = add_cross(speed, spin, offset)
        if flags & TURNED:
            rest = frame(constants, at + slots.TURN, unit)
            spin, speed, nose = into(rest, spin), into(rest, speed), into(rest, nose)
            world = (into(rest, world[0]), into(rest, world[1]), into(rest, world[2]))
        sines, (spin, speed) = through_hinges(
            state, work, here, angle, angle + 2 * links, (spin, speed), unit
        )
        nose, up = behind(sines, nose), behind(sines, world[2])
        if flags & PUSHED:
            world = (behind(sines, world[0]), behind(sines, world[1]), up)
        else:
            world = (world[0], world[1], up)
        end = vector(constants, at + slots.END, unit)
        if k >= first:
            highest = larger(highest, larger(rise, rise + dot(nose, end)))
        lowest = smaller(lowest, smaller(height, height + dot(up, end)))
        places = (at, here, angle, angle + 2 * links, push)
        ask(
            constants, state, drive, work, shape, places, sines, world, (spin, speed), unit
        )  # fmt: skip
        at, here = at + stride, here + slots.WORK_OF_LINK
        angle, push = angle + 2, push + slots.PUSH_OF_LINK
    write(work, slots.HIGHEST, highest)
    write(work, slots.LOWEST, lowest)
