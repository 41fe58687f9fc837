"""Arms with actuators for the tests of robots."""

from __future__ import annotations

import mujoco
import numpy as np

JOINTS = ("turn", "lift", "reach")
KINDS = {
    "position": '<position name="{p}{j}_position" joint="{p}{j}" kp="{kp}" kv="{kv}" {o}/>',
    "velocity": '<velocity name="{p}{j}_velocity" joint="{p}{j}" kv="{kv}" {o}/>',
    "motor": '<motor name="{p}{j}_motor" joint="{p}{j}" {o}/>',
    "muscle": '<muscle name="{p}{j}_muscle" joint="{p}{j}" force="10" lengthrange="0 1" {o}/>',
    "integrated": '<intvelocity name="{p}{j}_int" joint="{p}{j}" kp="10" actrange="-1 1" {o}/>',
}
BODIES = """
<body name="{p}base" pos="{x} 0 1" euler="10 20 30">
  <body name="{p}column" pos="0 0 .1">
    <joint name="{p}turn" axis="0 0 1" armature=".1" ref="20" range="-170 170"/>
    <inertial pos="0 .02 .1" mass="3" diaginertia=".02 .02 .01"/>
    <body name="{p}boom" pos="0 0 .3">
      <joint name="{p}lift" axis="0 1 0" armature=".1" {limit}/>
      <inertial pos=".2 0 0" mass="2" diaginertia=".01 .03 .03"/>
      <body name="{p}slider" pos=".4 0 0">
        <joint name="{p}reach" type="slide" axis="1 0 0" armature=".1" ref=".05"/>
        <inertial pos=".1 0 0" mass="1" diaginertia=".002 .004 .004"/>
        <body name="{p}gripper" pos=".2 0 0">
          <inertial pos=".05 0 0" mass=".5" diaginertia=".001 .001 .001"/>
          <body name="{p}finger" pos=".1 0 0">
            <joint name="{p}finger" type="slide" axis="0 1 0"/>
            <inertial pos=".02 0 0" mass=".1" diaginertia=".0001 .0001 .0001"/>
          </body>
        </body>
      </body>
    </body>
  </body>
</body>
"""


def arm(prefix="", x=0.0, limit=""):
    return BODIES.format(p=prefix, x=x, limit=limit)


def drives(kind, joints=JOINTS, prefix="", kp=2000, kv=100, options=""):
    """Return actuators of a kind for some joints."""
    form = KINDS[kind]
    return "".join(form.format(p=prefix, j=j, kp=kp, kv=kv, o=options) for j in joints)


def simulation(actuators="", bodies=None, keyframe=""):
    """Return a model of arms and its data; keyframe: qpos of keyframe 0, with ctrl 0."""
    xml = f"""
    <mujoco>
      <option integrator="implicitfast" timestep=".002"/>
      <worldbody>{arm() if bodies is None else bodies}</worldbody>
      <actuator>{actuators}</actuator>
      <keyframe>{f'<key name="home" qpos="{keyframe}"/>' if keyframe else ""}</keyframe>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def state_of(data):
    """Return everything about a simulation that can be saved."""
    size = mujoco.mj_stateSize(data.model, mujoco.mjtState.mjSTATE_INTEGRATION)
    state = np.empty(size)
    mujoco.mj_getState(data.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    return state
