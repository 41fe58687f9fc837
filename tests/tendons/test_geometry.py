"""Read-out of paths: lengths, gradients and lines, against closed forms and MuJoCo's Jacobians."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import Cylinder, JointTerm, Site, Sphere, TendonWorld, pulley, via
from tests.tendons.scenes import add_ball, empty, hanging, sliders


def guide(kind, radius, center, side=None, axis=(0, 0, 1), name=None):
    place = Site(name, center)
    if kind == "sphere":
        return Sphere(place, radius, side)
    return Cylinder(place, radius, axis, side)


def over(kind, radius, ends, side, axis=(0, 0, 1)):
    """Return a world with a path to a ball at the second end, over a guide at the origin."""
    spec = empty()
    add_ball(spec, "load", ends[1])
    world = TendonWorld(spec)
    element = guide(kind, radius, (0, 0, 0), side, axis)
    return world, world.add_spatial_tendon("t", [via(None, ends[0]), element, via("load")])


@pytest.mark.parametrize(
    ("kind", "ends", "side", "length"),
    [
        # over the top of a unit circle: 1.5 down on both sides and half a turn
        ("sphere", ((-1, 0, -1.5), (1, 0, -1.5)), (0, 0, 2), 3.0 + math.pi),
        ("cylinder", ((-1, 0, -1.5), (1, 0, -1.5)), (0, 0, 2), 3.0 + math.pi),
        # a helix that rises by 1 along the axis: unrolled, it is straight
        ("cylinder", ((-1, 0, -1.5), (1, 1, -1.5)), (0, 0, 2), math.hypot(3.0 + math.pi, 1.0)),
        # the straight line misses the guide, and no side is asked for
        ("sphere", ((-1, 0, 1.5), (1, 0, 1.5)), None, 2.0),
        # the straight line goes through, without a side: the shorter way around
        ("sphere", ((-1.25, 0, 0.1), (1.25, 0, 0.1)), None, None),
        # an end inside: straight
        ("sphere", ((0.5, 0, 0), (2, 0, 0)), None, 1.5),
    ],
)
def test_lengths(kind, ends, side, length):
    place = None if side is None else Site(None, side)
    _, tendon = over(kind, 1.0, ends, place, axis=(0, 1, 0))
    if length is None:
        legs, wrap = wrapped_circle(ends[0][0], ends[0][2])
        length = 2 * legs + wrap
    assert tendon.length == pytest.approx(length, abs=1e-12)


def wrapped_circle(x, z):
    """Return tangent length and arc of a symmetric path over the top of a unit circle."""
    distance = math.hypot(x, z)
    turn = 2.0 * (math.atan2(abs(x), z) - math.acos(1.0 / distance))
    return math.sqrt(distance**2 - 1.0), turn


def test_a_side_site_inside_sends_the_path_through():
    side = Site(None, (0.1, 0, 0))
    _, tendon = over("sphere", 0.5, ((-1, 0, 1), (-1, 0, -1)), side)
    assert tendon.length == pytest.approx(2.0 * math.hypot(1.0, 0.5), abs=1e-9)


def test_pulleys_divide_and_replace_each_other():
    world = hanging()
    unit = [via(None), via(None, (1, 0, 0))]
    tendon = world.add_spatial_tendon("t", [pulley(2), *unit, pulley(4), *unit, pulley(1), *unit])
    assert tendon.length == pytest.approx(0.5 + 0.25 + 1.0, abs=1e-15)


def busy(seed):
    """Return a world with a tendon of all kinds of elements on bodies that move freely."""
    rng = np.random.default_rng(seed)
    spec = empty()
    for k, position in enumerate(([0, 0, 1], [1.2, 0.1, 1], [2.4, 0, 1.1], [0.6, 1.2, 1])):
        ball = add_ball(spec, f"b_{k}", position)
        ball.quat = rng.normal(size=4)
    world = TendonWorld(spec)
    sides = Site("b_1", rng.uniform(-1, 1, 3))
    path = [
        pulley(2.0), via("b_0", (0.1, 0, 0)), guide("sphere", 0.3, (0, 0.1, 0), sides, name="b_1"),
        via("b_2", (0, 0.1, 0)), guide("cylinder", 0.2, (0, 0, 0), None, (1, 2, 3), "b_3"),
        via(None, (-0.5, 1.5, 1)), pulley(3.0), via(None, (0, 0, 2)), via("b_1"), via("b_0"),
    ]  # fmt: skip
    tendon = world.add_spatial_tendon("t", path)
    world.data.qpos[:] += rng.normal(scale=0.05, size=world.model.nq)
    world.data.qvel[:] = rng.normal(size=world.model.nv)
    return world, tendon


@pytest.mark.parametrize("seed", range(12))
def test_point_gradients_make_up_the_jacobian(seed):
    world, tendon = busy(seed)
    gradients = tendon.point_gradients
    model, data = world.model, world.data
    total, rate = np.zeros(model.nv), tendon.velocity
    for each in gradients:
        body = 0 if each.site.name is None else model.body(each.site.name).id
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, each.position, body)
        total += jacobian.T @ each.gradient
        frame = data.xmat[body].reshape(3, 3)
        place = data.xpos[body] + frame @ np.array(each.site.position)
        assert place == pytest.approx(each.position, abs=1e-12)
    dense = np.zeros(model.nv)
    start, count = model.ten_J_rowadr[tendon.id], model.ten_J_rownnz[tendon.id]
    dense[model.ten_J_colind[start : start + count]] = data.ten_J[start : start + count]
    assert total == pytest.approx(dense, abs=1e-9)
    assert rate == pytest.approx(float(dense @ data.qvel), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_segments_are_as_long_as_the_tendon(seed):
    _, tendon = busy(seed)
    segments = tendon.visual_segments
    branches, total = [2.0, 3.0], 0.0
    branch = -1
    for k, each in enumerate(segments):
        if k == 0 or not np.array_equal(each.start, segments[k - 1].end):
            branch += 1
        size = float(np.linalg.norm(each.end - each.start))
        if each.wrapped and size > 0:  # a chord of at most 10 degrees, on a helix still longer
            size *= 1.0 + (math.radians(10.0) ** 2) / 48.0
        total += size / branches[branch]
    assert branch == 1
    assert total == pytest.approx(tendon.length, rel=2e-3)


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
def test_arcs_lie_on_their_guide(kind):
    ends, rise = ((-1, 0, -1.5), (1, 0.8, -1.5)), 0.8
    _, tendon = over(kind, 1.0, ends, Site(None, (0, 0, 2)), axis=(0, 1, 0))
    arc = [each for each in tendon.visual_segments if each.wrapped]
    assert len(arc) >= 18  # half a turn at least
    for each in arc:
        for point in (each.start, each.end):
            flat = point if kind == "sphere" else point * [1, 0, 1]
            assert np.linalg.norm(flat) == pytest.approx(1.0, abs=1e-9)
    if kind == "cylinder":
        # the helix rises as much for each of its pieces
        rises = [each.end[1] - each.start[1] for each in arc]
        slope = rise / (3.0 + math.pi)
        assert rises == pytest.approx([slope * math.pi / len(arc)] * len(arc), abs=1e-9)


def test_more_than_half_a_turn():
    """Down on the near side of a drum, around below, and out above: three quarters of a turn."""
    _, tendon = over("cylinder", 1.0, ((-1, 0, 3), (3, 0, 1)), Site(None, (0, 0, -3)), (0, 1, 0))
    segments = tendon.visual_segments
    arc = sum(np.linalg.norm(s.end - s.start) for s in segments if s.wrapped)
    straight = sum(np.linalg.norm(s.end - s.start) for s in segments if not s.wrapped)
    assert straight + arc == pytest.approx(tendon.length, rel=2e-3)


def test_the_length_is_smooth_over_a_sweep():
    """No jump while a ball passes over a cylinder: |dL| <= |dx|, for the other end is fixed."""
    world, tendon = over("cylinder", 0.4, ((-1, 0, -0.3), (1, 0, -0.3)), None, axis=(0, 1, 0))
    lengths = []
    for z in np.linspace(-1.0, 1.0, 801):
        world.data.qpos[2] = z
        lengths.append(tendon.length)
    assert np.abs(np.diff(lengths)).max() <= 2.0 / 800 + 1e-9


def test_ends_on_the_surface_are_measured_along_the_arc():
    radius, outside = 0.05, 0.05 + 1e-9
    world, tendon = over("cylinder", radius, ((-outside, 0, 0), (outside, 0, 0)),
                         Site(None, (0, 0, 1)), axis=(0, 1, 0))  # fmt: skip
    assert tendon.length == pytest.approx(math.pi * radius, abs=1e-4)
    assert world.model.nv == 6


def test_fixed_tendons_have_no_path():
    world = sliders(1.0)
    tendon = world.add_fixed_tendon("t", [JointTerm("slide_0", 2.0)])
    assert tendon.type == "fixed" and tendon.path == ()
    assert tendon.point_gradients == () and tendon.visual_segments == ()
    spatial = world.add_spatial_tendon("s", [via(None), via("slide_0", (0, 0, 1))])
    assert spatial.type == "spatial" and spatial.joint_gradients == () and spatial.joints == ()


def test_coinciding_points_have_no_direction():
    world = hanging()
    tendon = world.add_spatial_tendon("t", [via(None, (0, 0, 1)), via("load")])
    assert tendon.length == 0.0
    assert all(not each.gradient.any() for each in tendon.point_gradients)
