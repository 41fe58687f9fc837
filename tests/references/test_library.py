"""The makers against closed forms and the paper's figures."""

import inspect
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from tendon_gym.references import (
    ROW,
    Reference,
    bend_hold,
    figure_eight,
    hover,
    mission,
    new_rows,
    rotating_bend,
    steady_figure_eight,
    transition,
    waypoints,
)

TURN = 2 * math.pi / 8
DERIVATIVES = ("velocity", "acceleration", "jerk", "snap", "yaw_rate", "yaw_acceleration")
ALL = [
    hover(bend=(0.3, -0.2)),
    transition(end_yaw=2.0),
    figure_eight(),
    steady_figure_eight(),
    bend_hold(),
    rotating_bend(),
    mission(),
    waypoints([0.5, 2, 5], [[0, 0, 1], [1, 2, 1], [1, 0, 2]], [0, 1, 4], [[0, 0], [1, 0], [0, 1]]),
]


def blend(s):
    s = np.clip(s, 0, 1)
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def magnitude(vectors):
    return np.linalg.norm(vectors, axis=-1)


@pytest.mark.parametrize("reference", ALL, ids=lambda reference: reference.name)
def test_derivatives_are_central_differences(reference):
    h = 1e-4
    rng = np.random.default_rng(0)
    times = rng.uniform(0, min(reference.duration, 20.0), 200)
    edges = np.concatenate([reference.rows["start"], reference.rows["end"]])
    for ramp in ("ramp_in", "ramp_out"):
        edges = np.append(edges, reference.rows["start"] + reference.rows[ramp])
        edges = np.append(edges, reference.rows["end"] - reference.rows[ramp])
    times = times[np.abs(times[:, None] - edges).min(axis=1) > 2 * h]
    before, here, after = (reference.at(times + k * h) for k in (-1, 0, 1))
    position = ("position", "velocity", "acceleration", "jerk", "snap")
    for chain in (position, ("yaw", "yaw_rate", "yaw_acceleration")):
        for value, derivative in pairwise(chain):
            slope = (after[value] - before[value]) / (2 * h)
            np.testing.assert_allclose(here[derivative], slope, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("reference", ALL, ids=lambda reference: reference.name)
def test_no_jump_up_to_acceleration_at_any_row_boundary(reference):
    edges = np.unique([reference.rows["start"], reference.rows["end"]])
    edges = edges[np.isfinite(edges)]
    if reference.name == "steady_figure_eight":
        edges = edges[1:]  # it begins in motion
    before, after = reference.at(edges - 1e-7), reference.at(edges)
    fields = ("position", "velocity", "acceleration", "yaw", "yaw_rate", "yaw_acceleration")
    for name in (*fields, "bend"):
        np.testing.assert_allclose(before[name], after[name], atol=1e-5)


def test_hover_stays():
    out = hover((1, 2, 3), yaw=0.5, bend=(0.6, -0.8)).at([0, 1, 1e6])
    assert (out["position"] == [1, 2, 3]).all() and (out["bend"] == [0.6, -0.8]).all()
    assert (out["yaw"] == 0.5).all() and not any(out[name].any() for name in DERIVATIVES)
    assert hover().duration == math.inf


@settings(deadline=None, max_examples=30)
@given(
    duration=st.floats(0.1, 100.0),
    end=st.tuples(*[st.floats(-5.0, 5.0)] * 3),
    turn=st.floats(-7.0, 7.0),
)
def test_transition_is_the_minimum_jerk_motion(duration, end, turn):
    start = np.array([1.0, -2.0, 3.0])
    reference = transition(start, end, duration, 0.5, 0.5 + turn)
    times = np.linspace(0, duration, 11)
    out, s = reference.at(times), times / duration
    way = np.array(end) - start
    np.testing.assert_allclose(out["position"], start + blend(s)[:, None] * way, atol=1e-12)
    np.testing.assert_allclose(out["yaw"], 0.5 + blend(s) * turn, atol=1e-12)
    peak = 15 / 8 / duration * magnitude(way)
    assert magnitude(out["velocity"])[5] == pytest.approx(peak, abs=1e-12)
    limits = reference.at([0.0, duration * (1 - 1e-12)])
    for name, order in (("velocity", 1), ("acceleration", 2)):
        np.testing.assert_allclose(limits[name] * duration**order, 0, atol=1e-8)
    assert magnitude(limits["jerk"]) == pytest.approx(60 * magnitude(way) / duration**3, rel=1e-6)


def test_figure_eight_is_the_papers():
    times = np.linspace(0, 16, 16001)
    out = figure_eight().at(times)
    size = 1.2 * blend(times / 2) * blend((16 - times) / 2)
    figure = [np.sin(TURN * times), 0.6 * np.sin(2 * TURN * times)]
    np.testing.assert_allclose(out["position"][:, :2].T, size * figure, atol=1e-12)
    assert (out["position"][:, 2] == 1.6).all() and not out["bend"].any()
    assert magnitude(out["velocity"]).max() == pytest.approx(1.47, abs=0.005)
    assert magnitude(out["acceleration"][:, :2]).max() == pytest.approx(3.2, abs=0.05)


def test_steady_figure_eight_never_ends_and_repeats():
    reference = steady_figure_eight()
    assert reference.duration == math.inf
    times = np.linspace(0, 8, 65)
    now, later = reference.at(times), reference.at(times + 80.0)
    figure = np.array([1.2 * np.sin(TURN * times), 0.72 * np.sin(2 * TURN * times)])
    np.testing.assert_allclose(now["position"][:, :2].T, figure, atol=1e-12)
    speeds = [1.2 * TURN * np.cos(TURN * times), 1.44 * TURN * np.cos(2 * TURN * times)]
    np.testing.assert_allclose(now["velocity"][:, :2].T, speeds, atol=1e-12)
    for name in now.dtype.names:
        np.testing.assert_allclose(now[name], later[name], atol=1e-12)


def test_bends_rise_turn_and_fall():
    times = np.linspace(0, 10, 101)
    out = rotating_bend(direction=0.3, magnitude=0.9).at(times)
    size = 0.9 * blend(times / 2) * blend((10 - times) / 2)
    angle = 0.3 + 2 * np.pi * 0.2 * times
    want = np.column_stack([size * np.cos(angle), size * np.sin(angle)])
    np.testing.assert_allclose(out["bend"], want, atol=1e-12)
    held = bend_hold(direction=-1.0).at(times)["bend"]
    want = blend(times)[:, None] * [np.cos(-1.0), np.sin(-1.0)]
    np.testing.assert_allclose(held, want, atol=1e-12)


def test_mission_has_the_papers_phases():
    reference = mission()
    assert reference.duration == 36.0
    np.testing.assert_array_equal(reference.rows["start"], [0, 4, 8, 24, 34])
    times = np.linspace(0, 36, 3601)
    out = reference.at(times)
    phase = np.searchsorted([4, 8, 24, 34], times, side="right")
    assert (out["position"][phase == 0] == [0, 0, 1.0]).all()
    climb = 1.0 + 0.6 * blend((times - 4) / 4)
    np.testing.assert_allclose(out["position"][phase == 1, 2], climb[phase == 1], atol=1e-12)
    eight = figure_eight().at(times - 8)["position"]
    np.testing.assert_allclose(out["position"][phase == 2], eight[phase == 2], atol=1e-12)
    assert not out["bend"][phase != 3].any()
    assert (out["position"][phase == 3] == [0, 0, 1.6]).all()
    middle = (times >= 26) & (times <= 32)
    np.testing.assert_allclose(magnitude(out["bend"][middle]), 1.0, atol=1e-12)
    turned = np.unwrap(np.arctan2(out["bend"][middle, 1], out["bend"][middle, 0]))
    assert turned[-1] - turned[0] == pytest.approx(0.2 * 2 * math.pi * 6)
    np.testing.assert_allclose(out["position"][-1], [0, 0, 1.0], atol=1e-12)


def test_waypoints_pass_through_smoothly_and_rest_at_the_ends():
    times = np.array([1.0, 2.0, 4.0, 5.0, 7.5])
    positions = np.random.default_rng(0).normal(size=(5, 3))
    yaw, bend = np.linspace(0, 8, 5), np.array([[0, 0], [1, 0], [0, 1], [0, -1], [0.5, 0]])
    reference = waypoints(times, positions, yaw, bend)
    out = reference.at(times)
    np.testing.assert_allclose(out["position"], positions, atol=1e-12)
    np.testing.assert_allclose(out["yaw"], yaw, atol=1e-12)
    np.testing.assert_allclose(out["bend"], bend, atol=1e-12)
    edges = reference.at([1.0, 7.5 - 1e-10])
    for name in ("velocity", "acceleration", "yaw_rate", "yaw_acceleration"):
        np.testing.assert_allclose(edges[name], 0, atol=1e-7)
    before, after = reference.at(times[1:-1] - 1e-9), reference.at(times[1:-1])
    for name in ("velocity", "acceleration", "jerk", "snap"):
        np.testing.assert_allclose(before[name], after[name], atol=1e-5)
    dense = reference.at(np.linspace(0, 8, 801))["bend"]
    assert magnitude(dense).max() <= 1 + 1e-12
    assert (reference.at([0.0])["position"] == reference.at([1.0])["position"]).all()


def test_two_waypoints_are_a_transition():
    times = np.linspace(0, 3, 31)
    spline = waypoints([0, 3], [[0, 0, 1], [2, 1, 1.5]]).at(times)
    line = transition((0, 0, 1), (2, 1, 1.5), 3.0).at(times)
    for name in ("position", "velocity", "acceleration", "jerk"):
        np.testing.assert_allclose(spline[name], line[name], atol=1e-10)


def test_waypoints_on_a_smooth_curve_follow_it_closer_than_a_cubic():
    times = np.linspace(0, 16, 65)
    samples = figure_eight().at(times)["position"]
    fine = np.linspace(0, 16, 999)
    truth = figure_eight().at(fine)["position"]
    error = np.abs(waypoints(times, samples).at(fine)["position"] - truth).max()
    cubic = CubicSpline(times, samples, bc_type="clamped")(fine)
    assert error < np.abs(cubic - truth).max() < 0.01


POINTS = [[0, 0, 1], [2, 0, 1]]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: hover((0, 0)), "position must have shape"),
        (lambda: hover((0, 0, math.nan)), r"position\[2\]"),
        (lambda: hover(yaw=math.inf), "yaw"),
        (lambda: hover(bend=(0.8, 0.8)), "bend must be of magnitude at most 1"),
        (lambda: transition(duration=0.0), "duration must be"),
        (lambda: transition(duration=math.inf), "duration must be"),
        (lambda: figure_eight(ramp=9.0), "ramp must be finite and at least 0 and at most 8"),
        (lambda: figure_eight(period=0.0), "period"),
        (lambda: steady_figure_eight(amplitude=-1.0), "amplitude"),
        (lambda: bend_hold(magnitude=1.1), "magnitude"),
        (lambda: rotating_bend(rate=math.nan), "rate"),
        (lambda: waypoints([0], [[0, 0, 1]]), "times must be 2 to 100000, from 0"),
        (lambda: waypoints([-1, 1], np.zeros((2, 3))), "times must be 2 to 100000, from 0"),
        (lambda: waypoints([0, 1, 1], np.zeros((3, 3))), "times must increase strictly"),
        (lambda: waypoints([0, 1], np.zeros((3, 3))), "positions must have shape"),
        (lambda: waypoints([0, 1], np.zeros((2, 3)), yaw=[0]), "yaw must have shape"),
        (lambda: waypoints([0, 1], np.zeros((2, 3)), bend=[[0, 0], [1, 1]]), "bend must be"),
        (lambda: hover().at([math.nan]), r"times\[0\]"),
    ],
)
def test_bad_parameters_are_named(make, match):
    with pytest.raises(ValueError, match=match):
        make()


