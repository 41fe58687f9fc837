"""A surface near a point: the nearest point on it, its normal, its curvatures along a direction.

Everything is in the surface's own frame. Curvatures are those of a curve on the surface, negative
where it bends away from the outward normal: -1/R on a sphere.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables import height_map
from tendon_gym.cables.implicit import TINY, gradient, hessian_form, implicit
from tendon_gym.cables.records import CYLINDER, ELLIPSOID, HEIGHT_MAP, SPHERE, TORUS
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector, combine, cross, dot, norm, scale, subtract

STEPS = 40
"""Most steps of Newton's method from a point to the surface."""
NEAR = 1e-7
"""After a step shorter than this part of the surface's size the next one would be rounding."""


@compiled
def direction(v: Vector) -> Vector:
    """Return v at unit length; zeros stay zeros."""
    length = norm(v)
    return scale(1.0 / length, v) if length > TINY else (0.0, 0.0, 0.0)


@compiled
def _near_torus(p: Vector, ring: float, tube: float) -> Vector:
    rho = math.sqrt(p[0] * p[0] + p[1] * p[1])
    u, v = (p[0] / rho, p[1] / rho) if rho > TINY else (1.0, 0.0)
    away = math.sqrt((rho - ring) * (rho - ring) + p[2] * p[2])
    if away < 1e-9 * tube:  # on the circle in the tube's middle, where no side is the nearest
        return p
    x = ring + tube * (rho - ring) / away
    return (u * x, v * x, tube * p[2] / away)


@compiled
def _first_guess(element: Any, tables: NDArray, p: Vector) -> Vector:
    """Return a point on or close to the surface where closed forms know one."""
    kind, size = element["surface"], element["size"]
    if kind == SPHERE:
        return scale(size[0], direction(p))
    if kind == CYLINDER:
        x, y, _ = scale(size[0], direction((p[0], p[1], 0.0)))
        return (x, y, p[2])
    if kind == ELLIPSOID:
        level = norm((p[0] / size[0], p[1] / size[1], p[2] / size[2]))
        return scale(1.0 / level, p) if level > TINY else p
    if kind == TORUS:
        return _near_torus(p, size[0], size[1])
    if kind == HEIGHT_MAP:
        f = height_map.height(tables, element["table"], p[0], p[1])
        return (p[0], p[1], f[0])
    return p


@compiled
def onto(element: Any, tables: NDArray, p: Vector) -> tuple[bool, Vector]:
    """Return whether Newton's method along the gradient reached the surface from p, and where."""
    limit = element["scale"]
    for _ in range(STEPS):
        jet = implicit(element, tables, p)
        g = gradient(jet)
        square = dot(g, g)
        if not square > TINY:
            return False, p
        step = jet[0] / square
        length = abs(step) * math.sqrt(square)
        if length > limit:
            step *= limit / length
        p = subtract(p, scale(step, g))
        if length < NEAR * limit:
            return True, p
    return False, p


@compiled
def project(element: Any, tables: NDArray, p: Vector) -> tuple[bool, Vector]:
    """Return whether p has a projection on the surface, and which.

    The nearest point for spheres, cylinders, half spaces and tori; elsewhere one along the
    gradient. There is none from a sphere's centre, a cylinder's axis and the like.
    """
    return onto(element, tables, _first_guess(element, tables, p))


@compiled
def depth(element: Any, tables: NDArray, p: Vector) -> float:
    """Return how deep p lies inside the surface, in m; 0 outside, and off a height map's patch."""
    if implicit(element, tables, p)[0] >= 0.0:
        return 0.0
    if element["surface"] == HEIGHT_MAP and not height_map.on_patch(
        tables, element["table"], p[0], p[1]
    ):
        return 0.0
    if element["surface"] == SPHERE or element["surface"] == CYLINDER:
        across = p[2] if element["surface"] == SPHERE else 0.0
        return element["size"][0] - norm((p[0], p[1], across))
    found, q = project(element, tables, p)
    return norm(subtract(p, q)) if found else element["scale"]


@compiled
def tangent_at(
    element: Any, tables: NDArray, p: Vector, along: Vector
) -> tuple[bool, Vector, Vector]:
    """Return whether `along` has a direction in the surface at p, that direction, the normal."""
    n = direction(gradient(implicit(element, tables, p)))
    t = subtract(along, scale(dot(along, n), n))
    length = norm(t)
    good = norm(n) > 0.5 and length > 1e-9 * norm(along) and length > TINY
    return good, direction(t), n


@compiled
def bend(element: Any, tables: NDArray, p: Vector, t: Vector, n: Vector) -> Vector:
    """Return the normal curvatures along t and across it, and the torsion of the geodesic."""
    if element["surface"] == SPHERE:
        return (-1.0 / element["size"][0], -1.0 / element["size"][0], 0.0)
    jet = implicit(element, tables, p)
    b = cross(t, n)
    k = 1.0 / norm(gradient(jet))
    along, across = hessian_form(jet, t, t), hessian_form(jet, b, b)
    return (-k * along, -k * across, k * hessian_form(jet, b, t))


@compiled
def perpendicular(d: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that are square to the unit vector d and to each other."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    axis = (0.0, 1.0, 0.0)
    if y > x and z > x:
        axis = (1.0, 0.0, 0.0)
    elif z < y and z < x:
        axis = (0.0, 0.0, 1.0)
    u = direction(cross(d, axis))
    return u, cross(d, u)


@compiled
def sideways(element: Any, tables: NDArray, p: Vector, d: Vector) -> tuple[bool, Vector]:
    """Return a point on the surface square to the direction d from p, where phi has no slope.

    It is on the side where phi rises fastest; of equal sides always the same one.
    """
    jet = implicit(element, tables, p)
    u, v = perpendicular(d)
    uu, uv, vv = hessian_form(jet, u, u), hessian_form(jet, u, v), hessian_form(jet, v, v)
    turn = 0.5 * math.atan2(2.0 * uv, uu - vv)
    c, s = math.cos(turn), math.sin(turn)
    rise = c * c * uu + 2.0 * c * s * uv + s * s * vv
    away = element["scale"]  # where phi does not even bend
    if rise > TINY:
        away = math.sqrt(2.0 * abs(jet[0]) / rise)
    return project(element, tables, combine(1.0, p, away * c, u, away * s, v))
