"""The second pass of a step, from the tip to the base: articulated inertias and forces."""

from __future__ import annotations

from typing import Any

from tendon_gym.compiled import inlined
from tendon_gym.engines.compiled import slots
from tendon_gym.engines.compiled.dynamics import (
    TURNED,
    Memory,
    Wrench,
    frame,
    out_of,
    put,
    rigid,
    vector,
)
from tendon_gym.engines.compiled.inertia import (
    Inertia,
    add,
    add_cross,
    from_x,
    from_y,
    inertia_from_x,
    inertia_from_y,
    moved,
    plus,
    relieved,
    turned,
)
from tendon_gym.engines.compiled.lanes import muladd, read, write


@inlined
def relieve(
    work: Memory, gain: int, at: int, carried: Inertia, u: Wrench, about: Any, effort: Any
) -> tuple[Inertia, Any]:
    """Return the inertia that is felt through a free hinge, and the hinge's own acceleration.

    u is the momentum per rate of what hangs behind the hinge, `about` its inertia about the axis
    with all that resists, `effort` the torque that is left for it.
    """
    share = 1.0 / about
    (a, b, c), (x, y, z) = u
    w = (share * a, share * b, share * c), (share * x, share * y, share * z)
    free = share * effort
    put(work, gain, w[0])
    put(work, gain + 3, w[1])
    write(work, at, free)
    return relieved(carried, u, w), free


@inlined
def through_y(
    work: Memory, here: int, resistance: Any, carried: Inertia, force: Wrench, unit: Any
) -> tuple[Inertia, Wrench]:
    """Return what the frame before the hinge about y feels of inertia and force behind it."""
    (n, f), (j, c, _) = force, carried
    un, uf = (j[1], j[3], j[4]), (c[3], c[4], c[5])
    effort = read(work, here + slots.TORQUE + 1, unit) - n[1]
    rest, free = relieve(
        work, here + slots.GAIN_Y, here + slots.FREE_Y, carried, (un, uf), j[3] + resistance, effort
    )
    j, c, m = rest
    at = here + slots.DRIFT_Y
    ax, az = read(work, at, unit), read(work, at + 1, unit)
    lx, lz = read(work, at + 2, unit), read(work, at + 3, unit)
    n = muladd(un[0], free, n[0]), muladd(un[1], free, n[1]), muladd(un[2], free, n[2])
    f = muladd(uf[0], free, f[0]), muladd(uf[1], free, f[1]), muladd(uf[2], free, f[2])
    torque = (
        muladd(j[0], ax, muladd(j[2], az, muladd(c[0], lx, muladd(c[2], lz, n[0])))),
        muladd(j[1], ax, muladd(j[4], az, muladd(c[3], lx, muladd(c[5], lz, n[1])))),
        muladd(j[2], ax, muladd(j[5], az, muladd(c[6], lx, muladd(c[8], lz, n[2])))),
    )
    push = (
        muladd(c[0], ax, muladd(c[6], az, muladd(m[0], lx, muladd(m[2], lz, f[0])))),
        muladd(c[1], ax, muladd(c[7], az, muladd(m[1], lx, muladd(m[4], lz, f[1])))),
        muladd(c[2], ax, muladd(c[8], az, muladd(m[2], lx, muladd(m[5], lz, f[2])))),
    )
    return rest, (torque, push)


@inlined
def through_x(
    work: Memory, here: int, resistance: Any, carried: Inertia, force: Wrench, unit: Any
) -> tuple[Inertia, Wrench]:
    """Return what the frame before the hinge about x feels of inertia and force behind it."""
    (n, f), (j, c, _) = force, carried
    un, uf = (j[0], j[1], j[2]), (c[0], c[1], c[2])
    effort = read(work, here + slots.TORQUE, unit) - n[0]
    rest, free = relieve(
        work, here + slots.GAIN_X, here + slots.FREE_X, carried, (un, uf), j[0] + resistance, effort
    )
    j, c, m = rest
    at = here + slots.DRIFT_X
    ay, az = read(work, at, unit), read(work, at + 1, unit)
    ly, lz = read(work, at + 2, unit), read(work, at + 3, unit)
    n = muladd(un[0], free, n[0]), muladd(un[1], free, n[1]), muladd(un[2], free, n[2])
    f = muladd(uf[0], free, f[0]), muladd(uf[1], free, f[1]), muladd(uf[2], free, f[2])
    torque = (
        muladd(j[1], ay, muladd(j[2], az, muladd(c[1], ly, muladd(c[2], lz, n[0])))),
        muladd(j[3], ay, muladd(j[4], az, muladd(c[4], ly, muladd(c[5], lz, n[1])))),
        muladd(j[4], ay, muladd(j[5], az, muladd(c[7], ly, muladd(c[8], lz, n[2])))),
    )
    push = (
        muladd(c[3], ay, muladd(c[6], az, muladd(m[1], ly, muladd(m[2], lz, f[0])))),
        muladd(c[4], ay, muladd(c[7], az, muladd(m[3], ly, muladd(m[4], lz, f[1])))),
        muladd(c[5], ay, muladd(c[8], az, muladd(m[4], ly, muladd(m[5], lz, f[2])))),
    )
    return rest, (torque, push)


@inlined
def to_base(constants: Memory, work: Memory, shape: tuple, unit: Any) -> tuple[Inertia, Wrench]:
    """Return the inertia and the bias force that the base feels of the arm."""
    links, rotors, tendons, flags, _ = shape
    none = 0.0 * unit
    zero = (none, none, none)
    zeros = (none, none, none, none, none, none)
    carried: Inertia = (zeros, (none, none, none, none, none, none, none, none, none), zeros)
    force: Wrench = (zero, zero)
    stride = slots.PATH + 6 * tendons
    at, here = (
        slots.BASE + 6 * rotors + links * stride,
        slots.WORK_OF_BASE + links * slots.WORK_OF_LINK,
    )
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
