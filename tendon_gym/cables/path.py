"""A stretch of path as it is: which obstacles it touches, where it runs, what lies inside.

A stretch lies between two fixed points, which are elements `first` and `last`.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables import height_map
from tendon_gym.cables.contact import BESIDE, clears, deepest_neighbour, lost, update
from tendon_gym.cables.implicit import gradient, implicit
from tendon_gym.cables.records import (
    CONTACT,
    HEIGHT_MAP,
    LIFTED,
    NO_FAULT,
    OFF_PATCH,
    POINT_INSIDE,
)
from tendon_gym.cables.smoothness import draw_lines
from tendon_gym.cables.variations import frame_in, place
from tendon_gym.cables.workspace import ACTIVE, FRAME, PIN, Workspace, at, zero
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector, add, dot, norm, row, subtract, to_body, to_world

ON_SURFACE = 5e-11
"""How high, in sizes of a surface, a fixed point on it may be: lines from there to where they touch
the surface are then shorter than BESIDE."""


@compiled
def in_surface(w: Workspace, j: int, p: Vector) -> Vector:
    """Return a point of the world in the frame of element j."""
    origin, axes = frame_in(w.world, j)
    return to_body(axes, subtract(p, origin))


@compiled
def _neighbours(
    curves: NDArray, w: Workspace, j: int, m: int, first: int, last: int
) -> tuple[Vector, Vector]:
    """Return in the frame of obstacle j where the path comes from, m curves back, and goes to."""
    before, after = row(w.world, 4 * first), row(w.world, 4 * last)
    if m > 0:
        before = row(w.motion, at(m - 1, 1) + FRAME)
    for k in range(j + 1, last):
        if curves[k]["status"] != LIFTED:
            origin, axes = frame_in(w.world, k)
            after = add(origin, to_world(axes, row(curves[k]["start"], 0)))
            break
    return in_surface(w, j, before), in_surface(w, j, after)


@compiled
def _fix(w: Workspace, first: int, last: int) -> None:
    for k in range(3):
        w.fixed[0, k], w.fixed[1, k] = w.world[4 * first, k], w.world[4 * last, k]


@compiled
def _pin_at(
    element: Any, tables: NDArray, w: Workspace, j: int, fixed: Vector, contact: Vector
) -> float:
    """Return the surface's size if a fixed point lies on it and no line leads away from there."""
    f, limit = in_surface(w, j, fixed), float(element["scale"])
    jet = implicit(element, tables, f)
    g, line = gradient(jet), subtract(in_surface(w, j, contact), f)
    on_it = jet[0] <= ON_SURFACE * limit * norm(g)
    return limit if on_it and (dot(line, g) < 0.0 or norm(line) < BESIDE * limit) else 0.0


@compiled
def _pin(elements: NDArray, tables: NDArray, w: Workspace, m: int) -> None:
    """Note which of the fixed points are on the surfaces that the path meets next to them."""
    w.lines[: m + 1, PIN] = 0.0
    if m > 0:
        a, b = w.indices[ACTIVE, 0], w.indices[ACTIVE, m - 1]
        start, end = row(w.motion, at(zero(), 0) + FRAME), row(w.motion, at(m - 1, 1) + FRAME)
        w.lines[0, PIN] = _pin_at(elements[a], tables, w, a, row(w.fixed, 0), start)
        w.lines[m, PIN] = _pin_at(elements[b], tables, w, b, row(w.fixed, 1), end)


@compiled
def update_statuses(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    first: int,
    last: int,
    accuracy: float,
) -> tuple[bool, int, float]:
    """Decide in path order which obstacles are touched, and draw the path.

    Returns:
        Whether any status changed, the number of curves, the path's length.
    """
    changed, m, length = False, zero(), 0.0
    for j in range(first + 1, last):
        curve = curves[j]
        a, b = _neighbours(curves, w, j, m, first, last)
        if update(elements[j], tables, curve, a, b, accuracy, w.stages):
            changed = True
        if curve["status"] == CONTACT:
            place(w.world, j, curve, w.motion, m)
            w.indices[ACTIVE, m] = j
            m += 1
            length += curve["length"]
    _fix(w, first, last)
    _pin(elements, tables, w, m)
    return changed, m, length + draw_lines(w, m)


@compiled
def draw(
    elements: NDArray, tables: NDArray, curves: NDArray, w: Workspace, first: int, last: int
) -> None:
    """Draw the path without deciding anything."""
    m = zero()
    for j in range(first + 1, last):
        if curves[j]["status"] == CONTACT:
            place(w.world, j, curves[j], w.motion, m)
            w.indices[ACTIVE, m] = j
            m += 1
    _fix(w, first, last)
    _pin(elements, tables, w, m)
    draw_lines(w, m)


@compiled
def look_again(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    first: int,
    last: int,
    accuracy: float,
) -> tuple[bool, int, float]:
    """Decide like `update_statuses`, with lifted curves searched along all of their lines.

    As long as a path changes they follow one valley of a surface; another may be the lowest now.
    """
    for j in range(first + 1, last):
        if curves[j]["status"] == LIFTED:
            curves[j]["tracked"] = 0.0
    return update_statuses(elements, tables, curves, w, first, last, accuracy)


@compiled
def any_lost(curves: NDArray, first: int, last: int) -> bool:
    """Return whether the path leads through an obstacle onto which it found no way."""
    for j in range(first + 1, last):
        if lost(curves[j]):
            return True
    return False


@compiled
def line_is_free(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    m: int,
    first: int,
    last: int,
    margin: float,
) -> bool:
    """Return whether the path, of m curves, touches some obstacle that the line past it clears.

    By `margin`, in sizes of the obstacle.
    """
    for i in range(m):
        j = w.indices[ACTIVE, i]
        a, b = _neighbours(curves, w, j, i, first, last)
        if clears(elements[j], tables, a, b, margin):
            return True
    return False


@compiled
def end_inside(elements: NDArray, tables: NDArray, w: Workspace, first: int, last: int) -> bool:
    """Return whether a fixed point lies inside the obstacle beside it."""
    if last - first < 2:
        return False
    p = in_surface(w, first + 1, row(w.world, 4 * first))
    q = in_surface(w, last - 1, row(w.world, 4 * last))
    start = deepest_neighbour(elements[first + 1], tables, p, p)
    return start + deepest_neighbour(elements[last - 1], tables, q, q) > 0.0


@compiled
def _off_patch(element: Any, tables: NDArray, curve: Any) -> bool:
    if element["surface"] != HEIGHT_MAP:
        return False
    p, q, table = row(curve["start"], 0), row(curve["end"], 0), element["table"]
    start = height_map.on_patch(tables, table, p[0], p[1])
    return not (start and height_map.on_patch(tables, table, q[0], q[1]))


@compiled
def fault_of(
    elements: NDArray, tables: NDArray, curves: NDArray, w: Workspace, first: int, last: int
) -> tuple[float, int, float]:
    """Return what is wrong with a path that has been drawn, with which obstacle, how deep (m)."""
    passed = zero()
    for j in range(first + 1, last):
        a, b = _neighbours(curves, w, j, passed, first, last)
        inside = deepest_neighbour(elements[j], tables, a, b)
        if inside > 0.0:
            return POINT_INSIDE, j, inside
        if curves[j]["status"] == CONTACT:
            passed += 1
            if _off_patch(elements[j], tables, curves[j]):
                return OFF_PATCH, j, 0.0
    return NO_FAULT, -1, 0.0
