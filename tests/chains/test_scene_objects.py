"""Objects of scenes, which come and go while all else goes on."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.chains.lifetimes import check_alive
from tendon_gym.chains.scene import Scene
from tendon_gym.chains.specs import RobotSpec, SceneObject, SceneSpec, TableSpec
from tests.chains.scene_files import TILT, armed, dice, rotation, write_files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("robots"))


STATE = ("qpos", "qvel", "qacc_warmstart", "ctrl", "act", "qfrc_applied")


def moving(files, *objects):
    """Return a scene some way into a motion, everything pushed."""
    spec = SceneSpec((armed(files, home={"shoulder": 0.4}),), TableSpec(), objects)
    scene = Scene(spec)
    scene.data.ctrl[:] = 0.1
    scene.data.qfrc_applied[:3] = 0.5, -0.2, 0.1
    scene.data.xfrc_applied[scene.model.body("t_hand").id] = 0.3
    mujoco.mj_step(scene.model, scene.data, 60)
    return scene


def snapshot(scene):
    data = scene.data
    robot = {name: getattr(data, name)[:3].copy() for name in STATE}
    robot["xfrc"] = data.xfrc_applied[scene.model.body("t_hand").id].copy()
    robot["time"] = data.time
    for item in scene.spec.objects:
        joint = data.joint(item.name)
        robot[item.name] = np.concatenate([joint.qpos, joint.qvel, joint.qacc_warmstart])
    return robot


def assert_kept(before, after):
    for name in before.keys() & after.keys():
        np.testing.assert_array_equal(after[name], before[name], err_msg=name)


def test_adding_and_removing_objects_keeps_the_state(files):
    scene = moving(files, *dice("first", "middle", "last"))
    before = snapshot(scene)
    scene.add_object(SceneObject("ball", "sphere", (0.05,), (0, -1, 2), mass=0.3))
    assert_kept(before, snapshot(scene))
    np.testing.assert_array_equal(scene.data.joint("ball").qpos, [0, -1, 2, 1, 0, 0, 0])
    assert scene.model.body("ball").mass[0] == pytest.approx(0.3)
    scene.remove_object("middle")
    assert_kept(before, snapshot(scene))
    assert [item.name for item in scene.spec.objects] == ["first", "last", "ball"]
    assert scene.model.nbody == scene.model.body("ball").id + 1


def test_a_change_far_away_does_not_disturb_the_motion(files):
    """A twin without the object goes on in the same way."""
    scene, twin = moving(files, *dice("die")), moving(files, *dice("die"))
    scene.add_object(SceneObject("pole", "capsule", (0.05, 0.2), (5, 5, 1), fixed=True))
    for each in (scene, twin):
        mujoco.mj_step(each.model, each.data, 60)
    np.testing.assert_allclose(scene.data.qpos, twin.data.qpos, atol=1e-12)


def test_the_keyframe_knows_objects_that_came_later(files):
    scene = moving(files, *dice("first", "last"))
    scene.add_object(SceneObject("ball", "sphere", (0.05,), (0, -1, 2)))
    scene.remove_object("first")
    mujoco.mj_resetDataKeyframe(scene.model, scene.data, 0)
    assert scene.data.joint("shoulder").qpos[0] == 0.4
    np.testing.assert_array_equal(scene.data.joint("last").qpos, [1, 1, 0.5, 1, 0, 0, 0])
    np.testing.assert_array_equal(scene.data.joint("ball").qpos, [0, -1, 2, 1, 0, 0, 0])


def test_handles_on_a_replaced_model_are_detected(files):
    scene = moving(files, *dice("die"))
    old = scene.model
    check_alive(old)
    scene.remove_object("die")
    with pytest.raises(RuntimeError, match="'die' was removed"):
        check_alive(old)
    check_alive(scene.model)


@pytest.mark.parametrize("name", ["die", "t_hand", "table", "palm", "floor"])
def test_a_name_that_is_taken_leaves_all_as_it_was(files, name):
    robot = RobotSpec(files["arm"])
    hand = RobotSpec(files["tool"], position=(2, 0, 0), prefix="t_")
    scene = Scene(SceneSpec((robot, hand), TableSpec(), dice("die")))
    name = "t_palm" if name == "palm" else name  # a geom: MuJoCo itself finds this one
    before = (scene.spec, scene.model, scene.data, scene.model.nbody)
    with pytest.raises(ValueError, match=name):
        scene.add_object(SceneObject(name, "sphere", (0.05,)))
    assert (scene.spec, scene.model, scene.data, scene.model.nbody) == before
    check_alive(scene.model)
    scene.add_object(SceneObject("new", "sphere", (0.05,)))


def test_objects_are_as_described():
    shapes = {
        "box": (0.1, 0.2, 0.3),
        "sphere": (0.1,),
        "cylinder": (0.1, 0.2),
        "capsule": (0.1, 0.2),
    }
    objects = tuple(
        SceneObject(
            shape, shape, size, (0, 0, k), TILT,
            fixed=shape == "box", mass=0.4, condim=6, friction=(0.7, 0.01, 0.002),
        )
        for k, (shape, size) in enumerate(shapes.items())
    )  # fmt: skip
    model = Scene(SceneSpec(objects=objects)).model
    for k, (shape, size) in enumerate(shapes.items()):
        geom = model.geom(shape)
        np.testing.assert_allclose(geom.size[: len(size)], size)
        assert mujoco.mjtGeom(int(geom.type[0])).name == f"mjGEOM_{shape.upper()}"
        assert geom.condim[0] == 6
        np.testing.assert_allclose(geom.friction, [0.7, 0.01, 0.002])
        body = model.body(shape)
        assert body.mass[0] == pytest.approx(0.4)
        np.testing.assert_allclose(body.pos, [0, 0, k])
        np.testing.assert_allclose(rotation(body.quat), rotation(TILT), atol=1e-12)
        assert body.jntnum[0] == (shape != "box")


def test_a_thing_put_on_the_table_stays_there():
    table = TableSpec((0.2, 0.1, 0.5), (0.3, 0.4), thickness=0.05)
    die = SceneObject("die", "box", (0.02, 0.02, 0.02), (0.45, 0.45, 0.53))
    scene = Scene(SceneSpec(table=table, objects=(die,)))
    mujoco.mj_step(scene.model, scene.data, 1000)
    np.testing.assert_allclose(scene.data.joint("die").qpos[:3], [0.45, 0.45, 0.52], atol=1e-3)
    feet = [
        scene.data.geom(f"table_leg_{k}").xpos[2] - scene.model.geom(f"table_leg_{k}").size[1]
        for k in range(1, 5)
    ]
    np.testing.assert_allclose(feet, 0.0, atol=1e-12)
