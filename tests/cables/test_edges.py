"""Where Simbody's CableSpan fails silently: what is right instead, derived here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tendon_gym.cables import (
    CableFault,
    CableSpan,
    CableSystem,
    Cylinder,
    Ellipsoid,
    HeightMap,
    NotConverged,
    Sphere,
    Torus,
)
from tests.cables.cases import CASES, GROUND, cable_of, place_bodies, poses_of, solved

OVER_HALF = 2.0 * math.sqrt(3.0) + math.pi / 3.0
"""Over a unit circle between two points at distance 2 on opposite sides."""


def straight(case) -> float:
    (a, b), poses = (case[end] for end in ("origin", "termination")), poses_of(case)
    p, q = (poses[end["body"], :3] + end["station"] for end in (a, b))
    return float(np.linalg.norm(p - q))


def everything(cable, state) -> np.ndarray:
    """Return every number that is finite by contract."""
    numbers = [
        cable.length(state),
        cable.length_rate(state),
        cable.smoothness(state),
        cable.power(state, 1.0),
        cable.origin_tangent(state),
        cable.termination_tangent(state),
        cable.body_forces(state),
        cable.resampled_points(state, 3),
        cable.decorative_points(state),
    ]
    numbers += [cable.obstacle_unit_force(state, k) for k in range(cable.num_obstacles)]
    numbers += [cable.via_point_unit_force(state, k) for k in range(cable.num_via_points)]
    return np.concatenate([np.ravel(x) for x in numbers])


@pytest.mark.parametrize("name", ["edge_line_through_centre_nohint", "edge_hint_at_centre"])
def test_line_through_the_centre_goes_round_one_side(name):
    cable, state = solved(CASES[name])
    assert cable.length(state) == pytest.approx(OVER_HALF, abs=1e-8)
    assert cable.in_contact(state, 0) and cable.converged(state)
    again, other = solved(CASES[name])
    again.length(other)
    assert again.initial_frame(other, 0).position.tobytes() == (
        cable.initial_frame(state, 0).position.tobytes()
    )


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        (Cylinder(1.0), OVER_HALF),
        (Ellipsoid((1.0, 1.0, 3.0)), OVER_HALF),
        (Ellipsoid((1.0, 3.0, 1.0)), OVER_HALF),
    ],
)
def test_line_through_an_axis_goes_round_the_short_way(surface, expected):
    system = CableSystem(1)
    cable = CableSpan(system, 0, (-2.0, 0.0, 0.0), 0, (2.0, 0.0, 0.0))
    cable.add_obstacle(0, GROUND, surface)
    cable.smoothness_tolerance = 1e-9
    state = system.new_state()
    assert cable.converged(state) and cable.in_contact(state, 0)
    assert cable.length(state) == pytest.approx(expected, abs=1e-8)


def test_line_through_the_middle_of_a_tube_goes_round_it():
    system = CableSystem(1)
    cable = CableSpan(system, 0, (0.0, 0.0, -2.0), 0, (0.0, 0.0, 2.0))
    cable.add_obstacle(0, (0.0, -3.0, 0.0, 1.0, 0.0, 0.0, 0.0), Torus(3.0, 1.0))
    cable.smoothness_tolerance = 1e-9
    state = system.new_state()
    assert cable.length(state) == pytest.approx(OVER_HALF, abs=1e-8)
    assert cable.converged(state)


def test_grazing_line_is_smooth_and_straight():
    case = CASES["edge_grazing_tangent_cylinder"]
    cable, state = solved(case)
    assert cable.length(state) == pytest.approx(straight(case), abs=1e-12)
    assert cable.converged(state) and cable.smoothness(state) <= 1e-8
    assert np.abs(cable.body_forces(state)).max() < 1e-7


def test_too_few_iterations_are_told():
    case = CASES["edge_max_iter_1"]
    cable, state = solved(case)
    assert not cable.converged(state)
    assert cable.num_iterations(state) == 1
    assert cable.smoothness(state) > cable.smoothness_tolerance
    assert cable.length(state) >= straight(case)
    for reaction in ("warn", "raise"):
        system = CableSystem(1, on_not_converged=reaction)
        cable_of(case, system)
        expect: Any = pytest.raises if reaction == "raise" else pytest.warns
        kind = NotConverged if reaction == "raise" else UserWarning
        with expect(kind, match="cable 0 did not converge"):
            system.new_state().solve()


def test_no_iterations_place_the_curve_and_measure():
    cable = cable_of(CASES["sphere_planar"])
    cable.solver_max_iterations = 0
    state = cable.owner.new_state()
    assert cable.num_iterations(state) == 0 and not cable.converged(state)
    assert cable.arc_length(state, 0) == 0.0
    assert cable.smoothness(state) > 0.1


@pytest.mark.parametrize("most", [1, 3, 10, 100])
def test_a_path_takes_at_most_twice_as_many_corrections_as_one_try(most):
    """Two balls at one place: no smooth path over one after the other that is easy to find."""
    system = CableSystem(1)
    cable = CableSpan(system, 0, (-2.0, 0.1, 0.0), 0, (2.0, 0.2, 0.1))
    for _ in range(2):
        cable.add_obstacle(0, GROUND, Sphere(1.0), (0.0, 1.0, 0.0))
    cable.solver_max_iterations = most
    cable.smoothness_tolerance = 1e-10
    assert cable.num_iterations(system.new_state()) <= 2 * most


@pytest.mark.parametrize("name", ["edge_zero_length_cable", "edge_via_on_origin"])
def test_points_on_top_of_each_other_pull_nowhere(name):
    case = CASES[name]
    cable, state = solved(case)
    assert cable.length(state) == straight(case)
    assert np.isfinite(everything(cable, state)).all()
    assert not cable.origin_unit_force(state).force.any()
    assert cable.converged(state)


def test_two_ends_at_one_place_beside_an_obstacle():
    system = CableSystem(1)
    cable = CableSpan(system, 0, (0.0, 0.0, 2.0), 0, (0.0, 0.0, 2.0))
    cable.add_obstacle(0, GROUND, Sphere(1.0))
    state = system.new_state()
    assert cable.length(state) == 0.0
    assert np.isfinite(everything(cable, state)).all()


def test_runaway_comes_back_as_a_straight_line():
    case = CASES["jump_cold_q1"]
    cable, state = solved(case)
    assert cable.length(state) == pytest.approx(straight(case), abs=1e-9)
    assert cable.converged(state) and not cable.in_contact(state, 0)
    cable.smoothness_tolerance, cable.solver_max_iterations = 1.7e-3, 300
    state.reset()
    assert cable.length(state) == pytest.approx(straight(case), abs=1e-9)


def test_large_warm_steps_there_and_back():
    case = CASES["jump_warm_q0_to_q1_to_q0"]
    cable, state = solved(case)
    first = cable.length(state)
    assert first == pytest.approx(case["expected"]["length"], abs=1e-7)
    poses = poses_of(case)
    poses[1] = case["steps"][0][0][1:]
    place_bodies(state, poses)
    assert cable.length(state) == pytest.approx(
        float(np.linalg.norm(poses[1, :3] - case["origin"]["station"])), abs=1e-9
    )
    assert cable.converged(state)
    place_bodies(state, poses_of(case))
    assert cable.length(state) == pytest.approx(first, abs=1e-7)


def test_tunnelling_is_not_noticed():
    """Documented: a cable that jumps across an obstacle between two solves is on the other side."""
    case = CASES["tunnel_sphere_large_step"]
    cable, state = solved(case)
    assert cable.length(state) == 4.0
    poses, lengths = poses_of(case), []
    for step in case["steps"]:
        poses[1] = step[0][1:]
        place_bodies(state, poses)
        lengths.append(cable.length(state))
    assert lengths == pytest.approx([4.0, CASES["sphere_planar"]["expected"]["length"]], abs=1e-7)
    assert cable.initial_frame(state, 0).position[1] < 0.0


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("edge_origin_inside", 0.9),
        ("edge_via_inside_obstacle", 0.5),
        ("edge_cylinder_nohint_axis_on_line", 0.5),
    ],
)
def test_point_inside_an_obstacle_is_named(name, depth):
    case = CASES[name]
    cable, state = solved(case)
    with pytest.raises(CableFault, match=r"cable 0.*inside obstacle 0") as caught:
        cable.length(state)
    assert caught.value.obstacle == 0 and caught.value.depth == pytest.approx(depth, abs=1e-9)
    with pytest.raises(CableFault):  # it stays so
        cable.body_forces(state)


def test_fault_keeps_the_last_good_path():
    system = CableSystem(2, on_fault="keep")
    cable = CableSpan(system, 1, (0.0, 0.0, 0.0), 0, (2.0, 0.0, 0.0))
    cable.add_obstacle(0, GROUND, Sphere(1.0), (0.0, 1.0, 0.0))
    state = system.new_state()
    place_bodies(state, np.array([GROUND, (-2.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0)]))
    good = everything(cable, state)
    assert cable.fault(state) == "none"
    for bad in ((0.1, 0.0, 0.0), (math.nan, 0.0, 0.0)):
        state.position[0, 1] = bad
        state.solve()
        assert cable.fault(state) == ("not_finite" if math.isnan(bad[0]) else "point_inside")
        assert not cable.converged(state)
        assert cable.length(state) == good[0]
    state.reset()
    state.solve()  # nothing is known any more: straight, and finite
    assert np.isfinite(cable.length(state))
    place_bodies(state, np.array([GROUND, (-2.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0)]))
    np.testing.assert_array_equal(everything(cable, state), good)


def test_body_that_is_nowhere_is_named():
    system = CableSystem(2)
    cable = CableSpan(system, 0, (0.0, 0.0, 0.0), 1, (0.0, 0.0, 0.0))
    state = system.new_state()
    state.rotation[0, 1, 0, 0] = math.inf
    with pytest.raises(CableFault, match="pose of body 1 is not finite"):
        cable.length(state)


def test_leaving_a_height_map_is_named():
    grid = np.linspace(-1.0, 1.0, 5)
    ridge = np.tile(-(grid[:, None] ** 2), (1, 5))
    system = CableSystem(2)
    cable = CableSpan(system, 1, (-2.0, 0.0, -2.0), 1, (2.0, 0.0, -2.0))
    cable.add_obstacle(0, GROUND, HeightMap(grid, grid, ridge), (0.0, 0.0, 0.0))
    state = system.new_state()
    place_bodies(state, np.array([GROUND, (0.0, 0.9, 0.0, 1.0, 0.0, 0.0, 0.0)]))
    assert cable.in_contact(state, 0) and cable.converged(state)
    place_bodies(state, np.array([GROUND, (0.0, 1.1, 0.0, 1.0, 0.0, 0.0, 0.0)]))
    with pytest.raises(CableFault, match="leaves the patch of obstacle 0"):
        cable.length(state)


def lengths_in_a_world(scale: float) -> list[float]:
    """Return lengths, in units of `scale`, of a cable over a sphere and a torus that moves."""
    system = CableSystem(2)
    cable = CableSpan(system, 0, (-2.0 * scale, 0.3 * scale, 0.0), 1, (0.0, 0.0, 0.0))
    cable.add_obstacle(0, GROUND, Sphere(scale))
    cable.add_obstacle(0, (2.5 * scale, 0, 0, 1, 0, 0, 0), Torus(0.5 * scale, 0.2 * scale))
    cable.smoothness_tolerance = 1e-10
    state, lengths = system.new_state(), []
    for height in (1.5, 0.8, 0.3):
        state.position[0, 1] = (4.0 * scale, height * scale, 0.1 * scale)
        state.solve()
        assert cable.converged(state) and cable.in_contact(state, 0)
        lengths.append(cable.length(state) / scale)
    return lengths


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_size_of_the_world_does_not_matter(scale):
    """Searches, thresholds and limits go by the surfaces' sizes."""
    assert lengths_in_a_world(scale) == pytest.approx(lengths_in_a_world(1.0), rel=1e-9)


