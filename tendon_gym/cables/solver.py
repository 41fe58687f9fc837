"""The solve of all cables of all simulations: poses in, paths out, no path on bad input.

A solve that finds a fault (an end inside an obstacle, a pose that is not finite) leaves the last
good path as it was. Where there has been none, the cable is drawn straight past all obstacles.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.contact import lift
from tendon_gym.cables.geodesic import set_row
from tendon_gym.cables.path import draw, fault_of
from tendon_gym.cables.problem import Problem
from tendon_gym.cables.records import CONTACT, NO_FAULT, NOT_FINITE, OBSTACLE
from tendon_gym.cables.stretch import CONVERGED, copy_records, solve_stretch
from tendon_gym.cables.variations import frame_in
from tendon_gym.cables.workspace import BEFORE, FRAME, Workspace, at, zero
from tendon_gym.compiled import compiled
from tendon_gym.spatial import (
    Vector,
    add,
    columns,
    frame_at,
    row,
    store,
    store_columns,
    to_world,
    vector,
    vector_at,
    within,
)


@compiled
def _finite(p: Vector) -> bool:
    return abs(p[0]) + abs(p[1]) + abs(p[2]) < math.inf


@compiled
def _place_elements(
    elements: NDArray, w: Workspace, first: int, last: int, p: NDArray, r: NDArray, i: int
) -> int:
    """Write the elements' frames in the world; return the first that is not finite, or -1."""
    for j in range(first, last + 1):
        body, k = elements[j]["body"], 4 * j
        frame = frame_at(r, i, body)
        origin = add(vector_at(p, i, body), to_world(frame, vector(elements[j]["position"])))
        x, y, z = within(frame, columns(elements[j]["rotation"]))
        set_row(w.world, k, origin)
        set_row(w.world, k + 1, x)
        set_row(w.world, k + 2, y)
        set_row(w.world, k + 3, z)
        if not (_finite(origin) and _finite(x) and _finite(y) and _finite(z)):
            return j
    return -1


@compiled
def _next_fixed(elements: NDArray, j: int) -> int:
    """Return the next end or via point after element j."""
    j += 1
    while elements[j]["role"] == OBSTACLE:
        j += 1
    return j


@compiled
def _write_node(element: Any, curve: Any, node: Any, w: Workspace, j: int, passed: int) -> None:
    """Write where the cable meets an element of the stretch that is drawn in the workspace."""
    obstacle = element["role"] == OBSTACLE
    touched = obstacle and curve["status"] == CONTACT
    origin, axes = frame_in(w.world, j)
    point, direction = node["point"], node["direction"]
    store(origin, node["origin"])
    store_columns(axes, node["axes"])
    node["active"] = 0.0 if obstacle and not touched else 1.0
    node["arc_length"] = curve["length"]
    known = origin
    if obstacle and not touched:
        known = add(origin, to_world(axes, vector(curve["tracking"])))
    for s in range(2):
        if obstacle:
            line = passed + (s if touched else 0)
            store(row(w.lines, line), direction[s])
        store(row(w.motion, at(passed, s) + FRAME) if touched else known, point[s])


@compiled
def _write_results(
    elements: NDArray, curves: NDArray, nodes: NDArray, w: Workspace, first: int, last: int
) -> float:
    """Write the nodes of the stretch that is drawn in the workspace and return its length."""
    passed, length = zero(), 0.0
    for j in range(first, last + 1):
        _write_node(elements[j], curves[j], nodes[j], w, j, passed)
        if elements[j]["role"] == OBSTACLE and curves[j]["status"] == CONTACT:
            passed += 1
            length += curves[j]["length"]
    store(row(w.lines, zero()), nodes[first]["direction"][1])
    store(row(w.lines, passed), nodes[last]["direction"][0])
    for i in range(passed + 1):
        length += w.lines[i, 4]
    return length


@compiled
def _solve_cable(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    nodes: NDArray,
    w: Workspace,
    cable: Any,
    path: Any,
) -> tuple[float, int, float]:
    """Solve a cable from fixed point to fixed point; return a fault, its element and depth."""
    smoothness, steps, converged, length = 0.0, 0, True, 0.0
    warm = cable["warm_start"] == 1 and path["known"] == 1.0
    start, last = cable["first"], cable["last"]
    while start < last:
        end = _next_fixed(elements, start)
        outcome, iterations, error = solve_stretch(
            elements, tables, curves, w, start, end, cable, warm
        )
        fault, where, depth = fault_of(elements, tables, curves, w, start, end)
        if fault != NO_FAULT:
            return fault, where, depth
        length += _write_results(elements, curves, nodes, w, start, end)
        smoothness, steps = max(smoothness, error), steps + iterations
        converged = converged and outcome == CONVERGED
        start = end
    path["smoothness"], path["iterations"], path["length"] = smoothness, steps, length
    path["converged"] = 1.0 if converged else 0.0
    return NO_FAULT, -1, 0.0


@compiled
def _give_up(
    elements: NDArray,
    tables: NDArray,
    curves: NDArray,
    nodes: NDArray,
    w: Workspace,
    cable: Any,
    path: Any,
) -> None:
    """Keep the last good path of a cable, or draw it straight where there has been none."""
    first, last = cable["first"], cable["last"]
    path["converged"] = 0.0
    if path["known"] == 1.0:
        copy_records(w.curves[BEFORE], curves, first, last)
        copy_records(w.nodes, nodes, first, last)
        return
    for j in range(first, last + 1):
        lift(curves[j])
        if path["fault"] == NOT_FINITE:
            for k in range(4 * j, 4 * j + 4):
                set_row(w.world, k, (0.0, 0.0, 0.0))
    path["smoothness"], path["iterations"], path["length"] = 0.0, 0.0, 0.0
    while first < last:
        end = _next_fixed(elements, first)
        draw(elements, tables, curves, w, first, end)
        path["length"] += _write_results(elements, curves, nodes, w, first, end)
        first = end


@compiled
def _solve_all(inside: Problem) -> tuple[int, int]:
    faults, unconverged = 0, 0
    elements, tables, cables, w = inside.elements, inside.tables, inside.cables, inside.workspace
    for i in range(inside.position.shape[0]):
        own, curves, nodes = elements[i % elements.shape[0]], inside.curves[i], inside.nodes[i]
        for k in range(cables.shape[0]):
            cable, path = cables[k], inside.paths[i, k]
            first, last, depth = cable["first"], cable["last"], 0.0
            copy_records(curves, w.curves[BEFORE], first, last)
            copy_records(nodes, w.nodes, first, last)
            where = _place_elements(own, w, first, last, inside.position, inside.rotation, i)
            fault = NO_FAULT if where < 0 else NOT_FINITE
            if where < 0:
                fault, where, depth = _solve_cable(own, tables, curves, nodes, w, cable, path)
            path["fault"], path["fault_element"], path["fault_depth"] = fault, where, depth
            if fault == NO_FAULT:
                path["known"] = 1.0
                unconverged += int(path["converged"] == 0.0)
            else:
                _give_up(own, tables, curves, nodes, w, cable, path)
                faults += 1
    return faults, unconverged


@compiled
def solve_all(problem: Any) -> tuple[int, int]:
    """Solve every cable of every simulation; `problem` is a box with a `Problem`.

    Returns:
        How many paths have a fault, and how many have none but did not converge.
    """
    return _solve_all(problem.value)
