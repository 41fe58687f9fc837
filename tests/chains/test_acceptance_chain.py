"""Checks 1 to 10, 16 and 17 of the chain: kinematics and dynamics, against MuJoCo and Pinocchio."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import Chain
from tests.chains.acceptance import SUBJECTS, Stage, stage_of
from tests.chains.comparisons import METHODS, Simulation, agree_with_differences

TOLERANCES = {
    "gravity": 1e-9,
    "bias": 1e-9,
    "forward_kinematics": 1e-12,
    "mass_matrix": 1e-9,
    "jacobian": 1e-10,
    "twist": 1e-10,
    "inverse_dynamics": 1e-8,
}


@pytest.fixture(params=SUBJECTS, ids=lambda subject: subject.name)
def subject(request):
    return request.param


@pytest.fixture
def stage(subject):
    return stage_of(subject)


def holds(stage):
    """Hold the chain to everything of `TOLERANCES`."""
    for name, tolerance in TOLERANCES.items():
        assert stage.worst(name) < tolerance, name


def off(ours, theirs):
    return np.abs(ours - theirs).max()


def test_01_gravity_is_the_bias_at_rest(stage):
    assert stage.worst("gravity") < 1e-9


def test_02_coriolis_and_gravity_are_the_bias(stage):
    assert stage.worst("bias") < 1e-9
    chain = stage.chain
    for q, v, _ in stage.states():
        for oracle in stage.oracles:
            ours = chain.coriolis(q, v) @ v + chain.gravity(q)
            assert off(ours, oracle.bias(q, v)) < 1e-9


def test_03_the_pose_is_the_tips_seen_from_the_base(stage):
    assert stage.worst("forward_kinematics") < 1e-12


def test_04_the_mass_matrix_has_the_armature(stage, subject):
    assert stage.worst("mass_matrix") < 1e-9
    armed, bare = stage_of(subject, armature=0.3), stage_of(subject, armature=0.0)
    assert armed.worst("mass_matrix") < 1e-9
    q = armed.states()[:, 0]
    more = armed.chain.mass_matrix(q) - bare.chain.mass_matrix(q)
    assert off(more, 0.3 * np.eye(subject.n_joints)) < 1e-9


def test_05_the_jacobian_is_mujocos_and_the_slope_of_the_pose(stage):
    assert stage.worst("jacobian") < 1e-10
    assert stage.worst("twist") < 1e-10
    for _ in range(3):  # the other derivatives, too
        agree_with_differences(stage.chain, stage.rng)


def test_06_inverse_dynamics_with_the_other_joints_locked(stage):
    assert stage.worst("inverse_dynamics") < 1e-8
    q, v, a = np.swapaxes(stage.states(), 0, 1)
    torques = stage.chain.inverse_dynamics(q, v, a)
    again = stage.chain.forward_dynamics(q, v, torques)
    assert off(stage.chain.inverse_dynamics(q, v, again), torques) < 1e-8


def test_07_reference_positions_are_of_no_concern(subject):
    stage, without = stage_of(subject, ref=0.4), stage_of(subject, ref=0.0)
    assert (stage.model.qpos0[stage.chain.qpos_addresses] == 0.4).all()
    holds(stage)
    q = stage.states()[:, 0]
    poses = [each.chain.forward_kinematics(q).position for each in (stage, without)]
    assert off(*poses) > 0.1
    assert off(stage.chain.gravity(q), without.chain.gravity(q)) > 1.0


def test_08_gravity_is_turned_into_a_tilted_base(subject):
    stage = stage_of(subject, tilt=[0.8, 0.3, -0.5, 0.1])
    holds(stage)
    q = stage.states()[:, 0]
    unturned = stage.chain.gravity(q, stage.chain.base_motion(np.eye(3)))
    assert off(stage.chain.gravity(q), unturned) > 1.0


def test_09_the_tool_is_carried_and_refreshed(stage, subject):
    tool = stage.model.body(subject.tool).id
    bare, loaded = stage.chain_of(), stage.chain_of(tool_body=subject.tool)
    more = loaded.segments["mass"] - bare.segments["mass"]
    assert abs(more.sum() - stage.model.body_subtreemass[tool]) < 1e-12
    q = stage.states()[0, 0]
    Simulation(loaded, stage.data).put(q)
    jacobian = np.zeros((3, stage.model.nv))
    mujoco.mj_jacSubtreeCom(stage.model, stage.data, jacobian, tool)
    weight = stage.model.body_subtreemass[tool] * stage.model.opt.gravity
    missing = -(weight @ jacobian)[loaded.dof_addresses]
    assert np.abs(missing).max() > 0.1
    assert off(loaded.gravity(q) - bare.gravity(q), missing) < 1e-9
    stage.open_fingers(0.02)
    moved = Simulation(stage.chain, stage.data).mass_matrix(q)
    assert off(stage.chain.mass_matrix(q), moved) > 1e-7
    stage.chain.refresh_tool(stage.data.qpos)
    assert off(stage.chain.mass_matrix(q), moved) < 1e-12
    stage.compare()
    holds(stage)


def test_10_other_joints_are_locked_where_they_are(stage, subject):
    shut = stage.chain
    for finger in subject.fingers:
        stage.data.joint(finger).qpos[0] = 0.05
    stage.compare()
    q = stage.states()[:, 0]
    assert off(stage.chain.mass_matrix(q), shut.mass_matrix(q)) > 1e-7
    for name in ("gravity", "mass_matrix"):  # 1e-13 of what there is
        largest = np.abs(getattr(stage.chain, name)(q)).max()
        assert stage.worst(name) < 1e-13 * max(1.0, largest)


def test_16_gravity_compensation_of_the_model_is_not_taken_off(subject):
    """It is a passive force of MuJoCo's: qfrc_bias has all of gravity, and so has the chain."""
    spec = subject.spec()
    for body in spec.bodies[1:]:
        body.gravcomp = 1
    stage = Stage(spec.compile(), subject)
    assert (stage.model.body_gravcomp[1:] == 1).all()
    assert stage.worst("gravity") < 1e-9
    assert stage.worst("bias") < 1e-9


