"""Every field of properties, drives and couplings: defaults, legal and illegal values."""

from __future__ import annotations

import dataclasses
import math

import pytest

from tendon_gym.tendons import CouplingProperties, Drive, Properties

INF, NAN = math.inf, math.nan
HALF_LINE = (0.0, 2.5), (-1e-9, NAN, INF, -INF)  # finite and not negative

# field: default, legal values, values that raise ValueError
PROPERTIES = {
    "stiffness": (0.0, *HALF_LINE),
    "damping": (0.0, *HALF_LINE),
    "spring_lower": (NAN, (), (INF, 0.5)),  # alone: the other end is NaN
    "spring_upper": (NAN, (), (-INF, 0.5)),
    "lower_limit": (-INF, (-INF, -2.0, 0.0, 1.0), (INF, NAN)),
    "upper_limit": (INF, (INF, -2.0, 0.0, 1.0), (-INF, NAN)),
    "limit_margin": (0.0, *HALF_LINE),
    "limit_compliance": (0.0, *HALF_LINE),
    "friction_loss": (0.0, *HALF_LINE),
    "friction_compliance": (0.0, *HALF_LINE),
    "armature": (0.0, *HALF_LINE),
    "position_correction": (0.2, (0.0, 0.5, 1.0), (-1e-9, 1.0 + 1e-9, NAN, INF)),
    "actuation_lower": (-INF, (-INF, -2.0, 3.0), (INF, NAN)),
    "actuation_upper": (INF, (INF, -2.0, 3.0), (-INF, NAN)),
    "width": (0.004, (1e-6, 1.0), (0.0, -0.1, NAN, INF)),
    "color": (
        (0.9, 0.35, 0.08, 1.0),
        ((0.0, 0.0, 0.0, 0.0), (2.0, -1.0, 0.5, 1.0)),
        ((0.0, 0.0, 0.0), (NAN, 0.0, 0.0, 1.0), (INF, 0.0, 0.0, 1.0)),
    ),
}
DRIVE = {
    "force": (0.0, (-3.0, 4.0), (NAN, INF, -INF)),
    "target_length": (0.0, (-3.0, 4.0), (NAN, INF, -INF)),
    "target_velocity": (0.0, (-3.0, 4.0), (NAN, INF, -INF)),
    "position_gain": (0.0, *HALF_LINE),
    "velocity_gain": (0.0, *HALF_LINE),
    "activation_time": (0.0, *HALF_LINE),
}
COUPLING = {
    "coefficients": (
        (0.0, 1.0, 0.0, 0.0, 0.0),
        ((0.0, 0.0, 0.0, 0.0, 0.0), (1.0, -2.0, 3.0, -4.0, 5.0)),
        ((1.0, 2.0), (0.0,) * 6, (NAN, 1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, INF)),
    ),
    "compliance": (0.0, *HALF_LINE),
    "position_correction": (0.2, (0.0, 0.5, 1.0), (-1e-9, 1.0 + 1e-9, NAN, INF)),
    "enabled": (True, (True, False), ()),
}
TABLES = [(Properties, PROPERTIES), (Drive, DRIVE), (CouplingProperties, COUPLING)]
FIELDS = [(kind, name) for kind, table in TABLES for name in table]
ROWS = {kind: table for kind, table in TABLES}


@pytest.mark.parametrize(("kind", "table"), TABLES)
def test_these_are_all_fields(kind, table):
    assert [field.name for field in dataclasses.fields(kind)] == list(table)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_default(kind, name):
    value, expected = getattr(kind(), name), ROWS[kind][name][0]
    assert value == expected or (math.isnan(value) and math.isnan(expected))


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_legal_values_are_kept_and_nothing_else_changes(kind, name):
    for value in ROWS[kind][name][1]:
        made = kind(**{name: value})
        assert getattr(made, name) == value
        others = dataclasses.replace(made, **{name: ROWS[kind][name][0]})
        assert repr(others) == repr(kind())


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_illegal_values_raise_and_name_the_field(kind, name):
    for value in ROWS[kind][name][2]:
        with pytest.raises(ValueError, match=name):
            kind(**{name: value})


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_values_of_another_type_raise(kind, name):
    for value in ("1", None, [1.0, "a"]):
        with pytest.raises(TypeError, match=name):
            kind(**{name: value})


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("spring_lower", "spring_upper"),
        ("lower_limit", "upper_limit"),
        ("actuation_lower", "actuation_upper"),
    ],
)
def test_intervals(lower, upper):
    for low, high in [(1.0, 1.0), (-1.0, 2.0), (-INF, 2.0), (1.0, INF), (-INF, INF), (-3, -1)]:
        made = Properties(**{lower: low, upper: high})
        assert (getattr(made, lower), getattr(made, upper)) == (low, high)
    bad = [(2.0, 1.0), (INF, INF), (-INF, -INF), (INF, -INF), (NAN, 1.0), (1.0, NAN)]
    for low, high in bad:
        with pytest.raises(ValueError, match=f"{lower}|{upper}"):
            Properties(**{lower: low, upper: high})


def test_only_springs_may_be_automatic():
    assert math.isnan(Properties(spring_lower=NAN, spring_upper=NAN).spring_lower)
    for lower, upper in (("lower_limit", "upper_limit"), ("actuation_lower", "actuation_upper")):
        with pytest.raises(ValueError, match=lower):
            Properties(**{lower: NAN, upper: NAN})


def test_equal_finite_limits_lock_and_others_limit():
    assert Properties(lower_limit=1.0, upper_limit=1.0).locked
    assert not Properties(lower_limit=1.0, upper_limit=1.0).limited
    assert not Properties().limited and not Properties().locked
    assert Properties(upper_limit=1.0).limited and Properties(lower_limit=1.0).limited


def test_instances_cannot_change():
    for kind, _ in TABLES:
        name = dataclasses.fields(kind)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(kind(), name, 1.0)
