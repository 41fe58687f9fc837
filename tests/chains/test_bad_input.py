"""What chains, laws, trajectories and soft arms refuse, by the name of what is wrong."""

from __future__ import annotations

import copy
import pickle

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import (
    InverseKinematics,
    JointImpedance,
    JointTrajectory,
    OperationalSpace,
    Pose,
    Robot,
    SoftArm,
    TipTrajectory,
    retire,
)
from tests.chains.arms import simulation

HERE = Pose(np.zeros(3), np.eye(3))
NO_ROTATIONS = [np.zeros((3, 3)), 3.0 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.ones((3, 3))]


@pytest.fixture
def robot():
    model, data = simulation()
    return Robot.from_mjcf(model, data, "base", "slider")


@pytest.mark.parametrize("axes", NO_ROTATIONS)
def test_rotations_are_rotations_everywhere(robot, axes):
    chain, bad = robot.chain, Pose(np.zeros(3), axes)
    q = np.zeros(chain.n_joints)
    with pytest.raises(ValueError, match="rotation must be a rotation matrix"):
        chain.base_motion(axes)
    for start, goal, name in ((bad, HERE, "start"), (HERE, bad, "goal")):
        with pytest.raises(ValueError, match=f"{name}.rotation must be a rotation matrix"):
            TipTrajectory(start, goal, 1.0)
    with pytest.raises(ValueError, match=r"wanted\.rotation must be a rotation matrix"):
        OperationalSpace(chain, 10.0).torques(q, q, bad)
    with pytest.raises(ValueError, match="rotation must be a rotation matrix"):
        InverseKinematics(chain).solve(np.zeros(3), axes)


@pytest.mark.parametrize("v", [[np.nan, 0, 0], 0.5, [1.0], np.zeros((3, 1)), [True, False, True]])
def test_velocities_of_an_impedance_are_checked_though_no_dynamics_read_them(robot, v):
    law = JointImpedance(robot.chain, 10.0, 1.0)
    with pytest.raises((TypeError, ValueError), match=r"v(\[0\])? must"):
        law.torques(np.zeros(3), v, np.zeros(3))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda r: JointImpedance("x", 10, 1), "chain must be a Chain"),
        (lambda r: OperationalSpace(r, 10), "chain must be a Chain"),
        (lambda r: Robot("x", r.data), "chain must be a Chain"),
        (lambda r: TipTrajectory("a", HERE, 1.0), "start must be a Pose"),
        (lambda r: TipTrajectory(HERE, ([0, 0, 0], np.eye(3)), 1.0), "goal must be a Pose"),
        (
            lambda r: OperationalSpace(r.chain, 10).torques(np.zeros(3), np.zeros(3), None),
            "wanted must be a Pose",
        ),
        (lambda r: JointTrajectory.within([0, 0], [1, 1], "fast"), "velocity must be one number"),
        (lambda r: JointTrajectory.within([0, 0], [1, 1], True), "velocity must be one number"),
        (lambda r: JointTrajectory.within([0, 0], [1, 1], [1, 2, 3]), "one for each of 2 joints"),
        (lambda r: JointTrajectory.within([0, 0], [0, 1], np.inf), "joint 1 must have a finite"),
        (lambda r: setattr(r, "paused", "no"), "paused must be True or False"),
        (lambda r: retire("x", "y"), "model must be a mujoco.MjModel, got 'x'"),
        (lambda r: retire(r.model, 3), "reason must be a string, got 3"),
        (lambda r: copy.deepcopy(r), "a Robot can't be copied"),
        (lambda r: copy.copy(r), "a Robot can't be copied"),
        (lambda r: pickle.dumps(r), "a Robot can't be pickled"),
    ],
)
def test_it_is_said_what_is_wrong(robot, make, name):
    with pytest.raises((TypeError, ValueError), match=name):
        make(robot)