def test_17_a_tip_that_is_the_base(subject):
    model, none = subject.spec().compile(), np.zeros(0)
    for body in (subject.base, subject.tip, "world"):
        chain = Chain.from_model(model, body, body)
        pose = chain.forward_kinematics(none)
        np.testing.assert_array_equal(pose.position, 0)
        np.testing.assert_array_equal(pose.rotation, np.eye(3))
        assert chain.jacobian(none).shape == (6, 0)
        assert chain.mass_matrix(none).shape == chain.coriolis(none, none).shape == (0, 0)
        np.testing.assert_array_equal(chain.twist(none, none), np.zeros(6))
        for name, count in METHODS.items():
            if name.endswith(("dynamics", "gravity", "bias")):
                assert getattr(chain, name)(*[none] * count).shape == (0,)
                assert getattr(chain, name)(*[np.zeros((4, 0))] * count).shape == (4, 0)


def test_17_a_base_that_is_the_world(subject):
    spec = subject.spec()
    for joint in spec.body(subject.base).joints:  # Fetch's rolls on three slides
        spec.delete(joint)
    holds(Stage(spec.compile(), dataclasses.replace(subject, base="world")))


def test_17_nothing_but_slides(subject):
    stage = stage_of(subject, type=mujoco.mjtJoint.mjJNT_SLIDE)
    assert stage.chain.segments["slides"][:-1].all()
    holds(stage)


def test_17_a_single_joint(stage, subject):
    model, joint = stage.model, stage.chain.joints[-1]
    body = int(model.jnt_bodyid[joint])
    parent = int(model.body_parentid[body])
    base, tip = model.body(parent).name, model.body(body).name
    holds(Stage(model, dataclasses.replace(subject, base=base, tip=tip, n_joints=1)))
