"""Small robots as files, and where the real ones are."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tendon_gym.chains.specs import AttachmentSpec, RobotSpec, SceneObject

TILT = (0.9, 0.2, -0.3, 0.25)

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <option timestep="0.005" integrator="implicitfast" impratio="3"/>
  <worldbody>
    <body name="base">
      <geom name="base" type="cylinder" size="0.05 0.05" mass="2" contype="0" conaffinity="0"/>
      <body name="upper" pos="0 0 0.1">
        <joint name="shoulder" axis="0 1 0" range="-2 2" limited="true" actuatorfrcrange="-40 40"
          damping="1"/>
        <geom name="upper" type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" mass="1.5"/>
        <body name="fore" pos="0 0 0.3">
          <joint name="elbow" axis="0 1 0" damping="1"/>
          <geom name="fore" type="capsule" fromto="0 0 0 0 0 0.2" size="0.03" mass="1"/>
          <body name="flange" pos="0 0 0.2"><site name="tcp" pos="0 0 0.05"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><position name="elbow_servo" joint="elbow" kp="300" kv="20"/></actuator>
  {keyframe}
</mujoco>
"""
KEYFRAME = '<keyframe><key name="home" qpos="0.5 -0.7" ctrl="-0.7"/></keyframe>'

MOUNT = """
<mujoco model="mount">
  <worldbody><body name="plate"><geom size="0.02" mass="0.1"/></body></worldbody>
</mujoco>
"""

TOOL = """
<mujoco model="tool">
  <worldbody>
    <body name="hand">
      <inertial pos="0.02 -0.01 0.06" mass="0.7" diaginertia="0.001 0.001 0.001"/>
      <geom name="palm" type="box" size="0.03 0.03 0.03"/>
      <site name="sensor" quat="0.9 0.1 -0.3 0.2"/>
      <body name="finger" pos="0 0 0.05">
        <joint name="grip" type="slide" axis="1 0 0" range="0 0.04" limited="true"/>
        <geom name="finger" type="box" size="0.005 0.01 0.03" mass="0.05"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="grip" joint="grip" kp="100" kv="5"/></actuator>
  <sensor><force name="f" site="sensor"/><torque name="t" site="sensor"/></sensor>
</mujoco>
"""


def write_files(folder: Path) -> dict[str, str]:
    """Write the small robots to a folder and return their paths by name."""
    texts = {
        "arm": ARM.format(keyframe=""),
        "keyed": ARM.format(keyframe=KEYFRAME),
        "mount": MOUNT,
        "tool": TOOL,
    }
    for name, text in texts.items():
        (folder / f"{name}.xml").write_text(text, encoding="utf-8")
    return {name: str(folder / f"{name}.xml") for name in texts}


def packaged(distribution: str, ending: str) -> Path:
    """Return a file of an installed distribution, or skip the test."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed")
    return Path(next(file.locate() for file in files if str(file).endswith(ending))).resolve()


URDFS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "jaco": "kinova_description/robots/kinova.urdf",
}


def real_urdf(name: str) -> tuple[Path, str]:
    """Return a URDF file and the folder that its packages are in."""
    path = packaged("example-robot-data", URDFS[name])
    return path, str(path.parents[4])


def rotation(quaternion):
    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, np.array(quaternion) / np.linalg.norm(quaternion))
    return flat.reshape(3, 3)


def armed(files, **changes):
    """Return an arm with a mount and a tool on it."""
    tool = AttachmentSpec(
        files["tool"], "m_plate", "t_", position=(0, 0, 0.01), quaternion=(1, 0, 0, 1)
    )
    chain = (AttachmentSpec(files["mount"], "flange", "m_", position=(0, 0, 0.02)), tool)
    return RobotSpec(files["arm"], attachments=chain, **changes)


def dice(*names, **changes):
    return tuple(
        SceneObject(name, "box", (0.02, 0.03, 0.04), (k, 1.0, 0.5), **changes)
        for k, name in enumerate(names)
    )
