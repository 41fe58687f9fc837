from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from tendon_gym.control import TendonAllocation, allocate

SWEEP = np.radians(np.arange(0.0, 360.0, 0.1))
DIRECTIONS = np.stack([np.cos(SWEEP), np.sin(SWEEP)], axis=1)
UNEVEN = TendonAllocation(
    (0.1, 1.7, 2.9, 4.6), (0.015, 0.012, 0.017, 0.014), (6.0, 8.0, 5.0, 6.5), "bounded"
)


def even(n: int, kind: Any, offset: float = 0.0) -> TendonAllocation:
    angles = tuple(offset + 2 * math.pi * k / n for k in range(n))
    return TendonAllocation(angles, (0.015,) * n, (6.0,) * n, kind)


def tensions(allocation: TendonAllocation, bend: np.ndarray) -> np.ndarray:
    out = np.full((len(bend), len(allocation.angles)), np.nan)
    allocate(bend, allocation.tendons(), allocation.record(), out)
    return out


def least_tensions(allocation: TendonAllocation, moment: np.ndarray) -> np.ndarray:
    """Solve the bounded problem by trying every set of tendons at their bounds."""
    n = len(allocation.angles)
    arms = allocation.moment(np.eye(n)).T
    most = np.array(allocation.tension_max)
    best, least = np.full(n, np.nan), np.inf
    for state in itertools.product((0, 1, 2), repeat=n):
        free = np.array(state) == 2
        result = np.where(np.array(state) == 1, most, 0.0)
        rest = moment - arms @ result
        result[free] = np.linalg.lstsq(arms[:, free], rest, rcond=None)[0]
        exact = np.abs(arms @ result - moment).max() < 1e-10
        inside = (result > -1e-10).all() and (result < most + 1e-10).all()
        if exact and inside and result @ result < least:
            best, least = result, result @ result
    return best


@pytest.mark.parametrize("kind", ["equal", "bounded"])
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_every_direction_gets_the_same_moment(n: int, kind: str) -> None:
    allocation = even(n, kind, offset=0.4)
    result = tensions(allocation, DIRECTIONS)
    assert result.min() >= 0.0 and result.max() <= 6.0
    expected = allocation.authority * DIRECTIONS
    np.testing.assert_allclose(allocation.moment(result), expected, atol=1e-10 * expected.max())


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_equal_follows_its_formula(n: int) -> None:
    allocation = even(n, "equal", offset=-0.2)
    cosines = np.cos(SWEEP[:, None] - np.array(allocation.angles))
    slack = cosines - cosines.min(axis=1, keepdims=True)
    # The largest spread over the sweep stands for the one over all directions.
    expected = 0.7 * 6.0 * slack / slack.max()
    result = tensions(allocation, 0.7 * DIRECTIONS)
    np.testing.assert_allclose(result, expected, atol=1e-4)
    assert (result.min(axis=1) == 0.0).all()
    assert result.max() == pytest.approx(4.2, abs=1e-4)


def test_three_tendons_are_the_papers() -> None:
    allocation = even(3, "equal")
    assert allocation.authority == pytest.approx(math.sqrt(3) / 2 * 0.015 * 6.0)
    result = tensions(allocation, np.array([[1.0, 0.0], [-0.5, 0.0], [0.0, 0.0]]))
    full = 6.0 * 1.5 / math.sqrt(3)
    np.testing.assert_allclose(result[0], [full, 0, 0], atol=1e-12)
    np.testing.assert_allclose(result[1], [0, full / 2, full / 2], atol=1e-12)
    np.testing.assert_array_equal(result[2], 0)


