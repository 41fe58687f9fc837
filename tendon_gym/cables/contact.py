"""Whether a cable touches an obstacle: placing at the hint, touchdown and lift-off."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables import height_map
from tendon_gym.cables.geodesic import set_row, shoot
from tendon_gym.cables.implicit import gradient, hessian_form, implicit
from tendon_gym.cables.records import CONTACT, ELLIPSOID, HEIGHT_MAP, LIFTED, TORUS, UNSET
from tendon_gym.cables.shape import depth, direction, project, sideways
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector, dot, norm, row, scale, store, subtract, vector

INSIDE = 1e-9
"""How deep a neighbouring point may lie in a surface before that is an error, m."""
SEARCH_STEPS = 50
LONGEST_SEARCH_STEP = 0.2
"""Of a search along a line, as a part of it; longer ones could leave the valley of the surface."""
SAMPLES = 16
"""Places of a line where a search begins that has no place of its own to begin at."""
BESIDE = 1e-5
"""How near, in sizes of a surface, two points on it are next to each other."""
SHORT = 1e-12
"""A curve this short, as a part of the surface's size, has no length."""
CLEAR = 0.1
"""How far, in sizes of the surface, a line must be off it for a cable to leave a saddle."""
NEAR_SAMPLES = 32
"""Intervals, an even number, in which a line is searched for valleys of a surface."""
REACH = 4.0
"""How far from its frame's origin a user's surface is looked for more closely, in its sizes."""
FLAT = 1e3
"""Where phi / |grad phi| is this many sizes of the surface, its gradient has no direction."""


@compiled
def _along(a: Vector, d: Vector, x: float) -> Vector:
    return (a[0] + x * d[0], a[1] + x * d[1], a[2] + x * d[2])


@compiled
def _search_start(element: Any, tables: NDArray, a: Vector, d: Vector) -> float:
    """Return the place of a line, of some, where it is deepest in a surface, from 0 to 1."""
    best, lowest = 0.5, implicit(element, tables, _along(a, d, 0.5))[0]
    for k in range(SAMPLES):
        x = (k + 0.5) / SAMPLES
        phi = implicit(element, tables, _along(a, d, x))[0]
        if phi < lowest:
            best, lowest = x, phi
    return best


@compiled
def closest(element: Any, tables: NDArray, a: Vector, d: Vector, x: float) -> float:
    """Return the place of the line a + x d, from 0 to 1, where phi is lowest near place x.

    On convex surfaces it is the lowest of all; on others that of the valley which x is in.
    """
    convex = element["surface"] <= ELLIPSOID
    for _ in range(SEARCH_STEPS):
        jet = implicit(element, tables, _along(a, d, x))
        rise, curve = dot(gradient(jet), d), hessian_form(jet, d, d)
        step = -0.5 if rise > 0.0 else 0.5
        if curve > 0.0 and abs(rise) < curve:
            step = -rise / curve
        elif rise == 0.0:
            return x
        if not convex:
            step = min(max(step, -LONGEST_SEARCH_STEP), LONGEST_SEARCH_STEP)
        new = min(max(x + step, 0.0), 1.0)
        moved = abs(new - x)
        x = new
        if moved < 1e-9:
            break
    return x


@compiled
def _lowest_between(
    element: Any, tables: NDArray, a: Vector, d: Vector, low: float, high: float
) -> tuple[float, float]:
    """Return the lowest place that is found from samples of a part of a line, and phi there.

    A place where phi is no number counts as the lowest.
    """
    best, lowest = low, math.inf
    step = (high - low) / NEAR_SAMPLES
    before, here = math.inf, implicit(element, tables, _along(a, d, low))[0]
    for k in range(NEAR_SAMPLES + 1):
        x, after = low + k * step, math.inf
        if here != here:
            return x, -math.inf
        if k < NEAR_SAMPLES:
            after = implicit(element, tables, _along(a, d, low + (k + 1) * step))[0]
        if here <= before and not here > after:
            valley = closest(element, tables, a, d, x)
            phi = implicit(element, tables, _along(a, d, valley))[0]
            if phi < lowest:
                best, lowest = valley, phi
        before, here = here, after
    return best, lowest


@compiled
def _lowest(element: Any, tables: NDArray, a: Vector, d: Vector) -> float:
    """Return the place of a line, from 0 to 1, where phi is lowest, of all valleys."""
    kind = element["surface"]
    if kind <= ELLIPSOID:
        return closest(element, tables, a, d, _search_start(element, tables, a, d))
    best, lowest = _lowest_between(element, tables, a, d, 0.0, 1.0)
    if kind == HEIGHT_MAP:
        return best
    reach = REACH * element["scale"]
    if kind == TORUS:
        reach = element["size"][0] + element["size"][1]
    square = dot(d, d)
    middle, half = -dot(a, d) / square, reach / math.sqrt(square)
    if half < 0.5 and -half < middle < 1.0 + half:
        low, high = max(middle - half, 0.0), min(middle + half, 1.0)
        near, phi = _lowest_between(element, tables, a, d, low, high)
        if phi < lowest:
            best = near
    return best


