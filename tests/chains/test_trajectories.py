from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from tendon_gym.chains.segments import Pose
from tendon_gym.chains.trajectories import JointTrajectory, TipTrajectory

numbers = st.floats(-5, 5)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6), st.floats(0.1, 20))
@settings(deadline=None, max_examples=40)
def test_joints_start_and_end_at_rest_and_derivatives_are_exact(ends, duration):
    start, goal = np.array(ends).T
    way = JointTrajectory(start, goal, duration)
    for time, place in ((-1.0, start), (0.0, start), (duration, goal), (2 * duration, goal)):
        point = way.at(time)
        np.testing.assert_allclose(point.q, place, atol=1e-12)
        np.testing.assert_allclose(point.v, 0.0, atol=1e-12)
        np.testing.assert_allclose(point.a, 0.0, atol=1e-12)
    h = 1e-5 * duration
    for share in (0.1, 0.35, 0.5, 0.9):
        before, here, after = (way.at(share * duration + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose(here.v, (after.q - before.q) / (2 * h), atol=1e-6)
        np.testing.assert_allclose(here.a, (after.v - before.v) / (2 * h), atol=1e-5)


def test_the_jerk_is_least():
    """Any other smooth way with the same ends has a larger integral of the squared jerk."""
    way = JointTrajectory([0.0], [1.0], 1.0)
    h = 1e-4

    def jerk(t):
        return (way.at(t + h).a[0] - way.at(t - h).a[0]) / (2 * h)

    def bump(t):  # the third derivative of t^3 (1 - t)^3, which is at rest at both ends
        return 6 - 72 * t + 180 * t**2 - 120 * t**3

    def cost(share):
        return quad(lambda t: (jerk(t) + share * bump(t)) ** 2, 2 * h, 1 - 2 * h)[0]

    assert cost(0.0) == pytest.approx(720.0, rel=1e-2)  # Flash and Hogan's closed form
    assert cost(0.0) < min(cost(0.5), cost(-0.5))


@given(st.lists(numbers, min_size=2, max_size=5), st.floats(0.2, 3), st.floats(0.2, 9))
@settings(deadline=None, max_examples=30)
def test_the_quickest_motion_touches_a_limit_and_exceeds_none(goal, velocity, acceleration):
    way = JointTrajectory.within(np.zeros(len(goal)), goal, velocity, acceleration)
    times = np.linspace(0, way.duration, 2001)
    fastest = max(np.abs(way.at(t).v).max() for t in times)
    hardest = max(np.abs(way.at(t).a).max() for t in times)
    assert fastest <= velocity * (1 + 1e-9)
    assert hardest <= acceleration * (1 + 1e-9)
    if np.abs(goal).max() > 1e-3:
        assert max(fastest / velocity, hardest / acceleration) > 0.999


def test_the_tip_goes_straight_and_turns_about_one_axis():
    rng = np.random.default_rng(0)
    first, last = Rotation.random(2, random_state=rng)
    start = Pose(np.array([0.1, 0.2, 0.3]), first.as_matrix())
    goal = Pose(np.array([-0.4, 0.5, 0.1]), last.as_matrix())
    way = TipTrajectory(start, goal, 2.0)
    np.testing.assert_allclose(way.at(0).pose.rotation, start.rotation, atol=1e-12)
    np.testing.assert_allclose(way.at(2).pose.rotation, goal.rotation, atol=1e-9)
    np.testing.assert_allclose(way.at(2).pose.position, goal.position, atol=1e-12)
    middle = way.at(1.0).pose
    half = Rotation.from_rotvec(0.5 * (last * first.inv()).as_rotvec()) * first
    np.testing.assert_allclose(middle.rotation, half.as_matrix(), atol=1e-9)
    np.testing.assert_allclose(middle.position, (start.position + goal.position) / 2, atol=1e-12)
    h = 1e-5
    for time in (0.3, 1.0, 1.6):
        before, here, after = (way.at(time + k * h) for k in (-1, 0, 1))
        moving = (after.pose.position - before.pose.position) / (2 * h)
        turned = Rotation.from_matrix(after.pose.rotation @ before.pose.rotation.T)
        np.testing.assert_allclose(here.twist[:3], moving, atol=1e-8)
        np.testing.assert_allclose(here.twist[3:], turned.as_rotvec() / (2 * h), atol=1e-7)
        speeding = (after.twist - before.twist) / (2 * h)
        np.testing.assert_allclose(here.acceleration, speeding, atol=1e-7)


def test_bad_input_is_named():
    pose = Pose(np.zeros(3), np.eye(3))
    for call, message in (
        (lambda: JointTrajectory([0, 1], [0], 1), "goal must have shape"),
        (lambda: JointTrajectory([0], [math.nan], 1), r"goal\[0\]"),
        (lambda: JointTrajectory([0], [1], 0), "duration"),
        (lambda: JointTrajectory.within([0], [1], 0), "velocity"),
        (lambda: JointTrajectory([0], [1], 1).at(math.nan), "time"),
        (lambda: TipTrajectory(pose, Pose(np.zeros(2), np.eye(3)), 1), "goal.position"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
