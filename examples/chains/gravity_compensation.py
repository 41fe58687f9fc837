"""An arm that weighs nothing: its joints get just the torques that hold it where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tendon_gym.chains import AttachmentSpec, CtrlMode, Robot, RobotSpec, Scene, SceneSpec
from tendon_gym.chains import gravity_compensation as compensate

MODELS = Path(__file__).parent / "models"
HOME = {"joint_2": 0.5, "joint_4": 1.6, "joint_6": 1.04}


def run(seconds: float = 2.0, known_tool: bool = True) -> float:
    """Let go of the arm and return how far its tip drifts, m.

    Args:
        seconds: how long it is left alone.
        known_tool: whether the gripper's weight is known to the chain.
    """
    gripper = AttachmentSpec(str(MODELS / "gripper.xml"), "flange", "gripper_")
    arm = RobotSpec(str(MODELS / "arm.xml"), attachments=(gripper,), home=HOME)
    scene = Scene(SceneSpec((arm,)))
    tool = "gripper_hand" if known_tool else None
    robot = Robot.from_mjcf(
        scene.model, scene.data, "base", "flange", tool_body=tool, mode=CtrlMode.TORQUE
    )
    start = scene.body_frame("flange").position
    for _ in range(round(seconds / scene.model.opt.timestep)):
        robot.update()  # measures
        robot.jnt_trq_cmd = compensate(robot.chain, robot.jnt_pos_msr)
        robot.update()  # commands
        robot.step()
    return float(np.linalg.norm(scene.body_frame("flange").position - start))


def main() -> None:
    """Compare the drift with and without the gripper's weight."""
    print(f"drift of the tip in 2 s: {run():.2e} m")
    print(f"without the gripper's weight: {run(known_tool=False):.3f} m")


if __name__ == "__main__":
    main()
