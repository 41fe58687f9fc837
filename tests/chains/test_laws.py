from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tendon_gym.chains import CtrlMode, Robot
from tendon_gym.chains.laws import JointImpedance, OperationalSpace, gravity_compensation
from tendon_gym.chains.segments import Pose
from tendon_gym.chains.trajectories import JointTrajectory, TipTrajectory

AXES = ([0, 0, 1], [0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, 1], [0, -1, 0], [0, 0, 1])
HOME = np.array([0.2, 0.5, -0.1, 1.4, 0.2, 1.0, 0.3])


def arm(timestep=1e-3):
    """Return a robot of seven hinges on a tilted base, in TORQUE mode, at home."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    body = spec.worldbody.add_body(name="base", quat=[0.9, 0.3, -0.2, 0.1])
    for k, axis in enumerate(AXES):
        body = body.add_body(name=f"link_{k}", pos=[0, 0, 0.25 if k else 0.1])
        body.add_joint(name=f"joint_{k}", axis=axis, armature=0.01)
        geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.04, 0.03, 0.1])
        geom.pos, geom.mass = [0.01, 0, 0.1], 2.0 - 0.2 * k
        geom.contype = geom.conaffinity = 0
    body.add_site(name="tcp", pos=[0, 0, 0.15])
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = HOME
    robot = Robot.from_mjcf(
        model, data, "base", f"link_{len(AXES) - 1}", tip_site="tcp", mode=CtrlMode.TORQUE
    )
    return robot


def run(robot, law, seconds):
    """Step with torques from law(time, q, v); yield time, q and v at each step, before it."""
    for k in range(round(seconds / robot.model.opt.timestep)):
        q, v = robot.data.qpos.copy(), robot.data.qvel.copy()
        time = k * robot.model.opt.timestep
        yield time, q, v
        robot.jnt_trq_cmd = law(time, q, v)
        robot.update()
        robot.step()


def test_gravity_compensation_keeps_the_arm_still():
    robot = arm()
    start = robot.chain.forward_kinematics(HOME).position
    for _ in run(robot, lambda t, q, v: gravity_compensation(robot.chain, q), 0.5):
        pass
    away = robot.chain.forward_kinematics(robot.data.qpos).position - start
    assert np.abs(away).max() < 1e-6


def test_joint_impedance_gives_way_like_a_spring():
    robot = arm()
    law = JointImpedance(robot.chain, 80.0, 20.0)
    push = np.array([1.0, -2.0, 0.5, 1.0, -0.5, 0.3, 0.2])
    for _ in run(robot, lambda t, q, v: law.torques(q, v, HOME) + push, 6.0):
        pass
    np.testing.assert_allclose(robot.data.qpos - HOME, push / 80.0, atol=1e-4)


def test_joint_impedance_follows_a_trajectory():
    robot = arm()
    goal = HOME + np.array([0.5, -0.4, 0.6, -0.5, 0.4, 0.3, -1.0])
    way = JointTrajectory(HOME, goal, 1.0)
    law = JointImpedance(robot.chain, 100.0, 20.0)
    worst = 0.0
    for time, q, _ in run(robot, lambda t, q, v: law.torques(q, v, *way.at(t)), 1.2):
        worst = max(worst, np.abs(q - way.at(time).q).max())
    assert worst < 2e-3  # the torque is held for a step of 1 ms


def test_the_energy_of_the_impedance_never_grows():
    """Paden and Panja's: v^T M v + e^T K e falls, whatever the stiffness."""
    robot = arm()
    rng = np.random.default_rng(0)
    stiffness, damping = rng.uniform(5, 100, 7), rng.uniform(1, 4, 7)
    law = JointImpedance(robot.chain, stiffness, damping)
    robot.data.qvel[:] = rng.normal(size=7)
    goal = HOME + rng.normal(scale=0.3, size=7)
    energies = [
        v @ robot.chain.mass_matrix(q) @ v + stiffness @ (q - goal) ** 2
        for _, q, v in run(robot, lambda t, q, v: law.torques(q, v, goal), 1.0)
    ]
    assert np.diff(energies).max() < 1e-4 * energies[0]
    assert energies[-1] < 0.3 * energies[0]


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_tips_error_falls_as_an_oscillators(ratio):
    """e'' + 2 z w e' + w^2 e = 0 in position; the closed form of the underdamped and critical."""
    robot = arm()
    omega = 6.0
    law = OperationalSpace(robot.chain, omega, ratio, regularisation=0.0)
    start = robot.chain.forward_kinematics(HOME)
    off = np.array([0.05, -0.04, 0.06])
    wanted = Pose(start.position + off, start.rotation)
    decay = ratio * omega
    swing = omega * math.sqrt(1 - ratio**2)
    for time, q, _ in run(robot, lambda t, q, v: law.torques(q, v, wanted), 1.0):
        ring = 1 + decay * time
        if swing:
            ring = math.cos(swing * time) + decay / swing * math.sin(swing * time)
        left = math.exp(-decay * time) * ring * off
        have = robot.chain.forward_kinematics(q)
        np.testing.assert_allclose(wanted.position - have.position, left, atol=1.5e-3)
        turned = Rotation.from_matrix(have.rotation.T @ start.rotation).magnitude()
        assert turned < 5e-3