def test_the_older_map_loses_half_between_tendons() -> None:
    allocation = even(3, "max_cos")
    result = tensions(allocation, DIRECTIONS)
    cosines = np.cos(SWEEP[:, None] - np.array(allocation.angles))
    np.testing.assert_allclose(result, 6.0 * np.maximum(cosines, 0), atol=1e-12)
    strength = np.linalg.norm(allocation.moment(result), axis=1)
    assert strength.max() == pytest.approx(0.015 * 6.0)
    assert strength.min() == pytest.approx(0.015 * 3.0)
    assert allocation.authority == pytest.approx(0.015 * 3.0)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("kind", ["equal", "bounded", "max_cos"])
def test_longer_bends_are_shortened(n: int, kind: str) -> None:
    allocation = even(n, kind)
    once = tensions(allocation, DIRECTIONS[::100])
    for length in (1.2, 3.0):
        longer = tensions(allocation, length * DIRECTIONS[::100])
        np.testing.assert_allclose(longer, once, atol=1e-6)


@pytest.mark.parametrize("allocation", [even(3, "bounded"), even(5, "bounded"), UNEVEN])
def test_authority_is_the_largest_moment_of_every_direction(allocation: TendonAllocation) -> None:
    n = len(allocation.angles)
    arms = allocation.moment(np.eye(n)).T
    normals = np.array(allocation.angles)[:, None] + [math.pi / 2, -math.pi / 2]
    reach = []
    for angle in [*np.linspace(0, 2 * np.pi, 40), *normals.ravel()]:
        # Maximise s subject to sum T_i r_i n_i = s (cos, sin).
        direction = np.array([[math.cos(angle)], [math.sin(angle)]])
        bounds = [(0, t) for t in allocation.tension_max] + [(None, None)]
        answer = linprog(
            [0.0] * n + [-1.0], A_eq=np.hstack([arms, -direction]), b_eq=[0, 0], bounds=bounds
        )
        reach.append(-answer.fun)
    assert min(reach) == pytest.approx(allocation.authority, rel=1e-9)


