"""The three passes of a step along the chain: to the tip, to the base, and to the tip again."""

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
    rigid,
    tendon_moment,
    vector,
)
from tendon_gym.engines.compiled.inertia import (
    Inertia,
    Vector,
    add,
    add_cross,
    cross,
    dot,
    from_x,
    from_y,
    inertia_from_x,
    inertia_from_y,
    into_x,
    into_y,
    moved,
    relieved,
    solved,
    times,
    turned,
)
from tendon_gym.engines.compiled.lanes import (
    larger,
    muladd,
    read,
    root,
    sine_cosine,
    smaller,
    write,
)


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
def to_tip(
    constants: Memory, state: Memory, drive: Memory, work: Memory, shape: tuple, unit: Any
) -> None:
    """Find the links' motions, the forces that they ask for and the torques of their hinges."""
    links, rotors, tendons, flags, first = shape
    axes = base_axes(state, unit)
    spin, speed = base_motion(drive, state, axes, unit)
    world = (
        (axes[0][0], axes[1][0], axes[2][0]),
        (axes[0][1], axes[1][1], axes[2][1]),
        (axes[0][2], axes[1][2], axes[2][2]),
    )
    nose = (0.0 * unit, 0.0 * unit, 1.0 * unit)
    rise, height = 0.0 * unit, read(state, slots.POSITION + 2, unit)
    highest, lowest = -1e3 * unit, height
    stride = slots.PATH + 6 * tendons
    at, here = slots.BASE + 6 * rotors, slots.WORK_OF_BASE
    link, push = slots.CHAIN, slots.CONTROLS + rotors + tendons + slots.PUSH_OF_BASE
    for k in range(links):
        offset = vector(constants, at + slots.OFFSET, unit)
        rise, height = rise + dot(nose, offset), height + dot(world[2], offset)
        speed = add_cross(speed, spin, offset)
        if flags & TURNED:
            rest = frame(constants, at + slots.TURN, unit)
            spin, speed, nose = into(rest, spin), into(rest, speed), into(rest, nose)
            world = (into(rest, world[0]), into(rest, world[1]), into(rest, world[2]))
        sx, cx = sine_cosine(read(state, link + slots.ANGLE, unit))
        sy, cy = sine_cosine(read(state, link + slots.ANGLE + 1, unit))
        sines = (sx, cx, sy, cy)
        for i in range(4):
            write(work, here + slots.SINES + i, sines[i])
        motion = (into_x(sx, cx, spin), into_x(sx, cx, speed))
        rate_x = read(state, link + slots.RATE, unit)
        spin, speed = turn_x(work, here + slots.DRIFT_X, rate_x, motion)
        motion = (into_y(sy, cy, spin), into_y(sy, cy, speed))
        rate_y = read(state, link + slots.RATE + 1, unit)
        spin, speed = turn_y(work, here + slots.DRIFT_Y, rate_y, motion)
        nose = into_y(sy, cy, into_x(sx, cx, nose))
        up = into_y(sy, cy, into_x(sx, cx, world[2]))
        east, north = world[0], world[1]
        force = bias(constants, at, flags, (spin, speed), unit)
        if flags & PUSHED:
            east = into_y(sy, cy, into_x(sx, cx, east))
            north = into_y(sy, cy, into_x(sx, cx, north))
            centre = vector(constants, at + slots.CENTRE, unit)
            force = pushed(drive, push, centre, (east, north, up), force, unit)
        world = (east, north, up)
        put(work, here + slots.BIAS, force[0])
        put(work, here + slots.BIAS + 3, force[1])
        end = vector(constants, at + slots.END, unit)
        if k >= first:
            highest = larger(highest, larger(rise, rise + dot(nose, end)))
        lowest = smaller(lowest, smaller(height, height + dot(up, end)))
        moment = tendon_moment(
            constants, at + slots.PATH, drive, slots.CONTROLS + rotors, tendons, sines, unit
        )
        about_x, about_y = hinge_torques(constants, at, moment, sines, state, link, unit)
        if flags & PUSHED:
            about_x = about_x + read(drive, push + 6, unit)
            about_y = about_y + read(drive, push + 7, unit)
        write(work, here + slots.TORQUE, about_x)
        write(work, here + slots.TORQUE + 1, about_y)
        at, here = at + stride, here + slots.WORK_OF_LINK
        link, push = link + slots.STATE_OF_LINK, push + slots.PUSH_OF_LINK
    write(work, slots.HIGHEST, highest)
    write(work, slots.LOWEST, lowest)


