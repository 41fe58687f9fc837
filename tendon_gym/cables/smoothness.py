"""How far a path is from smooth, its length, and the derivatives of both.

A stretch is what lies between two fixed points (ends or via points): m curves in contact and m + 1
straight lines. Where a line meets a curve, its direction e must be the curve's tangent: the errors
are e . n and e . b with the normal n and binormal b there. Where a fixed point lies on the surface,
the line to it has no length and no direction but the tangent's: the curve is pinned there, and its
errors are how far from the point it begins or ends, along t and along b. All derivatives are by the
4 m natural variations; neighbours alone are coupled.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.geodesic import set_row
from tendon_gym.cables.workspace import (
    ACTIVE,
    CURVATURE,
    ERROR,
    FRAME,
    JACOBIAN,
    PIN,
    SHIFT,
    SLOPE,
    TURN,
    Workspace,
    at,
)
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector, cross, dot, norm, row, scale, subtract

NO_LENGTH = 1e-12
"""A line this much shorter than the longest has no direction of its own."""


@compiled
def _before(w: Workspace, i: int) -> Vector:
    """Return where line i begins."""
    return row(w.fixed, 0) if i == 0 else row(w.motion, at(i - 1, 1) + FRAME)


@compiled
def _after(w: Workspace, i: int, m: int) -> Vector:
    """Return where line i ends."""
    return row(w.fixed, 1) if i == m else row(w.motion, at(i, 0) + FRAME)


@compiled
def draw_lines(w: Workspace, m: int) -> float:
    """Write the m + 1 straight lines between the curves and return the sum of their lengths.

    A line without length, or to a pin, has the direction of the curve that it meets, and none
    between points.
    """
    total = 0.0
    for i in range(m + 1):
        w.lines[i, 4] = norm(subtract(_after(w, i, m), _before(w, i)))
        total += w.lines[i, 4]
    for i in range(m + 1):
        length = w.lines[i, 4]
        if length > NO_LENGTH * total and w.lines[i, PIN] == 0.0:
            w.lines[i, 3] = 1.0 / length
            set_row(w.lines, i, scale(1.0 / length, subtract(_after(w, i, m), _before(w, i))))
            continue
        w.lines[i, 3] = 0.0
        e = (0.0, 0.0, 0.0)
        if i < m:
            e = row(w.motion, at(i, 0) + FRAME + 1)
        elif m > 0:
            e = row(w.motion, at(m - 1, 1) + FRAME + 1)
        set_row(w.lines, i, e)
    return total


@compiled
def _offset(w: Workspace, i: int, s: int, m: int, axis: int) -> float:
    """Return how far curve i's start (s = 0) or end is from its pin along t or b, in its sizes."""
    fixed = _before(w, i) if s == 0 else _after(w, i + 1, m)
    away = subtract(row(w.motion, at(i, s) + FRAME), fixed)
    return dot(away, row(w.motion, at(i, s) + FRAME + 1 + 2 * axis)) / w.lines[i + s, PIN]


@compiled
def gap(w: Workspace, m: int) -> float:
    """Return how far the path is from its pins, along the surfaces and in their sizes."""
    largest = 0.0
    for s in range(2):
        i = s * (m - 1)
        if m > 0 and w.lines[i + s, PIN] > 0.0:
            for axis in range(2):
                largest = max(largest, abs(_offset(w, i, s, m, axis)))
    return largest


@compiled
def errors(w: Workspace, m: int) -> float:
    """Write the 4 m errors and return the largest, 1 where the path turns back on itself."""
    largest = 0.0
    for i in range(m):
        for s in range(2):
            e = row(w.lines, i + s)
            if dot(e, row(w.motion, at(i, s) + FRAME + 1)) < 0.0:
                largest = 1.0
            for axis in range(2):
                c = dot(e, row(w.motion, at(i, s) + FRAME + 2 + axis))
                if w.lines[i + s, PIN] > 0.0:
                    c = min(max(_offset(w, i, s, m, axis), -1.0), 1.0)
                w.vectors[ERROR, 4 * i + 2 * s + axis] = c
                largest = max(largest, abs(c))
                if not abs(c) <= 2.0:  # NaN
                    return c
    return largest


