"""The solve of whole cables, for all simulations: poses in, paths out, no path on bad input.

A solve that finds a fault (an end inside an obstacle, a pose that is not finite) leaves the last
good path as it was. Where there has been none, the cable is drawn straight past all obstacles.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables import height_map
from tendon_gym.cables.contact import lift
from tendon_gym.cables.records import (
    CONTACT,
    HEIGHT_MAP,
    NO_FAULT,
    NOT_FINITE,
    OBSTACLE,
    OFF_PATCH,
    POINT_INSIDE,
)
from tendon_gym.cables.stretch import CONVERGED, deepest, end_inside, gather, solve_stretch
from tendon_gym.cables.workspace import Workspace
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
        frame = frame_at(r, i, body)
        origin = add(vector_at(p, i, body), to_world(frame, vector(elements[j]["position"])))
        x, y, z = within(frame, columns(elements[j]["rotation"]))
        w.origin[j, 0], w.origin[j, 1], w.origin[j, 2] = origin
        store_columns((x, y, z), w.axes[j])
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
def _off_patch(elements: NDArray, tables: NDArray, curves: NDArray, first: int, last: int) -> int:
    """Return a height map whose curve has left its patch, or -1."""
    for j in range(first + 1, last):
        if elements[j]["surface"] == HEIGHT_MAP and curves[j]["status"] == CONTACT:
            p, q = row(curves[j]["start"], 0), row(curves[j]["end"], 0)
            table = elements[j]["table"]
            if not height_map.on_patch(tables, table, p[0], p[1]):
                return j
            if not height_map.on_patch(tables, table, q[0], q[1]):
                return j
    return -1


@compiled
def _solve_stretches(
    elements: NDArray, tables: NDArray, curves: NDArray, w: Workspace, cable: Any, path: Any
) -> tuple[float, int, float]:
    """Solve a cable from fixed point to fixed point; return a fault, its element and depth."""
    smoothness, iterations, converged = 0.0, 0, True
    warm = cable["warm_start"] == 1 and path["known"] == 1.0
    start = cable["first"]
    while start < cable["last"]:
        end = _next_fixed(elements, start)
        where, depth = end_inside(elements, tables, w, start, end)
        if where >= 0:
            return POINT_INSIDE, where, depth
        outcome, steps, error = solve_stretch(
            elements, tables, curves, w, start, end, cable, warm
        )
        where, depth = deepest(elements, tables, curves, w, start, end)
        if where >= 0:
            return POINT_INSIDE, where, depth
        where = _off_patch(elements, tables, curves, start, end)
        if where >= 0:
            return OFF_PATCH, where, 0.0
        smoothness = max(smoothness, error)
        iterations += steps
        converged = converged and outcome == CONVERGED
        start = end
    path["smoothness"], path["iterations"] = smoothness, iterations
    path["converged"] = 1.0 if converged else 0.0
    return NO_FAULT, -1, 0.0


@compiled
def _write_node(
    element: Any, curve: Any, node: Any, w: Workspace, j: int, curves_before: int
) -> None:
    """Write where the cable meets an element of the stretch that is drawn in the workspace."""
    for k in range(3):
        node["origin"][k] = w.origin[j, k]
        for c in range(3):
            node["axes"][k, c] = w.axes[j, k, c]
    if element["role"] != OBSTACLE:
        node["active"], node["arc_length"] = 1.0, 0.0
        for s in range(2):
            for k in range(3):
                node["point"][s, k] = w.origin[j, k]
        return
    active = curve["status"] == CONTACT
    node["active"] = 1.0 if active else 0.0
    node["arc_length"] = curve["length"]
    known = add(row(w.origin, j), to_world(columns(w.axes[j]), vector(curve["tracking"])))
    for s in range(2):
        line = curves_before + (s if active else 0)
        for k in range(3):
            node["point"][s, k] = w.frame[curves_before, s, 0, k] if active else known[k]
            node["direction"][s, k] = w.line[line, k]


@compiled
def _write_results(
    elements: NDArray, curves: NDArray, nodes: NDArray, w: Workspace, cable: Any, path: Any
) -> None:
    """Write the nodes of a cable and its length."""
    start = cable["first"]
    _write_node(elements[start], curves[start], nodes[start], w, start, 0)
    nodes[start]["direction"][0, :] = 0.0
    total = 0.0
    while start < cable["last"]:
        end = _next_fixed(elements, start)
        m, length = gather(curves, w, start, end)
        total += length
        passed = 0
        for j in range(start + 1, end + 1):
            _write_node(elements[j], curves[j], nodes[j], w, j, passed)
            if j < end and curves[j]["status"] == CONTACT:
                passed += 1
        for k in range(3):
            nodes[start]["direction"][1, k] = w.line[0, k]
            nodes[end]["direction"][0, k] = w.line[m, k]
        start = end
    nodes[start]["direction"][1, :] = 0.0
    path["length"] = total


@compiled
def _give_up(
    elements: NDArray, curves: NDArray, nodes: NDArray, w: Workspace, cable: Any, path: Any
) -> None:
    """Keep the last good path of a cable, or draw it straight where there has been none."""
    first, last = cable["first"], cable["last"]
    curves[first : last + 1] = w.before[first : last + 1]
    path["converged"] = 0.0
    if path["known"] == 1.0:
        return
    for j in range(first, last + 1):
        lift(curves[j], (0.0, 0.0, 0.0))
        if not _finite(row(w.origin, j)) or path["fault"] == NOT_FINITE:
            w.origin[j, :] = 0.0
            w.axes[j, :, :] = 0.0
    path["smoothness"], path["iterations"] = 0.0, 0.0
    _write_results(elements, curves, nodes, w, cable, path)


@compiled
def solve_cable(
    elements: NDArray,
    tables: NDArray,
    cable: Any,
    p: NDArray,
    r: NDArray,
    i: int,
    curves: NDArray,
    nodes: NDArray,
    path: Any,
    w: Workspace,
) -> None:
    """Solve one cable of simulation i.

    Args:
        elements: (e,) ELEMENT, of all cables.
        tables: of the height maps.
        cable: one CABLE.
        p: (n, b, 3), origins of the bodies in the world, m.
        r: (n, b, 3, 3), their rotations to the world.
        i: the simulation.
        curves: (e,) CURVE, its warm start, brought up to date.
        nodes: (e,) NODE, written.
        path: one PATH, written.
        w: a workspace.
    """
    first, last = cable["first"], cable["last"]
    w.before[first : last + 1] = curves[first : last + 1]
    depth = 0.0
    where = _place_elements(elements, w, first, last, p, r, i)
    fault = NO_FAULT if where < 0 else NOT_FINITE
    if fault == NO_FAULT:
        fault, where, depth = _solve_stretches(elements, tables, curves, w, cable, path)
    path["fault"], path["fault_element"], path["fault_depth"] = fault, where, depth
    if fault == NO_FAULT:
        _write_results(elements, curves, nodes, w, cable, path)
        path["known"] = 1.0
    else:
        _give_up(elements, curves, nodes, w, cable, path)


@compiled
def solve_all(
    elements: NDArray,
    tables: NDArray,
    cables: NDArray,
    p: NDArray,
    r: NDArray,
    curves: NDArray,
    nodes: NDArray,
    paths: NDArray,
    workspace: Any,
) -> None:
    """Solve every cable of every simulation.

    Args:
        elements: (1 or n, e) ELEMENT.
        tables: of the height maps.
        cables: (k,) CABLE.
        p: (n, b, 3) and
        r: (n, b, 3, 3), as `solve_cable` takes them.
        curves: (n, e) CURVE, brought up to date.
        nodes: (n, e) NODE, written.
        paths: (n, k) PATH, written.
        workspace: a box with a `Workspace`.
    """
    w = workspace.value
    for i in range(p.shape[0]):
        own = elements[i % elements.shape[0]]
        for k in range(cables.shape[0]):
            solve_cable(own, tables, cables[k], p, r, i, curves[i], nodes[i], paths[i, k], w)
