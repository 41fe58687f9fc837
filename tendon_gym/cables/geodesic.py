"""Geodesics: from a point in a direction over a length, with the scalars of their Jacobi fields.

In closed form on spheres, cylinders and planes. Elsewhere the equations of the geodesic,
x'' = -grad(phi) (x' H x') / |grad(phi)|^2, and of its Jacobi fields, y'' = -K y, are integrated by
the pair of orders 8, 5 and 3 of Dormand and Prince (E. Hairer, S. P. Norsett, G. Wanner 1993,
Solving Ordinary Differential Equations I, section II.10), and after every step the curve is put
back on the surface.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from tendon_gym.cables.implicit import gauss_curvature, gradient, hessian_form, implicit
from tendon_gym.cables.records import CYLINDER, HALF_SPACE, SPHERE
from tendon_gym.cables.shape import bend, onto, tangent_at
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector, combine, cross, dot, norm, row, vector

STAGES = 12
SIZE = 10
"""Position, direction, a, a', r, r'."""
MOST_STEPS = 2000
A = np.ascontiguousarray(DOP853.A[:STAGES, :STAGES])
B = np.ascontiguousarray(DOP853.B)
E5, E3 = np.ascontiguousarray(DOP853.E5[:STAGES]), np.ascontiguousarray(DOP853.E3[:STAGES])

WORKSPACE = STAGES + 2
"""Rows (of SIZE) of the workspace: the stages, the state, the state of a stage."""


@compiled
def set_row(out: NDArray, k: int, v: Vector) -> None:
    """Write a vector to row k of an array (m, 3)."""
    out[k, 0], out[k, 1], out[k, 2] = v[0], v[1], v[2]


@compiled
def _slope(element: Any, tables: NDArray, y: NDArray, out: NDArray) -> None:
    """Write the derivative of a state."""
    t = (y[3], y[4], y[5])
    jet = implicit(element, tables, (y[0], y[1], y[2]))
    g = gradient(jet)
    pull = -hessian_form(jet, t, t) / dot(g, g)
    curvature = gauss_curvature(jet)
    out[0], out[1], out[2] = t
    out[3], out[4], out[5] = pull * g[0], pull * g[1], pull * g[2]
    out[6], out[7] = y[7], -curvature * y[6]
    out[8], out[9] = y[9], -curvature * y[8]


@compiled
def _step(element: Any, tables: NDArray, h: float, work: NDArray) -> float:
    """Add one step to the state after the stages' rows; return its error, in the state's units."""
    state, trial = STAGES, STAGES + 1
    for i in range(1, STAGES):
        for k in range(SIZE):
            work[trial, k] = 0.0
        for j in range(i):
            weight = A[i, j]
            if weight != 0.0:
                for k in range(SIZE):
                    work[trial, k] += weight * work[j, k]
        for k in range(SIZE):
            work[trial, k] = work[state, k] + h * work[trial, k]
        _slope(element, tables, work[trial], work[i])
    error = 0.0
    for k in range(SIZE):
        fifth = third = change = 0.0
        for j in range(STAGES):
            fifth += E5[j] * work[j, k]
            third += E3[j] * work[j, k]
            change += B[j] * work[j, k]
        work[trial, k] = work[state, k] + h * change
        scaled = math.sqrt(fifth * fifth + 0.01 * third * third)
        if scaled > 0.0:
            error = max(error, h * fifth * fifth / scaled)
    return error


@compiled
def integrate(
    element: Any, tables: NDArray, length: float, accuracy: float, step: float, work: NDArray
) -> tuple[bool, float]:
    """Carry the state in row STAGES of the workspace over `length`.

    Returns whether it got there, and the step (m) that the accuracy allowed last.
    """
    state, trial = STAGES, STAGES + 1
    done = 0.0
    for _ in range(MOST_STEPS):
        left = length - done
        h = left if left <= 1.1 * step else min(step, 0.5 * left + 0.01 * step)
        _slope(element, tables, work[state], work[0])
        error = _step(element, tables, h, work)
        if not error < 1e300:
            return False, step
        grow = 0.9 * (accuracy / max(error, 1e-9 * accuracy)) ** 0.125
        if error > accuracy:
            step = h * max(0.2, grow)
            continue
        step = max(step, h) if h < step and grow > 1.0 else h * min(max(grow, 0.5), 4.0)
        done += h
        p = (work[trial, 0], work[trial, 1], work[trial, 2])
        t = (work[trial, 3], work[trial, 4], work[trial, 5])
        near, p = onto(element, tables, p)
        good, t, _ = tangent_at(element, tables, p, t)
        if not (near and good):
            return False, step
        for k in range(3):
            work[state, k], work[state, 3 + k] = p[k], t[k]
        for k in range(6, SIZE):
            work[state, k] = work[trial, k]
        if h == left:
            return True, step
    return False, step


@compiled
def _on_sphere(curve: Any, radius: float, length: float) -> None:
    n, t = row(curve["start"], 2), row(curve["start"], 1)
    angle = length / radius
    c, s = math.cos(angle), math.sin(angle)
    normal = combine(c, n, s, t, 0.0, t)
    set_row(curve["end"], 0, combine(radius, normal, 0.0, n, 0.0, t))
    set_row(curve["end"], 1, combine(c, t, -s, n, 0.0, t))
    set_row(curve["end"], 2, normal)
    a = curve["jacobi"]
    a[0], a[1], a[2], a[3] = c, -s / radius, radius * s, c


@compiled
def _on_cylinder(curve: Any, radius: float, length: float) -> None:
    """Turn the start about the axis and move it along; on a cylinder a geodesic is a helix."""
    p, t, n = row(curve["start"], 0), row(curve["start"], 1), row(curve["start"], 2)
    angle = -length / radius * cross(t, n)[2]
    c, s = math.cos(angle), math.sin(angle)
    rise = length * t[2]
    set_row(curve["end"], 0, (c * p[0] - s * p[1], s * p[0] + c * p[1], p[2] + rise))
    set_row(curve["end"], 1, (c * t[0] - s * t[1], s * t[0] + c * t[1], t[2]))
    set_row(curve["end"], 2, (c * n[0] - s * n[1], s * n[0] + c * n[1], n[2]))
    a = curve["jacobi"]
    a[0], a[1], a[2], a[3] = 1.0, 0.0, length, 1.0


@compiled
def _straight(curve: Any, length: float) -> None:
    p, t, n = row(curve["start"], 0), row(curve["start"], 1), row(curve["start"], 2)
    set_row(curve["end"], 0, combine(1.0, p, length, t, 0.0, n))
    set_row(curve["end"], 1, t)
    set_row(curve["end"], 2, n)
    a = curve["jacobi"]
    a[0], a[1], a[2], a[3] = 1.0, 0.0, length, 1.0


@compiled
def _numeric(
    element: Any, tables: NDArray, curve: Any, length: float, accuracy: float, work: NDArray
) -> bool:
    step = curve["step"]
    if not step > 0.0:  # where the curvature is 1/R, accuracy 1e-9 allows steps of about R/2
        k = curve["start_bend"]
        step = 0.5 / max(abs(k[0]), abs(k[1]), abs(k[2]), 1e-3 / element["scale"])
    for k in range(3):
        work[STAGES, k], work[STAGES, 3 + k] = curve["start"][0, k], curve["start"][1, k]
    work[STAGES, 6], work[STAGES, 7], work[STAGES, 8], work[STAGES, 9] = 1.0, 0.0, 0.0, 1.0
    good, step = integrate(element, tables, length, accuracy, step, work)
    curve["step"] = step
    if not good:
        return False
    p = (work[STAGES, 0], work[STAGES, 1], work[STAGES, 2])
    t = (work[STAGES, 3], work[STAGES, 4], work[STAGES, 5])
    good, t, n = tangent_at(element, tables, p, t)
    set_row(curve["end"], 0, p)
    set_row(curve["end"], 1, t)
    set_row(curve["end"], 2, n)
    for k in range(4):
        curve["jacobi"][k] = work[STAGES, 6 + k]
    return good


@compiled
def shoot(
    element: Any,
    tables: NDArray,
    curve: Any,
    p: Vector,
    along: Vector,
    length: float,
    accuracy: float,
    work: NDArray,
) -> bool:
    """Write to `curve` the geodesic of `length` (m) from near p in the direction of `along`.

    Returns False where p has no projection on the surface, `along` no direction in it, or the
    integrator no way forward; the curve is then not usable.
    """
    near, p = onto(element, tables, p)
    good, t, n = tangent_at(element, tables, p, along)
    if not (near and good):
        return False
    start, kind = curve["start"], element["surface"]
    set_row(start, 0, p)
    set_row(start, 1, t)
    set_row(start, 2, n)
    k = bend(element, tables, p, t, n)
    curve["start_bend"][0], curve["start_bend"][1], curve["start_bend"][2] = k
    curve["length"] = length
    if kind == SPHERE:
        _on_sphere(curve, element["size"][0], length)
    elif kind == CYLINDER:
        _on_cylinder(curve, element["size"][0], length)
    elif kind == HALF_SPACE or length == 0.0:
        _straight(curve, length)
    elif not _numeric(element, tables, curve, length, accuracy, work):
        return False
    end = curve["end"]
    k = bend(element, tables, row(end, 0), row(end, 1), row(end, 2))
    curve["end_bend"][0], curve["end_bend"][1], curve["end_bend"][2] = k
    return norm(vector(curve["end_bend"])) < math.inf
