"""Every check returns what is legal and names what is not: the value, its element, the range."""

from __future__ import annotations

import fractions
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tendon_gym import checks

finite = st.floats(allow_nan=False, allow_infinity=False)
not_finite = st.sampled_from([math.nan, math.inf, -math.inf, 10**400, np.float32("nan")])
not_a_number = st.sampled_from([True, False, np.True_, None, "1", b"1", 1j, [1.0], np.zeros(1)])


@given(finite)
def test_number_returns_a_plain_float(value):
    result = checks.number("mass", value)
    assert type(result) is float
    assert result == value


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(2, 2.0), (np.float32(0.5), 0.5), (np.int8(-3), -3.0), (fractions.Fraction(1, 4), 0.25)],
)
def test_number_takes_every_real_type(value, wanted):
    result = checks.number("mass", value)
    assert type(result) is float
    assert result == wanted


@given(not_a_number)
def test_number_refuses_other_types(value):
    with pytest.raises(TypeError, match=r"^mass must be a number, got "):
        checks.number("mass", value)


@given(not_finite)
def test_number_refuses_what_is_not_finite(value):
    with pytest.raises(ValueError, match=r"^mass must be finite, got "):
        checks.number("mass", value)


@given(value=finite, minimum=finite, maximum=finite)
def test_number_keeps_to_the_closed_range(value, minimum, maximum):
    if minimum <= value <= maximum:
        assert checks.number("mass", value, minimum=minimum, maximum=maximum) == value
    else:
        with pytest.raises(ValueError, match=r"mass must be finite and at least .* and at most"):
            checks.number("mass", value, minimum=minimum, maximum=maximum)


def test_number_leaves_out_the_ends_of_an_open_range():
    assert checks.number("ratio", 0.5, above=0, below=1) == 0.5
    for end in (0, 1):
        with pytest.raises(ValueError, match=f"greater than 0 and less than 1, got {end}"):
            checks.number("ratio", end, above=0, below=1)


@given(value=st.integers(), minimum=st.none() | st.integers(), maximum=st.none() | st.integers())
def test_integer_keeps_to_the_range(value, minimum, maximum):
    low = -math.inf if minimum is None else minimum
    high = math.inf if maximum is None else maximum
    if low <= value <= high:
        assert checks.integer("n_links", value, minimum=minimum, maximum=maximum) == value
    else:
        with pytest.raises(ValueError, match=f"n_links must be an integer .*, got {value}"):
            checks.integer("n_links", value, minimum=minimum, maximum=maximum)


def test_integer_returns_a_plain_int():
    assert type(checks.integer("n_links", np.int64(3))) is int


@pytest.mark.parametrize("value", [True, np.False_, 1.0, math.nan, "1", None, [1]])
def test_integer_refuses_other_types(value):
    with pytest.raises(TypeError, match="n_links must be an integer, got "):
        checks.integer("n_links", value)


def test_flag_takes_both_kinds_of_boolean():
    assert checks.flag("rotor_lag", True) is True
    assert checks.flag("rotor_lag", np.False_) is False


@pytest.mark.parametrize("value", [0, 1, 1.0, "True", None])
def test_flag_refuses_what_only_looks_like_a_boolean(value):
    with pytest.raises(TypeError, match="rotor_lag must be True or False, got "):
        checks.flag("rotor_lag", value)


def test_choice_returns_a_legal_value():
    assert checks.choice("integrator", "euler", ("euler", "implicitfast")) == "euler"


@pytest.mark.parametrize("value", ["rk4", "Euler", None, 1, np.zeros(2), ["euler"]])
def test_choice_names_the_legal_values(value):
    with pytest.raises(ValueError, match="integrator must be one of 'euler', 'implicitfast', got "):
        checks.choice("integrator", value, ("euler", "implicitfast"))


def test_choice_tells_a_boolean_from_a_number():
    with pytest.raises(ValueError, match="got True"):
        checks.choice("order", True, (1, 2))


def test_array_returns_a_new_float_array():
    given_array = np.arange(6.0).reshape(2, 3)
    result = checks.array("points", given_array, (None, 3))
    np.testing.assert_array_equal(result, given_array)
    assert result.dtype == np.float64
    assert not np.shares_memory(result, given_array)


@pytest.mark.parametrize("value", [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], dtype=np.int8)])
def test_array_takes_numbers_of_every_kind(value):
    np.testing.assert_array_equal(checks.array("point", value, (3,)), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "value",
    [
        "1.5",
        ["1", "2", "3"],
        [1j],
        [True, False],
        [True, 0, 1.5],
        [[0], [True]],
        None,
        [None, 1.0],
        [[1], [1, 2]],
        {},
    ],
)
def test_array_refuses_other_types(value):
    with pytest.raises(TypeError, match="points must be an array of numbers, got "):
        checks.array("points", value, (None,))


@pytest.mark.parametrize("value", [[1.0, 2.0], [[1.0, 2.0, 3.0]], 1.0, []])
def test_array_names_the_wanted_and_the_given_shape(value):
    message = f"point must have shape (3), got {np.shape(value)}"
    with pytest.raises(ValueError, match=re.escape(message)):
        checks.array("point", value, (3,))


@given(
    row=st.integers(0, 2),
    column=st.integers(0, 3),
    bad=st.sampled_from([math.nan, math.inf, -math.inf, -1.5, 2.5]),
)
def test_array_names_the_bad_element(row, column, bad):
    values = np.zeros((3, 4))
    values[row, column] = bad
    message = f"points[{row}][{column}] must be finite and at least -1 and at most 2, got {bad}"
    with pytest.raises(ValueError, match=re.escape(message)):
        checks.array("points", values, (3, 4), minimum=-1, maximum=2)