def cable_past(surface, a, b, hint=None):
    """Return a cable from a to b past a surface at the origin, and a state."""
    system = CableSystem(1)
    cable = CableSpan(system, 0, a, 0, b)
    cable.add_obstacle(0, GROUND, surface, hint)
    cable.smoothness_tolerance, cable.solver_max_iterations = 1e-8, 100
    return cable, system.new_state()


@pytest.mark.parametrize(("ring", "tube"), [(0.1062, 0.0785), (0.3, 0.02)])
def test_a_small_torus_in_the_middle_of_a_line_is_touched(ring, tube):
    cable, state = cable_past(Torus(ring, tube), (-4.0, 0.0, 0.0), (4.0, 0.0, 0.0))
    near, far = 4.0 - ring, 4.0 + ring
    arc = math.pi - math.acos(tube / near) - math.acos(tube / far)
    over_one = math.sqrt(near**2 - tube**2) + math.sqrt(far**2 - tube**2) + tube * arc
    assert cable.in_contact(state, 0) and cable.converged(state)
    assert cable.length(state) == pytest.approx(over_one, abs=1e-8)


def test_a_first_path_does_not_stay_on_what_it_would_slide_off():
    """The hints begin on a path over the first obstacle that is the longest, 9.24 m, sideways."""
    system = CableSystem(1)
    ends = (-4.0231646, -0.0247553, 0.2405045), (4.1090358, 0.2684849, -0.6136574)
    cable = CableSpan(system, 0, ends[0], 0, ends[1])
    cable.add_obstacle(
        0,
        (-0.1759685, -0.862663, -1.3947311, 0.8872276, 0.0949036, -0.2330881, -0.38664),
        Ellipsoid((1.0874682, 0.5022439, 0.4685740)),
        (0.2094260, -0.6766039, 0.1276884),
    )
    cable.add_obstacle(
        0,
        (0.5550782, -0.6237066, -0.6675627, 0.4660365, -0.3510325, -0.3805211, -0.7174885),
        Ellipsoid((0.2179001, 0.0345032, 0.2179001)),
        (-0.0906474, -0.2042809, 0.0229512),
    )
    cable.add_obstacle(
        0,
        (1.1595625, 0.0098773, 0.3684131, -0.945489, -0.0510529, 0.1076428, -0.3030794),
        Torus(0.4191094, 0.1621518),
        (0.3262837, -0.6070805, 0.0978308),
    )
    cable.smoothness_tolerance, cable.solver_max_iterations = 1e-10, 100
    state = system.new_state()
    assert cable.length(state) == pytest.approx(math.dist(*ends), abs=1e-9)
    assert cable.converged(state)
