"""Configs survive the way to plain values and back, and refuse what is not theirs by its path."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tendon_gym import checks
from tendon_gym.config import from_dict, override, to_dict


@dataclasses.dataclass(frozen=True)
class Arm:
    """A nested config with a check of its own and a derived field."""

    unit: ClassVar[str] = "m"
    length: float = 0.4
    n_links: int = 12
    solver: Literal["euler", "implicitfast"] = "euler"
    link: float = dataclasses.field(init=False)

    def __post_init__(self):
        checks.number("length", self.length, above=0)
        checks.integer("n_links", self.n_links, minimum=1)
        object.__setattr__(self, "link", self.length / self.n_links)


@dataclasses.dataclass(frozen=True)
class Vehicle:
    """Every kind of field that the package's configs have."""

    name: str = "paper"
    lag: bool = False
    mass: float | None = None
    origin: tuple[float, float, float] = (0.0, 0.0, 1.0)
    gains: tuple[float, ...] = ()
    span: float | tuple[float, float] = 1.0
    scales: Mapping[str, float] = dataclasses.field(default_factory=dict)
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)
    arm: Arm = Arm()
    arms: tuple[Arm, ...] = ()
    spare: Arm | None = None


@dataclasses.dataclass(frozen=True)
class Needy:
    """A config with a field that has no default."""

    path: str