HUGE, TINY = 1e300, 1e-300
ABSURD = [
    (hover, {"position": (0, 0, HUGE)}, r"position\[2\] must be .* at most 10000, got 1e\+300"),
    (hover, {"yaw": HUGE}, "yaw must be .* at most 10000"),
    (transition, {"start": (HUGE, 0, 0)}, r"start\[0\]"),
    (transition, {"end": (0, -HUGE, 0)}, r"end\[1\]"),
    (transition, {"start_yaw": HUGE}, "start_yaw"),
    (transition, {"end_yaw": HUGE}, "end_yaw"),
    (transition, {"duration": TINY}, r"duration must be .* at least 0.0001 and at most 1e\+06"),
    (transition, {"duration": HUGE}, r"duration must be .* at most 1e\+06, got 1e\+300"),
    (transition, {"duration": 1e-3}, "duration must be at least 0.001125 s for 0.6 m, .* 1000 m/s"),
    (transition, {"duration": 0.01, "end_yaw": 8.0}, "duration must be at least 0.015 s for 8 rad"),
    (steady_figure_eight, {"amplitude": HUGE}, "amplitude must be"),
    (steady_figure_eight, {"period": HUGE}, r"period must be .* at least 0.1 and at most 1e\+06"),
    (steady_figure_eight, {"period": TINY}, "period must be"),
    (steady_figure_eight, {"height": HUGE}, "height must be"),
    (steady_figure_eight, {"amplitude": 11.0, "period": 0.1}, "amplitude must be .* at most 10.18"),
    (figure_eight, {"amplitude": HUGE}, "amplitude must be"),
    (figure_eight, {"period": HUGE}, "period must be"),
    (figure_eight, {"ramp": TINY}, "ramp must be 0 or at least 0.0001 s, got 1e-300"),
    (figure_eight, {"duration": HUGE}, "duration must be"),
    (figure_eight, {"duration": TINY}, "duration must be"),
    (bend_hold, {"position": (0, HUGE, 0)}, r"position\[1\]"),
    (bend_hold, {"direction": HUGE}, "direction must be"),
    (bend_hold, {"ramp": HUGE}, "ramp must be"),
    (bend_hold, {"ramp": TINY}, "ramp must be"),
    (rotating_bend, {"rate": HUGE}, "rate must be .* at most 1000"),
    (rotating_bend, {"duration": HUGE}, "duration must be"),
    (rotating_bend, {"duration": TINY}, "duration must be"),
    (rotating_bend, {"ramp": TINY}, "ramp must be"),
    (waypoints, {"times": [0, HUGE], "positions": POINTS}, r"times must be .* from 0 to 1e\+06"),
    (waypoints, {"times": [0, 1e16], "positions": POINTS}, r"times must be .* from 0 to 1e\+06"),
    (waypoints, {"times": [0, TINY], "positions": POINTS}, r"times\[1\] must be at least 0.002 s"),
    (waypoints, {"times": [0, 1], "positions": [[0, 0, 1], [HUGE, 0, 1]]}, r"positions\[1\]\[0\]"),
    (waypoints, {"times": [0, 1], "positions": POINTS, "yaw": [0, HUGE]}, r"yaw\[1\]"),
    (
        waypoints,
        {"times": [0, 1e-4, 1e6], "positions": [[0, 0, 1], [0.05, 0, 1], [1, 0, 1]]},
        r"times must be spaced so evenly that the spline stays within .* behind \[0\]",
    ),
    (
        waypoints,
        {"times": np.arange(2e5), "positions": np.zeros((200_000, 3))},
        r"times must be 2 to 100000, .*, got an array of shape \(200000,\)",
    ),
]


