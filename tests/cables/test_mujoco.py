"""Cables on MuJoCo's bodies: lengths, moment arms and forces of its own tendons."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tendon_gym.cables import CableSpan, CableSystem, Cylinder, Sphere
from tendon_gym.cables.mujoco_bodies import apply_tension, body_jacobians, read_bodies
from tests.cables.cases import GROUND

SCENE = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <site name="a" pos="{start}"/>
    <body name="pulley" pos="0 0 0">
      <freejoint/>
      <inertial pos="0.03 0.1 -0.05" mass="1" diaginertia=".01 .01 .01"/>
      <geom name="wrap" type="{kind}" size="0.5 0.8" contype="0" conaffinity="0" mass="0"/>
      <site name="side" pos="0 0.9 0"/>
    </body>
    <body name="arm" pos="1.5 0 0">
      <joint name="z" axis="0 0 1"/><joint name="y" axis="0 1 0"/>
      <inertial pos="0.1 0.2 0" mass="1" diaginertia=".01 .01 .01"/>
      <site name="b" pos="0.4 0.1 0.2"/>
    </body>
  </worldbody>
  <tendon><spatial name="t">
    <site site="a"/><geom geom="wrap" sidesite="side"/><site site="b"/>
  </spatial></tendon>
</mujoco>
"""


def scene(kind: str, start, pulley, angles) -> tuple[mujoco.MjModel, mujoco.MjData]:
    place = "{} {} {}".format(*start)
    model = mujoco.MjModel.from_xml_string(SCENE.format(kind=kind, start=place))
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[7:] = pulley, angles
    mujoco.mj_forward(model, data)
    return model, data


def cable_of(model: mujoco.MjModel, kind: str) -> CableSpan:
    cable = CableSpan(CableSystem(model), 0, model.site("a").pos, "arm", model.site("b").pos)
    surface = {"sphere": Sphere, "cylinder": Cylinder}[kind](0.5)
    cable.add_obstacle("pulley", GROUND, surface, (0.0, 0.5, 0.0))
    cable.curve_segment_accuracy, cable.smoothness_tolerance = 1e-12, 1e-11
    return cable


offsets = st.floats(-0.25, 0.25)


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
@settings(deadline=None, max_examples=40)
@given(y=st.floats(-0.2, 0.6), z=offsets, pulley=st.tuples(offsets, offsets, offsets), turn=offsets)
def test_lengths_and_moment_arms_are_the_tendons(kind, y, z, pulley, turn):
    model, data = scene(kind, (-2.0, y, z), pulley, (turn, 0.5 * turn))
    if kind == "sphere":  # the other side of it is shorter if the line passes there
        a, b = data.site("a").xpos, data.site("b").xpos
        assume((a + (b - a) * (pulley[0] - a[0]) / (b[0] - a[0]))[1] > pulley[1] + 0.05)
    cable = cable_of(model, kind)
    state = cable.owner.new_state()
    read_bodies(state, model, data)
    assert cable.converged(state)
    assert cable.length(state) == pytest.approx(float(data.ten_length[0]), abs=1e-9)
    arms = cable.moment_arms(state, body_jacobians(model, data))
    np.testing.assert_allclose(arms, -dense(model, data), atol=1e-7)


def dense(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return the derivatives of the tendon's length by finite differences of qvel."""
    h, row, twin = 1e-6, np.zeros(model.nv), mujoco.MjData(model)
    for k in range(model.nv):
        lengths = []
        for sign in (1.0, -1.0):
            twin.qpos[:] = data.qpos
            speed = np.zeros(model.nv)
            speed[k] = sign
            mujoco.mj_integratePos(model, twin.qpos, speed, h)
            mujoco.mj_fwdPosition(model, twin)
            lengths.append(float(twin.ten_length[0]))
        row[k] = (lengths[0] - lengths[1]) / (2.0 * h)
    return row


def test_velocities_are_those_of_the_bodies_origins():
    model, data = scene("cylinder", (-2.0, 0.1, 0.2), (0.1, -0.2, 0.1), (0.2, -0.1))
    data.qvel[:] = np.random.default_rng(1).normal(size=model.nv)
    mujoco.mj_forward(model, data)
    cable = cable_of(model, "cylinder")
    state = cable.owner.new_state()
    read_bodies(state, model, data)
    for body in range(model.nbody):
        motion = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(model, data, kind, body, motion, 0)
        np.testing.assert_allclose(state.angular_velocity[0, body], motion[:3], atol=1e-12)
        np.testing.assert_allclose(state.velocity[0, body], motion[3:], atol=1e-12)
    assert cable.length_rate(state) == pytest.approx(float(data.ten_velocity[0]), abs=1e-8)
    arms = cable.moment_arms(state, body_jacobians(model, data))
    assert cable.length_rate(state) == pytest.approx(-float(arms @ data.qvel), abs=1e-10)


def test_tension_accelerates_as_an_actuated_tendon_does():
    model, data = scene("cylinder", (-2.0, 0.1, 0.2), (0.1, -0.2, 0.1), (0.2, -0.1))
    cable = cable_of(model, "cylinder")
    state = cable.owner.new_state()
    read_bodies(state, model, data)
    apply_tension(cable, state, 7.0, model, data)
    generalised = np.zeros(model.nv)
    for body in range(model.nbody):
        force, torque = data.xfrc_applied[body, :3], data.xfrc_applied[body, 3:]
        mujoco.mj_applyFT(model, data, force, torque, data.xipos[body], body, generalised)
    np.testing.assert_allclose(generalised, -7.0 * dense(model, data), atol=1e-6)
    before = data.xfrc_applied.copy()
    apply_tension(cable, state, -1.0, model, data)
    np.testing.assert_array_equal(data.xfrc_applied, before)
    with pytest.raises(ValueError, match="tension"):
        apply_tension(cable, state, math.nan, model, data)
    np.testing.assert_array_equal(data.xfrc_applied, before)


def test_moment_arm_about_a_pulley_on_a_joint():
    """OpenSim's hinge: a cylinder on the joint gives its radius, a free line its distance."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="link">
        <joint axis="0 0 1"/><geom size=".01"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    cable = CableSpan(CableSystem(model), 0, (-0.5, 0, 0), "link", (0.5, 0, 0))
    cable.add_obstacle(0, GROUND, Cylinder(0.2), (0, 0.2, 0))
    cable.smoothness_tolerance = 1e-8
    state = cable.owner.new_state()
    for angle, length, arm in ((0.0, None, 0.2), (math.pi / 2, math.sqrt(0.5), math.sqrt(0.125))):
        data.qpos[0] = angle
        mujoco.mj_forward(model, data)
        read_bodies(state, model, data)
        arms = cable.moment_arms(state, body_jacobians(model, data))
        assert abs(arms[0]) == pytest.approx(arm, rel=1e-6)
        if length is not None:
            assert not cable.in_contact(state, 0)
            assert cable.length(state) == pytest.approx(length, abs=1e-8)


def test_states_of_other_bodies_are_refused():
    model, data = scene("sphere", (-2.0, 0.1, 0.2), (0.0, 0.0, 0.0), (0.0, 0.0))
    for state in (CableSystem(2).new_state(), CableSystem(model).new_state(2)):
        with pytest.raises(ValueError, match="one simulation with the model's 3 bodies"):
            read_bodies(state, model, data)
