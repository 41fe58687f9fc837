"""Kinematic chains of any compiled MuJoCo model: state ports, dynamics, control, scenes."""

from tendon_gym.chains.actuators import CtrlMode
from tendon_gym.chains.chain import Chain
from tendon_gym.chains.inverse_kinematics import IkOptions, IkSolution, InverseKinematics
from tendon_gym.chains.laws import JointImpedance, OperationalSpace, gravity_compensation
from tendon_gym.chains.lifetimes import retire
from tendon_gym.chains.robot import Robot
from tendon_gym.chains.scene import Scene
from tendon_gym.chains.segments import Pose
from tendon_gym.chains.soft_arm import SoftArm
from tendon_gym.chains.specs import (
    ActuatorSpec,
    AttachmentSpec,
    RobotSpec,
    SceneObject,
    SceneSpec,
    TableSpec,
)
from tendon_gym.chains.trajectories import JointPoint, JointTrajectory, TipPoint, TipTrajectory
from tendon_gym.chains.urdf import load_urdf

__all__ = [
    "ActuatorSpec",
    "AttachmentSpec",
    "Chain",
    "CtrlMode",
    "IkOptions",
    "IkSolution",
    "InverseKinematics",
    "JointImpedance",
    "JointPoint",
    "JointTrajectory",
    "OperationalSpace",
    "Pose",
    "Robot",
    "RobotSpec",
    "Scene",
    "SceneObject",
    "SceneSpec",
    "SoftArm",
    "TableSpec",
    "TipPoint",
    "TipTrajectory",
    "gravity_compensation",
    "load_urdf",
    "retire",
]
