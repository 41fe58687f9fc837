"""An arm with a gripper takes a cube off a table, lifts it and puts it down elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tendon_gym.chains import (
    AttachmentSpec,
    CtrlMode,
    InverseKinematics,
    JointImpedance,
    JointTrajectory,
    Robot,
    RobotSpec,
    Scene,
    SceneObject,
    SceneSpec,
    TableSpec,
)

MODELS = Path(__file__).parent / "models"
HOME = {"joint_2": 0.3, "joint_4": 1.6, "joint_6": 1.24}
OPEN, CLOSED = 0.04, 0.0
DOWN = np.diag([-1.0, 1.0, -1.0])
CUBE = np.array([0.5, 0.1, 0.12])
GOAL = np.array([0.45, -0.2, 0.12])
ABOVE = np.array([0.0, 0.0, 0.15])


class Picker:
    """The scene, the robot in it, and what moves it along trajectories."""

    def __init__(self) -> None:
        gripper = AttachmentSpec(str(MODELS / "gripper.xml"), "flange", "gripper_")
        arm = RobotSpec(str(MODELS / "arm.xml"), attachments=(gripper,), home=HOME)
        table = TableSpec(position=(0.5, 0.0, 0.1), half_size=(0.2, 0.4))
        cube = SceneObject("cube", "box", (0.02, 0.02, 0.02), tuple(CUBE), condim=4)
        self.scene = Scene(SceneSpec((arm,), table, (cube,)))
        self.robot = Robot.from_mjcf(
            self.scene.model, self.scene.data, "base", "flange",
            tool_body="gripper_hand", mode=CtrlMode.TORQUE,
        )  # fmt: skip
        self.law = JointImpedance(self.robot.chain, 600.0, 40.0)
        self.solver = InverseKinematics(self.robot.chain)
        self.q = self.robot.jnt_pos_msr.copy()
        tip, flange = self.scene.site_frame("gripper_tcp"), self.scene.body_frame("flange")
        self._reach = flange.rotation.T @ (tip.position - flange.position)

    def go(self, point: np.ndarray, seconds: float = 1.0) -> None:
        """Bring the point between the fingers to a point on the world, pointing down."""
        found = self.solver.solve(point - DOWN @ self._reach, DOWN, guess=self.q, posture=self.q)
        if not found.reached:
            raise RuntimeError(f"{point} is {found.position_error:.3f} m out of reach")
        self.follow(JointTrajectory(self.q, found.q, seconds))
        self.q = found.q

    def grip(self, opening: float) -> None:
        """Open or close the fingers, and wait."""
        self.scene.data.actuator("gripper_fingers").ctrl[0] = opening
        self.follow(JointTrajectory(self.q, self.q, 0.5))

    def follow(self, way: JointTrajectory) -> None:
        """Follow a trajectory to its end."""
        robot, timestep = self.robot, self.scene.model.opt.timestep
        for step in range(round(way.duration / timestep)):
            robot.update()  # measures
            q, v = robot.jnt_pos_msr, robot.jnt_vel_msr
            robot.jnt_trq_cmd = self.law.torques(q, v, *way.at(step * timestep))
            robot.update()  # commands
            robot.step()


def run() -> tuple[float, np.ndarray]:
    """Return how high the cube was lifted, m, and where it is in the end (3,)."""
    picker = Picker()
    picker.grip(OPEN)
    picker.go(CUBE + ABOVE)
    picker.go(CUBE)
    picker.grip(CLOSED)
    picker.go(CUBE + ABOVE)
    lifted = picker.scene.body_frame("cube").position[2] - CUBE[2]
    picker.go(GOAL + ABOVE)
    picker.go(GOAL)
    picker.grip(OPEN)
    picker.go(GOAL + ABOVE)
    return float(lifted), picker.scene.body_frame("cube").position


def main() -> None:
    """Print how it went."""
    lifted, end = run()
    print(f"the cube was lifted by {100 * lifted:.1f} cm and is now at {end} m")


if __name__ == "__main__":
    main()