@inlined
def plus(a: Inertia, b: Inertia) -> Inertia:
    """Return a + b."""
    (j, c, m), (p, q, r) = a, b
    return (
        (j[0] + p[0], j[1] + p[1], j[2] + p[2], j[3] + p[3], j[4] + p[4], j[5] + p[5]),
        (
            c[0] + q[0], c[1] + q[1], c[2] + q[2], c[3] + q[3], c[4] + q[4], c[5] + q[5],
            c[6] + q[6], c[7] + q[7], c[8] + q[8],
        ),
        (m[0] + r[0], m[1] + r[1], m[2] + r[2], m[3] + r[3], m[4] + r[4], m[5] + r[5]),
    )  # fmt: skip


@inlined
def through_y(
    work: Memory, here: int, resistance: Any, carried: Inertia, force: Wrench, unit: Any
) -> tuple[Inertia, Wrench]:
    """Return what the frame before the hinge about y feels of inertia and force behind it."""
    j, c, _ = carried
    u = (j[1], j[3], j[4]), (c[3], c[4], c[5])
    share = 1.0 / (j[3] + resistance)
    w = (share * u[0][0], share * u[0][1], share * u[0][2]), (
        share * u[1][0], share * u[1][1], share * u[1][2],
    )  # fmt: skip
    free = share * (read(work, here + slots.TORQUE + 1, unit) - force[0][1])
    put(work, here + slots.GAIN_Y, w[0])
    put(work, here + slots.GAIN_Y + 3, w[1])
    write(work, here + slots.FREE_Y, free)
    rest = relieved(carried, u, w)
    j, c, m = rest
    at = here + slots.DRIFT_Y
    ax, az = read(work, at, unit), read(work, at + 1, unit)
    lx, lz = read(work, at + 2, unit), read(work, at + 3, unit)
    (n, f), (un, uf) = force, u
    torque = (
        muladd(j[0], ax, muladd(j[2], az, muladd(c[0], lx, muladd(c[2], lz, muladd(un[0], free, n[0]))))),
        muladd(j[1], ax, muladd(j[4], az, muladd(c[3], lx, muladd(c[5], lz, muladd(un[1], free, n[1]))))),
        muladd(j[2], ax, muladd(j[5], az, muladd(c[6], lx, muladd(c[8], lz, muladd(un[2], free, n[2]))))),
    )
    push = (
        muladd(c[0], ax, muladd(c[6], az, muladd(m[0], lx, muladd(m[2], lz, muladd(uf[0], free, f[0]))))),
        muladd(c[1], ax, muladd(c[7], az, muladd(m[1], lx, muladd(m[4], lz, muladd(uf[1], free, f[1]))))),
        muladd(c[2], ax, muladd(c[8], az, muladd(m[2], lx, muladd(m[5], lz, muladd(uf[2], free, f[2]))))),
    )
    return rest, (torque, push)


@inlined
def through_x(
    work: Memory, here: int, resistance: Any, carried: Inertia, force: Wrench, unit: Any
) -> tuple[Inertia, Wrench]:
    """Return what the frame before the hinge about x feels of inertia and force behind it."""
    j, c, _ = carried
    u = (j[0], j[1], j[2]), (c[0], c[1], c[2])
    share = 1.0 / (j[0] + resistance)
    w = (share * u[0][0], share * u[0][1], share * u[0][2]), (
        share * u[1][0], share * u[1][1], share * u[1][2],
    )  # fmt: skip
    free = share * (read(work, here + slots.TORQUE, unit) - force[0][0])
    put(work, here + slots.GAIN_X, w[0])
    put(work, here + slots.GAIN_X + 3, w[1])
    write(work, here + slots.FREE_X, free)
    rest = relieved(carried, u, w)
    j, c, m = rest
    at = here + slots.DRIFT_X
    ay, az = read(work, at, unit), read(work, at + 1, unit)
    ly, lz = read(work, at + 2, unit), read(work, at + 3, unit)
    (n, f), (un, uf) = force, u
    torque = (
        muladd(j[1], ay, muladd(j[2], az, muladd(c[1], ly, muladd(c[2], lz, muladd(un[0], free, n[0]))))),
        muladd(j[3], ay, muladd(j[4], az, muladd(c[4], ly, muladd(c[5], lz, muladd(un[1], free, n[1]))))),
        muladd(j[4], ay, muladd(j[5], az, muladd(c[7], ly, muladd(c[8], lz, muladd(un[2], free, n[2]))))),
    )
    push = (
        muladd(c[3], ay, muladd(c[6], az, muladd(m[1], ly, muladd(m[2], lz, muladd(uf[0], free, f[0]))))),
        muladd(c[4], ay, muladd(c[7], az, muladd(m[3], ly, muladd(m[4], lz, muladd(uf[1], free, f[1]))))),
        muladd(c[5], ay, muladd(c[8], az, muladd(m[4], ly, muladd(m[5], lz, muladd(uf[2], free, f[2]))))),
    )
    return rest, (torque, push)