@pytest.mark.parametrize("allocation", [even(3, "bounded"), even(4, "bounded"), UNEVEN])
def test_bounded_is_the_exact_least_norm(allocation: TendonAllocation) -> None:
    scales = np.array([0.05, 0.4, 0.8, 0.99])
    bend = np.concatenate([s * DIRECTIONS[:: 3600 // 36 + 1] for s in scales])
    for b, result in zip(bend, tensions(allocation, bend), strict=True):
        expected = least_tensions(allocation, allocation.authority * b)
        np.testing.assert_allclose(result, expected, atol=1e-7)


def test_bounded_agrees_with_a_general_optimiser() -> None:
    allocation = even(5, "bounded", offset=0.3)
    arms = allocation.moment(np.eye(5)).T / 0.015
    bend = np.array([[0.9, 0.1], [-0.3, 0.6], [0.2, -0.95]])
    for b, result in zip(bend, tensions(allocation, bend), strict=True):
        goal = allocation.authority * b / 0.015
        answer = minimize(
            lambda t: 0.5 * t @ t,
            np.full(5, 3.0),
            jac=lambda t: t,
            bounds=[(0, 6.0)] * 5,
            constraints={"type": "eq", "fun": lambda t, g=goal: arms @ t - g},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 200},
        )
        np.testing.assert_allclose(result, answer.x, atol=1e-5)


@st.composite
def any_tendons(draw: st.DrawFn) -> TendonAllocation:
    n = draw(st.integers(3, 7))
    angles = tuple(draw(st.floats(0, 2 * math.pi)) for _ in range(n))
    radii = tuple(draw(st.floats(0.005, 0.03)) for _ in range(n))
    most = tuple(draw(st.floats(2.0, 10.0)) for _ in range(n))
    gaps = np.diff(np.sort(angles), append=min(angles) + 2 * math.pi)
    assume(gaps.max() < math.pi - 0.1)
    return TendonAllocation(angles, radii, most, "bounded")


@settings(deadline=None, max_examples=150)
@given(any_tendons(), st.floats(0, 1), st.floats(0, 2 * math.pi))
def test_bounded_gives_the_moment_within_the_bounds(
    allocation: TendonAllocation, magnitude: float, angle: float
) -> None:
    bend = magnitude * np.array([[math.cos(angle), math.sin(angle)]])
    result = tensions(allocation, bend)
    assert (result >= 0).all() and (result <= allocation.tension_max).all()
    expected = allocation.authority * bend
    np.testing.assert_allclose(
        allocation.moment(result), expected, rtol=0, atol=1e-7 * allocation.authority
    )


def test_bounded_reaches_the_very_end_of_its_authority() -> None:
    # Where the circle touches a side of the zonotope, the tensions are the only ones there are.
    rng = np.random.default_rng(4)
    sets = [np.array([1.091802442244676, 2.7755455306602204, 3.822504464708335, 4.498736698746873])]
    sets += [np.sort(rng.uniform(0, 2 * np.pi, n)) for n in (3, 4, 5, 6, 7) for _ in range(15)]
    touched = 0
    for angles in sets:
        gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
        if gaps.max() > np.pi - 0.1:
            continue
        n = len(angles)
        allocation = TendonAllocation(tuple(angles.tolist()), (0.015,) * n, (6.0,) * n, "bounded")
        normals = (angles[:, None] + np.pi * np.array([0.5, -0.5, 1.5, 2.5])).ravel()
        bend = np.stack([np.cos(normals), np.sin(normals)], axis=1)
        reached = allocation.moment(tensions(allocation, bend)) / allocation.authority
        np.testing.assert_allclose(reached, bend, atol=1e-8)
        touched += 1
    assert touched > 30


def test_of_takes_the_closed_form_where_it_can() -> None:
    angles = np.radians([240.0, 0.0, 120.0])
    assert TendonAllocation.of(angles, [0.015] * 3, [6.0] * 3).kind == "equal"
    assert TendonAllocation.of(angles + 0.3, [0.015] * 3, [6.0] * 3).kind == "equal"
    assert TendonAllocation.of(angles, [0.015, 0.015, 0.016], [6.0] * 3).kind == "bounded"
    assert TendonAllocation.of(angles, [0.015] * 3, [6.0, 6.0, 7.0]).kind == "bounded"
    assert TendonAllocation.of([0.0, 2.0, 4.0], [0.015] * 3, [6.0] * 3).kind == "bounded"


def test_moment_keeps_leading_axes() -> None:
    allocation = even(4, "equal")
    pulls = np.random.default_rng(0).uniform(0, 6, (2, 5, 4))
    r = 0.015
    expected = r * np.stack([pulls[..., 0] - pulls[..., 2], pulls[..., 1] - pulls[..., 3]], axis=-1)
    np.testing.assert_allclose(allocation.moment(pulls), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"angles": (0.0, 2.0)}, "at least 3"),
        ({"angles": (0.0, 1.0, 2.0)}, "half of the circle"),
        ({"angles": (0.0, 2.0, math.nan)}, r"angles\[2\]"),
        ({"radii": (0.015, 0.015)}, "radii"),
        ({"radii": (0.015, 0.0, 0.015)}, r"radii\[1\]"),
        ({"tension_max": (6.0, 6.0, -1.0)}, r"tension_max\[2\]"),
        ({"kind": "cosine"}, "kind"),
        ({"angles": (0.0, 2.0, 4.0)}, "evenly spaced"),
        ({"radii": (0.015, 0.014, 0.015)}, "evenly spaced"),
        ({"tension_max": (6.0, 6.0, 6.5)}, "evenly spaced"),
    ],
)
def test_bad_tendons_are_refused(change: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {
        "angles": tuple(np.radians([0.0, 120.0, 240.0]).tolist()),
        "radii": (0.015,) * 3,
        "tension_max": (6.0,) * 3,
        "kind": "equal",
    }
    with pytest.raises(ValueError, match=words):
        TendonAllocation(**(good | change))
