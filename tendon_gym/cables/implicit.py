"""Implicit functions of the surfaces: phi < 0 inside, with gradient and Hessian."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables import height_map
from tendon_gym.cables.records import (
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_MAP,
    SPHERE,
    TORUS,
)
from tendon_gym.cables.user_function import Jet, call
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector

TINY = 1e-150
"""Keeps divisions by distances finite where a surface has no normal."""


@compiled
def _quadric(p: Vector, a: float, b: float, c: float, d: float) -> Jet:
    """Return a x^2 + b y^2 + c z^2 - d with its derivatives."""
    x, y, z = p
    value = a * x * x + b * y * y + c * z * z - d
    gradient = (2.0 * a * x, 2.0 * b * y, 2.0 * c * z)
    return (value, *gradient, 2.0 * a, 2.0 * b, 2.0 * c, 0.0, 0.0, 0.0)


@compiled
def _torus(p: Vector, ring: float, tube: float) -> Jet:
    x, y, z = p
    rho = math.sqrt(x * x + y * y)
    u, v = x / (rho + TINY), y / (rho + TINY)
    k = 2.0 / (tube * tube)
    radial = k * (rho - ring)
    across = radial / (rho + TINY)
    value = 0.5 * k * ((rho - ring) * (rho - ring) + z * z) - 1.0
    xx, yy, xy = k * u * u + across * v * v, k * v * v + across * u * u, (k - across) * u * v
    return (value, radial * u, radial * v, k * z, xx, yy, k, xy, 0.0, 0.0)


@compiled
def _height_map(p: Vector, tables: NDArray, offset: int) -> Jet:
    f, fx, fy, fxx, fyy, fxy = height_map.height(tables, offset, p[0], p[1])
    return (p[2] - f, -fx, -fy, 1.0, -fxx, -fyy, 0.0, -fxy, 0.0, 0.0)


@compiled
def implicit(element: Any, tables: NDArray, p: Vector) -> Jet:
    """Return phi, gradient and Hessian (xx, yy, zz, xy, xz, yz) at p in the surface's frame."""
    kind = element["surface"]
    size = element["size"]
    if kind == SPHERE:
        return _quadric(p, 1.0, 1.0, 1.0, size[0] * size[0])
    if kind == CYLINDER:
        return _quadric(p, 1.0, 1.0, 0.0, size[0] * size[0])
    if kind == ELLIPSOID:
        a, b, c = size[0], size[1], size[2]
        return _quadric(p, 1.0 / (a * a), 1.0 / (b * b), 1.0 / (c * c), 1.0)
    if kind == TORUS:
        return _torus(p, size[0], size[1])
    if kind == HALF_SPACE:
        return (-p[0], -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if kind == HEIGHT_MAP:
        return _height_map(p, tables, element["table"])
    return call(element["address"], p[0], p[1], p[2])


@compiled
def gradient(jet: Jet) -> Vector:
    """Return the gradient of what `implicit` returns."""
    return (jet[1], jet[2], jet[3])


@compiled
def hessian_form(jet: Jet, u: Vector, v: Vector) -> float:
    """Return u' H v with the Hessian of what `implicit` returns."""
    return (
        jet[4] * u[0] * v[0]
        + jet[5] * u[1] * v[1]
        + jet[6] * u[2] * v[2]
        + jet[7] * (u[0] * v[1] + u[1] * v[0])
        + jet[8] * (u[0] * v[2] + u[2] * v[0])
        + jet[9] * (u[1] * v[2] + u[2] * v[1])
    )


@compiled
def gauss_curvature(jet: Jet) -> float:
    """Return g' adj(H) g / |g|^4 (R. Goldman 2005, Curvature formulas for implicit surfaces)."""
    _, gx, gy, gz, xx, yy, zz, xy, xz, yz = jet
    top = (
        gx * gx * (yy * zz - yz * yz)
        + gy * gy * (xx * zz - xz * xz)
        + gz * gz * (xx * yy - xy * xy)
        + 2.0 * gx * gy * (xz * yz - xy * zz)
        + 2.0 * gx * gz * (xy * yz - xz * yy)
        + 2.0 * gy * gz * (xy * xz - xx * yz)
    )
    square = gx * gx + gy * gy + gz * gz
    return top / (square * square)
