"""An arm on springs: how far the tip gives way to a push, as predicted and as it happens."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tendon_gym.chains import CtrlMode, JointImpedance, Robot, RobotSpec, Scene, SceneSpec

MODELS = Path(__file__).parent / "models"
HOME = {"joint_2": 0.5, "joint_4": 1.6, "joint_6": 1.04}
STIFFNESS = np.array([300.0, 300.0, 300.0, 300.0, 100.0, 100.0, 50.0])
DAMPING = np.array([30.0, 30.0, 30.0, 20.0, 8.0, 8.0, 4.0])
PUSH = np.array([4.0, -3.0, 2.0])


def run(seconds: float = 6.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Push the flange for a while.

    Returns:
        How the tip moved (3,), m; how it should have, by J K^-1 J^T; and what the force sensor in
        the flange reads beyond the flange's own weight (3,), N, in the world's axes.
    """
    arm = RobotSpec(str(MODELS / "arm.xml"), home=HOME, force_torque=("flange",))
    scene = Scene(SceneSpec((arm,)))
    robot = Robot.from_mjcf(scene.model, scene.data, "base", "flange", mode=CtrlMode.TORQUE)
    law = JointImpedance(robot.chain, STIFFNESS, DAMPING)
    home = robot.jnt_pos_msr.copy()
    start = scene.body_frame("flange").position
    jacobian = robot.chain.jacobian(home)[:3]  # the base stands as the world does
    expected = jacobian @ (jacobian.T @ PUSH / STIFFNESS)
    scene.data.xfrc_applied[scene.model.body("flange").id, :3] = PUSH
    for _ in range(round(seconds / scene.model.opt.timestep)):
        robot.update()  # measures
        robot.jnt_trq_cmd = law.torques(robot.jnt_pos_msr, robot.jnt_vel_msr, home)
        robot.update()  # commands
        robot.step()
    moved = scene.body_frame("flange").position - start
    felt = scene.site_frame("flange_ft").rotation @ scene.wrench("flange_ft")[:3]
    return moved, expected, felt


def main() -> None:
    """Print all three."""
    moved, expected, felt = run()
    print(f"push {PUSH} N: the tip moved by {1e3 * moved} mm, {1e3 * expected} expected")
    print(f"the sensor feels {felt} N")


if __name__ == "__main__":
    main()