@inlined
def to_base(
    constants: Memory, work: Memory, shape: tuple, unit: Any
) -> tuple[Inertia, Wrench]:
    """Return the inertia and the bias force that the base feels of the arm."""
    links, rotors, tendons, flags, _ = shape
    none = 0.0 * unit
    zero = (none, none, none)
    zeros = (none, none, none, none, none, none)
    carried: Inertia = (zeros, (none, none, none, none, none, none, none, none, none), zeros)
    force: Wrench = (zero, zero)
    stride = slots.PATH + 6 * tendons
    at, here = slots.BASE + 6 * rotors + links * stride, slots.WORK_OF_BASE + links * slots.WORK_OF_LINK
    for _ in range(links):
        at, here = at - stride, here - slots.WORK_OF_LINK
        carried = plus(rigid(constants, at, unit), carried)
        own = vector(work, here + slots.BIAS, unit), vector(work, here + slots.BIAS + 3, unit)
        force = add(own[0], force[0]), add(own[1], force[1])
        sx, cx = read(work, here + slots.SINES, unit), read(work, here + slots.SINES + 1, unit)
        sy, cy = read(work, here + slots.SINES + 2, unit), read(work, here + slots.SINES + 3, unit)
        resistance = read(constants, at + slots.RESISTANCE + 1, unit)
        carried, force = through_y(work, here, resistance, carried, force, unit)
        carried = inertia_from_y(sy, cy, carried)
        force = from_y(sy, cy, force[0]), from_y(sy, cy, force[1])
        resistance = read(constants, at + slots.RESISTANCE, unit)
        carried, force = through_x(work, here, resistance, carried, force, unit)
        carried = inertia_from_x(sx, cx, carried)
        force = from_x(sx, cx, force[0]), from_x(sx, cx, force[1])
        if flags & TURNED:
            rest = frame(constants, at + slots.TURN, unit)
            carried = turned(carried, rest)
            force = out_of(rest, force[0]), out_of(rest, force[1])
        offset = vector(constants, at + slots.OFFSET, unit)
        carried = moved(carried, offset)
        force = add_cross(force[0], offset, force[1]), force[1]
    return carried, force


@inlined
def base_force(
    constants: Memory, state: Memory, drive: Memory, shape: tuple, axes: Frame, unit: Any
) -> Wrench:
    """Return the bias force of the base alone, less its rotors and what pushes on it."""
    _, rotors, tendons, flags, _ = shape
    world = (
        (axes[0][0], axes[1][0], axes[2][0]),
        (axes[0][1], axes[1][1], axes[2][1]),
        (axes[0][2], axes[1][2], axes[2][2]),
    )
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
        torque, force = pushed(drive, at, centre, world, (torque, force), unit)
        lift, twist = into(axes, vector(drive, at + 6, unit)), vector(drive, at + 9, unit)
        force = (force[0] - lift[0], force[1] - lift[1], force[2] - lift[2])
        torque = (torque[0] - twist[0], torque[1] - twist[1], torque[2] - twist[2])
    return torque, force


@inlined
def move_base(
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
    at, here, link = slots.BASE + 6 * rotors, slots.WORK_OF_BASE, slots.CHAIN
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
        size = size + move_hinge(state, link, about_x, h, unit)
        size = size + move_hinge(state, link + 1, about_y, h, unit)
        at, here, link = at + stride, here + slots.WORK_OF_LINK, link + slots.STATE_OF_LINK
    return size


@inlined
def move_hinge(state: Memory, link: int, acceleration: Any, h: float, unit: Any) -> Any:
    """Integrate one hinge; return the sum of squares of its acceleration, rate and angle."""
    rate = muladd(h, acceleration, read(state, link + slots.RATE, unit))
    angle = muladd(h, rate, read(state, link + slots.ANGLE, unit))
    write(state, link + slots.RATE, rate)
    write(state, link + slots.ANGLE, angle)
    return muladd(acceleration, acceleration, muladd(rate, rate, angle * angle))


@inlined
def to_rest(
    constants: Memory, state: Memory, drive: Memory, work: Memory, shape: tuple, free: bool,
    h: float, unit: Any,
) -> None:  # fmt: skip
    """Find the accelerations and integrate them over the timestep h."""
    arm, pull = to_base(constants, work, shape, unit)
    axes = base_axes(state, unit)
    if free:
        motion = base_motion(drive, state, axes, unit)
        torque, force = base_force(constants, state, drive, shape, axes, unit)
        torque, force = add(torque, pull[0]), add(force, pull[1])
        asked = (-torque[0], -torque[1], -torque[2]), (-force[0], -force[1], -force[2])
        fall = solved(plus(rigid(constants, 0, unit), arm), asked)
        size = move_base(constants, state, axes, motion, fall, h, unit)
    else:
        gravity = into(axes, vector(constants, slots.GRAVITY, unit))
        none = 0.0 * unit
        fall = (none, none, none), (-gravity[0], -gravity[1], -gravity[2])
        size = none
    size = size + move_links(constants, state, work, shape, fall, h, unit)
    write(work, slots.SIZE, size)
