"""Scenes of robots' files: what MuJoCo makes of a file alone is what stands in the scene."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import ActuatorSpec, Robot, RobotSpec, Scene, SceneObject, SceneSpec

FLOATING = """
<mujoco model="fb"><worldbody><body name="base" pos="0 0 .3"><freejoint name="root"/>
  <geom size=".1" mass="1"/><body name="l1" pos="0 0 .1"><joint name="j1" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 .3" size=".02" mass=".2"/></body></body></worldbody>
  <actuator><position name="a1" joint="j1" kp="10" timeconst=".05"/></actuator>
  <keyframe><key name="home" qpos="0 0 .5 1 0 0 0 .7" ctrl=".7" act=".6"/></keyframe></mujoco>"""

ARM = """
<mujoco model="ac"><worldbody><body name="base"><body name="l1" pos="0 0 .5">
  <joint name="j1" axis="0 1 0" range="-1 1"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".2"/></body></body></worldbody>
  <actuator><position name="a1" joint="j1" kp="50" kv="1" {options}/></actuator></mujoco>"""


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_floating_robots_stand_where_they_are_put_also_with_a_keyframe(tmp_path):
    """A pose of the file is one in the robot's frame: R p + t, and turned by R."""
    path = written(tmp_path, "free.xml", FLOATING)
    half = np.sqrt(0.5)
    first = RobotSpec(path, prefix="a_", position=(1, 0, 0))
    second = RobotSpec(path, prefix="b_", position=(3, 2, 1), quaternion=(half, half, 0, 0))
    scene = Scene(SceneSpec((first, second)))
    frames = [scene.body_frame(f"{name}_base") for name in "ab"]
    np.testing.assert_allclose(frames[0].position, [1, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(frames[1].position, [3, 2 - 0.5, 1], atol=1e-12)
    np.testing.assert_allclose(frames[1].rotation[:, 2], [0, -1, 0], atol=1e-12)
    joints = [scene.data.joint(f"{name}_j1").qpos[0] for name in "ab"]
    assert joints == [0.7, 0.7]


MOCAP = """
<mujoco model="mc"><worldbody>
  <body name="hand" mocap="true" pos="0 0 1"><geom size=".05"/></body>
  <body name="l1" pos="0 0 .5"><joint name="j1" axis="0 1 0"/><geom size=".1"/></body></worldbody>
  <keyframe><key name="home" qpos=".4" {poses}/></keyframe></mujoco>"""


@pytest.mark.parametrize(
    ("poses", "position", "up"),
    [
        ("", (3, 1, 1), (0, -1, 0)),
        ('mpos="0 0 2"', (3, 0, 1), (0, -1, 0)),
        ('mquat="0 1 0 0"', (3, 1, 1), (0, 1, 0)),
        ('mpos="0 0 2" mquat="0 1 0 0"', (3, 0, 1), (0, 1, 0)),
    ],
)
def test_mocap_bodies_start_where_the_keyframe_has_them(tmp_path, poses, position, up):
    """A pose of the file is one in the robot's frame, here turned by 90 degrees about x."""
    path, half = written(tmp_path, "mocap.xml", MOCAP.format(poses=poses)), np.sqrt(0.5)
    turned = RobotSpec(path, prefix="b_", position=(3, 2, 1), quaternion=(half, half, 0, 0))
    scene = Scene(SceneSpec((RobotSpec(path, prefix="a_"), turned)))
    robot = Robot.from_mjcf(scene.model, scene.data, "world", "l1", "b_")
    for change in (lambda: None, lambda: scene.add_object(SceneObject("ball", "sphere", (0.1,)))):
        change()
        scene.data.mocap_pos[:], scene.data.mocap_quat[:] = 7.0, [0, 0, 0, 1]
        robot.rebind(scene.model, scene.data)
        robot.reset()
        frame = scene.body_frame("b_hand")
        np.testing.assert_allclose(frame.position, position, atol=1e-12)
        np.testing.assert_allclose(frame.rotation[:, 2], up, atol=1e-12)
        assert scene.data.joint("b_j1").qpos[0] == 0.4


def test_states_of_actuators_are_those_of_the_keyframe_or_hold_home(tmp_path):
    path = written(tmp_path, "free.xml", FLOATING)
    scene = Scene(SceneSpec((RobotSpec(path),)))
    assert scene.data.act.tolist() == [0.6]
    mujoco.mj_resetDataKeyframe(scene.model, scene.data, 0)
    assert scene.data.act.tolist() == [0.6]
    arm = written(tmp_path, "arm.xml", ARM.format(options='timeconst=".1"'))
    scene = Scene(SceneSpec((RobotSpec(arm, home={"j1": 0.01}),)))
    assert scene.data.ctrl.tolist() == scene.data.act.tolist() == [0.01]
    assert scene.data.actuator_force[0] == pytest.approx(0.0, abs=1e-12)


def test_delayed_controls_outlive_another_object(tmp_path):
    if not hasattr(mujoco.MjModel.from_xml_string("<mujoco/>"), "actuator_delay"):
        pytest.skip("this MuJoCo has no delays")
    path = written(tmp_path, "delayed.xml", ARM.format(options='delay=".1" nsample="51"'))
    scene = Scene(SceneSpec((RobotSpec(path),)))
    for k in range(200):
        scene.data.ctrl[:] = np.sin(k * 0.05)
        mujoco.mj_step(scene.model, scene.data)
    mujoco.mj_forward(scene.model, scene.data)
    force = scene.data.actuator_force.copy()
    scene.add_object(SceneObject("o", "sphere", (0.02,), (1, 1, 1)))
    np.testing.assert_allclose(scene.data.actuator_force, force, rtol=1e-12)


def test_a_saved_scene_has_the_masses_of_the_scene(tmp_path):
    text = """<mujoco model="b"><compiler boundmass=".05" boundinertia=".001"/><worldbody>
      <body name="b"><joint name="j"/><geom size=".1"/><body name="c" pos=".2 0 0">
      <joint name="k" type="slide"/><geom size=".02" mass=".001"/></body></body></worldbody>
      </mujoco>"""
    scene = Scene(SceneSpec((RobotSpec(written(tmp_path, "b.xml", text)),), floor=False))
    scene.save_xml(tmp_path / "saved.xml")
    saved = mujoco.MjModel.from_xml_path(str(tmp_path / "saved.xml"))
    np.testing.assert_allclose(saved.body_mass, scene.model.body_mass, rtol=1e-5)
    np.testing.assert_allclose(saved.body_inertia, scene.model.body_inertia, rtol=1e-5)
    assert saved.body("c").mass[0] == pytest.approx(0.05)
    with pytest.raises(TypeError, match="path must be a path, got 3"):
        scene.save_xml(3)


def test_a_total_mass_that_is_left_out_is_told(tmp_path):
    text = ARM.format(options="").replace(
        '<mujoco model="ac">', '<mujoco model="ac"><compiler settotalmass="9"/>'
    )
    with warnings.catch_warnings(record=True) as told:  # MuJoCo tells of it, too, that it is old
        warnings.simplefilter("always")
        Scene(SceneSpec((RobotSpec(written(tmp_path, "arm.xml", text)),)))
    assert any("settotalmass of" in str(each.message) for each in told)


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize("name", ["a.obj", "some/where/a.obj"])
def test_meshes_of_a_urdf_are_in_its_own_meshdir(tmp_path, name):
    """As MuJoCo reads it by itself."""
    (tmp_path / "pk" / name).parent.mkdir(parents=True)
    written(tmp_path / "pk", name, TETRAHEDRON)
    urdf = f"""<robot name="y"><mujoco><compiler meshdir="pk"/></mujoco><link name="l">
      <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
      </inertial><collision><geometry><mesh filename="{name}"/></geometry></collision></link>
      </robot>"""
    path = written(tmp_path, "y.urdf", urdf)
    assert mujoco.MjModel.from_xml_path(path).nmesh == 1
    assert Scene(SceneSpec((RobotSpec(path),))).model.nmesh == 1


def test_parts_that_mujoco_refuses_are_named(tmp_path):
    path = written(tmp_path, "arm.xml", ARM.format(options=""))
    item = SceneObject("floor", "sphere", (0.1,), (0, 0, 1))
    with pytest.raises(ValueError, match=r"SceneSpec.objects\[0\]: .*repeated name 'floor'"):
        Scene(SceneSpec((RobotSpec(path),), objects=(item,)))
    twice = RobotSpec(path, force_torque=("l1", "l1"))
    with pytest.raises(ValueError, match=r"SceneSpec.robots\[0\].force_torque: .*repeated name"):
        Scene(SceneSpec((twice,)))
    twice = RobotSpec(path, actuators=(ActuatorSpec(("velocity", "velocity")),))
    with pytest.raises(ValueError, match=r"SceneSpec.robots\[0\].actuators\[0\]: .*repeated name"):
        Scene(SceneSpec((twice,)))


def test_a_urdf_that_mujoco_cannot_compile_is_named(tmp_path):
    urdf = """<robot name="y"><link name="a"/><link name="l"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="a"/><child link="l"/><axis xyz="0 0 1"/>
      </joint></robot>"""
    path = written(tmp_path, "bad.urdf", urdf)
    with pytest.raises(ValueError, match=r"SceneSpec.robots\[0\].*bad.urdf"):
        Scene(SceneSpec((RobotSpec(path),)))