finite = st.floats(allow_nan=False, allow_infinity=False)
arms = st.builds(
    Arm,
    length=st.floats(0.01, 10.0),
    n_links=st.integers(1, 100),
    solver=st.sampled_from(["euler", "implicitfast"]),
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
vehicles = st.builds(
    Vehicle,
    name=st.text(),
    lag=st.booleans(),
    mass=st.none() | finite,
    origin=st.tuples(finite, finite, finite),
    gains=st.lists(finite, max_size=4).map(tuple),
    span=finite | st.tuples(finite, finite),
    scales=st.dictionaries(st.text(), finite, max_size=3),
    extra=st.dictionaries(st.text(), plain, max_size=3),
    arm=arms,
    arms=st.lists(arms, max_size=2).map(tuple),
    spare=st.none() | arms,
)


@given(vehicles)
def test_round_trip(vehicle):
    assert from_dict(Vehicle, to_dict(vehicle)) == vehicle


@given(vehicles)
def test_round_trip_through_json(vehicle):
    assert from_dict(Vehicle, json.loads(json.dumps(to_dict(vehicle)))) == vehicle


@given(vehicles, vehicles)
def test_override_with_all_values_gives_the_other_config(vehicle, other):
    assert override(vehicle, to_dict(other)) == other


@given(vehicles)
def test_override_with_nothing_changes_nothing(vehicle):
    assert override(vehicle, {}) == vehicle
    assert override(vehicle, {"arm": {}}) == vehicle


def test_to_dict_leaves_out_what_the_constructor_does_not_take():
    assert to_dict(Arm()) == {"length": 0.4, "n_links": 12, "solver": "euler"}


def test_to_dict_turns_numpy_values_into_plain_ones():
    vehicle = Vehicle(mass=np.float32(0.5), origin=np.arange(3), extra={"n": np.int64(3)})
    values = json.loads(json.dumps(to_dict(vehicle)))
    assert (values["mass"], values["origin"], values["extra"]) == (0.5, [0, 1, 2], {"n": 3})


def test_left_out_values_keep_their_defaults():
    assert from_dict(Vehicle, {}) == Vehicle()
    assert from_dict(Vehicle, {"arm": {"n_links": 24}}).arm == Arm(n_links=24)


def test_override_keeps_the_neighbours_of_a_nested_value():
    vehicle = Vehicle(lag=True, arm=Arm(length=0.7, solver="implicitfast"))
    changed = override(vehicle, {"arm": {"n_links": 7}})
    assert changed == Vehicle(lag=True, arm=Arm(length=0.7, n_links=7, solver="implicitfast"))
    assert changed.arm.link == pytest.approx(0.1)
    assert vehicle.arm.n_links == 12


def test_override_fills_an_absent_config_and_takes_it_away():
    vehicle = override(Vehicle(), {"spare": {"length": 2}})
    assert vehicle.spare == Arm(length=2.0)
    assert override(vehicle, {"spare": None}).spare is None


def test_a_ready_config_is_taken_as_it_is():
    arm = Arm(n_links=3)
    assert from_dict(Vehicle, {"arm": arm}).arm is arm
    assert override(Vehicle(), {"arm": arm}).arm is arm


def test_integers_and_numpy_values_become_the_annotated_type():
    vehicle = from_dict(Vehicle, {"mass": 2, "origin": np.array([1, 2, 3]), "arm": {"n_links": 4}})
    assert type(vehicle.mass) is float
    assert vehicle.origin == (1.0, 2.0, 3.0)
    assert all(type(item) is float for item in vehicle.origin)


BAD = [
    ({"nmae": "x"}, ValueError, r"Vehicle has no 'nmae'; it takes name, lag, "),
    ({"arm": {"lenght": 1.0}}, ValueError, r"Vehicle\.arm has no 'lenght'; it takes length, "),
    ({"arm": {"unit": "mm"}}, ValueError, r"Vehicle\.arm has no 'unit'"),
    ({"arm": {"link": 0.1}}, ValueError, r"Vehicle\.arm has no 'link'"),
    ({3: 1}, ValueError, r"Vehicle has no 3"),
    ({"arm": 1.0}, TypeError, r"Vehicle\.arm must be a dict, got 1\.0"),
    ({"arm": None}, TypeError, r"Vehicle\.arm must be a dict, got None"),
    ({"name": 1}, TypeError, r"Vehicle\.name must be a string, got 1"),
    ({"lag": 1}, TypeError, r"Vehicle\.lag must be True or False, got 1"),
    ({"mass": "1"}, TypeError, r"Vehicle\.mass must be a number, got '1'"),
    ({"mass": True}, TypeError, r"Vehicle\.mass must be a number, got True"),
    ({"mass": math.nan}, ValueError, r"Vehicle\.mass must be finite, got nan"),
    ({"arm": {"length": math.inf}}, ValueError, r"Vehicle\.arm\.length must be finite, got inf"),
    ({"arm": {"n_links": True}}, TypeError, r"Vehicle\.arm\.n_links must be an integer, got True"),
    ({"arm": {"n_links": 2.0}}, TypeError, r"Vehicle\.arm\.n_links must be an integer, got 2\.0"),
    ({"arm": {"n_links": 0}}, ValueError, r"Vehicle\.arm: n_links must be .* at least 1, got 0"),
    ({"arm": {"solver": "rk4"}}, ValueError, r"Vehicle\.arm\.solver must be one of 'euler', "),
    ({"origin": [0.0, 1.0]}, ValueError, r"Vehicle\.origin must have 3 elements, got 2"),
    ({"origin": [0.0, "a", 1.0]}, TypeError, r"Vehicle\.origin\[1\] must be a number, got 'a'"),
    ({"origin": 1.0}, TypeError, r"Vehicle\.origin must be a list, got 1\.0"),
    ({"origin": np.float64(1.0)}, TypeError, r"Vehicle\.origin must be a list, got "),
    ({"origin": np.array(1.0)}, TypeError, r"Vehicle\.origin must be a list, got "),
    ({"origin": {1.0, 2.0, 3.0}}, TypeError, r"Vehicle\.origin must be a list, got "),
    ({"gains": "12"}, TypeError, r"Vehicle\.gains must be a list, got '12'"),
    ({"gains": [1.0, math.nan]}, ValueError, r"Vehicle\.gains\[1\] must be finite, got nan"),
    ({"span": [1.0, None]}, TypeError, r"Vehicle\.span\[1\] must be a number, got None"),
    ({"scales": [1.0]}, TypeError, r"Vehicle\.scales must be a dict, got \[1\.0\]"),
    ({"scales": {"a": None}}, TypeError, r"Vehicle\.scales\.a must be a number, got None"),
    ({"arms": [{}, {"n_links": "1"}]}, TypeError, r"Vehicle\.arms\[1\]\.n_links must be an int"),
    ({"spare": {"length": -1}}, ValueError, r"Vehicle\.spare: length must be .* 0, got -1"),
]


@pytest.mark.parametrize(("values", "kind", "message"), BAD, ids=[str(bad[0]) for bad in BAD])
def test_bad_values_are_refused_by_path(values, kind, message):
    with pytest.raises(kind, match=message):
        from_dict(Vehicle, values)
    with pytest.raises(kind, match=message):
        override(Vehicle(), values)


def test_the_caller_can_name_the_root():
    with pytest.raises(TypeError, match=r"^model\.arm\.length must be a number"):
        from_dict(Vehicle, {"arm": {"length": "1"}}, "model")
    with pytest.raises(ValueError, match=r"^model\.arm: length must be "):
        override(Vehicle(), {"arm": {"length": 0}}, "model")


@pytest.mark.parametrize("values", [None, 1, "arm", [("name", "x")]])
def test_only_a_mapping_is_laid_over(values):
    with pytest.raises(TypeError, match="Vehicle must be a dict, got "):
        from_dict(Vehicle, values)
    with pytest.raises(TypeError, match="Vehicle must be a dict, got "):
        override(Vehicle(), values)


@dataclasses.dataclass(frozen=True)
class Nested:
    """Configs with missing values at every depth."""

    first: Needy
    others: tuple[Needy, ...] = ()
    spare: Needy | None = None
    derived: int = dataclasses.field(init=False, default=0)


@pytest.mark.parametrize(
    ("cls", "values", "message"),
    [
        (Needy, {}, "assets.path is required; assets takes path"),
        (Nested, {}, "assets.first is required; assets takes first, others, spare"),
        (Nested, {"first": {}}, "assets.first.path is required; assets.first takes path"),
        (
            Nested,
            {"first": {"path": "a"}, "others": [{"path": "b"}, {}]},
            "assets.others[1].path is required; assets.others[1] takes path",
        ),
        (
            Nested,
            {"first": {"path": "a"}, "spare": {}},
            "assets.spare.path is required; assets.spare takes path",
        ),
    ],
)
def test_a_missing_value_is_named_by_its_path(cls, values, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        from_dict(cls, values, "assets")


def test_messages_show_plain_numbers():
    for values in ({"arm": np.float64(1.0)}, {"name": np.int64(3)}, {"gains": np.float64(2.0)}):
        with pytest.raises(TypeError, match=r"got [123](\.0)?$"):
            from_dict(Vehicle, values)
    with pytest.raises(ValueError, match=r"length must be .*, got -1\.0$"):
        from_dict(Vehicle, {"arm": {"length": np.float64(-1.0)}})