@given(st.lists(st.integers(-1000, 1000), unique=True))
def test_increasing_takes_sorted_distinct_values(values):
    np.testing.assert_array_equal(checks.increasing("times", sorted(values)), sorted(values))


@given(st.lists(st.integers(-5, 5), min_size=2), st.data())
def test_increasing_refuses_a_repeated_or_falling_value(values, data):
    ordered = sorted(set(values))
    k = data.draw(st.integers(0, len(ordered) - 1))
    repeated = [*ordered[: k + 1], ordered[k] - data.draw(st.integers(0, 3)), *ordered[k + 1 :]]
    with pytest.raises(ValueError, match=rf"times must increase strictly, .* at \[{k + 1}\]"):
        checks.increasing("times", repeated)


def test_increasing_refuses_nan():
    with pytest.raises(ValueError, match=r"times\[1\] must be finite, got nan"):
        checks.increasing("times", [0.0, math.nan, 1.0])


NUMPY = [
    (np.float64(-1.5), "-1.5"),
    (np.int64(3), "3"),
    (np.bool_(True), "True"),
    (np.str_("a"), "'a'"),
    (np.longdouble(0.5), "0.5"),
    (np.array([1.0, 2.0]), "[1.0, 2.0]"),
    (np.array(2), "2"),
    ([np.float32(0.5), (np.int8(1), None)], "[0.5, (1, None)]"),
    ({np.str_("k"): {"n": np.float64(2.0)}}, "{'k': {'n': 2.0}}"),
    (np.array([1.0, "a", np.float64(2.0)], object), "[1.0, 'a', 2.0]"),
    (np.zeros(3, [("a", float), ("b", int, 2)])[0], "(0.0, [0, 0])"),
]


@pytest.mark.parametrize(("value", "text"), NUMPY, ids=[text for _, text in NUMPY])
def test_messages_show_plain_values(value, text):
    assert checks.shown(value) == text
    with pytest.raises(ValueError, match=re.escape(f"got {text}") + "$"):
        checks.reject("x", value, "another")


@pytest.mark.parametrize(
    "refuse",
    [
        lambda: checks.number("x", np.float64(-1.0), minimum=0.0),
        lambda: checks.number("x", np.array(1.0)),
        lambda: checks.number("x", np.complex128(1.0)),
        lambda: checks.integer("x", np.int64(-1), minimum=0),
        lambda: checks.integer("x", np.float64(1.0)),
        lambda: checks.flag("x", np.int64(1)),
        lambda: checks.choice("x", np.float64(1.0), [np.int64(1), "a"]),
        lambda: checks.array("x", np.array([np.float64(1.0), None]), (2,)),
        lambda: checks.array("x", [np.float64(1.0), "a"], (2,)),
        lambda: checks.array("x", [[np.float64(1.0)], [1.0, np.float64(2.0)]], (2, 2)),
        lambda: checks.increasing("x", [np.float64(1.0), np.float64(1.0)]),
        lambda: checks.known_keys("x", [np.str_("a")], [np.str_("b")]),
    ],
)
def test_no_check_names_a_type_of_numpy(refuse):
    with pytest.raises((TypeError, ValueError)) as caught:
        refuse()
    assert "np." not in str(caught.value)
    assert "array(" not in str(caught.value)


def test_messages_stay_short():
    assert checks.shown("a" * 10_000) == "'" + "a" * 299 + "..."
    assert checks.shown(np.zeros((500, 3))) == "an array of shape (500, 3) and type float64"
    assert len(checks.shown(list(range(10_000)))) == 303
    endless = []
    endless.append(endless)
    assert "[" in checks.shown(endless)


def test_times_that_hardly_differ_are_told_apart():
    with pytest.raises(ValueError, match=r"got 1\.0000000001 at \[1\] after 1\.0000000002"):
        checks.increasing("times", [1.0000000002, 1.0000000001])


def test_choice_takes_numpys_strings_and_integers():
    assert type(checks.choice("name", np.str_("a"), ("a", "b"))) is str
    assert type(checks.choice("order", np.int64(2), (1, 2))) is int


def test_known_keys_names_the_unknown_key_and_the_legal_ones():
    checks.known_keys("arm", ["length"], ["length", "mass"])
    with pytest.raises(ValueError, match="arm has no 'lenght'; it takes length, mass"):
        checks.known_keys("arm", {"lenght": 1}, ["length", "mass"])
    with pytest.raises(ValueError, match="task has no 'seed'; it takes nothing"):
        checks.known_keys("task", {"seed": 1}, [])


@pytest.mark.parametrize(
    "value, words",
    [
        (1.5, "1.5 of type float"),
        (None, "None of type NoneType"),
        (np.float32(2.0), "2.0 of type float32"),
        ([True], "[True] of type list"),
        (np.array([True]), "[True], an array of shape (1,) and type bool"),
        (np.zeros((0, 3), np.int8), "[], an array of shape (0, 3) and type int8"),
        (np.zeros((20, 20)), "an array of shape (20, 20) and type float64"),
    ],
    ids=str,
)
def test_a_value_of_the_wrong_kind_is_described_by_its_kind(value, words):
    assert checks.described(value) == words
    with pytest.raises(TypeError, match=f"must be True or False, got {re.escape(words)}$"):
        checks.flag("switch", value)
