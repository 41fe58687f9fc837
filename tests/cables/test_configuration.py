"""Every member of a cable that is set and read back, and what is refused."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym.cables import CableSpan, CableSystem, Cylinder, Sphere, Torus
from tests.cables.cases import GROUND

ENDS = ("ground", (-2.0, 0.5, 0.0), "load", (0.0, 0.0, 0.0))
POSE = (0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0)


@pytest.fixture
def cable() -> CableSpan:
    """Return a cable with two obstacles and two via points on named bodies."""
    made = CableSpan(CableSystem(["ground", "load", "beam"]), *ENDS)
    assert made.add_obstacle("beam", POSE, Sphere(0.3), (0.0, 0.3, 0.0)) == 0
    assert made.add_via_point("beam", (1.0, 0.0, 0.0)) == 0
    assert made.add_obstacle(0, GROUND, Cylinder(0.2)) == 1
    assert made.add_via_point(2, (1.5, 0.0, 0.0)) == 1
    return made


def test_what_was_given_is_read_back(cable):
    assert cable.index == 0
    assert (cable.num_obstacles, cable.num_via_points) == (2, 2)
    assert (cable.origin_body, cable.termination_body) == (0, 1)
    np.testing.assert_array_equal(cable.origin_station, ENDS[1])
    np.testing.assert_array_equal(cable.termination_station, ENDS[3])
    assert [cable.obstacle_body(k) for k in range(2)] == [2, 0]
    np.testing.assert_array_equal(cable.obstacle_pose(0), (0, 0, 0, 0, 1, 0, 0))
    assert cable.obstacle_surface(1) == Cylinder(0.2)
    np.testing.assert_array_equal(cable.obstacle_contact_point_hint(0), (0.0, 0.3, 0.0))
    assert cable.obstacle_contact_point_hint(1) is None
    assert [cable.via_point_body(k) for k in range(2)] == [2, 2]
    np.testing.assert_array_equal(cable.via_point_station(1), (1.5, 0.0, 0.0))


def test_settings_have_simbodys_defaults():
    cable = CableSpan(CableSystem(1), 0, (0, 0, 0), 0, (1, 0, 0))
    assert cable.curve_segment_accuracy == 1e-9
    assert cable.smoothness_tolerance == pytest.approx(math.radians(0.1))
    assert cable.solver_max_iterations == 50
    assert cable.algorithm == "minimum_length"
    assert cable.use_warm_start


def test_what_is_set_is_read_back(cable):
    cable.origin_body, cable.origin_station = "load", (1, 2, 3)
    cable.termination_body, cable.termination_station = 2, (4, 5, 6)
    cable.set_obstacle_body(0, "load")
    cable.set_obstacle_pose(0, GROUND)
    cable.set_obstacle_surface(0, Torus(1.0, 0.1))
    cable.set_obstacle_contact_point_hint(0, None)
    cable.set_obstacle_contact_point_hint(1, (0, 0.2, 0))
    cable.set_via_point_body(1, 0)
    cable.set_via_point_station(0, (7, 8, 9))
    cable.curve_segment_accuracy, cable.smoothness_tolerance = 1e-8, 1e-5
    cable.solver_max_iterations, cable.algorithm, cable.use_warm_start = 7, "scholz_2015", False
    assert (cable.origin_body, cable.termination_body) == (1, 2)
    np.testing.assert_array_equal(cable.origin_station, (1, 2, 3))
    np.testing.assert_array_equal(cable.termination_station, (4, 5, 6))
    assert cable.obstacle_body(0) == 1
    np.testing.assert_array_equal(cable.obstacle_pose(0), GROUND)
    assert cable.obstacle_surface(0) == Torus(1.0, 0.1)
    assert cable.obstacle_contact_point_hint(0) is None
    np.testing.assert_array_equal(cable.obstacle_contact_point_hint(1), (0, 0.2, 0))
    assert cable.via_point_body(1) == 0
    np.testing.assert_array_equal(cable.via_point_station(0), (7, 8, 9))
    settings = cable.settings
    assert (settings.accuracy, settings.tolerance, settings.max_iterations) == (1e-8, 1e-5, 7)
    assert (settings.algorithm, settings.warm_start) == ("scholz_2015", False)


def test_what_is_read_is_a_copy(cable):
    cable.origin_station[:] = 9.0
    cable.obstacle_pose(0)[:] = 9.0
    cable.via_point_station(0)[:] = 9.0
    np.testing.assert_array_equal(cable.origin_station, ENDS[1])
    assert cable.obstacle_pose(0)[0] == 0.0 and cable.via_point_station(0)[0] == 1.0


def test_every_setter_takes_effect_at_the_next_solve():
    system = CableSystem(3)
    cable = CableSpan(system, 0, (-2.0, 0.0, 0.0), 1, (2.0, 0.0, 0.0))
    cable.add_obstacle(2, GROUND, Sphere(1.0), (0.0, 1.0, 0.0))
    cable.add_via_point(0, (1.8, 0.0, 0.0))
    state = system.new_state()
    state.position[0, 1:] = (0.0, 0.0, 0.5), (0.0, -0.3, 0.1)
    seen = [cable.length(state)]
    changes = [
        lambda: setattr(cable, "origin_station", (-2.5, 0.0, 0.0)),
        lambda: setattr(cable, "origin_body", 1),
        lambda: setattr(cable, "termination_station", (2.5, 0.0, 0.0)),
        lambda: setattr(cable, "termination_body", 2),
        lambda: cable.set_obstacle_pose(0, (0, 0.1, 0, 1, 0, 0, 0)),
        lambda: cable.set_obstacle_body(0, 0),
        lambda: cable.set_obstacle_surface(0, Sphere(0.8)),
        lambda: cable.set_obstacle_contact_point_hint(0, (0, 0, -0.8)),
        lambda: cable.set_via_point_station(0, (1.8, 0.5, 0.0)),
        lambda: cable.set_via_point_body(0, 1),
        lambda: cable.add_via_point(0, (2.2, 0.3, 0.0)),
    ]
    for change in changes:
        change()
        seen.append(cable.length(state))
    moved = [seen.index(x) for x in seen]
    hint = 1 + 7  # from either hint the shortest path is the same, up to the tolerance
    assert [k for k in range(len(seen)) if moved[k] != k] in ([], [hint])


def test_default_construction_and_later_configuration():
    cable = CableSpan()
    cable.smoothness_tolerance = 1e-6
    for touch in (
        lambda: cable.index,
        lambda: cable.add_obstacle(0, GROUND, Sphere(1.0)),
        lambda: cable.add_via_point(0, (0, 0, 0)),
        lambda: cable.set_origin(0, (0, 0, 0)),
    ):
        with pytest.raises(RuntimeError, match="belongs to no CableSystem"):
            touch()
    system = CableSystem(2)
    assert system.adopt(cable) == 0 and cable.index == 0
    with pytest.raises(ValueError, match="already belongs"):
        system.adopt(cable)
    state = system.new_state()
    for _ in range(2):
        with pytest.raises(ValueError, match="cable 0 has too few points: set its"):
            cable.length(state)
        cable.set_origin(0, (0, 0, 0))
    cable.set_termination(1, (3, 0, 4))
    assert cable.length(state) == 5.0
    assert cable.smoothness_tolerance == 1e-6


def test_system_solves_all_cables_and_numbers_them():
    system = CableSystem(1)
    cables = [CableSpan(system, 0, (0, 0, 0), 0, (k, 0, 0)) for k in (1.0, 2.0, 3.0)]
    state = system.new_state()
    assert [cable.index for cable in cables] == [0, 1, 2]
    assert [cable.length(state) for cable in cables] == [1.0, 2.0, 3.0]


def test_bodies_are_those_of_a_model():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='arm'><geom size='.1'/></body></worldbody></mujoco>"
    )
    cable = CableSpan(CableSystem(model), "world", (0, 0, 0), "arm", (1, 0, 0))
    assert (cable.origin_body, cable.termination_body) == (0, 1)


BAD: list[tuple[type[Exception], str, str]] = [
    (KeyError, "c.add_obstacle('nobody', GROUND, Sphere(1.0))", "nobody"),
    (IndexError, "c.add_obstacle(3, GROUND, Sphere(1.0))", "from 0 to 2"),
    (IndexError, "c.add_obstacle(-1, GROUND, Sphere(1.0))", "from 0 to 2"),
    (ValueError, "c.add_obstacle(0, (0,) * 7, Sphere(1.0))", "quaternion"),
    (ValueError, "c.add_obstacle(0, (0, 0, 0, 1), Sphere(1.0))", "shape"),
    (ValueError, "c.add_obstacle(0, GROUND, Sphere(1.0), (0, math.nan, 0))", "contact_point_hint"),
    (ValueError, "c.add_via_point(0, (0, math.inf, 0))", "station"),
    (ValueError, "setattr(c, 'origin_station', (0, 0))", "origin_station"),
    (KeyError, "setattr(c, 'termination_body', 'nobody')", "nobody"),
    (IndexError, "c.obstacle_body(2)", "obstacle"),
    (IndexError, "c.set_obstacle_pose(-1, GROUND)", "obstacle"),
    (IndexError, "c.via_point_station(2)", "via_point"),
    (IndexError, "c.in_contact(s, 2)", "obstacle"),
    (IndexError, "c.via_point_unit_force(s, 7)", "via_point"),
    (ValueError, "setattr(c, 'curve_segment_accuracy', 0.0)", "curve_segment_accuracy"),
    (ValueError, "setattr(c, 'smoothness_tolerance', -1.0)", "smoothness_tolerance"),
    (ValueError, "setattr(c, 'solver_max_iterations', -1)", "solver_max_iterations"),
    (ValueError, "setattr(c, 'algorithm', 'newton')", "minimum_length"),
    (TypeError, "setattr(c, 'use_warm_start', 1)", "True or False"),
    (ValueError, "c.resampled_points(s, 1)", "at least 2"),
    (ValueError, "c.curve_resampled_points(s, 0, 1)", "at least 2"),
    (ValueError, "c.apply_body_forces(s, math.nan, np.zeros((3, 6)))", "tension"),
    (ValueError, "c.apply_body_forces(s, 1.0, np.zeros((2, 6)))", "forces must be"),
    (ValueError, "c.length(CableSystem(3).new_state())", "state must be"),
    (ValueError, "s.set_poses(np.full((3, 3), math.nan), np.zeros((3, 4)))", "position"),
    (ValueError, "s.set_poses(np.zeros((2, 3)), np.zeros((3, 4)))", "position"),
    (ValueError, "s.set_poses(np.zeros((3, 3)), np.zeros((3, 4)))", "orientation"),
    (ValueError, "s.set_poses(np.zeros((3, 3)), np.zeros((3, 3, 3)))", "rotation matrices"),
    (ValueError, "s.set_velocities(np.zeros((3, 3)), np.full((3, 3), math.inf))", "angular"),
    (ValueError, "CableSpan(c.owner, 0, (0, 0, 0))", "too few points"),
    (ValueError, "CableSpan(None, 0, (0, 0, 0), 0, (1, 0, 0))", "needs the CableSystem"),
    (ValueError, "CableSystem(0)", "number of bodies"),
    (ValueError, "CableSystem(['a', 'a'])", "different"),
    (ValueError, "CableSystem(1, on_fault='ignore')", "on_fault"),
    (ValueError, "c.owner.new_state(0)", "n must be"),
]


@pytest.mark.parametrize(("kind", "code", "words"), BAD, ids=[row[1] for row in BAD])
def test_bad_input_is_refused_and_changes_nothing(cable, kind, code, words):
    state = cable.owner.new_state()
    state.position[0, 1] = (2.0, 0.0, 0.0)
    names = {"c": cable, "s": state, "np": np, "math": math, "GROUND": GROUND, "Sphere": Sphere}
    names |= {"CableSystem": CableSystem, "CableSpan": CableSpan}
    before = (cable.length(state), len(cable.path), len(cable.owner.cables), cable.settings)
    with pytest.raises(kind, match=words):
        exec(code, names)
    after = (cable.length(state), len(cable.path), len(cable.owner.cables), cable.settings)
    assert after == before
