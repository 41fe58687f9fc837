"""A stretch of path as it is: which obstacles it touches, where it runs, what lies inside.

A stretch lies between two fixed points, which are elements `first` and `last`.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables import height_map
from tendon_gym.cables.contact import clears, deepest_neighbour, update
from tendon_gym.cables.records import (
    CONTACT,
    HEIGHT_MAP,
    LIFTED,
    NO_FAULT,
    OFF_PATCH,
    POINT_INSIDE,
)
from tendon_gym.cables.smoothness import draw_lines
from tendon_gym.cables.variations import place
from tendon_gym.cables.workspace import ACTIVE, FRAME, Workspace, zero
from tendon_gym.compiled import compiled, inlined
from tendon_gym.spatial import Vector, add, columns, row, subtract, to_body, to_world


@inlined
def in_surface(w: Workspace, j: int, p: Vector) -> Vector:
    """Return a point of the world in the frame of element j."""
    frame = w.world[j]
    return to_body(columns(frame[1:]), subtract(p, row(frame, 0)))


@compiled
def _neighbours(
    curves: NDArray, w: Workspace, j: int, m: int, first: int, last: int
) -> tuple[Vector, Vector]:
    """Return in the frame of obstacle j where the path comes from, m curves back, and goes to."""
    before, after = row(w.world[first], 0), row(w.world[last], 0)
    if m > 0:
        before = row(w.motion[FRAME, m - 1, 1], 0)
    for k in range(j + 1, last):
        if curves[k]["status"] != LIFTED:
            frame = w.world[k]
            p = to_world(columns(frame[1:]), row(curves[k]["start"], 0))
            after = add(row(frame, 0), p)
            break
    return in_surface(w, j, before), in_surface(w, j, after)


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
            place(w.world[j], curve, w.motion, m)
            w.indices[ACTIVE, m] = j
            m += 1
            length += curve["length"]
    for k in range(3):
        w.fixed[0, k], w.fixed[1, k] = w.world[first, 0, k], w.world[last, 0, k]
    return changed, m, length + draw_lines(w, m)


@compiled
def gather(curves: NDArray, w: Workspace, first: int, last: int) -> tuple[int, float]:
    """Draw the path without deciding anything; return the number of its curves and its length."""
    m, length = zero(), 0.0
    for j in range(first + 1, last):
        if curves[j]["status"] == CONTACT:
            place(w.world[j], curves[j], w.motion, m)
            w.indices[ACTIVE, m] = j
            m += 1
            length += curves[j]["length"]
    for k in range(3):
        w.fixed[0, k], w.fixed[1, k] = w.world[first, 0, k], w.world[last, 0, k]
    return m, length + draw_lines(w, m)


@compiled
def line_is_free(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    m: int,
    first: int,
    last: int,
) -> bool:
    """Return whether the path touches some obstacle that the line past it would well clear."""
    for i in range(m):
        j = w.indices[ACTIVE, i]
        a, b = _neighbours(curves, w, j, i, first, last)
        if clears(elements[j], tables, a, b):
            return True
    return False


@compiled
def end_inside(
    elements: NDArray, tables: NDArray, w: Workspace, first: int, last: int
) -> tuple[int, float]:
    """Return the obstacle that the fixed point beside it lies in, and how deep; or -1, 0."""
    if last - first < 2:
        return -1, 0.0
    p = in_surface(w, first + 1, row(w.world[first], 0))
    inside = deepest_neighbour(elements[first + 1], tables, p, p)
    if inside > 0.0:
        return first + 1, inside
    p = in_surface(w, last - 1, row(w.world[last], 0))
    inside = deepest_neighbour(elements[last - 1], tables, p, p)
    return (last - 1, inside) if inside > 0.0 else (-1, 0.0)


@inlined
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
    """Return what is wrong with a path that has been found, with which obstacle, how deep (m)."""
    gather(curves, w, first, last)
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
