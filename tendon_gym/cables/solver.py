"""The solve of all cables of all simulations: poses in, paths out, no path on bad input.

A solve that finds a fault (an end inside an obstacle, a pose that is not finite) leaves the last
good path as it was. Where there has been none, the cable is drawn straight past all obstacles.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.contact import lift
from tendon_gym.cables.path import end_inside, fault_of, gather
from tendon_gym.cables.records import CONTACT, NO_FAULT, NOT_FINITE, OBSTACLE, POINT_INSIDE
from tendon_gym.cables.stretch import CONVERGED, copy_curves, solve_stretch
from tendon_gym.cables.workspace import BEFORE, FRAME, Workspace, zero
from tendon_gym.compiled import compiled, inlined
from tendon_gym.spatial import (
    Vector,
    add,
    columns,
    frame_at,
    row,
    store_columns,
    to_world,
    vector,
    vector_at,
    within,
)


@inlined
def _finite(p: Vector) -> bool:
    return abs(p[0]) + abs(p[1]) + abs(p[2]) < math.inf


@compiled
def _place_elements(
    elements: NDArray, w: Workspace, first: int, last: int, p: NDArray, r: NDArray, i: int
) -> int:
    """Write the elements' frames in the world; return the first that is not finite, or -1."""
    for j in range(first, last + 1):
        body = elements[j]["body"]
        frame, world = frame_at(r, i, body), w.world[j]
        origin = add(vector_at(p, i, body), to_world(frame, vector(elements[j]["position"])))
        x, y, z = within(frame, columns(elements[j]["rotation"]))
        world[0, 0], world[0, 1], world[0, 2] = origin
        store_columns((x, y, z), world[1:])
        if not (_finite(origin) and _finite(x) and _finite(y) and _finite(z)):
            return j
    return -1


@inlined
def _next_fixed(elements: NDArray, j: int) -> int:
    """Return the next end or via point after element j."""
    j += 1
    while elements[j]["role"] == OBSTACLE:
        j += 1
    return j


@compiled
def _write_node(element: Any, curve: Any, node: Any, w: Workspace, j: int, passed: int) -> None:
    """Write where the cable meets an element of the stretch that is drawn in the workspace."""
    active = element["role"] != OBSTACLE or curve["status"] == CONTACT
    node["active"] = 1.0 if active else 0.0
    node["arc_length"] = curve["length"]
    world = w.world[j]
    for k in range(3):
        node["origin"][k] = world[0, k]
        for c in range(3):
            node["axes"][k, c] = world[1 + k, c]
    known = row(world, 0)
    if element["role"] == OBSTACLE:
        known = add(known, to_world(columns(world[1:]), vector(curve["tracking"])))
    for s in range(2):
        for k in range(3):
            node["point"][s, k] = known[k]
            if element["role"] == OBSTACLE:
                node["direction"][s, k] = w.lines[passed + (s if active else 0), k]
                if active:
                    node["point"][s, k] = w.motion[FRAME, passed, s, 0, k]


@compiled
def _write_results(
    elements: NDArray, curves: NDArray, nodes: NDArray, w: Workspace, cable: Any, path: Any
) -> None:
    """Write the nodes of a cable and its length."""
    start, total = cable["first"], 0.0
    while start < cable["last"]:
        end = _next_fixed(elements, start)
        m, length = gather(curves, w, start, end)
        total += length
        passed = zero()
        for j in range(start, end + 1):
            _write_node(elements[j], curves[j], nodes[j], w, j, passed)
            if elements[j]["role"] == OBSTACLE and curves[j]["status"] == CONTACT:
                passed += 1
        for k in range(3):
            nodes[start]["direction"][1, k] = w.lines[0, k]
            nodes[end]["direction"][0, k] = w.lines[m, k]
        start = end
    for k in range(3):
        nodes[cable["first"]]["direction"][0, k] = 0.0
        nodes[start]["direction"][1, k] = 0.0
    path["length"] = total


@compiled
def _give_up(
    elements: NDArray, curves: NDArray, nodes: NDArray, w: Workspace, cable: Any, path: Any
) -> None:
    """Keep the last good path of a cable, or draw it straight where there has been none."""
    first, last = cable["first"], cable["last"]
    copy_curves(w.curves[BEFORE], curves, first, last)
    path["converged"] = 0.0
    if path["known"] == 1.0:
        return
    for j in range(first, last + 1):
        lift(curves[j], (0.0, 0.0, 0.0))
        if path["fault"] == NOT_FINITE:
            w.world[j, :, :] = 0.0
    path["smoothness"], path["iterations"] = 0.0, 0.0
    _write_results(elements, curves, nodes, w, cable, path)


@compiled
def _solve_cable(
    elements: NDArray, tables: NDArray, curves: NDArray, w: Workspace, cable: Any, path: Any
) -> tuple[float, int, float]:
    """Solve a cable from fixed point to fixed point; return a fault, its element and depth."""
    smoothness, steps, converged = 0.0, 0, True
    warm = cable["warm_start"] == 1 and path["known"] == 1.0
    start = cable["first"]
    while start < cable["last"]:
        end = _next_fixed(elements, start)
        where, depth = end_inside(elements, tables, w, start, end)
        if where >= 0:
            return POINT_INSIDE, where, depth
        outcome, iterations, error = solve_stretch(
            elements, tables, curves, w, start, end, cable, warm
        )
        fault, where, depth = fault_of(elements, tables, curves, w, start, end)
        if fault != NO_FAULT:
            return fault, where, depth
        smoothness, steps = max(smoothness, error), steps + iterations
        converged = converged and outcome == CONVERGED
        start = end
    path["smoothness"], path["iterations"] = smoothness, steps
    path["converged"] = 1.0 if converged else 0.0
    return NO_FAULT, -1, 0.0


@compiled
def solve_all(problem: Any) -> tuple[int, int]:
    """Solve every cable of every simulation; `problem` is a box with a `Problem`.

    Returns:
        How many paths have a fault, and how many have none but did not converge.
    """
    faults, unconverged = 0, 0
    inside = problem.value
    elements, tables, cables, w = inside.elements, inside.tables, inside.cables, inside.workspace
    for i in range(inside.position.shape[0]):
        own, curves, nodes = elements[i % elements.shape[0]], inside.curves[i], inside.nodes[i]
        for k in range(cables.shape[0]):
            cable, path = cables[k], inside.paths[i, k]
            first, last, depth = cable["first"], cable["last"], 0.0
            copy_curves(curves, w.curves[BEFORE], first, last)
            where = _place_elements(own, w, first, last, inside.position, inside.rotation, i)
            fault = NO_FAULT if where < 0 else NOT_FINITE
            if where < 0:
                fault, where, depth = _solve_cable(own, tables, curves, w, cable, path)
            path["fault"], path["fault_element"], path["fault_depth"] = fault, where, depth
            if fault == NO_FAULT:
                _write_results(own, curves, nodes, w, cable, path)
                path["known"] = 1.0
                unconverged += int(path["converged"] == 0.0)
            else:
                _give_up(own, curves, nodes, w, cable, path)
                faults += 1
    return faults, unconverged
