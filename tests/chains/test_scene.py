"""Scenes as they are built: robots, attachments, defaults, homes, actuators, sensors, faults."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tendon_gym.chains.scene import Scene
from tendon_gym.chains.specs import (
    ActuatorSpec,
    AttachmentSpec,
    RobotSpec,
    SceneObject,
    SceneSpec,
    TableSpec,
)
from tests.chains.scene_files import (
    TILT,
    armed,
    dice,
    packaged,
    real_urdf,
    rotation,
    write_files,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("robots"))


def test_robots_stand_where_they_are_asked_to(files):
    spec = SceneSpec((
        RobotSpec(files["arm"], "a_", (1, 2, 3), TILT, home={"shoulder": 0.3, "elbow": -0.2}),
        RobotSpec(files["arm"], "b_", (0, -1, 0)),
    ))  # fmt: skip
    scene = Scene(spec)
    alone = mujoco.MjModel.from_xml_path(files["arm"])
    data = mujoco.MjData(alone)
    data.qpos[:] = 0.3, -0.2
    mujoco.mj_forward(alone, data)
    frame, site = scene.body_frame("a_flange"), scene.site_frame("a_tcp")
    there, turned = data.body("flange").xpos, data.body("flange").xmat.reshape(3, 3)
    np.testing.assert_allclose(frame.position, rotation(TILT) @ there + [1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(frame.rotation, rotation(TILT) @ turned, atol=1e-12)
    np.testing.assert_allclose(
        site.position, frame.position + frame.rotation @ [0, 0, 0.05], atol=1e-12
    )
    np.testing.assert_allclose(scene.body_frame("b_flange").position, [0, -1, 0.6], atol=1e-12)


def test_frames_are_copies(files):
    scene = Scene(SceneSpec((RobotSpec(files["arm"]),)))
    frame = scene.body_frame("flange")
    frame.position[:] = 7.0
    frame.rotation[:] = 7.0
    assert abs(scene.data.body("flange").xpos).max() < 1.0
    assert abs(scene.data.body("flange").xmat).max() <= 1.0


def test_attachments_hang_on_each_other_in_order(files):
    scene = Scene(SceneSpec((replace(armed(files), prefix="r_"),)))
    body = scene.model.body("r_t_hand")
    assert scene.model.body(body.parentid[0]).name == "r_m_plate"
    flange, hand = scene.body_frame("r_flange"), scene.body_frame("r_t_hand")
    np.testing.assert_allclose(
        flange.rotation.T @ (hand.position - flange.position), [0, 0, 0.03], atol=1e-12
    )
    quarter = rotation((1, 0, 0, 1))
    np.testing.assert_allclose(flange.rotation.T @ hand.rotation, quarter, atol=1e-12)
    assert scene.model.actuator("r_t_grip").trnid[0] == scene.model.joint("r_t_grip").id


def touching(scene):
    """Return the pairs of bodies in contact."""
    return {
        frozenset(scene.model.body(scene.model.geom_bodyid[geom]).name for geom in contact.geom)
        for contact in scene.data.contact
    }


def test_excluded_bodies_do_not_touch(files):
    robot = armed(files, home={"elbow": 3.0})  # folded, so that the tool is at the upper arm
    pair = frozenset(("upper", "t_finger"))
    assert pair in touching(Scene(SceneSpec((robot,))))
    tool = replace(robot.attachments[1], exclusions=(("upper", "t_finger"),))
    robot = replace(robot, attachments=(robot.attachments[0], tool))
    assert pair not in touching(Scene(SceneSpec((robot,))))


def test_the_first_robots_options_hold_but_for_timestep_and_gravity(files, tmp_path):
    (tmp_path / "other.xml").write_text(
        '<mujoco><option integrator="RK4" impratio="7"/><worldbody><body/></worldbody></mujoco>'
    )
    robots = (RobotSpec(files["arm"]), RobotSpec(str(tmp_path / "other.xml"), "o_"))
    option = Scene(SceneSpec(robots, gravity=(0, 1, -2))).model.opt
    assert option.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert option.impratio == 3
    assert option.timestep == 0.002
    np.testing.assert_array_equal(option.gravity, [0, 1, -2])


@pytest.mark.parametrize("prefix", ["", "r_"])
def test_the_defaults_of_a_robot_are_its_own(tmp_path, prefix):
    (tmp_path / "robot.xml").write_text(
        """<mujoco><default><geom contype="0" conaffinity="0" friction="0.3 0.1 0.1"/>
        <joint damping="3"/><default class="thick"><geom size="0.2"/></default></default>
        <worldbody><body name="arm"><joint name="j"/><geom name="arm" class="thick"/></body>
        </worldbody></mujoco>"""
    )
    spec = SceneSpec((RobotSpec(str(tmp_path / "robot.xml"), prefix),), TableSpec(), dice("die"))
    scene = Scene(spec)
    scene.save_xml(tmp_path / "scene.xml")
    scene.add_object(SceneObject("ball", "sphere", (0.05,)))
    for model in (scene.model, mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))):
        for name in ("floor", "table_top", "die"):
            assert model.geom(name).contype == model.geom(name).conaffinity == 1
            assert model.geom(name).friction[0] == 1.0
        arm = model.geom(prefix + "arm")
        assert arm.contype == 0
        assert arm.size[0] == 0.2
        assert model.dof_damping[0] == 3.0
    assert scene.model.geom("ball").contype == 1


def test_the_scene_starts_with_all_robots_at_home(files):
    robots = (
        RobotSpec(files["keyed"], "a_"),
        RobotSpec(files["arm"], "b_", (1, 0, 0), home={"elbow": 0.25}),
        RobotSpec(files["keyed"], "c_", (2, 0, 0), home={"shoulder": 1.0}),
    )
    scene = Scene(SceneSpec(robots, objects=dice("die")))
    for data in (scene.data, mujoco.MjData(scene.model)):
        mujoco.mj_resetDataKeyframe(scene.model, data, 0)
        np.testing.assert_array_equal(data.qpos[:6], [0.5, -0.7, 0, 0.25, 1.0, 0])
        np.testing.assert_array_equal(data.ctrl, [-0.7, 0.25, 0])
        np.testing.assert_array_equal(data.joint("die").qpos, [0, 1, 0.5, 1, 0, 0, 0])


def test_added_position_actuators_hold_home(files):
    modes = ActuatorSpec(("position",), stiffness=3000.0)
    home = {"shoulder": 0.8, "elbow": -1.0}
    scene = Scene(SceneSpec((RobotSpec(files["arm"], actuators=(modes,), home=home),)))
    mujoco.mj_step(scene.model, scene.data, 500)
    np.testing.assert_allclose(scene.data.qpos, [0.8, -1.0], atol=0.02)


def test_actuators_are_added_where_a_mode_has_none(files):
    wanted = ActuatorSpec(("position", "velocity", "torque"), velocity_gain=7.0, stiffness=50.0)
    model = Scene(SceneSpec((armed(files, prefix="r_", actuators=(wanted,)),))).model
    names = {model.actuator(k).name for k in range(model.nu)}
    assert names == {
        "r_elbow_servo", "r_t_grip", "r_shoulder_position", "r_shoulder_velocity",
        "r_shoulder_torque", "r_elbow_velocity", "r_elbow_torque",
    }  # fmt: skip
    position, velocity, torque = (
        model.actuator(f"r_shoulder_{mode}") for mode in ("position", "velocity", "torque")
    )
    np.testing.assert_array_equal(position.ctrlrange, [-2, 2])
    np.testing.assert_array_equal(torque.ctrlrange, [-40, 40])
    for actuator in (position, velocity, torque):
        assert actuator.trnid[0] == model.joint("r_shoulder").id
        np.testing.assert_array_equal(actuator.forcerange, [-40, 40])
    assert not model.actuator("r_elbow_torque").ctrllimited[0]
    data = mujoco.MjData(model)
    data.joint("r_shoulder").qpos[0], data.joint("r_shoulder").qvel[0] = 0.2, 0.4
    data.actuator("r_shoulder_velocity").ctrl[0] = 1.0
    data.actuator("r_shoulder_torque").ctrl[0] = 3.0
    mujoco.mj_forward(model, data)
    force = {name: data.actuator(f"r_shoulder_{name}").force[0] for name in ("velocity", "torque")}
    assert force == pytest.approx({"velocity": 7.0 * (1.0 - 0.4), "torque": 3.0})
    assert data.actuator("r_shoulder_position").force[0] < -50.0 * 0.2


def test_actuators_for_chosen_joints_only(files):
    wanted = ActuatorSpec(("torque",), joints=("t_grip",))
    model = Scene(SceneSpec((armed(files, actuators=(wanted,)),))).model
    assert {model.actuator(k).name for k in range(model.nu)} == {
        "elbow_servo", "t_grip", "t_grip_torque",
    }  # fmt: skip


@pytest.mark.parametrize("quaternion", [(1, 0, 0, 0), TILT])
def test_the_wrench_is_the_weight_that_hangs_on_the_sensor(files, quaternion):
    """Gravity's force and moment about the site, summed over all bodies beyond it."""
    robot = armed(files, quaternion=quaternion, force_torque=("fore",))
    scene = Scene(SceneSpec((robot,), floor=False))
    model, data = scene.model, scene.data
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    # Statics: hold every joint with the torque that it needs.
    data.ctrl[:] = data.actuator_length
    mujoco.mj_forward(model, data)
    data.qfrc_applied[:] = data.qfrc_bias
    mujoco.mj_forward(model, data)
    assert abs(data.qacc).max() < 1e-9
    for site, top in (("t_sensor", "t_hand"), ("fore_ft", "fore")):
        frame, first = scene.site_frame(site), model.body(top).id
        expected = np.zeros(6)
        for body in range(first, model.nbody):  # all that come later hang below
            weight = model.body_mass[body] * model.opt.gravity
            expected[:3] += frame.rotation.T @ weight
            arm = data.xipos[body] - frame.position
            expected[3:] += frame.rotation.T @ np.cross(arm, weight)
        np.testing.assert_allclose(scene.wrench(site), expected, atol=1e-9)
        assert (frame.rotation @ scene.wrench(site)[:3])[2] < -1.0


