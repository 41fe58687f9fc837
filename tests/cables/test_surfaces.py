"""Surfaces: derivatives, curvatures, projections, and what is refused."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from tendon_gym.cables import (
    CableSpan,
    CableSystem,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightMap,
    ImplicitSurface,
    Sphere,
    Surface,
    Torus,
)
from tendon_gym.cables import height_map as spline
from tendon_gym.cables.elements import Obstacle, records
from tendon_gym.cables.implicit import gauss_curvature, implicit
from tendon_gym.cables.shape import bend, depth, project, tangent_at
from tests.cables.cases import GROUND, upstream_height_map

RNG = np.random.default_rng(5)


def pillow(x: float, y: float, z: float):
    """x^4 + y^4 + 2 z^4 = 1, a surface that nothing else here knows."""
    return (
        x**4 + y**4 + 2.0 * z**4 - 1.0,
        4.0 * x**3,
        4.0 * y**3,
        8.0 * z**3,
        12.0 * x * x,
        12.0 * y * y,
        24.0 * z * z,
        0.0,
        0.0,
        0.0,
    )


SURFACES: dict[str, Surface] = {
    "sphere": Sphere(0.7),
    "cylinder": Cylinder(0.4),
    "ellipsoid": Ellipsoid((1.2, 0.8, 0.5)),
    "torus": Torus(1.0, 0.3),
    "half_space": HalfSpace(),
    "height_map": upstream_height_map(1.0, 0.3),
    "implicit": ImplicitSurface(pillow, 1.0),
}


def element_of(surface: Surface):
    """Return a surface's ELEMENT, and the tables."""
    elements, tables = records([[Obstacle(0, np.array(GROUND), surface, None)]])
    return elements[0, 0], tables


def jet(surface: Surface, p) -> np.ndarray:
    element, tables = element_of(surface)
    return np.array(implicit(element, tables, tuple(map(float, p))))


def on_surface(surface: Surface, p) -> np.ndarray:
    element, tables = element_of(surface)
    found, q = project(element, tables, tuple(map(float, p)))
    assert found
    return np.array(q)


@pytest.mark.parametrize("name", SURFACES)
def test_derivatives_are_those_of_phi(name):
    surface, h = SURFACES[name], 1e-5
    for p in RNG.uniform(-1.4, 1.4, (20, 3)):
        gradient, hessian = np.zeros(3), np.zeros((3, 3))
        for k in range(3):
            ahead, behind = p.copy(), p.copy()
            ahead[k], behind[k] = p[k] + h, p[k] - h
            up, down = jet(surface, ahead), jet(surface, behind)
            gradient[k] = (up[0] - down[0]) / (2.0 * h)
            hessian[k] = (up[1:4] - down[1:4]) / (2.0 * h)
        found = jet(surface, p)
        xx, yy, zz, xy, xz, yz = found[4:]
        np.testing.assert_allclose(found[1:4], gradient, atol=1e-6, rtol=1e-6)
        expected = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        np.testing.assert_allclose(hessian, expected, atol=2e-5, rtol=1e-6)


def test_curvatures_are_known_ones():
    a, b, c = 1.2, 0.8, 0.5
    for p in RNG.normal(size=(10, 3)):
        x, y, z = on_surface(SURFACES["ellipsoid"], p)
        inverse = x**2 / a**4 + y**2 / b**4 + z**2 / c**4
        expected = 1.0 / (a * b * c * inverse) ** 2
        assert gauss_curvature(tuple(jet(SURFACES["ellipsoid"], (x, y, z)))) == pytest.approx(
            expected
        )
        x, y, z = on_surface(SURFACES["torus"], p)
        rho = math.hypot(x, y)
        expected = (rho - 1.0) / (0.3**2 * rho)
        found = gauss_curvature(tuple(jet(SURFACES["torus"], (x, y, z))))
        assert found == pytest.approx(expected)


def test_bends_are_known_ones():
    element, tables = element_of(Sphere(0.7))
    t, n = (0.6, 0.8, 0.0), (0.0, 0.0, 1.0)
    assert bend(element, tables, (0.0, 0.0, 0.7), t, n) == pytest.approx((-1 / 0.7, -1 / 0.7, 0.0))
    element, tables = element_of(Cylinder(0.4))
    for turn in (0.0, 0.3, 1.1, math.pi / 2):  # Euler's formulas on a cylinder
        c, s = math.cos(turn), math.sin(turn)
        found = bend(element, tables, (0.4, 0.0, 0.2), (0.0, c, s), (1.0, 0.0, 0.0))
        assert found[:2] == pytest.approx((-c * c / 0.4, -s * s / 0.4))
        assert abs(found[2]) == pytest.approx(c * s / 0.4)


@pytest.mark.parametrize("name", SURFACES)
def test_projection_is_on_the_surface_along_the_gradient(name):
    surface = SURFACES[name]
    for p in RNG.uniform(-1.4, 1.4, (30, 3)):
        q = on_surface(surface, p)
        assert abs(jet(surface, q)[0]) < 1e-10
        if name in ("sphere", "cylinder", "torus", "half_space"):  # the nearest point
            normal = jet(surface, q)[1:4] / np.linalg.norm(jet(surface, q)[1:4])
            assert np.linalg.norm(np.cross(q - p, normal)) < 1e-9
        element, tables = element_of(surface)
        inside = depth(element, tables, tuple(p))
        assert (inside > 0.0) == (jet(surface, p)[0] < 0.0 and abs(p[:2]).max() <= 2.0)