@compiled
def _touch_down(
    element: Any,
    tables: NDArray,
    curve: Any,
    p: Vector,
    d: Vector,
    accuracy: float,
    stages: NDArray,
) -> bool:
    """Place a curve without length where a line of direction d is deepest, at p."""
    jet = implicit(element, tables, p)
    along = direction(d)
    g = gradient(jet)
    across = subtract(g, scale(dot(g, along), along))
    if abs(jet[0]) > FLAT * element["scale"] * norm(across):
        good, q = sideways(element, tables, p, along)
    else:
        good, q = project(element, tables, p)
    if not good or not shoot(element, tables, curve, q, d, 0.0, accuracy, stages):
        return False
    curve["status"] = CONTACT
    return True


@compiled
def track(
    element: Any,
    tables: NDArray,
    curve: Any,
    a: Vector,
    b: Vector,
    accuracy: float,
    stages: NDArray,
) -> bool:
    """Follow with a lifted curve where the line a, b is closest; return whether it touches down.

    Where it should and can't, because the surface isn't found, the curve is `lost`.
    """
    d = subtract(b, a)
    square = dot(d, d)
    x = 0.0
    if square > 0.0:
        known = vector(curve["tracking"])
        x = min(max(dot(subtract(known, a), d) / square, 0.0), 1.0)
        if curve["tracked"] == 0.0:
            x = _lowest(element, tables, a, d)
        else:
            x = closest(element, tables, a, d, x)
    p = _along(a, d, x)
    store(p, curve["tracking"])
    curve["tracked"] = 1.0
    jet = implicit(element, tables, p)
    if jet[0] >= -SHORT * element["scale"] * norm(gradient(jet)) or square == 0.0:
        return False
    if element["surface"] == HEIGHT_MAP and not height_map.on_patch(
        tables, element["table"], p[0], p[1]
    ):
        return False
    if x <= 0.0 or x >= 1.0:  # at an end of the line, which lies on the surface
        return False
    if _touch_down(element, tables, curve, p, d, accuracy, stages):
        return True
    curve["status"], curve["length"], curve["tracked"] = LIFTED, 0.0, 0.0
    return False


@compiled
def lost(curve: Any) -> bool:
    """Return whether a path leads through an obstacle, where `track` found no way onto it."""
    return curve["status"] == LIFTED and curve["tracked"] == 0.0


@compiled
def lift(curve: Any) -> None:
    """Take a curve off its surface; it is yet to be found where the cable is closest to it."""
    curve["status"] = LIFTED
    curve["length"] = 0.0
    curve["tracked"] = 0.0
    store((0.0, 0.0, 0.0), curve["tracking"])


@compiled
def place_at_hint(element: Any, tables: NDArray, curve: Any) -> None:
    """Put a curve at its hint, or lift it where there is none or none that is of use."""
    curve["step"] = 0.0
    good, p = False, (0.0, 0.0, 0.0)
    if element["hinted"] == 1:
        good, p = project(element, tables, vector(element["hint"]))
    if not good:
        lift(curve)
        return
    curve["status"] = UNSET
    curve["length"] = 0.0
    set_row(curve["start"], 0, p)
    set_row(curve["end"], 0, p)


@compiled
def _leaves(d: Vector, n: Vector, near: float) -> bool:
    """Return whether the line d leads away from a surface of normal n, or no farther than near."""
    return dot(d, n) > 0.0 or norm(d) < near


@compiled
def update(
    element: Any,
    tables: NDArray,
    curve: Any,
    a: Vector,
    b: Vector,
    accuracy: float,
    stages: NDArray,
) -> bool:
    """Decide anew whether a curve is in contact; return whether that has changed.

    Args:
        element: the obstacle.
        tables: of the height maps.
        curve: its curve, which is brought up to date.
        a: where the path's last line before it begins, in the surface's frame.
        b: where the first line after it ends.
        accuracy: of the geodesics.
        stages: the integrator's workspace.
    """
    status = curve["status"]
    if status == LIFTED:
        return track(element, tables, curve, a, b, accuracy, stages)
    if status == CONTACT and curve["length"] > SHORT * element["scale"]:
        return False
    p = row(curve["start"], 0)
    if status == CONTACT:
        n, near = row(curve["start"], 2), BESIDE * float(element["scale"])
        if _leaves(subtract(a, p), n, near) and _leaves(subtract(b, p), n, near):
            lift(curve)
            store(p, curve["tracking"])
            curve["tracked"] = 1.0
            return True
    # a curve without length has no direction but the line's
    curve["status"] = CONTACT
    if shoot(element, tables, curve, p, subtract(b, a), 0.0, accuracy, stages):
        return status != CONTACT
    lift(curve)
    track(element, tables, curve, a, b, accuracy, stages)
    return True


@compiled
def deepest_neighbour(element: Any, tables: NDArray, a: Vector, b: Vector) -> float:
    """Return how deep the deeper of two neighbouring points lies in a surface, 0 if tolerable."""
    deepest = max(depth(element, tables, a), depth(element, tables, b))
    return deepest if deepest > INSIDE else 0.0


@compiled
def clears(element: Any, tables: NDArray, a: Vector, b: Vector, margin: float) -> bool:
    """Return whether the line a, b passes a surface at more than a part of its size."""
    d = subtract(b, a)
    p = _along(a, d, closest(element, tables, a, d, _search_start(element, tables, a, d)))
    jet = implicit(element, tables, p)
    return jet[0] > margin * element["scale"] * norm(gradient(jet))
