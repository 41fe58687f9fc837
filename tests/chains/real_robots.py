"""Models of real robots, out of packages that hold them: none of them is needed by tendon_gym."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import mujoco
import pytest


@dataclass(frozen=True)
class RealRobot:
    """A robot's file, and a chain of it."""

    name: str
    file: str
    base: str
    tip: str
    joints: int


URDF = (
    RealRobot("Panda", "panda_description/urdf/panda.urdf", "world", "panda_hand", 7),
    RealRobot("UR5", "ur_description/urdf/ur5_robot.urdf", "world", "wrist_3_link", 6),
    RealRobot("Jaco", "kinova_description/robots/kinova.urdf", "world", "j2s6s200_link_6", 6),
)
MJCF = (
    RealRobot("Fetch", "fetch/reach.xml", "robot0:base_link", "robot0:gripper_link", 8),
    RealRobot("Fetch's arm", "fetch/reach.xml", "robot0:torso_lift_link", "robot0:gripper_link", 7),
    RealRobot("Shadow Hand's finger", "hand/reach.xml", "robot0:forearm", "robot0:ffdistal", 6),
    RealRobot("Shadow Hand's thumb", "hand/reach.xml", "robot0:palm", "robot0:thdistal", 5),
)


@functools.cache
def urdf_text(robot):
    """Return a robot's URDF without shapes: only inertias are needed, and no mesh is read."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    path = next(file for file in files if str(file).endswith(robot.file))
    root = ET.fromstring(Path(str(path.locate())).read_text(encoding="utf-8"))
    for link in root.iter("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    settings = {"fusestatic": "false", "balanceinertia": "false"}
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", settings)
    return ET.tostring(root, encoding="unicode")


def load_spec(robot):
    """Return a robot's model, still to be compiled."""
    if robot in URDF:
        return mujoco.MjSpec.from_string(urdf_text(robot))
    found = importlib.util.find_spec("gymnasium_robotics")
    if found is None or found.origin is None:
        pytest.skip("gymnasium-robotics is not installed")
    return mujoco.MjSpec.from_file(str(Path(found.origin).parent / "envs" / "assets" / robot.file))


def load(robot):
    """Return a robot's model."""
    return load_spec(robot).compile()
