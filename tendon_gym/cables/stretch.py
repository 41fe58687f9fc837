"""The path between two fixed points: statuses, corrections, attempts."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.contact import deepest_neighbour, lift, place_at_hint, update
from tendon_gym.cables.corrections import NEAR_SOLUTION, limit, minimum_length, scholz_2015
from tendon_gym.cables.geodesic import shoot
from tendon_gym.cables.records import CONTACT, LIFTED, MINIMUM_LENGTH
from tendon_gym.cables.smoothness import curvature, draw_lines, errors, jacobian, slope
from tendon_gym.cables.variations import column, place, vary
from tendon_gym.cables.workspace import Workspace
from tendon_gym.compiled import compiled, inlined
from tendon_gym.spatial import (
    Vector,
    add,
    columns,
    combine,
    cross,
    row,
    subtract,
    to_body,
    to_world,
    vector,
)

CONVERGED, UNCONVERGED, DIVERGED = 0, 1, 2
FROM_LAST, FROM_HINTS, FROM_LINE = 0, 1, 2
"""Where an attempt begins: the last path, the hints, the straight line."""
GROWTH = 3.0
"""A path that becomes this many times as long as it was at the start of an attempt runs away."""


@inlined
def in_surface(w: Workspace, j: int, p: Vector) -> Vector:
    """Return a point of the world in the frame of element j."""
    return to_body(columns(w.axes[j]), subtract(p, row(w.origin, j)))


@inlined
def _next_point(curves: NDArray, w: Workspace, j: int, last: int) -> Vector:
    """Return where the path arrives that leaves element j: at the next curve, or at the end."""
    for k in range(j + 1, last):
        if curves[k]["status"] != LIFTED:
            p = to_world(columns(w.axes[k]), row(curves[k]["start"], 0))
            return add(row(w.origin, k), p)
    return row(w.origin, last)


@inlined
def _last_point(w: Workspace, m: int, first: int) -> Vector:
    """Return where the path leaves from that arrives after m curves."""
    return row(w.origin, first) if m == 0 else column(w.frame, m - 1, 1, 0)


@compiled
def _update_statuses(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    first: int,
    last: int,
    accuracy: float,
) -> tuple[bool, int]:
    """Bring statuses up to date in path order; return whether any changed, and the curves."""
    changed, m = False, 0
    for j in range(first + 1, last):
        curve = curves[j]
        a = in_surface(w, j, _last_point(w, m, first))
        b = in_surface(w, j, _next_point(curves, w, j, last))
        if update(elements[j], tables, curve, a, b, accuracy, w.stages):
            changed = True
        if curve["status"] == CONTACT:
            place(w.origin[j], w.axes[j], curve, w.frame, m)
            w.active[m] = j
            m += 1
    return changed, m


@compiled
def gather(curves: NDArray, w: Workspace, first: int, last: int) -> tuple[int, float]:
    """Draw the path as it is; return the number of its curves and its length."""
    m, arcs = 0, 0.0
    for j in range(first + 1, last):
        if curves[j]["status"] == CONTACT:
            place(w.origin[j], w.axes[j], curves[j], w.frame, m)
            w.active[m] = j
            m += 1
            arcs += curves[j]["length"]
    for k in range(3):
        w.fixed[0, k], w.fixed[1, k] = w.origin[first, k], w.origin[last, k]
    return m, arcs + draw_lines(w, m)


@compiled
def _apply(
    element: Any, tables: NDArray, curve: Any, q: NDArray, accuracy: float, stages: NDArray
) -> bool:
    """Shoot a curve anew from where four numbers of a correction put its start."""
    start = curve["start"]
    p, t, n = row(start, 0), row(start, 1), row(start, 2)
    b = cross(t, n)
    shift, length = q[0], curve["length"] + q[3]
    if length < 0.0:
        shift, length = shift + 0.5 * length, 0.0
    along, _, torsion = curve["start_bend"]
    turn = combine(along * shift - torsion * q[1], b, -q[2], n, 0.0, t)
    p = combine(1.0, p, shift, t, q[1], b)
    t = add(t, cross(turn, t))
    return shoot(element, tables, curve, p, t, length, accuracy, stages)


@compiled
def _correct(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    m: int,
    cable: Any,
    largest_error: float,
    length: float,
) -> bool:
    """Correct all curves once; return whether they are still usable."""
    for i in range(m):
        vary(curves[w.active[i]], w.frame, w.shift, w.turn, i)
    jacobian(w, m)
    if cable["algorithm"] == MINIMUM_LENGTH:
        slope(w, m)
        curvature(curves, w, m)
        minimum_length(w, m, largest_error)
    else:
        scholz_2015(w, m, largest_error)
    if not limit(w, m, length):
        return False
    for i in range(m):
        j = w.active[i]
        q = w.step[4 * i : 4 * i + 4]
        if not _apply(elements[j], tables, curves[j], q, cable["accuracy"], w.stages):
            return False
    return True


@compiled
def _attempt(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    first: int,
    last: int,
    cable: Any,
) -> tuple[int, int, float]:
    """Iterate from the curves as they are; return outcome, iterations and largest error."""
    most, first_length = cable["max_iterations"], 0.0
    largest = 0.0
    for iteration in range(most + 1):
        changed, m = _update_statuses(elements, tables, curves, w, first, last, cable["accuracy"])
        length = draw_lines(w, m)
        for i in range(m):
            length += curves[w.active[i]]["length"]
        largest = errors(w, m)
        if iteration == 0:
            first_length = length
        if not (length <= GROWTH * first_length and largest <= 2.0):
            return DIVERGED, iteration, 1.0
        if largest <= cable["tolerance"]:
            if not changed:
                return CONVERGED, iteration, largest
        elif iteration < most and not _correct(
            elements, tables, curves, w, m, cable, largest, length
        ):
            return DIVERGED, iteration, 1.0
    return UNCONVERGED, most, largest


@compiled
def _begin(
    elements: NDArray, tables: NDArray, curves: NDArray, first: int, last: int, begin: int
) -> None:
    """Put the curves where an attempt begins."""
    nowhere = float("nan")
    for j in range(first + 1, last):
        if begin == FROM_HINTS:
            place_at_hint(elements[j], tables, curves[j])
        elif begin == FROM_LINE:
            lift(curves[j], (nowhere, nowhere, nowhere))


@compiled
def solve_stretch(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    first: int,
    last: int,
    cable: Any,
    warm: bool,
) -> tuple[int, int, float]:
    """Find the path between elements `first` and `last`, which are fixed points.

    Where the last path leads nowhere, the hints are tried, then the straight line. The first of
    the best outcomes stays in `curves`.

    Returns:
        The outcome, the sum of iterations, the largest error.
    """
    for k in range(3):
        w.fixed[0, k], w.fixed[1, k] = w.origin[first, k], w.origin[last, k]
    best, best_error, total = DIVERGED + 1, 1.0, 0
    for begin in range(FROM_LAST if warm else FROM_HINTS, FROM_LINE + 1):
        _begin(elements, tables, curves, first, last, begin)
        outcome, iterations, error = _attempt(elements, tables, curves, w, first, last, cable)
        total += iterations
        if outcome < best:
            best, best_error = outcome, error
            w.best[first : last + 1] = curves[first : last + 1]
        if outcome == CONVERGED or cable["max_iterations"] == 0:
            break
        if outcome == UNCONVERGED and error <= NEAR_SOLUTION:
            break
    curves[first : last + 1] = w.best[first : last + 1]
    if best == DIVERGED:
        _begin(elements, tables, curves, first, last, FROM_LINE)
    return best, total, best_error


@compiled
def deepest(
    elements: NDArray, tables: NDArray, curves: NDArray, w: Workspace, first: int, last: int
) -> tuple[int, float]:
    """Return the obstacle that a neighbouring point of the path lies in, and how deep; or -1, 0."""
    m, _ = gather(curves, w, first, last)
    passed, worst, where = 0, 0.0, -1
    for j in range(first + 1, last):
        a = in_surface(w, j, _last_point(w, passed, first))
        b = in_surface(w, j, _next_point(curves, w, j, last))
        inside = deepest_neighbour(elements[j], tables, a, b)
        if inside > worst:
            worst, where = inside, j
        if passed < m and w.active[passed] == j:
            passed += 1
    return where, worst


@compiled
def end_inside(
    elements: NDArray, tables: NDArray, w: Workspace, first: int, last: int
) -> tuple[int, float]:
    """Return the obstacle that the fixed point beside it lies in, and how deep; or -1, 0."""
    if last - first < 2:
        return -1, 0.0
    p = in_surface(w, first + 1, vector(w.origin[first]))
    inside = deepest_neighbour(elements[first + 1], tables, p, p)
    if inside > 0.0:
        return first + 1, inside
    p = in_surface(w, last - 1, vector(w.origin[last]))
    inside = deepest_neighbour(elements[last - 1], tables, p, p)
    return (last - 1, inside) if inside > 0.0 else (-1, 0.0)