@compiled
def _across(e: Vector, a: Vector, closeness: float) -> Vector:
    """Return (1 - e e') a / L: how e changes its component along a with the line's end."""
    along = dot(e, a)
    return (
        closeness * (a[0] - along * e[0]),
        closeness * (a[1] - along * e[1]),
        closeness * (a[2] - along * e[2]),
    )


@compiled
def jacobian(w: Workspace, m: int) -> None:
    """Write the derivatives of the errors."""
    out = w.matrices[JACOBIAN]
    out[: 4 * m, : 4 * m] = 0.0
    for i in range(m):
        for s in range(2):
            e, sign = row(w.lines, i + s), 1.0 - 2.0 * s
            neighbour = i - 1 + 2 * s
            for axis in range(2):
                r = 4 * i + 2 * s + axis
                if w.lines[i + s, PIN] > 0.0:
                    a = row(w.motion, at(i, s) + FRAME + 1 + 2 * axis)
                    for k in range(4):
                        moved_by = dot(a, row(w.motion, at(i, s) + SHIFT + k))
                        out[r, 4 * i + k] = moved_by / w.lines[i + s, PIN]
                    continue
                a = row(w.motion, at(i, s) + FRAME + 2 + axis)
                moved, turned = _across(e, a, w.lines[i + s, 3]), cross(a, e)
                for k in range(4):
                    out[r, 4 * i + k] = sign * dot(
                        moved, row(w.motion, at(i, s) + SHIFT + k)
                    ) + dot(turned, row(w.motion, at(i, s) + TURN + k))
                if 0 <= neighbour < m:
                    for k in range(4):
                        v = row(w.motion, at(neighbour, 1 - s) + SHIFT + k)
                        out[r, 4 * neighbour + k] = -sign * dot(moved, v)


@compiled
def slope(w: Workspace, m: int) -> None:
    """Write the derivatives of the path's length."""
    for i in range(m):
        before, after = row(w.lines, i), row(w.lines, i + 1)
        for k in range(4):
            w.vectors[SLOPE, 4 * i + k] = dot(before, row(w.motion, at(i, 0) + SHIFT + k)) - dot(
                after, row(w.motion, at(i, 1) + SHIFT + k)
            )
        w.vectors[SLOPE, 4 * i + 3] += 1.0


@compiled
def _curvature_at(curve: Any, w: Workspace, i: int, s: int) -> None:
    """Add to the second derivatives what one end of curve i gives to its own block."""
    out = w.matrices[CURVATURE]
    e, sign = row(w.lines, i + s), 1.0 - 2.0 * s
    for k in range(4):
        v = row(w.motion, at(i, s) + SHIFT + k)
        moved, turned = _across(e, v, w.lines[i + s, 3]), cross(v, e)
        for j in range(4):
            out[4 * i + k, 4 * i + j] += dot(
                moved, row(w.motion, at(i, s) + SHIFT + j)
            ) + sign * dot(turned, row(w.motion, at(i, s) + TURN + j))
    if s == 1:  # the binormal shifts at the end grow with the curve's length
        side = dot(e, row(w.motion, at(i, 1) + FRAME + 3))
        da, dr = side * curve["jacobi"][1], side * curve["jacobi"][3]
        out[4 * i + 1, 4 * i] -= da
        out[4 * i + 1, 4 * i + 3] -= da
        out[4 * i + 2, 4 * i] -= dr
        out[4 * i + 2, 4 * i + 3] -= dr


@compiled
def curvature(curves: NDArray, w: Workspace, m: int) -> None:
    """Write the second derivatives of the path's length, made symmetric.

    Exact for smooth paths: the unknown second variations are multiplied by the errors.
    """
    n, out = 4 * m, w.matrices[CURVATURE]
    out[:n, :n] = 0.0
    for i in range(m):
        for s in range(2):
            _curvature_at(curves[w.indices[ACTIVE, i]], w, i, s)
        if i > 0:
            e = row(w.lines, i)
            for k in range(4):
                moved = _across(e, row(w.motion, at(i, 0) + SHIFT + k), w.lines[i, 3])
                for j in range(4):
                    coupled = -dot(moved, row(w.motion, at(i - 1, 1) + SHIFT + j))
                    out[4 * i + k, 4 * i - 4 + j] = coupled
                    out[4 * i - 4 + j, 4 * i + k] = coupled
    for k in range(n):
        for j in range(k):
            mean = 0.5 * (out[k, j] + out[j, k])
            out[k, j] = out[j, k] = mean