def test_the_tip_follows_a_trajectory_with_its_turn():
    robot = arm()
    law = OperationalSpace(robot.chain, 15.0)
    start = robot.chain.forward_kinematics(HOME)
    turn = Rotation.from_rotvec([0.3, -0.4, 0.2]).as_matrix()
    goal = Pose(start.position + np.array([0.1, 0.12, -0.08]), turn @ start.rotation)
    way = TipTrajectory(start, goal, 1.0)
    for time, q, _ in run(robot, lambda t, q, v: law.torques(q, v, *way.at(t)), 1.3):
        have, there = robot.chain.forward_kinematics(q), way.at(time).pose
        assert np.abs(have.position - there.position).max() < 1e-3
        assert Rotation.from_matrix(have.rotation.T @ there.rotation).magnitude() < 3e-3


def test_the_posture_moves_the_joints_but_not_the_tip():
    robot = arm()
    law = OperationalSpace(robot.chain, 15.0, posture_frequency=4.0, regularisation=0.0)
    start = robot.chain.forward_kinematics(HOME)
    null = np.linalg.svd(robot.chain.jacobian(HOME))[2][6]
    posture = HOME + 0.7 * null
    distances = []
    for _, q, _ in run(robot, lambda t, q, v: law.torques(q, v, start, posture=posture), 3.0):
        have = robot.chain.forward_kinematics(q)
        assert np.abs(have.position - start.position).max() < 1e-3
        distances.append(np.sum((q - posture) ** 2))
    assert distances[-1] < 0.3 * distances[0]
    # What is left is held by a wrench at the tip: no way downhill keeps the pose.
    jacobian = robot.chain.jacobian(robot.data.qpos)
    null = np.linalg.svd(jacobian)[2][6:]
    weighted = robot.chain.mass_matrix(robot.data.qpos) @ (posture - robot.data.qpos)
    assert np.abs(null @ weighted).max() < 0.02 * np.linalg.norm(weighted)


def test_the_position_alone_leaves_the_turn_free():
    robot = arm()
    law = OperationalSpace(robot.chain, 10.0)
    start = robot.chain.forward_kinematics(HOME)
    wanted = Pose(start.position + np.array([0.05, 0.0, 0.05]), np.eye(3))

    def torques(time, q, v):
        return law.torques(q, v, wanted, position_only=True) - 0.5 * v

    for _ in run(robot, torques, 2.0):
        pass
    have = robot.chain.forward_kinematics(robot.data.qpos)
    np.testing.assert_allclose(have.position, wanted.position, atol=2e-3)


def test_bad_input_is_named():
    chain = arm().chain
    law = OperationalSpace(chain, 1.0)
    pose = chain.forward_kinematics(HOME)
    for call, message in (
        (lambda: JointImpedance(chain, -1, 1), "stiffness"),
        (lambda: JointImpedance(chain, [1] * 6, 1), "stiffness must have shape"),
        (lambda: JointImpedance(chain, 1, math.nan), "damping"),
        (lambda: JointImpedance(chain, 1, 1).torques(HOME, 0 * HOME, [0]), "wanted_q"),
        (lambda: OperationalSpace(chain, [1] * 5), "frequency must have shape"),
        (lambda: OperationalSpace(chain, 1, -1), "damping_ratio"),
        (lambda: law.torques(HOME, 0 * HOME, pose, twist=[0] * 3), "twist must have shape"),
        (lambda: law.torques(HOME, 0 * HOME, pose, posture=[0] * 3), "posture must have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
