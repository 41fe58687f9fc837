"""Native XML: the scene of the format's own description, systems, sidecars, and every mistake."""

from __future__ import annotations

import math
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    Cylinder,
    Drive,
    JointTerm,
    Properties,
    Site,
    Sphere,
    TendonWorld,
    Via,
    pulley,
    via,
)
from tendon_gym.tendons.files import load_scene, save_scene

SUSPENSION = """<?xml version="1.0"?>
<raisim>
  <gravity value="0, 0, -9.81"/>
  <timeStep value="0.001"/>
  <objects>
    <ground name="floor" height="0"/>
    <sphere name="load" mass="1" appearance="0.08, 0.46, 0.86, 1">
      <dim radius="0.1"/>
      <state pos="0, 0, 0.8" quat="1, 0, 0, 0"
             lin_vel="0, 0, 0" ang_vel="0, 0, 0"/>
    </sphere>
  </objects>
  <tendon name="suspension" type="spatial"
          spring_lower="0" spring_upper="1" stiffness="500" damping="8"
          upper_limit="1.5" width="0.008" color="0.9, 0.35, 0.08, 1">
    <drive force="-2"/>
    <site pos="0, 0, 2"/>
    <site object="load" local_index="0" pos="0, 0, 0"/>
  </tendon>
</raisim>
"""
LINK = """<link name="{name}"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0"
ixz="0" iyz="0"/></inertial></link>"""
URDF = f"""<robot name="finger">{LINK.format(name="base")}{LINK.format(name="inner")}
{LINK.format(name="outer")}{LINK.format(name="nail")}
<joint name="first" type="revolute"><parent link="base"/><child link="inner"/><axis xyz="0 1 0"/>
<origin xyz="0 0 1"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<joint name="second" type="revolute"><parent link="inner"/><child link="outer"/><axis xyz="0 1 0"/>
<origin xyz=".5 0 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<joint name="glue" type="fixed"><parent link="outer"/><child link="nail"/><origin xyz=".1 0 0"/>
</joint></robot>"""
MJCF = """<mujoco><compiler angle="degree"/><default><joint damping="1"/></default>
<worldbody><body name="cart"><joint name="slide" type="slide" axis="1 0 0"/><geom size=".1"/>
<body pos="0 0 .3" euler="0 30 0"><joint name="swing" type="ball"/><geom size=".05"/>
<site name="tip" pos="0 0 .1"/></body></body></worldbody>
<actuator><position name="servo" joint="slide" kp="20"/></actuator></mujoco>"""
ROBOTS = """<raisim>
  <timeStep value="0.001"/>
  <objects>
    <ground name="floor" height="0.25"/>
    <articulatedSystem name="left" urdf_path="models/finger.urdf">
      <state qpos="0.3 0.2" qvel="0.1 0"/>
    </articulatedSystem>
    <box name="load" mass="1">
      <dim x=".1" y=".2" z=".3"/>
      <state pos="0, 0, 0.8" quat="1, 1, 0, 0" ang_vel=".1 .2 .3"/>
    </box>
    <articulated_system name="right" urdfPath="[THIS_DIR]/models/finger.urdf"/>
    <articulatedSystem name="cart" mjcf_path="models/cart.xml">
      <state qpos=".1 2 0 0 0" qvel="0 .1 .2 .3" ctrl="0.5"/>
    </articulatedSystem>
    <capsule name="post" mass="1" body_type="static">
      <dim radius=".1" height=".2"/>
      <state pos="1, 0, 0.8"/>
    </capsule>
  </objects>
  <tendon_coupling name="tie" first="angles" second="rope" coefficients="0, 2, .1, 0, 0"/>
  <tendon name="rope" type="spatial" stiffness="20" lower_limit="-inf" upper_limit="9">
    <drive force="-2" activation_time="0.1"/>
    <site pos="0, 0, 2"/>
    <cylinder object="left" local_index="1" radius=".01" axis="1 2 3">
      <side object="floor" pos="0 0 1"/>
    </cylinder>
    <site object="load" pos="0.01, 0, 0"/>
    <pulley divisor="2"/>
    <site object="right" local_index="2" pos="0.01, 0, 0"/>
    <sphere object="post" local_index="0" pos="0, 0, .5" radius="0.05"/>
    <site object="cart" local_index="2"/>
  </tendon>
  <tendon name="angles" type="fixed" activation="1.5" reference_length="0.5">
    <joint object="left" joint="first" coefficient=".3"/>
    <joint object="right" joint="second"/>
    <joint object="left" joint="first" coefficient=".1"/>
  </tendon>
</raisim>
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return a folder with the models that scenes refer to."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "finger.urdf").write_text(URDF)
    (tmp_path / "models" / "cart.xml").write_text(MJCF)
    return tmp_path


def load(folder, text, name="scene.xml"):
    (folder / name).write_text(text)
    return load_scene(folder / name)


def texts(paths):
    return {path.name: path.read_bytes() for path in paths}


def round_trip(world, folder):
    """Check that what was saved is saved again the same; return the world in between."""
    folders = [folder / "first", folder / "second"]
    for each in folders:
        each.mkdir()
    saved = texts(save_scene(world, folders[0] / "scene.xml"))
    again = load_scene(folders[0] / "scene.xml")
    assert texts(save_scene(again, folders[1] / "scene.xml")) == saved
    return again


def test_the_suspension_loads_as_described(tmp_path):
    world = load(tmp_path, SUSPENSION)
    (tendon,) = world.tendons
    assert tendon.path == (Via(Site(None, (0.0, 0.0, 2.0))), Via(Site("load", (0.0, 0.0, 0.0))))
    assert tendon.properties == Properties(
        stiffness=500.0, damping=8.0, spring_lower=0.0, spring_upper=1.0, upper_limit=1.5,
        width=0.008,
    )  # fmt: skip
    assert tendon.drive == Drive(force=-2.0)
    assert (tendon.enabled, tendon.activation) == (True, 0.0)
    assert tendon.reference_length == pytest.approx(1.2, abs=1e-15)
    assert world.model.opt.timestep == 0.001
    assert world.model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
    assert world.model.body("load").mass[0] == 1.0
    assert world.data.qpos.tolist() == [0.0, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0]


def test_the_suspension_steps_and_goes_on_after_a_round_trip(tmp_path):
    world = load(tmp_path, SUSPENSION)
    world.step(100)
    again = round_trip(world, tmp_path)
    assert len(list((tmp_path / "first").iterdir())) == 1
    for each in (world, again):
        each.step(4900)
    assert again.data.qpos.tolist() == world.data.qpos.tolist()
    assert again.tendons[0].length == pytest.approx(1.0 + (9.81 - 2.0) / 500.0, abs=1e-6)


def test_what_is_left_out_is_what_the_format_says(tmp_path):
    text = """<raisim><objects><box name="b" mass="2"><dim x="1" y="1" z="1"/>
    <state pos="0 0 3"/></box>
    </objects><tendon name="t" type="spatial"><site/><cylinder object="b" radius=".1"/>
    <site object="b" pos="0 1 0"/></tendon></raisim>"""
    world = load(tmp_path, text)
    (tendon,) = world.tendons
    assert tendon.properties == Properties()
    assert tendon.record.drive is None
    assert tendon.path[1] == Cylinder(Site("b"), 0.1, (0.0, 0.0, 1.0))
    assert (world.model.opt.timestep, world.model.opt.gravity[2]) == (0.005, -9.81)
    assert load(tmp_path, "<raisim/>").tendons == ()


def test_robots_are_read_by_their_own_names(folder):
    world = load(folder, ROBOTS)
    rope, angles = world.tendons
    assert rope.path == (
        via(None, (0, 0, 2)),
        Cylinder(Site("left/inner"), 0.01, (1, 2, 3), Site(None, (0.0, 0.0, 1.25))),
        via("load", (0.01, 0, 0)),
        pulley(2.0),
        via("right/outer", (0.01, 0, 0)),
        Sphere(Site("post", (0.0, 0.0, 0.5)), 0.05),
        via("body_11"),
    )
    assert angles.joints == (
        JointTerm("left/first", 0.3), JointTerm("right/second"), JointTerm("left/first", 0.1),
    )  # fmt: skip
    assert (angles.reference_length, angles.activation) == (0.5, 1.5)
    data = world.data
    assert data.joint("left/first").qpos[0] == 0.3 and data.joint("left/first").qvel[0] == 0.1
    assert data.joint("right/first").qpos[0] == 0.0
    assert data.joint("cart/swing").qpos.tolist() == [2.0, 0.0, 0.0, 0.0]
    assert data.actuator("cart/servo").ctrl[0] == 0.5
    assert world.model.body("post").jntnum[0] == 0
    spin = np.empty(6)
    mujoco.mj_forward(world.model, data)
    mujoco.mj_objectVelocity(
        world.model, data, mujoco.mjtObj.mjOBJ_BODY, world.model.body("load").id, spin, 0
    )
    assert np.allclose(spin[:3], [0.1, 0.2, 0.3], atol=1e-12)
    (tie,) = world.couplings
    assert (tie.first, tie.second) == (angles, rope)
    assert tie.properties == CouplingProperties((0.0, 2.0, 0.1, 0.0, 0.0))


def test_robots_are_written_by_reference_to_their_files(folder):
    world = load(folder, ROBOTS)
    world.step(20)
    again = round_trip(world, folder)
    text = (folder / "first" / "scene.xml").read_text()
    assert 'name="left" urdf_path="../models/finger.urdf"' in text
    assert 'name="cart" mjcf_path="../models/cart.xml"' in text
    assert not list((folder / "first").glob("*.model.xml"))
    for each in (world, again):
        each.step(50)
    assert np.allclose(again.data.qpos, world.data.qpos, rtol=0.0, atol=1e-9)
    forces = [[t.force for t in each.tendons] for each in (world, again)]
    assert np.allclose(*forces, rtol=1e-6)


def test_the_file_of_a_robot_is_not_written_over(folder):
    file = folder / "models" / "cart.xml"
    with pytest.raises(ValueError, match=r"cart\.xml' is the file of the system cart"):
        save_scene(load(folder, ROBOTS), file)
    assert file.read_text() == MJCF


def test_a_scene_moves_with_its_models(folder, tmp_path_factory):
    load(folder, ROBOTS)
    moved = folder.rename(tmp_path_factory.mktemp("elsewhere") / "scene")
    assert len(load_scene(moved / "scene.xml").tendons) == 2


def test_a_model_of_the_users_goes_to_a_file_of_its_own(tmp_path):
    xml = """<mujoco><compiler angle="degree"/><option timestep="0.003" integrator="implicitfast"/>
    <default><geom rgba="1 0 0 1" friction=".3"/></default>
    <worldbody><light pos="0 0 3"/><geom name="floor" type="plane" size="1 1 1"/>
    <body name="arm" pos="0 0 1" euler="10 20 30"><joint name="j1" axis="0 1 0" range="-90 90"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
    <body pos=".3 0 0"><joint name="j2" axis="0 1 0"/><geom size=".02"/>
    <site name="tip" pos=".1 0 0" euler="0 30 0"/>
    <body name="hook" pos=".3 0 .1" euler="5 6 7"><geom size=".01"/></body></body></body>
    <body name="load" pos="0 1 1"><freejoint/><geom size=".1" density="333"/></body>
    <body name="hand" mocap="true" pos="1 1 1"><geom size=".01"/><site name="grip"/></body>
    </worldbody><actuator><position joint="j1" kp="10"/>
    <general joint="j2" dyntype="filter" dynprm=".1" gainprm="3"/></actuator>
    <equality><joint joint1="j1" joint2="j2"/></equality></mujoco>"""
    world = TendonWorld.from_string(xml)
    guide = Cylinder(Site("tip", (0.1, 0, 0), "site"), 0.02, (0, 1, 0), Site("hook", (0, 0, 0.3)))
    path = [
        via(None, (0, 0, 2)), guide, via("hook", (0.1, 0.1, 0.1)), pulley(3.0), via("load"),
        Via(Site("grip", (0, 0, 0), "site")),
    ]  # fmt: skip
    world.add_spatial_tendon("rope", path, Properties(stiffness=30.0, damping=1.0))
    world.data.qpos[:2] = 0.3, 0.2
    world.data.ctrl[:2] = 0.4, 0.5
    world.data.mocap_pos[0] = 1.0, 1.0, 1.1
    world.data.eq_active[0] = False
    world.step(20)
    again = round_trip(world, tmp_path)
    assert {path.name for path in (tmp_path / "first").iterdir()} == {
        "scene.xml",
        "scene.model.xml",
    }
    assert again.model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert again.data.act.tolist() == world.data.act.tolist()
    assert again.data.eq_active.tolist() == world.data.eq_active.tolist()
    assert again.data.mocap_pos.tolist() == world.data.mocap_pos.tolist()
    names = [world.model.joint(k).name for k in range(world.model.njnt)]
    for name in filter(None, names):
        assert again.data.joint(name).qpos.tolist() == world.data.joint(name).qpos.tolist()
    assert again.tendons[0].length == pytest.approx(world.tendons[0].length, abs=1e-15)
    assert again.tendons[0].velocity == pytest.approx(world.tendons[0].velocity, abs=1e-14)
    for each in (world, again):
        each.step(50)
    assert np.allclose(again.data.qpos, world.data.qpos, rtol=0.0, atol=1e-12)


def test_a_body_that_something_refers_to_stays_in_the_model(tmp_path):
    xml = """<mujoco><worldbody><body name="load"><freejoint name="load"/><geom size=".1"/></body>
    </worldbody><sensor><framepos objtype="body" objname="load"/></sensor></mujoco>"""
    again = round_trip(TendonWorld.from_string(xml), tmp_path)
    assert again.model.nsensor == 1
    assert "<sphere" not in (tmp_path / "first" / "scene.xml").read_text()


def test_a_robot_that_lost_a_body_goes_to_the_model(folder):
    world = load(folder, ROBOTS)
    world.remove_body("left/nail")
    again = round_trip(world, folder)
    assert [tendon.name for tendon in again.tendons] == ["rope", "angles"]
    assert (folder / "first" / "scene.model.xml").is_file()
    assert again.tendons[1].joints == world.tendons[1].joints


def test_infinities_flags_and_drives_survive(tmp_path):
    world = load(tmp_path, SUSPENSION)
    path = [via(None, (0, 0, 2)), via("load")]
    push = world.add_spatial_tendon(
        "push", path, Properties(stiffness=3.0, spring_lower=0.5, spring_upper=math.inf)
    )
    push.drive = Drive()
    pull = world.add_spatial_tendon(
        "pull", path, Properties(spring_lower=-math.inf, spring_upper=0.1, actuation_upper=-2.0)
    )
    pull.enabled = False
    world.add_coupling("off", push, None, CouplingProperties(enabled=False, compliance=0.25))
    again = round_trip(world, tmp_path)
    assert [t.record for t in again.tendons] == [t.record for t in world.tendons]
    assert [c.record for c in again.couplings] == [c.record for c in world.couplings]


def test_meshes_are_referred_to(tmp_path):
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
    lines = ["v {} {} {}".format(*c) for c in corners] + ["f {} {} {}".format(*f) for f in faces]
    (tmp_path / "tetrahedron.obj").write_text("\n".join(lines))
    text = """<raisim><objects><mesh name="m" mass="3" file_name="tetrahedron.obj" scale="0.5">
    <state pos="0 0 1"/></mesh></objects></raisim>"""
    world = load(tmp_path, text)
    assert world.model.body("m").mass[0] == 3.0
    # the centre of mass of a tetrahedron is the mean of its corners
    assert np.allclose(world.model.body("m").ipos, 0.125, atol=1e-9)
    round_trip(world, tmp_path)
    assert 'file_name="../tetrahedron.obj"' in (tmp_path / "first" / "scene.xml").read_text()


def test_assets_from_memory_are_refused(tmp_path):
    vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    spec = mujoco.MjSpec()
    spec.assets = {"t.obj": vertices.encode()}
    spec.add_mesh(name="t", file="t.obj")
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="t")
    with pytest.raises(ValueError, match=r"the asset 't\.obj' comes from memory"):
        save_scene(TendonWorld(spec), tmp_path / "scene.xml")
    assert not list(tmp_path.iterdir())


# -- mistakes: what is put in for what in a scene that is right, the line, and what is said


def replaced(old, new, text=SUSPENSION):
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


MISTAKES = {
    "root": ("<raisim>", "<mujoco>", 2, "first element of a scene must be <raisim>"),
    "unknown element": ("<gravity value", "<wind value", 3, "<raisim> takes <gravity>"),
    "unknown object": ("<sphere ", "<granular ", 7, "takes <ground>, <sphere>"),
    "heightmap": ('<ground name="floor" height="0"', '<heightmap name="h"', 6, "not <heightmap>"),
    "unknown attribute": ("stiffness=", "stifness=", 13, "has no 'stifness'; it takes name, type"),
    "duplicate attribute": ('mass="1"', 'mass="1" mass="1"', 7, "duplicate attribute"),
    "malformed number": ('stiffness="500"', 'stiffness="5oo"', 13, "stiffness must be a number"),
    "negative": ('stiffness="500"', 'stiffness="-5"', 13, "stiffness must be finite and at"),
    "nan": ('damping="8"', 'damping="nan"', 13, "damping must be"),
    "one nan": ('spring_lower="0"', 'spring_lower="nan"', 13, "must both be NaN or neither"),
    "order": ('spring_upper="1"', 'spring_upper="-1"', 13, "spring_lower must be at most"),
    "wrong infinity": ('upper_limit="1.5"', 'upper_limit="-inf"', 13, "upper_limit must be"),
    "width": ('width="0.008"', 'width="0"', 13, "width must be"),
    "color": ('"0.9, 0.35, 0.08, 1"', '"0.9, 0.35, 0.08"', 13, "color must be 4 numbers, got 3"),
    "type": ('type="spatial"', 'type="rope"', 13, "type must be one of spatial, fixed"),
    "no type": ('type="spatial"', "", 13, "type is missing or empty"),
    "no name": ('name="suspension"', "", 13, "name is missing or empty"),
    "flag": ('type="spatial"', 'type="spatial" enabled="maybe"', 13, "enabled must be true or"),
    "reference": ('type="spatial"', 'type="spatial" reference_length="inf"', 13, "_length"),
    "activation": ('type="spatial"', 'type="spatial" activation="nan"', 13, "activation"),
    "drive": ('<drive force="-2"/>', '<drive gain="2"/>', 16, "has no 'gain'"),
    "drive value": ('force="-2"', 'position_gain="-2"', 16, "position_gain must be"),
    "two drives": ("<drive", "<drive/><drive", 16, "there is a <drive> in this <tendon> already"),
    "foreign object": ('object="load"', 'object="lod"', 18, "object must be one of floor, load"),
    "local index": ('local_index="0"', 'local_index="1"', 18, "local_index must be from 0 to 0"),
    "real index": ('local_index="0"', 'local_index="0.5"', 18, "local_index must be an integer"),
    "position": ('pos="0, 0, 2"', 'pos="0, 0, inf"', 17, "position"),
    "no object": ('object="load" local_index="0"', 'local_index="3"', 18, "must be 0 on the world"),
    "joint inside": ('<site pos="0, 0, 2"/>', "<joint/>", 17, "not <joint>"),
    "pulley": ('<site pos="0, 0, 2"/>', '<pulley divisor="0"/>', 17, "divisor must be"),
    "no divisor": ('<site pos="0, 0, 2"/>', "<pulley/>", 17, "divisor is missing or empty"),
    "radius": ('<site pos="0, 0, 2"/>', '<sphere radius="-1"/>', 17, "radius must be"),
    "axis": ('<site pos="0, 0, 2"/>', '<cylinder radius="1" axis="0 0 0"/>', 17, "axis"),
    "guide first": ('<site pos="0, 0, 2"/>', '<sphere radius="1"/><site/>', 13, "is a guide"),
    "one site": ('<site pos="0, 0, 2"/>', "", 13, "has 1 sites; it needs two"),
    "two objects": ('name="floor"', 'name="load"', 7, "'load' is ambiguous: line 6 has an object"),
    "the world": ('name="floor"', 'name="world"', 6, "cannot have the name of the world"),
    "no mass": ('mass="1"', "", 7, "mass is missing or empty"),
    "zero mass": ('mass="1"', 'mass="0"', 7, "mass must be"),
    "no dim": ('<dim radius="0.1"/>', "", 7, "it needs a <dim> inside it"),
    "dim": ('radius="0.1"', 'radius="0"', 8, "radius must be"),
    "wrong dim": ('<dim radius="0.1"', '<dim x="0.1"', 8, "has no 'x'"),
    "quaternion": ('quat="1, 0, 0, 0"', 'quat="0, 0, 0, 0"', 7, "quat must be a rotation"),
    "velocity": ('lin_vel="0, 0, 0"', 'lin_vel="0, nan, 0"', 9, "lin_vel"),
    "twice": ('lin_vel="0, 0, 0"', 'lin_vel="0 0 0" linVel="0 0 0"', 9, "are the same attribute"),
    "body type": ('mass="1"', 'mass="1" body_type="soft"', 7, "body_type must be one of"),
    "static velocity": (
        'mass="1" appearance="0.08, 0.46, 0.86, 1">\n      <dim radius="0.1"/>\n      <state',
        'mass="1" body_type="static">\n      <dim radius="0.1"/>\n      <state linVel="1 0 0" x',
        9, "",
    ),
    "appearance": ('"0.08, 0.46, 0.86, 1"', '"blue"', 7, "appearance must be a number"),
    "group": ('mass="1"', 'mass="1" collision_group="2"', 7, "collision_group must be 0"),
    "material": ('mass="1"', 'mass="1" material="ice"', 7, "material must be 'default'"),
    "time step": ('value="0.001"', 'value="0"', 4, "value must be"),
    "gravity": ('value="0, 0, -9.81"', 'value="0, 0"', 3, "value must be 3 numbers"),
    "two gravities": ("<gravity", '<gravity value="0 0 0"/><gravity', 3, "there is a <gravity>"),
    "coupling": (
        "</raisim>", '<tendon_coupling name="c" first="suspenders"/></raisim>', 20,
        "first must be one of suspension, got 'suspenders'",
    ),
    "coupling to itself": (
        "</raisim>", '<tendon_coupling name="c" first="suspension" second="suspension"/></raisim>',
        20, "are both suspension",
    ),
    "four coefficients": (
        "</raisim>",
        '<tendon_coupling name="c" first="suspension" coefficients="1 2 3 4"/></raisim>', 20,
        "coefficients must be 5 numbers, got 4",
    ),
    "correction": (
        "</raisim>",
        '<tendon_coupling name="c" first="suspension" position_correction="2"/></raisim>', 20,
        "position_correction must be",
    ),
    "no first": (
        "</raisim>", '<tendon_coupling name="c" second="suspension"/></raisim>', 20,
        "first is missing or empty",
    ),
    "a second tendon of a name": (
        "</raisim>",
        '<tendon name="suspension" type="spatial"><site/><site object="load"/></tendon></raisim>',
        20, "name",
    ),
    "joint of no system": (
        "</raisim>",
        '<tendon name="f" type="fixed"><joint object="load" joint="load"/></tendon></raisim>', 20,
        "object 'load' is no articulated system",
    ),
    "no joints": ("</raisim>", '<tendon name="f" type="fixed"/></raisim>', 20, "at least one term"),
    "no file": (
        "<objects>", '<objects><articulatedSystem name="r" urdf_path="none.urdf"/>', 5,
        "there is no file",
    ),
    "no path": ("<objects>", '<objects><articulatedSystem name="r"/>', 5, "needs one of urdf"),
    "no model": (
        "<objects>", '<objects><articulatedSystem name="r" mjcf_path="scene.xml"/>', 5,
        "is no model that MuJoCo reads",
    ),
    "prefix": (
        "<objects>", '<objects><articulatedSystem name="r" mjcf_path="scene.xml" prefix="x"/>', 5,
        "prefix can only be",
    ),
}  # fmt: skip
del MISTAKES["static velocity"]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_with_file_line_and_element(mistake, tmp_path):
    old, new, line, words = MISTAKES[mistake]
    text = replaced(old, new)
    if mistake == "root":
        text = text.replace("</raisim>", "</mujoco>")
    if mistake == "unknown object":
        text = text.replace("</sphere>", "</granular>")
    with pytest.raises(ValueError) as error:
        load(tmp_path, text)
    assert re.match(rf"scene\.xml:{line}: ", str(error.value)), str(error.value)
    assert words in str(error.value)


def test_what_does_not_move_has_no_velocity(tmp_path):
    text = replaced('mass="1"', 'mass="1" body_type="static"')
    with pytest.raises(ValueError, match=r"scene.xml:9: <state>: what is static has no velocity"):
        load(tmp_path, replaced('lin_vel="0, 0, 0"', 'lin_vel="0, 1, 0"', text))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('qpos="0.3 0.2"', 'qpos="0.3"', "qpos must be 2 numbers, got 1"),
        ('qvel="0.1 0"', 'qvel="0.1 nan"', "qvel[1] must be finite"),
        ('ctrl="0.5"', 'ctrl="0.5 1"', "ctrl must be 1 numbers, got 2"),
        ('qpos=".1 2 0 0 0"', 'qpos=".1 2 0 0 0" other="1"', "has no 'other'"),
        ('joint="second"', 'joint="third"', "joint must be a joint of right: first, second"),
        ('local_index="2" pos', 'local_index="3" pos', "local_index must be from 0 to 2"),
        ('joint="second"', 'joint="glue"', "joint must be"),
        ('name="cart" mjcf', 'name="left" mjcf', "ambiguous"),
    ],
)
def test_mistakes_about_robots(old, new, words, folder):
    with pytest.raises(ValueError) as error:
        load(folder, replaced(old, new, ROBOTS))
    assert str(error.value).startswith("scene.xml:")
    assert words in str(error.value)


def test_only_one_model_can_be_stood_on(folder):
    base = '<articulatedSystem name="{}" mjcf_path="models/cart.xml" prefix=""/>'
    text = f"<raisim><objects>{base.format('a')}\n{base.format('b')}</objects></raisim>"
    with pytest.raises(ValueError, match=r"scene.xml:2: .* line 1 has a system without prefix"):
        load(folder, text)
