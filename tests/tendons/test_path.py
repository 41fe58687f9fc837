"""Elements of a path: their own checks, and the order in which they may come."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym.tendons import (
    Cylinder,
    JointTerm,
    Pulley,
    Site,
    Sphere,
    Via,
    cylinder,
    pulley,
    sphere,
    via,
)
from tendon_gym.tendons.path import checked_joints, checked_path

A, B, C = via(None), via("load", (0, 0, 1)), via(None, (1, 0, 0))
GUIDE = sphere("drum", 0.2)


def test_sites_are_on_the_world_or_on_bodies_unless_told_otherwise():
    assert Site().kind == "world" and Site("load").kind == "body"
    assert Site("cloth", kind="flex", vertex=3).vertex == 3
    assert Site("load", np.array([1, 2, 3])).position == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "sand", "kind": "granular"}, "granular"),
        ({"name": "x", "kind": "geom"}, "kind"),
        ({"name": "x", "kind": "world"}, "world"),
        ({"name": None, "kind": "body"}, "body"),
        ({"name": ""}, "empty"),
        ({"name": "x", "position": (0, 0)}, "position"),
        ({"name": "x", "position": (0, math.nan, 0)}, "position"),
        ({"name": "x", "position": (0, 0, math.inf)}, "position"),
        ({"name": "x", "vertex": 2}, "vertex"),
        ({"name": "x", "kind": "flex", "vertex": -1}, "vertex"),
    ],
)
def test_bad_sites(arguments, words):
    with pytest.raises(ValueError, match=words):
        Site(**arguments)


def test_the_axis_becomes_a_unit_vector_whatever_its_length():
    for scale in (1e-300, 1.0, 1e300):
        axis = cylinder("drum", 0.1, (0.0, 3.0 * scale, 4.0 * scale)).axis
        assert np.allclose(axis, (0.0, 0.6, 0.8), rtol=0, atol=1e-15)
    assert cylinder("drum", 0.1).axis == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("radius", [0.0, -0.1, math.nan, math.inf])
def test_bad_radii(radius):
    for make in (sphere, cylinder):
        with pytest.raises(ValueError, match="radius"):
            make("drum", radius)


@pytest.mark.parametrize("axis", [(0, 0, 0), (0, math.nan, 1), (math.inf, 0, 0), (0, 1)])
def test_bad_axes(axis):
    with pytest.raises(ValueError, match="axis"):
        cylinder("drum", 0.1, axis)


@pytest.mark.parametrize("divisor", [0.0, -1.0, math.nan, math.inf])
def test_bad_divisors(divisor):
    with pytest.raises(ValueError, match="divisor"):
        pulley(divisor)


@pytest.mark.parametrize("coefficient", [math.nan, math.inf, 1e-7, -1e7, 7e-146])
def test_bad_terms(coefficient):
    with pytest.raises(ValueError, match="coefficient"):
        JointTerm("hinge", coefficient)
    with pytest.raises(ValueError, match="joint"):
        JointTerm("")
    with pytest.raises(ValueError, match="joint_terms"):
        checked_joints([])
    with pytest.raises(TypeError, match=r"joint_terms\[0\]"):
        checked_joints(["hinge"])


def test_elements_hold_sites_only():
    for make in (Via, lambda site: Sphere(site, 0.1), lambda site: Cylinder(site, 0.1)):
        with pytest.raises(TypeError, match="Site"):
            make("load")
    with pytest.raises(TypeError, match="side"):
        Sphere(Site("drum"), 0.1, side="top")


@pytest.mark.parametrize(
    "path",
    [
        (A, B),
        (A, GUIDE, B),
        (A, GUIDE, B, GUIDE, C),
        (pulley(2), A, B),
        (A, B, pulley(2), B, C, pulley(4), A, GUIDE, C),
        [A, B],
    ],
)
def test_good_orders(path):
    assert checked_path(path) == tuple(path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ((), "0 sites"),
        ((A,), "1 sites"),
        ((GUIDE,), "0 sites"),
        ((A, B, pulley(2)), r"path\[2\] is a pulley"),
        ((pulley(2),), r"path\[0\] is a pulley"),
        ((A, B, pulley(2), pulley(3), A, B), r"path\[3\] has 0 sites"),
        ((pulley(2), pulley(3), A, B), r"path\[1\] has 0 sites"),
        ((A, B, pulley(2), C), r"path\[3\] has 1 sites"),
        ((A, pulley(2), B, C), r"path\[0\] has 1 sites"),
        ((GUIDE, A, B), r"path\[0\] is a guide"),
        ((A, B, GUIDE), r"path\[2\] is a guide"),
        ((A, GUIDE, GUIDE, B), r"path\[1\] is a guide.*Via between"),
        ((A, B, pulley(2), GUIDE, B, C), r"path\[3\] is a guide"),
        ((A, C, GUIDE, pulley(2), B, C), r"path\[2\] is a guide"),
    ],
)
def test_bad_orders(path, words):
    with pytest.raises(ValueError, match=words):
        checked_path(path)


def test_something_else_in_a_path():
    with pytest.raises(TypeError, match=r"path\[1\]"):
        checked_path((A, "load", B))
    assert Pulley(2).divisor == 2.0


@settings(deadline=None)
@given(st.tuples(*[st.floats(-1e3, 1e3)] * 3).filter(lambda axis: max(map(abs, axis)) > 1e-3))
def test_a_unit_axis_stays_as_it_is(axis):
    once = cylinder("load", 0.1, axis).axis
    assert cylinder("load", 0.1, once).axis == once