@pytest.mark.parametrize(
    ("name", "p"), [("sphere", (0, 0, 0)), ("cylinder", (0, 0, 0.3)), ("ellipsoid", (0, 0, 0))]
)
def test_nothing_is_projected_from_a_centre(name, p):
    element, tables = element_of(SURFACES[name])
    assert not project(element, tables, tuple(map(float, p)))[0]


def test_no_tangent_along_the_normal():
    element, tables = element_of(Sphere(1.0))
    assert not tangent_at(element, tables, (0.0, 0.0, 1.0), (0.0, 0.0, -3.0))[0]
    good, t, n = tangent_at(element, tables, (0.0, 0.0, 1.0), (2.0, 0.0, 5.0))
    assert good and t == pytest.approx((1.0, 0.0, 0.0)) and n == pytest.approx((0.0, 0.0, 1.0))


@settings(deadline=None, max_examples=25)
@given(st.integers(4, 7), st.integers(4, 6), st.integers(0, 1000))
def test_height_map_is_a_natural_spline(columns, rows, seed):
    rng = np.random.default_rng(seed)
    x, y = np.cumsum(rng.uniform(0.2, 1.0, columns)), np.cumsum(rng.uniform(0.2, 1.0, rows))
    heights = rng.normal(size=(columns, rows))
    table = HeightMap(x, y, heights).table
    along_x = CubicSpline(x, heights, bc_type="natural")
    for u, v in zip(rng.uniform(x[0], x[-1], 5), rng.uniform(y[0], y[-1], 5), strict=True):
        for order_x, order_y, place in (
            (0, 0, 0),
            (1, 0, 1),
            (0, 1, 2),
            (2, 0, 3),
            (0, 2, 4),
            (1, 1, 5),
        ):
            expected = CubicSpline(y, along_x(u, order_x), bc_type="natural")(v, order_y)
            found = spline.height(table, 0, float(u), float(v))[place]
            assert found == pytest.approx(float(expected), abs=1e-9)
    for k in range(columns):  # through the grid, its border included
        assert spline.height(table, 0, x[k], y[-1])[0] == pytest.approx(heights[k, -1])


def test_height_map_goes_on_linearly_and_ends_at_its_border():
    table = SURFACES["height_map"].table
    inside, outside = (spline.height(table, 0, x, 0.3) for x in (2.0, 2.7))
    assert outside[0] == pytest.approx(inside[0] + 0.7 * inside[1])
    assert spline.on_patch(table, 0, 2.0, -2.0) and not spline.on_patch(table, 0, 2.001, 0.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sphere(-1.0), "radius"),
        (lambda: Sphere(math.nan), "radius"),
        (lambda: Cylinder(0.0), "radius"),
        (lambda: Ellipsoid((1.0, 0.0, 1.0)), r"radii\[1\]"),
        (lambda: Torus(1.0, 1.0), "tube_radius"),
        (lambda: Torus(-1.0, 0.1), "ring_radius"),
        (lambda: HeightMap([0, 1, 2], [0, 1, 2, 3], np.zeros((3, 4))), "length of x"),
        (lambda: HeightMap([0, 1, 1, 2], [0, 1, 2, 3], np.zeros((4, 4))), "increase"),
        (lambda: HeightMap([0, 1, 2, 3], [0, 1, 2, 3], np.zeros((4, 3))), "height"),
        (lambda: ImplicitSurface(lambda x, y, z: (x, y), 1.0), "function returns"),
        (lambda: ImplicitSurface(pillow, 0.0), "scale"),
    ],
)
def test_bad_surfaces_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


class Callable:
    def __call__(self, x, y, z):
        return (x,) * 10


def ball(x, y, z):
    s = x * x + y * y + z * z
    return (s - 1.0, 2.0 * x, 2.0 * y, 2.0 * z, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0)


TABLE = {"one": 1.0}
double = numba.float64
BALL = numba.cfunc(numba.types.UniTuple(double, 10)(double, double, double))(ball)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (BALL, "not a function"),
        (Callable(), "not a function"),
        (lambda x, y, z: (TABLE.get("one"),) * 10, "Untyped global name 'TABLE'"),
        (lambda x, y, z: [eval("x")] * 10, "Untyped global name 'eval'"),
    ],
    ids=["callback", "object", "dict", "eval"],
)
def test_functions_that_numba_does_not_compile_are_named_with_its_reason(function, reason):
    with pytest.raises(TypeError, match="function must be one that Numba compiles") as caught:
        ImplicitSurface(function, 1.0)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize("surface", ["box", object(), Sphere, None, 1.0])
def test_anything_else_is_refused_when_it_is_added(surface):
    system = CableSystem(1)
    cable = CableSpan(system, 0, (0, 0, 0), 0, (1, 0, 0))
    with pytest.raises(TypeError, match="meshes and boxes have edges"):
        cable.add_obstacle(0, GROUND, surface)
    assert cable.num_obstacles == 0
