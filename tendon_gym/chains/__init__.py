"""Kinematic chains of any compiled MuJoCo model."""

from tendon_gym.chains.actuators import CtrlMode
from tendon_gym.chains.chain import Chain
from tendon_gym.chains.lifetimes import retire
from tendon_gym.chains.robot import Robot
from tendon_gym.chains.segments import Pose

__all__ = ["Chain", "CtrlMode", "Pose", "Robot", "retire"]