def test_a_saved_scene_loads_elsewhere(files, tmp_path, monkeypatch):
    fetch = packaged("gymnasium-robotics", "envs/assets/fetch/pick_and_place.xml")
    robots = (armed(files, prefix="r_", home={"elbow": 0.3}), RobotSpec(str(fetch), "f_"))
    scene = Scene(SceneSpec(robots, TableSpec(), dice("die")))
    scene.save_xml(tmp_path / "scene.xml")
    monkeypatch.chdir(tmp_path)
    loaded = mujoco.MjModel.from_xml_path("scene.xml")
    assert loaded.nq == scene.model.nq
    assert loaded.nu == scene.model.nu
    names = [scene.model.body(k).name for k in range(scene.model.nbody)]
    assert [loaded.body(k).name for k in range(loaded.nbody)] == names
    np.testing.assert_allclose(loaded.body_mass, scene.model.body_mass, rtol=1e-5)
    np.testing.assert_allclose(loaded.body_inertia, scene.model.body_inertia, rtol=1e-4)
    np.testing.assert_allclose(loaded.key_qpos[0], scene.model.key_qpos[0], atol=1e-5)
    assert loaded.mesh("f_robot0:base_link").id >= 0


def test_two_real_robots_of_one_kind():
    path, packages = real_urdf("ur5")
    modes = (ActuatorSpec(("torque",)),)
    robots = tuple(
        RobotSpec(str(path), f"{k}_", (k, 0, 0), packages=(packages,), actuators=modes)
        for k in range(2)
    )
    with pytest.warns(UserWarning, match="left out"):
        model = Scene(SceneSpec(robots)).model
    assert model.nq == model.nu == 12
    assert model.actuator("1_elbow_joint_torque").ctrlrange[1] == 150


