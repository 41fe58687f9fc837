"""What users of tendons in MuJoCo, RaiSim and elsewhere have run into, with what is right."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    Drive,
    JointTerm,
    Properties,
    TendonWorld,
    cylinder,
    sphere,
    via,
)
from tests.tendons.scenes import add_ball, empty, hanging, sliders

PATH = [via(None, (0, 0, 2)), via("load")]


def test_tendons_of_attached_models_stay():
    """A tendon around a geom without a side site got lost when its model was attached."""
    child = mujoco.MjSpec.from_string("""
        <mujoco><worldbody><body name="b"><geom name="drum" type="cylinder" size=".1 .1"/>
          <site name="a" pos="-1 0 0"/><site name="c" pos="1 .2 0"/></body></worldbody>
        <tendon><spatial name="around"><site site="a"/><geom geom="drum"/><site site="c"/></spatial>
          <spatial name="plain"><site site="a"/><site site="c"/></spatial></tendon></mujoco>""")
    spec = empty()
    add_ball(spec, "load", [0, 0, 1])
    spec.attach(child, prefix="x_", frame=spec.worldbody.add_frame())
    world = TendonWorld(spec)
    tendon = world.add_spatial_tendon("t", PATH)
    names = [world.model.tendon(k).name for k in range(world.model.ntendon)]
    assert names == ["x_around", "x_plain", "t"] and tendon.id == 2
    around, plain = world.refresh().data.ten_length[:2]
    assert around > plain


def test_two_fixed_tendons_of_many_joints_can_be_coupled():
    world = sliders(*[1.0] * 12)
    halves = [
        world.add_fixed_tendon(name, [JointTerm(f"slide_{k}") for k in numbers])
        for name, numbers in (("low", range(6)), ("high", range(6, 12)))
    ]
    world.add_coupling("c", *halves, CouplingProperties((0.0, -1.0, 0.0, 0.0, 0.0)))
    world.data.qvel[:6] = 1.0
    world.step(200)
    assert halves[0].length == pytest.approx(-halves[1].length, abs=1e-6)


def test_bounds_of_actuation_need_no_flag_beside_them():
    world = hanging()
    tendon = world.add_spatial_tendon(
        "t", PATH, Properties(actuation_lower=-1.0, actuation_upper=1.0)
    )
    tendon.set_actuation_force(100.0)
    world.step()
    assert tendon.forces.actuator == 1.0


def test_a_target_need_not_be_a_length_that_can_be_reached():
    world = hanging()
    tendon = world.add_spatial_tendon("t", PATH)
    tendon.drive = Drive(target_length=-1.0, position_gain=10.0)
    world.step()
    assert tendon.forces.actuator == pytest.approx(-20.0, rel=1e-3)


def test_unknown_properties_are_errors():
    for kind in (Properties, Drive, CouplingProperties):
        with pytest.raises(TypeError, match="lengthrange"):
            kind(lengthrange=(0, 1))
    world = hanging()
    tendon = world.add_spatial_tendon("t", PATH)
    with pytest.raises(AttributeError):
        tendon.length = 2.0


def test_a_cable_that_only_pulls_with_a_slack_that_a_winch_changes():
    world = hanging(height=1.0)
    tendon = world.add_spatial_tendon("t", PATH)
    for slack in (1.5, 1.0, 0.8, 1.2):
        tendon.properties = Properties(stiffness=100.0, spring_lower=0.0, spring_upper=slack)
        world.data.qpos[2], world.data.qvel[:] = 1.0, 0.0
        world.step()
        expected = -100.0 * max(0.0, 1.0 - slack)
        assert tendon.force == pytest.approx(expected, rel=1e-3)


def test_a_force_from_a_users_function_in_every_step():
    world = hanging()
    tendon = world.add_spatial_tendon("t", PATH)
    speed = 0.0
    for k in range(200):
        force = math.sin(0.05 * k)
        tendon.set_actuation_force(force)
        world.step()
        speed += 1e-3 * force  # positive lengthens
        assert tendon.velocity == pytest.approx(speed, abs=1e-12)
        assert tendon.tension == pytest.approx(-force, abs=1e-12)


def test_adding_tendons_one_after_the_other_in_a_running_world():
    world = hanging(gravity=-9.81)
    for k in range(4):
        path = [via(None, (0.1 * k, 0, 2)), via("load", (0.01 * k, 0, 0))]
        world.add_spatial_tendon(f"t_{k}", path, Properties(stiffness=10.0))
        world.step(5)
    assert world.data.time == pytest.approx(0.02) and world.model.ntendon == 4


def test_joints_are_found_by_name_after_others_have_gone():
    world = sliders(1.0, 2.0, 3.0)
    tendon = world.add_fixed_tendon("t", [JointTerm("slide_2", 2.0)])
    world.data.qpos[:] = 0.1, 0.2, 0.3
    assert tendon.length == pytest.approx(0.6)
    world.remove_body("slide_0")
    assert tendon.length == pytest.approx(0.6)
    assert tendon.joint_gradients[0].coordinate_index == 1
    tendon.set_actuation_force(3.0)
    world.step()
    assert world.data.joint("slide_2").qvel[0] == pytest.approx(2e-3, rel=1e-9)
    assert world.data.joint("slide_1").qvel[0] == 0.0


def test_one_bad_element_refuses_the_whole_path():
    world = hanging()
    for path in (
        [via(None), sphere("nothing", 0.1), via("load")],
        [via(None), sphere("load", 0.1), cylinder("load", 0.1), via("load")],
    ):
        with pytest.raises(ValueError, match=r"path\[1\]"):
            world.add_spatial_tendon("t", path)
    assert world.tendons == () and world.model.ntendon == 0 and world.model.nsite == 0


def test_tendons_do_not_collide():
    spec = empty()
    add_ball(spec, "load", [0, 0, 1])
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.05, 0.05, 0.05], pos=[0, 0, 1.5]
    )
    world = TendonWorld(spec)
    tendon = world.add_spatial_tendon("t", PATH, Properties(width=0.2))
    assert tendon.length == 1.0
    world.step()
    assert np.array_equal(world.data.qvel, np.zeros(6))
