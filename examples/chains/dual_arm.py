"""Two arms in one model, each on its own chain, draw circles with their tips in step."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from tendon_gym.chains import (
    AttachmentSpec,
    CtrlMode,
    OperationalSpace,
    Pose,
    Robot,
    RobotSpec,
    Scene,
    SceneSpec,
)

MODELS = Path(__file__).parent / "models"
HOME = {"joint_2": 0.5, "joint_4": 1.6, "joint_6": 1.04}
RADIUS = 0.06
TURN = 2.0 * math.pi / 2.0


def circle(start: Pose, time: float) -> tuple[Pose, np.ndarray, np.ndarray]:
    """Return pose, twist and acceleration on a circle that begins softly at `start`."""
    ease = 1.0 - math.exp(-2.0 * time) * (1.0 + 2.0 * time)
    rate = 4.0 * time * math.exp(-2.0 * time)
    bend = 4.0 * (1.0 - 2.0 * time) * math.exp(-2.0 * time)
    angle = TURN * time
    out = np.array([0.0, math.sin(angle), math.cos(angle) - 1.0])
    along = TURN * np.array([0.0, math.cos(angle), -math.sin(angle)])
    inwards = TURN**2 * np.array([0.0, -math.sin(angle), -math.cos(angle)])
    twist, acceleration = np.zeros(6), np.zeros(6)
    twist[:3] = RADIUS * (rate * out + ease * along)
    acceleration[:3] = RADIUS * (bend * out + 2.0 * rate * along + ease * inwards)
    return Pose(start.position + RADIUS * ease * out, start.rotation), twist, acceleration


def run(seconds: float = 4.0) -> list[float]:
    """Return the largest error of each tip, m."""
    gripper = AttachmentSpec(str(MODELS / "gripper.xml"), "flange", "gripper_")
    arms = tuple(
        RobotSpec(str(MODELS / "arm.xml"), side, place, turn, (gripper,), home=HOME)
        for side, place, turn in (
            ("left_", (0.0, 0.4, 0.0), (1.0, 0.0, 0.0, 0.0)),
            ("right_", (0.0, -0.4, 0.2), (0.95, 0.2, 0.0, 0.2)),  # on a slanted stand
        )
    )
    scene = Scene(SceneSpec(arms))
    robots = [
        Robot.from_mjcf(
            scene.model, scene.data, "base", "flange", arm.prefix, "gripper_hand",
            mode=CtrlMode.TORQUE,
        )
        for arm in arms
    ]  # fmt: skip
    laws = [OperationalSpace(robot.chain, 20.0, posture_frequency=2.0) for robot in robots]
    homes = [robot.jnt_pos_msr.copy() for robot in robots]
    starts = [
        robot.chain.forward_kinematics(home) for robot, home in zip(robots, homes, strict=True)
    ]
    worst = [0.0] * len(robots)
    for step in range(round(seconds / scene.model.opt.timestep)):
        time = step * scene.model.opt.timestep
        for k, robot in enumerate(robots):
            robot.update()  # measures
            q, v = robot.jnt_pos_msr, robot.jnt_vel_msr
            wanted = circle(starts[k], time)
            robot.jnt_trq_cmd = laws[k].torques(q, v, *wanted, posture=homes[k])
            robot.update()  # commands
            away = robot.chain.forward_kinematics(q).position - wanted[0].position
            worst[k] = max(worst[k], float(np.linalg.norm(away)))
        robots[0].step()  # one step for both: they share the simulation
    return worst


def main() -> None:
    """Print the errors."""
    left, right = run()
    print(f"largest error of the tips: left {1e3 * left:.2f} mm, right {1e3 * right:.2f} mm")


if __name__ == "__main__":
    main()
