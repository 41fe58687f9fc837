"""Surfaces by functions of users: flat in the middle, dividing by zero, not found."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from tendon_gym.cables import ImplicitSurface
from tests.cables.test_edges import OVER_HALF, cable_past, everything


def flat_in_the_middle(x, y, z):
    """Return a unit sphere's (x^2 + y^2 + z^2)^2 - 1, which has no Hessian in the middle."""
    s = x * x + y * y + z * z
    bend = 4.0 * s
    hessian = (
        bend + 8 * x * x,
        bend + 8 * y * y,
        bend + 8 * z * z,
        8 * x * y,
        8 * x * z,
        8 * y * z,
    )
    return (s * s - 1.0, bend * x, bend * y, bend * z, *hessian)


def round_one(x, y, z):
    s = x * x + y * y + z * z
    return (s - 1.0, 2.0 * x, 2.0 * y, 2.0 * z, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0)


def unknown_inside(x, y, z):
    s = x * x + y * y + z * z
    value = s - 1.0 if s > 1.05 else math.nan
    return (value, 2.0 * x, 2.0 * y, 2.0 * z, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0)


def distance(x, y, z):
    r = math.sqrt(x * x + y * y + z * z)
    xx, yy, zz = (1 - x * x / r / r) / r, (1 - y * y / r / r) / r, (1 - z * z / r / r) / r
    mixed = (-x * y / r**3, -x * z / r**3, -y * z / r**3)
    return (r - 1.0, x / r, y / r, z / r, xx, yy, zz, *mixed)


def test_a_line_through_where_a_function_is_flat_goes_round_one_side():
    surface = ImplicitSurface(flat_in_the_middle, 1.0)
    cable, state = cable_past(surface, (-2.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    assert cable.converged(state) and cable.in_contact(state, 0)
    assert cable.length(state) == pytest.approx(OVER_HALF, abs=1e-7)


@pytest.mark.parametrize(
    ("function", "scale", "hint"),
    [(round_one, 1e-3, (0.0, 1.0, 0.3)), (round_one, 1e-3, None), (unknown_inside, 1.0, None)],
)
def test_a_surface_that_is_not_found_is_told(function, scale, hint):
    """The line passes 0.05 from the middle; no path that leads through is one that converged."""
    surface = ImplicitSurface(function, scale)
    cable, state = cable_past(surface, (-3.0, 0.3, 0.1), (3.0, -0.2, 0.2), hint)
    assert not cable.converged(state)
    assert np.isfinite(everything(cable, state)).all()


@numba.njit
def inner_distance(x, y, z):
    return 1.0 / math.sqrt(x * x + y * y + z * z)


@numba.njit
def outer_distance(x, y, z):
    k = inner_distance(x, y, z)  # which raises an exception in the middle
    xx, yy, zz = (1 - x * x * k * k) * k, (1 - y * y * k * k) * k, (1 - z * z * k * k) * k
    mixed = (-x * y * k**3, -x * z * k**3, -y * z * k**3)
    return (1.0 / k - 1.0, x * k, y * k, z * k, xx, yy, zz, *mixed)


@pytest.mark.parametrize(
    "function",
    [distance, numba.njit(distance), numba.njit(error_model="python")(distance), outer_distance],
    ids=["plain", "compiled", "as Python", "nested"],
)
@pytest.mark.parametrize("height", [0.0, 0.1])
def test_a_function_may_divide_by_zero(capfd, function, height):
    """The line leads through the middle; nothing is printed, and the path is right or not one."""
    cable, state = cable_past(ImplicitSurface(function, 1.0), (-2, height, 0), (2, -height, 0))
    assert np.isfinite(everything(cable, state)).all()
    assert capfd.readouterr().err == ""
    if cable.converged(state):
        reach = math.hypot(2.0, height)
        over = 2.0 * math.sqrt(reach**2 - 1.0) + math.pi - 2.0 * math.acos(1.0 / reach)
        assert cable.in_contact(state, 0)
        assert cable.length(state) == pytest.approx(over, abs=1e-7)
    else:
        assert function is outer_distance and cable.length(state) == pytest.approx(4.0, abs=0.01)
