"""Geodesics: invariants, space curves integrated anew, Jacobi fields as differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym.cables.geodesic import SIZE, WORKSPACE, shoot
from tendon_gym.cables.records import CURVE
from tests.cables.checks import follow
from tests.cables.test_surfaces import SURFACES, element_of, on_surface

STAGES = np.zeros((WORKSPACE, SIZE))


def geodesic(name: str, p, along, length: float, accuracy: float = 1e-12) -> np.void:
    element, tables = element_of(SURFACES[name])
    curves = np.zeros(1, CURVE)
    start, direction = tuple(map(float, p)), tuple(map(float, along))
    assert shoot(element, tables, curves[0], start, direction, length, accuracy, STAGES)
    return curves[0]


def drawn(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a point on a surface and any direction."""
    rng = np.random.default_rng(seed)
    return on_surface(SURFACES[name], rng.uniform(-1.0, 1.0, 3)), rng.normal(size=3)


@pytest.mark.parametrize("name", SURFACES)
@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 10_000), length=st.floats(0.0, 2.0))
def test_curve_is_the_space_curve_with_the_surfaces_curvatures(name, seed, length):
    p, along = drawn(name, seed)
    curve = geodesic(name, p, along, length)
    element, tables = element_of(SURFACES[name])
    reached = follow(element, tables, curve["start"], length)
    np.testing.assert_allclose(reached[:3], curve["end"], atol=1e-7)


@pytest.mark.parametrize("name", SURFACES)
@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 10_000), length=st.floats(0.01, 2.0))
def test_jacobi_fields_are_how_neighbours_spread(name, seed, length):
    """a: of starts shifted across, r: of directions turned; b is the binormal."""
    p, along = drawn(name, seed)
    curve, h = geodesic(name, p, along, length), 1e-5
    start, end = curve["start"], curve["end"]
    x, t, n = start
    b = np.cross(t, n)
    b_end = np.cross(end[1], end[2])
    a, da, r, dr = curve["jacobi"]
    turned = [geodesic(name, x, t + s * h * b, length) for s in (1.0, -1.0)]
    spread = (turned[0]["end"] - turned[1]["end"]) / (2.0 * h)
    assert spread[0] @ b_end == pytest.approx(r, abs=2e-6)
    assert spread[1] @ b_end == pytest.approx(dr, abs=1e-4)  # w x t . b
    across = [geodesic(name, x + s * h * b, t, length) for s in (1.0, -1.0)]  # parallel starts
    spread = (across[0]["end"] - across[1]["end"]) / (2.0 * h)
    assert spread[0] @ b_end == pytest.approx(a, abs=2e-5)
    assert spread[1] @ b_end == pytest.approx(da, abs=1e-3)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), length=st.floats(0.1, 20.0))
def test_clairaut_on_a_torus(seed, length):
    curve = geodesic("torus", *drawn("torus", seed), length)

    def moment(end: np.ndarray) -> float:
        return float(end[0, 0] * end[1, 1] - end[0, 1] * end[1, 0])

    assert moment(curve["end"]) == pytest.approx(moment(curve["start"]), abs=1e-8)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), length=st.floats(0.1, 20.0))
def test_joachimsthal_on_an_ellipsoid(seed, length):
    curve = geodesic("ellipsoid", *drawn("ellipsoid", seed), length)
    weight = 1.0 / np.square([1.2, 0.8, 0.5])

    def invariant(end: np.ndarray) -> float:
        return float((weight**2 * end[0] ** 2).sum() * (weight * end[1] ** 2).sum())

    start = invariant(curve["start"])
    assert invariant(curve["end"]) == pytest.approx(start, rel=1e-7)


def test_numeric_and_closed_forms_agree():
    round_one = SURFACES["sphere"].sizes[0]
    SURFACES["round"] = type(SURFACES["ellipsoid"])((round_one,) * 3)
    try:
        for seed in range(5):
            p, along = drawn("sphere", seed)
            exact, found = (geodesic(name, p, along, 3.0) for name in ("sphere", "round"))
            for field in ("start", "end", "start_bend", "end_bend", "jacobi"):
                np.testing.assert_allclose(found[field], exact[field], atol=1e-9)
    finally:
        del SURFACES["round"]


def test_helix_on_a_cylinder():
    curve = geodesic("cylinder", (0.4, 0.0, 0.0), (0.0, 0.6, 0.8), 2.0)
    angle = 2.0 * 0.6 / 0.4
    expected = (0.4 * math.cos(angle), 0.4 * math.sin(angle), 1.6)
    np.testing.assert_allclose(curve["end"][0], expected, atol=1e-12)


@pytest.mark.parametrize("accuracy", [1e-6, 1e-9, 1e-12])
def test_errors_follow_the_accuracy(accuracy):
    p, along = drawn("ellipsoid", 3)
    best = geodesic("ellipsoid", p, along, 3.0, 1e-14)
    found = geodesic("ellipsoid", p, along, 3.0, accuracy)
    assert np.abs(found["end"] - best["end"]).max() < 20.0 * accuracy + 1e-13


def test_no_geodesic_along_the_normal_or_from_nowhere():
    element, tables = element_of(SURFACES["ellipsoid"])
    curve = np.zeros(1, CURVE)[0]
    start = tuple(map(float, on_surface(SURFACES["ellipsoid"], (0.0, 0.0, 1.0))))
    for p, along in ((start, (0.0, 0.0, 1.0)), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))):
        assert not shoot(element, tables, curve, p, along, 1.0, 1e-9, STAGES)
