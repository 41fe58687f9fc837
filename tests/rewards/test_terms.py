"""Reward terms on made-up signals: 1 without an error, 1/e at the margin, always in [0, 1]."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym import rewards
from tendon_gym.envs.signals import SIGNALS

DIRECTION = np.array([2.0, -1.0, 2.0]) / 3.0


def signals(**fields):
    """Return one row of signals: all at zero but for the bend asked and applied, and `fields`."""
    row = np.zeros(1, SIGNALS)
    row["bend"] = 0.6, 0.0
    for name, value in fields.items():
        row[name] = value
    return row


def turned(angle):
    """Return signals whose applied bend lies `angle` away from the asked one, (0.6, 0)."""
    applied = 0.6 * np.array([math.cos(angle), math.sin(angle)])
    return signals(bend=applied, bend_error=np.array([0.6, 0.0]) - applied)


# Each term as signals with a given error.
WITH_ERROR = {
    "position": lambda e: signals(position_error=e * DIRECTION),
    "velocity": lambda e: signals(velocity_error=e * DIRECTION),
    "yaw": lambda e: signals(yaw_error=e),
    "tilt": lambda e: signals(tilt=abs(e)),
    "action_rate": lambda e: signals(action_rate=abs(e)),
    "effort": lambda e: signals(thrust_effort=0.25 * abs(e), tension_effort=0.75 * abs(e)),
    "bending_moment": lambda e: signals(bend_error=[0.6 * e, -0.8 * e]),
    "bend_magnitude": lambda e: signals(bend=[0.6 - e, 0.0], bend_error=[e, 0.0]),
    "bend_direction": turned,
    "tip": lambda e: signals(tip_error=e * DIRECTION),
}
every_term = pytest.mark.parametrize("name", WITH_ERROR)


def test_every_built_in_term_is_tested():
    assert rewards.names()[: len(WITH_ERROR)] == list(WITH_ERROR)


@every_term
def test_no_error_is_worth_one(name):
    assert rewards.get(name)(WITH_ERROR[name](0.0), 0.3) == [1.0]


@every_term
@pytest.mark.parametrize("margin", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_error_of_the_margin_is_worth_one_eth(name, margin, sign):
    value = rewards.get(name)(WITH_ERROR[name](sign * margin), margin)
    np.testing.assert_allclose(value, [math.exp(-1.0)], rtol=1e-9)


@every_term
@given(st.floats(0.0, 3.0), st.floats(0.0, 3.0), st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=25)
def test_a_larger_error_is_never_worth_more(name, one, other, margin):
    small, large = sorted((one, other))
    if name == "bend_magnitude":
        small, large = small / 5.0, large / 5.0  # an applied bend can't be shorter than none
    term = rewards.get(name)
    best, worst = term(WITH_ERROR[name](small), margin), term(WITH_ERROR[name](large), margin)
    assert 0.0 <= worst[0] <= best[0] + 1e-9 <= 1.0 + 1e-9


@every_term
def test_rows_do_not_mix(name):
    rows = np.concatenate([WITH_ERROR[name](e) for e in (0.1, 0.0, 0.4)])
    together = rewards.get(name)(rows, 0.2)
    assert together.shape == (3,)
    alone = [rewards.get(name)(rows[k : k + 1], 0.2)[0] for k in range(3)]
    assert np.array_equal(together, alone)


def test_hardly_any_bend_has_no_direction_and_none_at_all_has_the_wrong_one():
    term = rewards.get("bend_direction")
    assert term(signals(bend=[0.0, 0.03], bend_error=[0.04, -0.03]), 0.1) == [1.0]
    missing = signals(bend=[0.0, 0.0], bend_error=[0.6, 0.0])
    np.testing.assert_allclose(term(missing, math.pi), [math.exp(-1.0)])


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=SIGNALS.itemsize // 8, max_size=SIGNALS.itemsize // 8)
)
@settings(deadline=None, max_examples=50)
def test_any_signals_are_worth_from_zero_to_one(numbers):
    row = np.array(numbers).view(SIGNALS)
    for name in WITH_ERROR:
        value = rewards.get(name)(row, 1.0)[0]
        assert 0.0 <= value <= 1.0


def test_tolerance_is_an_exponential():
    errors = np.linspace(-2.0, 2.0, 41)
    values = [rewards.tolerance(e, 0.7) for e in errors]
    np.testing.assert_allclose(values, np.exp(-np.abs(errors) / 0.7), rtol=1e-14)


@pytest.fixture
def own():
    """Forget what a test registers."""
    before = set(rewards.names())
    yield
    for name in set(rewards.names()) - before:
        del rewards.terms._terms[name]


def test_a_term_of_ones_own_is_known_by_name(own):
    rewards.register("mine", lambda signals, margin: signals["tilt"] * margin)
    assert rewards.names()[-1] == "mine"
    assert rewards.get("mine")(signals(tilt=0.5), 3.0) == [1.5]
    rewards.register("mine", lambda signals, margin: signals["tilt"])
    assert rewards.get("mine")(signals(tilt=0.5), 3.0) == [0.5]


@pytest.mark.parametrize("name", ["position", "", 3])
def test_a_name_that_is_taken_or_none_is_refused(name, own):
    with pytest.raises(ValueError, match="position, velocity"):
        rewards.register(name, np.zeros_like)


def test_what_is_no_function_is_refused(own):
    with pytest.raises(TypeError, match="'mine' must be a function"):
        rewards.register("mine", 3.0)


def test_an_unknown_term_raises_with_the_names():
    with pytest.raises(ValueError, match="'position', 'velocity'"):
        rewards.get("speed")
