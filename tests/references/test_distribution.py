"""What the distribution draws can be flown, is reproducible, and contains the figure-eight."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tendon_gym.references import (
    SmoothDistribution,
    evaluate,
    new_rows,
    steady_figure_eight,
)
from tendon_gym.references.distribution import DRAWS, SHAPES, YAW_MODES, _plane
from tendon_gym.references.setpoint import setpoints


def draw(distribution, n, seed=0):
    rng = np.random.default_rng(seed)
    rows = new_rows(n)
    for i in range(n):
        rows[i] = distribution.sample(rng)[0]
    return rows


def at(rows, times):
    """Return setpoints (simulations, times)."""
    n = rows.size
    out = setpoints(n * times.size)
    first = np.repeat(np.arange(n), times.size)
    evaluate(rows, first, np.ones_like(first), np.tile(times, n), out)
    return out.reshape(n, times.size)


def test_a_thousand_draws_respect_the_limits():
    distribution = SmoothDistribution()
    out = at(draw(distribution, 1000), np.linspace(0, 24, 400))
    acceleration = np.linalg.norm(out["acceleration"], axis=-1)
    assert 0.8 * 4.5 < acceleration.max() <= 4.5 + 1e-9
    height = out["position"][..., 2]
    assert 0.75 - 1e-9 <= height.min() < 0.9
    assert 0.75 - 0.53 > 0.2  # the straight arm keeps a margin above the floor
    assert np.hypot(out["bend"][..., 0], out["bend"][..., 1]).max() <= 1 + 1e-12
    slack = ~out["bend"].any(axis=(1, 2))
    assert 0.2 < slack.mean() < 0.4
    assert not out["bend"][:, 0].any()
    for name in out.dtype.names:
        assert np.isfinite(out[name]).all()


def test_stretching_and_lifting_are_needed_and_only_done_when_needed():
    free = SmoothDistribution(max_acceleration=1e4, min_height=-10.0)
    bound = SmoothDistribution()
    loose, tight = draw(free, 500), draw(bound, 500)
    times = np.linspace(0, 24, 400)
    wild = np.linalg.norm(at(loose, times)["acceleration"], axis=-1).max(axis=1)
    stretched = tight["frequency"][:, 3] < loose["frequency"][:, 3] * (1 - 1e-12)
    lifted = tight["coefficients"][:, 2, 0] > loose["coefficients"][:, 2, 0]
    assert stretched[wild > 4.5].all() and 0 < stretched.mean() < 0.5
    low = at(loose, times)["position"][..., 2].min(axis=1) < 0.75
    assert lifted[low].all() and 0 < lifted.mean() < 0.5
    np.testing.assert_array_equal(tight["amplitude"], loose["amplitude"])


def test_episodes_start_at_any_phase():
    distribution = SmoothDistribution(shapes=("circle",), width_ratio=(1, 1), vertical=(0, 0))
    start = at(draw(distribution, 2000), np.zeros(1))["position"][:, 0, :2]
    angle = np.arctan2(start[:, 1], start[:, 0])
    counts = np.histogram(angle, bins=8, range=(-math.pi, math.pi))[0]
    assert counts.min() > 180 and counts.max() < 320  # 250 each, over 4 standard deviations

    line = draw(SmoothDistribution(shapes=("line",), vertical=(0, 0), tilt=(0, 0)), 2000)
    reach = np.linalg.norm(line["amplitude"][:, 0], axis=1)
    away = np.linalg.norm(at(line, np.zeros(1))["position"][:, 0, :2], axis=1) / reach
    assert np.mean(away) == pytest.approx(2 / math.pi, abs=0.03)  # the mean of |sin|


def test_a_figure_eight_crosses_its_centre_from_any_phase():
    rows = draw(SmoothDistribution(shapes=("figure_eight",), vertical=(0, 0)), 50)
    path = at(rows, np.linspace(0, 30, 3000))["position"] - rows["coefficients"][:, None, :3, 0]
    assert np.linalg.norm(path, axis=-1).min(axis=1).max() < 0.03


@settings(deadline=None, max_examples=30)
@given(*[st.floats(-7.0, 7.0)] * 3)
def test_the_figures_plane_is_a_rotation(azimuth, tilt, heading):
    want = Rotation.from_euler("ZXZ", [azimuth, tilt, heading]).as_matrix().T
    np.testing.assert_allclose(_plane(azimuth, tilt, heading)[:2], want[:2], atol=1e-12)


def test_the_generators_state_alone_decides():
    distribution = SmoothDistribution()
    assert draw(distribution, 20, 3).tobytes() == draw(distribution, 20, 3).tobytes()
    assert draw(distribution, 20, 3).tobytes() != draw(distribution, 20, 4).tobytes()
    for shape in SHAPES:
        rng, expected = np.random.default_rng(5), np.random.default_rng(5)
        expected.random(DRAWS)
        rows = SmoothDistribution(shapes=(shape,)).sample(rng)
        assert rows.shape == (1,) and rows["end"] == math.inf
        assert rng.bit_generator.state == expected.bit_generator.state


def test_every_shape_is_what_its_name_says():
    times = np.linspace(0, 1, 400)
    fixed = {"tilt": (0, 0), "vertical": (0.2, 0.2), "period": (1, 1), "max_acceleration": 1e4}
    for shape in SHAPES:
        rows = draw(SmoothDistribution(shapes=(shape,), **fixed), 5)
        out = at(rows, times)["position"]
        span = np.ptp(out, axis=1)
        flat = out[..., :2] - out[..., :2].mean(axis=1, keepdims=True)
        widths = np.linalg.svd(flat, compute_uv=False)
        assert np.allclose(span[:, 2], 0.0 if shape == "hover" else 0.4, atol=1e-3), shape
        if shape in ("hover", "vertical"):
            assert not span[:, :2].any()
        else:
            assert (widths[:, 0] > 0.1).all()
            assert ((widths[:, 1] > 1e-3) == (shape != "line")).all(), shape


@pytest.mark.parametrize("mode", YAW_MODES)
def test_yaw_modes(mode):
    rows = draw(SmoothDistribution(yaw_modes=(mode,), yaw_rate=(0.5, 0.5)), 50)
    out = at(rows, np.linspace(0, 24, 400))
    span = np.ptp(out["yaw"], axis=1)
    if mode == "fixed":
        assert not span.any()
    elif mode == "turning":
        np.testing.assert_allclose(span, 12.0)
    else:
        assert (span <= 1.6 + 1e-12).all() and (span > 0).any()


def test_the_steady_figure_eight_is_in_the_support():
    """Draws that give the paper's figure, found by name of what they decide."""
    distribution = SmoothDistribution()

    def within(limits, value):
        return (value - limits[0]) / (limits[1] - limits[0])

    shape = (distribution.shapes.index("figure_eight") + 0.5) / len(distribution.shapes)
    draws = [
        shape,
        0.0,  # multiple of the vertical oscillation
        within(distribution.amplitude, 1.2),
        within(distribution.width_ratio, 0.6),
        0.9,  # not mirrored
        within(distribution.vertical, 0.0),
        within(distribution.tilt, 0.0),
        *(0.0, 0.0, 0.0, 0.0),  # azimuth, heading, start, start of the vertical oscillation
        within(distribution.period, 8.0),
        within(distribution.height, 1.6),
        *(0.0, 0.5, 0.5, 0.5, 0.5),  # fixed yaw of zero
        *(0.0, 0.5, 0.5, 0.5),  # slack
    ]
    assert len(draws) == DRAWS and all(0.0 <= number < 1.0 for number in draws)
    rows = distribution.sample(SimpleNamespace(random=lambda n: np.array(draws)))
    times = np.linspace(0, 16, 200)
    have, want = at(rows, times)[0], steady_figure_eight().at(times)
    for name in have.dtype.names:
        np.testing.assert_allclose(have[name], want[name], atol=1e-12)


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"shapes": ()}, "shapes must be a tuple of at least one name"),
        ({"shapes": ("spiral",)}, r"shapes\[0\] must be one of 'figure_eight'"),
        ({"shapes": "line"}, "shapes must be a tuple"),
        ({"yaw_modes": ("fixed", "x")}, r"yaw_modes\[1\]"),
        ({"period": (3.0, 2.0)}, "period must be .*low <= high"),
        ({"period": (0.0, 2.0)}, r"period\[0\] must be finite and at least 0.1"),
        ({"amplitude": (-1.0, 1.0)}, r"amplitude\[0\]"),
        ({"amplitude": (1.0,)}, "amplitude must have shape"),
        ({"bend_magnitude": (0.0, 1.1)}, r"bend_magnitude\[1\]"),
        ({"height": (1.0, math.inf)}, r"height\[1\]"),
        ({"max_acceleration": 0.0}, "max_acceleration"),
        ({"max_acceleration": 1e-300}, "max_acceleration must be .* at least 0.01"),
        ({"max_acceleration": 1e300}, "max_acceleration must be .* at most 10000"),
        ({"period": (1.0, 1e300)}, r"period\[1\] must be .* at most 1e\+06"),
        ({"amplitude": (0.0, 1e300)}, r"amplitude\[1\] must be .* at most 100"),
        ({"vertical": (0.0, 1e300)}, r"vertical\[1\]"),
        ({"height": (-1e300, 1.0)}, r"height\[0\] must be .* at least -10000"),
        ({"yaw_rate": (0.0, 1e300)}, r"yaw_rate\[1\] must be .* at most 1000"),
        ({"yaw_swing": (0.0, 1e300)}, r"yaw_swing\[1\]"),
        ({"bend_rate": (-1e300, 0.0)}, r"bend_rate\[0\]"),
        ({"bend_ramp": 1e-300}, "bend_ramp must be 0 or at least 0.0001 s"),
        ({"bend_ramp": 1e300}, "bend_ramp must be"),
        ({"min_height": 1e300}, "min_height must be"),
        ({"slack": 1.5}, "slack"),
        ({"bend_ramp": -1.0}, "bend_ramp"),
    ],
)
def test_bad_ranges_are_named(values, match):
    with pytest.raises(ValueError, match=match):
        SmoothDistribution(**values)
