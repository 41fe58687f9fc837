"""The path between two fixed points, found: corrections, iterations, attempts."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.contact import CLEAR, lift, place_at_hint
from tendon_gym.cables.corrections import (
    NEAR_SOLUTION,
    limit,
    minimum_length,
    reduce_problem,
    scholz_2015,
    solve_indefinite,
)
from tendon_gym.cables.geodesic import shoot
from tendon_gym.cables.path import (
    any_lost,
    draw,
    end_inside,
    line_is_free,
    look_again,
    update_statuses,
)
from tendon_gym.cables.records import CONTACT, MINIMUM_LENGTH, SCHOLZ_2015
from tendon_gym.cables.smoothness import curvature, errors, gap, jacobian, slope
from tendon_gym.cables.variations import vary
from tendon_gym.cables.workspace import ACTIVE, BEST, STEP, Workspace, zero
from tendon_gym.compiled import compiled
from tendon_gym.spatial import add, combine, cross, row

CONVERGED, UNCONVERGED, DIVERGED = 0, 1, 2
FROM_LAST, FROM_HINTS, FROM_LINE = 0, 1, 2
"""Where an attempt begins: the last path, the hints, the straight line."""
STALLED = 1.01
"""How many times as long as the path that has stalled a smooth one near it may be."""
CLOSE = 1e-9
"""How far from its pin a path may be, in sizes of the surface."""
GROWTH = 3.0
"""A path that becomes this many times as long as it was at the start of an attempt runs away."""


@compiled
def copy_records(source: NDArray, target: NDArray, first: int, last: int) -> None:
    """Copy the records from `first` to `last`, both included."""
    for j in range(first, last + 1):
        target[j] = source[j]


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
def _find_correction(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    m: int,
    first: int,
    last: int,
    algorithm: int,
    largest_error: float,
) -> bool:
    """Write to STEP the correction of m curves; return whether the length is a bowl there."""
    size = 0.0
    for i in range(m):
        vary(curves[w.indices[ACTIVE, i]], w.motion, i)
        size += float(elements[w.indices[ACTIVE, i]]["scale"]) / m
    jacobian(w, m)
    if algorithm != MINIMUM_LENGTH:
        scholz_2015(w, m, size, largest_error)
        return True
    slope(w, m)
    curvature(curves, w, m)
    rank, bowl = reduce_problem(w, m, size, largest_error)
    if not bowl:
        kick = line_is_free(elements, tables, curves, w, m, first, last, CLEAR)
        solve_indefinite(w, rank, 4 * m - rank, largest_error, kick)
    minimum_length(w, m, size, rank, bowl, largest_error)
    return bowl


@compiled
def _slides_off(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    first: int,
    last: int,
    largest_error: float,
) -> bool:
    """Return whether a smooth path is not the shortest near by, and the line past it is free."""
    m = zero()
    for j in range(first + 1, last):
        m += int(curves[j]["status"] == CONTACT)
    if m == 0 or not line_is_free(elements, tables, curves, w, m, first, last, 0.0):
        return False
    return not _find_correction(
        elements, tables, curves, w, m, first, last, zero() + MINIMUM_LENGTH, largest_error
    )


@compiled
def _attempt(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    w: Workspace,
    first: int,
    last: int,
    cable: Any,
    algorithm: int,
    cold: bool,
) -> tuple[int, int, float, float]:
    """Iterate from the curves as they are; return outcome, iterations, largest error, length."""
    most, accuracy, first_length = cable["max_iterations"], cable["accuracy"], 0.0
    largest, length = 0.0, 0.0
    for iteration in range(most + 1):
        changed, m, length = update_statuses(elements, tables, curves, w, first, last, accuracy)
        largest = errors(w, m)
        if iteration == 0:
            first_length = length
        if not (length <= GROWTH * first_length and largest <= 2.0):
            return DIVERGED, iteration, 1.0, length
        if largest <= cable["tolerance"] and gap(w, m) <= CLOSE:
            if cold and not changed:
                changed, m, length = look_again(elements, tables, curves, w, first, last, accuracy)
            if changed:
                continue
            outcome = UNCONVERGED if any_lost(curves, first, last) else CONVERGED
            return outcome, iteration, largest, length
        if iteration == most:
            break
        _find_correction(elements, tables, curves, w, m, first, last, algorithm, largest)
        if not limit(w, m, length):
            return DIVERGED, iteration, 1.0, length
        for i in range(m):
            j = w.indices[ACTIVE, i]
            q = w.vectors[STEP, 4 * i :]
            if not _apply(elements[j], tables, curves[j], q, accuracy, w.stages):
                return DIVERGED, iteration, 1.0, length
    return UNCONVERGED, most, largest, length


@compiled
def _begin(
    elements: NDArray, tables: NDArray, curves: NDArray, first: int, last: int, begin: int
) -> None:
    """Put the curves where an attempt begins."""
    for j in range(first + 1, last):
        if begin == FROM_HINTS:
            place_at_hint(elements[j], tables, curves[j])
        elif begin == FROM_LINE:
            lift(curves[j])


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
    """Find the path between elements `first` and `last`, which are fixed points, and draw it.

    Where the last path leads nowhere, the hints are tried, then the straight line, unless an end
    lies inside an obstacle. Where minimising the length stalls, smoothness itself is looked for.
    The first of the best outcomes stays.

    Returns:
        The outcome, the iterations that led to it, the largest error.
    """
    best, best_error, steps, algorithm = DIVERGED + 1, 1.0, 0, cable["algorithm"]
    for begin in range(FROM_LAST if warm else FROM_HINTS, FROM_LINE + 1):
        _begin(elements, tables, curves, first, last, begin)
        outcome, iterations, error, length = _attempt(
            elements, tables, curves, w, first, last, cable, algorithm, begin != FROM_LAST
        )
        if outcome == CONVERGED:
            return outcome, iterations, error
        if outcome < best:
            best, best_error, steps = outcome, error, iterations
            copy_records(curves, w.curves[BEST], first, last)
        if cable["max_iterations"] == 0 or end_inside(elements, tables, w, first, last):
            break
        if outcome == UNCONVERGED and algorithm == MINIMUM_LENGTH:
            outcome, more, smaller, new_length = _attempt(
                elements,
                tables,
                curves,
                w,
                first,
                last,
                cable,
                zero() + SCHOLZ_2015,
                begin != FROM_LAST,
            )
            if outcome == CONVERGED and new_length <= STALLED * length:
                if begin == FROM_LAST or not _slides_off(
                    elements, tables, curves, w, first, last, smaller
                ):
                    return outcome, iterations + more, smaller
                continue
        if error <= NEAR_SOLUTION:
            break
    copy_records(w.curves[BEST], curves, first, last)
    if best == DIVERGED:
        _begin(elements, tables, curves, first, last, zero() + FROM_LINE)
    draw(elements, tables, curves, w, first, last)
    return best, steps, best_error