@pytest.mark.parametrize(("make", "values", "match"), ABSURD)
def test_absurd_sizes_are_refused_by_name(make, values, match):
    with pytest.raises(ValueError, match=match):
        make(**values)


@pytest.mark.parametrize("make", [transition, steady_figure_eight, figure_eight, rotating_bend])
@pytest.mark.parametrize("value", [HUGE, 1e12, 1e6, 1e3, 1.0, 1e-3, 1e-6, 1e-12, TINY, 0.0])
def test_every_size_is_refused_or_stays_within_bounds(make, value):
    """Each parameter alone; what is taken is finite everywhere, as far as the ramps are fine."""
    for parameter in inspect.signature(make).parameters.values():
        if not isinstance(parameter.default, float):
            continue
        try:
            reference = make(**{parameter.name: value})
        except ValueError as error:
            assert parameter.name in str(error) or "ramp" in str(error), error
            continue
        last = min(reference.duration, 1e6)
        out = reference.at(np.concatenate([np.linspace(0, last, 101), [1e-5, 1e-3, 1.0]]))
        assert np.abs(out["position"]).max() <= 1e4
        assert np.abs(out["velocity"]).max() <= 1e3
        for name in out.dtype.names:
            assert np.isfinite(out[name]).all(), name


def table(**fields):
    rows = new_rows(2)
    rows["start"], rows["end"] = [0, 1], [1, 2]
    for name, value in fields.items():
        rows[name] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (np.zeros(3), "dtype ROW"),
        (new_rows(0), "dtype ROW"),
        (table(start=[0, 1.5]), r"rows\[1\]\['start'\] must be where the row before it ends"),
        (table(end=[1, 1]), r"rows\[1\]\['end'\] must be at least 0.0001 s after its start, 1 s"),
        (table(start=[0, 1e16], end=[1e16, 2e16]), r"rows\[0\]\['end'\] must be at most 1e\+06 s"),
        (table(phase=math.nan), r"rows\[0\]\['phase'\] must be finite"),
        (table(ramp_in=0.6, ramp_out=0.6), r"ramps that fit into 1 s"),
        (table(bend_ramp_in=-0.1), r"rows\[0\]\['bend_ramp_in'\] must be .* at least 0"),
        (table(ramp_out=1e-300), r"rows\[0\]\['ramp_out'\] must be 0 or at least 0.0001 s"),
        (table(coefficients=1e300), r"rows\[0\] goes beyond 10000 m or 1000 m/s"),
        (table(amplitude=1e5), r"rows\[0\] goes beyond"),
        (table(amplitude=1.0, frequency=1e300), r"rows\[0\] goes beyond"),
    ],
)
def test_bad_tables_are_refused(rows, match):
    with pytest.raises(ValueError, match=match):
        Reference("mine", rows)


def test_a_reference_keeps_its_own_read_only_rows():
    rows = table()
    reference = Reference("mine", np.concatenate([rows]))
    rows["phase"] = 1.0
    assert not reference.rows["phase"].any() and reference.rows.dtype is ROW
    with pytest.raises(ValueError, match="read-only"):
        reference.rows["phase"] = 1.0
