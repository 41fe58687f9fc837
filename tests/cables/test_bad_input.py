"""What is refused, with words of ours that name the element and what is legal."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym.cables import (
    CablePulls,
    CableSpan,
    CableState,
    CableSystem,
    ConstantTension,
    Cylinder,
    Ellipsoid,
    Sphere,
    Winch,
)
from tendon_gym.cables.drawing import draw
from tendon_gym.cables.mujoco_bodies import apply_body_forces, generalised_forces
from tests.cables.cases import GROUND

N = 3


@pytest.fixture
def batch() -> tuple[CableSpan, CableState, CablePulls]:
    """Return a cable over a cylinder in three simulations, drawn in by 2 N."""
    system = CableSystem(2)
    cable = CableSpan(system, 0, (-2, 0, 0), 1, (2, 0, 0))
    cable.add_obstacle(0, GROUND, Cylinder(0.5), (0, 0.5, 0))
    state = system.new_state(N)
    state.solve()
    return cable, state, CablePulls(state, [ConstantTension(2.0)], [0.1])


BAD_SIMULATIONS = [
    (-1, IndexError, "indices from 0 to 2, got -1"),
    ([0, 3], IndexError, "indices from 0 to 2, got 3"),
    (True, TypeError, "indices, got True"),
    ([True, False, True], TypeError, "flatnonzero"),
    (1.5, TypeError, "indices, got 1.5"),
    ("a", TypeError, "indices, got 'a'"),
    ([[0]], ValueError, "one index or a list"),
    ([[0], [1, 2]], TypeError, "indices, got"),
]


@pytest.mark.parametrize(("simulations", "kind", "words"), BAD_SIMULATIONS)
def test_simulations_that_are_none_are_refused(batch, simulations, kind, words):
    _, state, pulls = batch
    before = state.state.copy()
    with pytest.raises(kind, match=f"simulations must be .*{words}"):
        state.reset(simulations)
    with pytest.raises(kind, match=f"simulations must be .*{words}"):
        pulls.command(0, 1.0, simulations)
    np.testing.assert_array_equal(state.state, before)


@pytest.mark.parametrize(
    ("simulations", "rows"),
    [([], []), ((), []), (np.zeros(0), []), (1, [1]), ([2, 0], [2, 0]), (None, [0, 1, 2])],
)
def test_simulations_that_are_meant(batch, simulations, rows):
    _, state, pulls = batch
    pulls.command(0, 5.0, simulations)
    pulls.add_forces(np.zeros((N, 2, 6)))
    expected = np.full(N, 2.0)
    expected[rows] = 5.0
    np.testing.assert_allclose(pulls.tension(), expected)
    before = state.state.copy()
    state.reset(simulations)
    before[rows] = 0.0
    np.testing.assert_array_equal(state.state, before)


def test_a_command_has_one_value_or_one_per_simulation_that_is_meant(batch):
    _, _, pulls = batch
    pulls.command(0, [3.0, 4.0], [2, 1])
    pulls.add_forces(np.zeros((N, 2, 6)))
    np.testing.assert_allclose(pulls.tension(), [2.0, 4.0, 3.0])
    with pytest.raises(ValueError, match=r"value must have shape \(2\), got \(3,\)"):
        pulls.command(0, [1.0, 2.0, 3.0], [0, 1])
    with pytest.raises(ValueError, match=r"value\[1\] must be finite and at least 0"):
        pulls.command(0, [1.0, -2.0], [0, 1])
    for bad in ("a", None, [True, False, True]):
        with pytest.raises(TypeError, match="value must be an array of numbers"):
            pulls.command(0, bad)


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e200, 1e308])
def test_a_quaternion_of_any_length_is_a_direction(size):
    system = CableSystem(1)
    cable = CableSpan(system, 0, (-2, 0, 0), 0, (2, 0, 0))
    cable.add_obstacle(0, (0, 0, 0, size, size, 0, 0), Cylinder(0.5))
    expected = (0, 0, 0, math.sqrt(0.5), math.sqrt(0.5), 0, 0)
    np.testing.assert_allclose(cable.obstacle_pose(0), expected, atol=1e-16)
    state = system.new_state()
    state.set_poses(np.zeros((1, 3)), [(size, 0, size, 0)])
    turned = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    np.testing.assert_allclose(state.rotation[0, 0], turned, atol=1e-15)


def test_an_ellipsoids_radii_are_its_own():
    radii = [1.0, 2.0, 3.0]
    ellipsoid = Ellipsoid(radii)  # type: ignore[arg-type]
    radii[0] = -1.0
    assert ellipsoid.sizes == (1.0, 2.0, 3.0)
    assert ellipsoid == Ellipsoid((1.0, 2.0, 3.0))
    assert hash(ellipsoid) == hash(Ellipsoid((1.0, 2.0, 3.0)))
    with pytest.raises(TypeError, match=r"radii must be an array of numbers, got \[True, 1, 1\]"):
        Ellipsoid([True, 1, 1])  # type: ignore[arg-type]


BAD_CABLE = [
    ("c.set_obstacle_contact_point_hint(0, 'a')", TypeError, "contact_point_hint must be"),
    ("c.set_obstacle_contact_point_hint(0, (0, 1))", ValueError, "contact_point_hint must have"),
    ("c.set_obstacle_contact_point_hint(0, (np.nan, 1, 0))", ValueError, r"hint\[0\] must be fin"),
    ("c.owner.adopt('x')", TypeError, "cable must be a CableSpan, got 'x'"),
    ("c.apply_body_forces(s, 1.0, [[0]])", TypeError, r"forces must be a float64 .*\(3, 2, 6\)"),
    ("c.apply_body_forces(s, 1.0, fixed)", ValueError, "can be written to"),
    ("p.add_forces([[0]])", TypeError, "forces must be a float64 array"),
    ("p.add_forces(fixed)", ValueError, "can be written to"),
    ("c.body_forces(s, 'a')", TypeError, "tension must be"),
    ("c.body_forces(None)", ValueError, "state must be"),
    ("c.moment_arms(s, np.zeros((2, 6, 3)))", ValueError, r"jacobians must have shape \(3, 2, 6"),
    ("c.moment_arms(s, np.zeros((3, 4, 6, 3)))", ValueError, r"jacobians must have shape"),
    ("c.moment_arms(s, np.full((3, 2, 6, 1), np.nan))", ValueError, "jacobians.* must be finite"),
]


@pytest.mark.parametrize(("code", "kind", "words"), BAD_CABLE, ids=[row[0] for row in BAD_CABLE])
def test_what_a_cable_refuses(batch, code, kind, words):
    cable, state, pulls = batch
    fixed = np.zeros((N, 2, 6))
    fixed.flags.writeable = False
    with pytest.raises(kind, match=words):
        exec(code, {"c": cable, "s": state, "p": pulls, "np": np, "fixed": fixed})
    assert len(cable.owner.cables) == 1 and cable.obstacle_contact_point_hint(0) is not None


@pytest.mark.parametrize(
    ("drives", "friction", "kind", "words"),
    [
        (["x"], None, TypeError, r"drives\[0\] must be a ConstantTension, Elastic or Winch"),
        ([None], None, TypeError, r"drives\[0\] must be .*got None"),
        (Winch(1.0, 1.0), None, TypeError, "drives must be a sequence, with something for every"),
        ([], None, ValueError, "number of drives must be 1"),
        (None, [[0.1, 0.2]], ValueError, r"friction\[0\] must have shape \(1\), got \(2,\)"),
        (None, [[]], ValueError, r"friction\[0\] must have shape \(1\), got \(0,\)"),
        (None, 0.3, TypeError, "friction must be a sequence, with something for every cable"),
        (None, "a", TypeError, "friction must be a sequence"),
        (None, ["a"], TypeError, r"friction\[0\] must be an array of numbers, got 'a'"),
        (None, [True], TypeError, r"friction\[0\] must be an array of numbers, got True"),
        (None, [None], TypeError, r"friction\[0\] must be an array of numbers, got None"),
        (None, [[-0.1]], ValueError, r"friction\[0\]\[0\] must be finite and at least 0"),
        (None, [0.1, 0.1], ValueError, "number of friction must be 1"),
    ],
)
def test_what_pulls_refuse(batch, drives, friction, kind, words):
    _, state, _ = batch
    with pytest.raises(kind, match=words):
        CablePulls(state, [ConstantTension(1.0)] if drives is None else drives, friction)


def test_pulls_need_a_state():
    with pytest.raises(TypeError, match="state must be a CableState, got None"):
        CablePulls(None, [])  # type: ignore[arg-type]


LINE = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]


@pytest.mark.parametrize(
    ("points", "more", "kind", "words"),
    [
        (LINE, {"rgba": (9, -1, 0, 1)}, ValueError, r"rgba\[0\] must be"),
        ([(True, False, True)], {}, TypeError, "points must be an array of numbers"),
        ("abc", {}, TypeError, "points must be an array of numbers"),
        (np.zeros((2, 2)), {}, ValueError, "points must have shape"),
        (np.array(LINE) * 1e300, {}, ValueError, r"points\[1\]\[0\] must be"),
        (LINE, {"width": 1e300}, ValueError, "width must be"),
        (LINE, {"scene": None}, TypeError, "scene must be a mujoco.MjvScene"),
    ],
)
def test_what_a_picture_refuses(points, more, kind, words):
    scene = mujoco.MjvScene(mujoco.MjModel.from_xml_string("<mujoco/>"), maxgeom=4)
    with pytest.raises(kind, match=words):
        draw(**{"scene": scene, "points": points} | more)
    assert scene.ngeom == 0


def test_forces_on_an_mjdata_are_an_array_of_numbers():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    data = mujoco.MjData(model)
    for function in (apply_body_forces, generalised_forces):
        with pytest.raises(TypeError, match="forces must be an array of numbers"):
            function("a", model, data)
        with pytest.raises(ValueError, match="must be finite"):
            function(np.full((1, 6), math.nan), model, data)
        function([[0.0] * 6], model, data)


def test_all_nan_is_no_hint():
    cable = CableSpan(CableSystem(1), 0, (0, 0, 0), 0, (1, 0, 0))
    for hint in ((math.nan,) * 3, np.full(3, math.nan), None):
        cable.add_obstacle(0, GROUND, Sphere(0.1), hint)
        assert cable.obstacle_contact_point_hint(cable.num_obstacles - 1) is None