FAULTS = {
    "no file": (lambda f: RobotSpec("nowhere.xml"), r"robots\[0\].path.*'nowhere.xml'"),
    "not XML": (lambda f: RobotSpec(__file__), r"robots\[0\].path.*test_scene.py"),
    "attach_to": (
        lambda f: RobotSpec(f["arm"], attachments=(AttachmentSpec(f["tool"], "flonge"),)),
        r"robots\[0\].attachments\[0\].attach_to: there is no 'flonge', only .*flange",
    ),
    "exclusion": (
        lambda f: RobotSpec(
            f["arm"],
            attachments=(AttachmentSpec(f["tool"], "flange", exclusions=(("fore", "x"),)),),
        ),
        r"attachments\[0\].exclusions: there is no 'x'",
    ),
    "names twice": (
        lambda f: RobotSpec(f["arm"], attachments=(AttachmentSpec(f["arm"], "flange"),)),
        r"repeated name|can't be",
    ),
    "joint": (
        lambda f: RobotSpec(f["arm"], actuators=(ActuatorSpec(("torque",), ("knee",)),)),
        r"actuators\[0\].joints: there is no 'knee', only .*elbow",
    ),
    "sensor": (
        lambda f: RobotSpec(f["arm"], force_torque=("wrist",)),
        r"force_torque: there is no 'wrist'",
    ),
    "home joint": (lambda f: RobotSpec(f["arm"], "p_", home={"knee": 0}), r"home\['knee'\]"),
    "home range": (lambda f: RobotSpec(f["arm"], home={"shoulder": 3}), r"home\['shoulder'\].*2"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_built_is_named(files, fault):
    make, message = FAULTS[fault]
    with pytest.raises(ValueError, match=message):
        Scene(SceneSpec((make(files),)))


def test_faults_of_calls_are_named(files):
    scene = Scene(SceneSpec((RobotSpec(files["arm"]),), objects=dice("die")))
    for call, kind, message in (
        (lambda: scene.remove_object("cube"), ValueError, "object must be one of 'die'"),
        (lambda: scene.body_frame("x"), ValueError, "no body 'x'"),
        (lambda: scene.site_frame("x"), ValueError, "no site 'x'"),
        (lambda: scene.site_frame(3), TypeError, "site must be a name"),
        (lambda: scene.wrench("tcp"), ValueError, "site 'tcp' has no force sensor"),
        (lambda: scene.add_object("ball"), TypeError, "item must be a SceneObject"),
        (lambda: Scene("x"), TypeError, "spec must be a SceneSpec"),
    ):
        with pytest.raises(kind, match=message):
            call()