def test_poses_of_batches_are_those_of_their_elements():
    rng = np.random.default_rng(0)
    for count in (1, 3, 4):
        turns = np.array([mujoco_rotation(rng.normal(size=4)) for _ in range(count)])
        batch = Pose(rng.normal(size=(count, 3)), turns)
        outer = Pose(rng.normal(size=3), mujoco_rotation(rng.normal(size=4)))
        for k in range(count):
            one = Pose(batch.position[k], batch.rotation[k])
            for whole, single in (
                (outer @ batch, outer @ one),
                (batch @ outer, one @ outer),
                (batch @ batch, one @ one),
                (batch.inverse, one.inverse),
            ):
                np.testing.assert_allclose(whole.position[k], single.position, atol=1e-14)
                np.testing.assert_allclose(whole.rotation[k], single.rotation, atol=1e-14)
            point = one.rotation @ outer.position + one.position
            np.testing.assert_allclose((one @ outer).position, point, atol=1e-14)
            np.testing.assert_allclose((one @ one.inverse).position, np.zeros(3), atol=1e-14)


def mujoco_rotation(quaternion):
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion / np.linalg.norm(quaternion))
    return matrix.reshape(3, 3)


ARM = """
<mujoco><option gravity="0 0 {gravity}"/><worldbody><site name="world"/>
  <body name="base"><site name="root"/><site name="a0" pos=".05 0 0"/>
    <body name="link" pos="0 0 .1"><joint name="a" axis="0 1 0" stiffness="{stiffness}"/>
      <geom size=".02" pos="0 0 .3" mass=".1"/><site name="tip" pos="0 0 .3"/>
      <site name="a1" pos=".05 0 .2"/></body></body></worldbody>
  <tendon><spatial><site site="a0"/><site site="a1"/></spatial></tendon></mujoco>"""


def soft(stiffness=1.0, gravity=0.0, **options):
    model = mujoco.MjModel.from_xml_string(ARM.format(stiffness=stiffness, gravity=gravity))
    return SoftArm(model, "base", options.pop("tip", "tip"), **options)


def test_an_arm_without_stiffness_ends_its_search():
    """It used to search for ever: nothing tells it where to rest."""
    with pytest.raises(ValueError, match="the arm finds no rest"):
        soft(stiffness=0.0).rest([0.0])


def test_tendons_without_names_are_those_of_the_model_all_the_same():
    """Torque -T dL/dq against stiffness q: the rest is where they are equal."""
    arm = soft()
    q = arm.rest([0.5])
    assert arm.energy_slope(q, [0.5]) == pytest.approx([0.0], abs=1e-9)
    assert abs(q[0]) > 1e-3


@pytest.mark.parametrize("site", ["world", "root"])
def test_a_tip_is_on_the_arm(site):
    with pytest.raises(ValueError, match=f"tip_site '{site}' must be on the arm"):
        soft(tip=site)


@pytest.mark.parametrize(
    ("tendons", "words"),
    [("tt", "list of names"), (3, "list of names"), ([3], "must be a name"), (["t"], "no tendon")],
)
def test_tendons_are_a_list_of_names(tendons, words):
    with pytest.raises((TypeError, ValueError), match=words):
        soft(tendons=tendons)


def test_a_tendon_counts_once():
    text = ARM.replace("<spatial>", '<spatial name="t">').format(stiffness=1, gravity=0)
    with pytest.raises(ValueError, match="tendons must be names of different tendons"):
        SoftArm(mujoco.MjModel.from_xml_string(text), "base", "tip", ["t", "t"])
    with pytest.raises(TypeError, match=r"model must be a mujoco.MjModel, got 'm'"):
        SoftArm("m", "base", "tip")


def test_values_of_an_arm_are_named():
    arm = soft()
    with pytest.raises(ValueError, match=r"before\[0\] must be"):
        arm.rest([0.0], before=[-1.0])
    with pytest.raises(ValueError, match=r"largest must have shape \(1\)"):
        arm.tensions_for([0.0, 0.0, 0.4], [1.0, 2.0])
